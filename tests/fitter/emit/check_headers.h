/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The body of the program that check_headers.sh builds, as C and as C++, from the headers emitted for a list of
 * tables. `codes K` prints the input codes to try on table K; `check K` reads what the JSON evaluator gave for them
 * and compares pwl_eval, or pwl_reduced_eval, on the runtime header, NAME_eval and NAME_map of the standalone header
 * and of the CUDA header with it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/pwl.h>
#include <pwl/reduce.h>

#define GUARD 2 /* elements after the output array that must stay untouched */

/* What a header with an evaluation of its own defines, behind int64. */
struct header_functions {
    const char *name;
    int64_t (*eval)(int64_t q_x);
    /* Whether NAME_map over x gives y and leaves the guard alone. */
    int (*map)(const int64_t *x, const int64_t *y, size_t count);
};

struct header_test {
    const pwl_table *runtime;   /* the core where `reduced` is set */
    const pwl_reduced *reduced; /* else null */
    struct header_functions headers[2];
    int64_t min_x, max_x; /* of the input type */
};

#define HEADER_FUNCTIONS(alone, in_t, out_t)                                                                           \
    static int64_t alone##_eval64(int64_t q_x)                                                                         \
    {                                                                                                                  \
        return alone##_eval((in_t)q_x);                                                                                \
    }                                                                                                                  \
    static int alone##_map64(const int64_t *x, const int64_t *y, size_t count)                                         \
    {                                                                                                                  \
        in_t *const in = (in_t *)calloc(count + GUARD, sizeof *in);                                                    \
        out_t *const out = (out_t *)malloc((count + GUARD) * sizeof *out);                                             \
        const out_t canary = (out_t)0x5a;                                                                              \
        int good = in && out;                                                                                          \
        for (size_t k = 0; good && k < count + GUARD; k++) {                                                           \
            in[k] = (in_t)(k < count ? x[k] : 0);                                                                      \
            out[k] = canary;                                                                                           \
        }                                                                                                              \
        if (good) {                                                                                                    \
            alone##_map(in, out, 0);                                                                                   \
            good = out[0] == canary;                                                                                   \
            alone##_map(in, out, count);                                                                               \
        }                                                                                                              \
        for (size_t k = 0; good && k < count + GUARD; k++)                                                             \
            good = k < count ? (int64_t)out[k] == y[k] : out[k] == canary;                                             \
        free(in);                                                                                                      \
        free(out);                                                                                                     \
        return good;                                                                                                   \
    }

#define HEADER_TEST(runtime, reduced, alone, cuda, min, max)                                                           \
    {                                                                                                                  \
        runtime, reduced, {{#alone, alone##_eval64, alone##_map64}, {#cuda, cuda##_eval64, cuda##_map64}}, min, max    \
    }

static int64_t start_of(const pwl_table *t, int i)
{
    const int is_unsigned = t->flags & PWL_FLAG_UNSIGNED_X;
    if (t->storage == PWL_INT8)
        return is_unsigned ? ((const uint8_t *)t->start)[i] : ((const int8_t *)t->start)[i];
    if (t->storage == PWL_INT16)
        return is_unsigned ? ((const uint16_t *)t->start)[i] : ((const int16_t *)t->start)[i];
    return is_unsigned ? (int64_t)((const uint32_t *)t->start)[i] : ((const int32_t *)t->start)[i];
}

static int64_t runtime_eval(const struct header_test *test, int64_t q_x)
{
    return test->reduced ? pwl_reduced_eval(test->reduced, q_x) : pwl_eval(test->runtime, q_x);
}

static int is_safe(const struct header_test *test)
{
    return (test->reduced ? pwl_reduced_check(test->reduced, NULL) : pwl_table_check(test->runtime, NULL)) == PWL_OK;
}

static size_t add_around(const struct header_test *test, int64_t q_x, int64_t *codes, size_t count)
{
    for (int64_t q = q_x - 2; q <= q_x + 2; q++)
        if (q >= test->min_x && q <= test->max_x)
            codes[count++] = q;
    return count;
}

/* Every code of the input type up to 16 bits; for 32 bits the codes around each knot, its mirror image, the ends and a
 * reduced table's octaves, and a fixed pseudo-random sample. */
static size_t list_codes(const struct header_test *test, int64_t *codes)
{
    const pwl_table *t = test->runtime;
    uint64_t random = 1;
    size_t count = 0;
    if (test->max_x - test->min_x < 65536) {
        for (int64_t q = test->min_x; q <= test->max_x; q++)
            codes[count++] = q;
        return count;
    }
    for (int bit = 0; test->reduced && bit < 33; bit++)
        count = add_around(test, test->reduced->reduction.zp_x + ((int64_t)1 << bit), codes, count);
    for (int i = 0; i < t->segments; i++) {
        count = add_around(test, start_of(t, i), codes, count);
        count = add_around(test, 2 * t->zp_x - start_of(t, i), codes, count);
    }
    count = add_around(test, test->min_x, codes, count);
    count = add_around(test, test->max_x, codes, count);
    count = add_around(test, t->qmin_x, codes, count);
    count = add_around(test, t->qmax_x, codes, count);
    for (int k = 0; k < 20000; k++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        codes[count++] = test->min_x + (int64_t)(random >> 32);
    }
    return count;
}

static int check_functions(const struct header_functions *header, const int64_t *codes, const int64_t *expected,
                           size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const int64_t output = header->eval(codes[k]);
        if (output == expected[k])
            continue;
        fprintf(stderr, "%s: q_x = %" PRId64 ": JSON %" PRId64 ", header %" PRId64 "\n", header->name, codes[k],
                expected[k], output);
        return 0;
    }
    if (header->map(codes, expected, count))
        return 1;
    fprintf(stderr, "%s: map differs from eval, or writes outside its array\n", header->name);
    return 0;
}

static int check(const struct header_test *test, const int64_t *codes, size_t count)
{
    int64_t *const expected = (int64_t *)malloc(count * sizeof *expected);
    int good = expected && is_safe(test);
    if (!good)
        fprintf(stderr, "the emitted table is not safe to run\n");
    for (size_t k = 0; good && k < count; k++) {
        if (scanf("%" SCNd64, &expected[k]) != 1) {
            fprintf(stderr, "%zu codes were evaluated from JSON, not %zu\n", k, count);
            good = 0;
            break;
        }
        const int64_t runtime = runtime_eval(test, codes[k]);
        if (runtime == expected[k])
            continue;
        fprintf(stderr, "q_x = %" PRId64 ": JSON %" PRId64 ", runtime header %" PRId64 "\n", codes[k], expected[k],
                runtime);
        good = 0;
    }
    for (size_t i = 0; i < sizeof test->headers / sizeof *test->headers; i++)
        good = good && check_functions(&test->headers[i], codes, expected, count);
    free(expected);
    return good;
}

static int check_main(int argc, char **argv, const struct header_test *tests, int test_count)
{
    const size_t capacity = 65536 + 20000 + 10 * (PWL_MAX_SEGMENTS + 36);
    int64_t *const codes = (int64_t *)malloc(capacity * sizeof *codes);
    const int k = argc == 3 ? atoi(argv[2]) : -1;
    int good = codes && k >= 0 && k < test_count;
    if (good) {
        const size_t count = list_codes(&tests[k], codes);
        if (strcmp(argv[1], "codes") == 0)
            for (size_t i = 0; i < count; i++)
                printf("%" PRId64 "\n", codes[i]);
        else
            good = check(&tests[k], codes, count);
    }
    free(codes);
    return good ? 0 : 1;
}
