/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products on the host, of drawn shapes, types and strides: every way that this machine has gives the bits of plain C,
 * which is within the bound of the reference, or in INT8 is the reference; in A16 every way is within the bound; in
 * parts as in one; and writes nothing else.
 */
#include <pwl/plan.h>

#include "gemm/host/ways.h"

#include "products.h"

/* By an emulator, fewer and smaller: up to 3 panels, 3 blocks or 2 super-blocks, and more rows of X than a pass takes.
 * The reference takes most of the time. */
#ifdef FEW
enum { DRAWN = 6, DRAWN_N = 70, DRAWN_BLOCKS = 3, DRAWN_SUPER = 2, DRAWN_M = 13, MANY_ROWS = 70, MANY_K = 256 };
#else
enum { DRAWN = 24, DRAWN_N = 140, DRAWN_BLOCKS = 9, DRAWN_SUPER = 3, DRAWN_M = 70, MANY_ROWS = 700, MANY_K = 1024 };
#endif

static double number(pwl_qgemm_type type, const uint8_t *y, size_t at)
{
    uint16_t half;
    float v;
    if (type == PWL_QGEMM_F32) {
        memcpy(&v, y + 4 * at, sizeof v);
        return v;
    }
    memcpy(&half, y + 2 * at, sizeof half);
    return type == PWL_QGEMM_F16 ? pwl_f32_from_f16(half) : pwl_f32_from_bf16(half);
}

static double rounded(pwl_qgemm_type type, double v)
{
    if (type == PWL_QGEMM_F32)
        return (float)v;
    return type == PWL_QGEMM_F16 ? pwl_f32_from_f16(pwl_round_f64(v, 10, 5))
                                 : pwl_f32_from_bf16(pwl_round_f64(v, 7, 8));
}

/* The reference's Y and how far from it a way may be, [m * n] each; but of INT8, whose bits are the reference's. */
struct bounds {
    double *value, *bound;
};

static struct bounds new_bounds(const struct problem *p, const struct operand *w)
{
    const size_t count = p->product.m * w->packed.n;
    struct bounds made = {need(count * sizeof(double)), need(count * sizeof(double))};
    pwl_qgemm_product product = p->product;
    product.weights = &w->packed;
    if (product.scheme != PWL_QGEMM_INT8)
        must(pwl_qgemm_bound(&product, 0, made.value, made.bound));
    return made;
}

static void free_bounds(struct bounds *bounds)
{
    free(bounds->value);
    free(bounds->bound);
}

/* Whether Y is where the reference's bound has it. */
static int is_within(const struct problem *p, const struct bounds *bounds, size_t n)
{
    const pwl_qgemm_output *const y = &p->product.y;
    int good = 1;
    for (size_t i = 0; i < p->product.m * n && good; i++) {
        const double got = number(y->type, y->data, i / n * y->stride + i % n);
        const double v = bounds->value[i], off = bounds->bound[i];
        good = isnan(v)   ? isnan(got)
               : isinf(v) ? got == v
                          : got >= rounded(y->type, v - off) && got <= rounded(y->type, v + off);
        if (!good)
            printf("# row %zu, column %zu: %a, not %a +- %a\n", i / n, i % n, got, v, off);
    }
    return good;
}

/* Whether two Ys of floats or integers have the same bits, but for those of NaN, and the same bytes around them. */
static int is_same(const struct problem *p, const uint8_t *a, const uint8_t *b)
{
    const pwl_qgemm_output *const y = &p->product.y;
    const size_t element = element_bytes[y->type], bytes = p->y_bytes + 2 * p->y_offset;
    for (size_t at = p->y_offset % element; at + element <= bytes; at += element) {
        if (memcmp(a + at, b + at, element) != 0 &&
            !(y->type <= PWL_QGEMM_BF16 && isnan(number(y->type, a + at, 0)) && isnan(number(y->type, b + at, 0))))
            return 0;
    }
    return 1;
}

/* Nothing is written between rows of Y, nor around it. */
static int is_apart(const struct problem *p, size_t n)
{
    const pwl_qgemm_output *const y = &p->product.y;
    const size_t element = element_bytes[y->type], row = y->stride * element;
    for (size_t i = 0; i < p->y_offset; i++) {
        if (p->y[i] != POISON || p->y[p->y_offset + p->y_bytes + i] != POISON)
            return 0;
    }
    for (size_t i = 0; i < p->y_bytes; i++) {
        if (i % row >= n * element && p->y[p->y_offset + i] != POISON)
            return 0;
    }
    return 1;
}

/* Any cut of [0, all) at multiples of `step`. */
static size_t next_cut(size_t from, size_t all, size_t step, uint64_t *state)
{
    const size_t end = from + (1 + random_bits(state) % 4) * step;
    return end < all ? end : all;
}

/* By a way: in one call, or rows and columns in parts. */
static int compute(const pwl_qgemm_way *way, const struct problem *p, const pwl_qgemm_panels *panels, int parts,
                   uint64_t *state)
{
    const struct workspace work = new_workspace(&p->product, panels, state);
    int good;
    memset(p->y, POISON, p->y_bytes + 2 * p->y_offset);
    if (!parts)
        must(pwl_qgemm_by(way, &p->product, panels, work.at, work.bytes));
    for (size_t m = 0, end; parts && m < p->product.m; m = end) {
        end = next_cut(m, p->product.m, 1, state);
        must(pwl_qgemm_rows(&p->product, panels, m, end - m, work.at, work.bytes));
    }
    for (size_t n = 0, end; parts && n < panels->n; n = end) {
        end = next_cut(n, panels->n, PWL_QGEMM_PANEL, state);
        must(pwl_qgemm_part_by(way, &p->product, panels, n, end - n, work.at, work.bytes));
    }
    good = is_guarded(&work) && is_apart(p, panels->n);
    free(work.memory);
    return good;
}

/* The reference in INT8, at the same place. */
static int is_reference(const struct problem *p, const struct operand *w, const uint8_t *got)
{
    pwl_qgemm_product product = p->product;
    product.weights = &w->packed;
    memset(p->y, POISON, p->y_bytes + 2 * p->y_offset);
    must(pwl_qgemm_reference(&product));
    return memcmp(p->y, got, p->y_bytes + 2 * p->y_offset) == 0;
}

/* All ways of this machine, on a product. */
static int agree(const struct scheme *scheme, const struct operand *w, struct problem *p, uint64_t *state)
{
    const size_t bytes = p->y_bytes + 2 * p->y_offset;
    uint8_t *const plain = need(bytes);
    struct bounds bounds = new_bounds(p, w);
    int good = compute(&pwl_qgemm_ways[pwl_qgemm_way_count - 1], p, &w->panels, 0, state);
    if (good && scheme->scheme != PWL_QGEMM_INT8)
        good = is_within(p, &bounds, w->packed.n);
    memcpy(plain, p->y, bytes);
    if (good && scheme->scheme == PWL_QGEMM_INT8)
        good = is_reference(p, w, plain);
    for (size_t i = 0; i < pwl_qgemm_way_count && good; i++) {
        const pwl_qgemm_way *const way = &pwl_qgemm_ways[i];
        if ((way->level & pwl_levels()) != way->level)
            continue;
        for (int parts = 0; parts < 2 && good; parts++) {
            good = compute(way, p, &w->panels, parts, state);
            if (is_a16(scheme) && !parts) {
                good = good && is_within(p, &bounds, w->packed.n);
                memcpy(plain, p->y, bytes);
            }
            good = good && is_same(p, p->y, plain);
            if (!good)
                printf("# %s%s\n", way->name, parts ? ", in parts" : "");
        }
    }
    if (!good)
        printf("# M = %zu, N = %zu, K = %zu, X %d + %zu, Y %d + %zu\n", p->product.m, w->panels.n, w->panels.k,
               (int)p->product.x.type, p->product.x.stride, (int)p->product.y.type, p->product.y.stride);
    free_bounds(&bounds);
    free(plain);
    return good;
}

/* On a drawn one of so many rows. */
static int agrees(const struct scheme *scheme, const struct operand *w, size_t m, uint64_t *state)
{
    struct problem p = draw_problem(scheme, w, m, state);
    const int good = agree(scheme, w, &p, state);
    free_problem(&p);
    return good;
}

/* With PWL_TEST_LONG as many as the whole of ten thousand. */
static void test_drawn(const struct scheme *scheme)
{
    const int rounds = getenv("PWL_TEST_LONG") ? 500 : DRAWN;
    uint64_t state = 81;
    int good = 1;
    for (int i = 0; i < rounds && good; i++) {
        const size_t n = (size_t)random_in(&state, 1, DRAWN_N), step = step_of(scheme);
        const size_t k = step * (size_t)random_in(&state, 1, step == PWL_BLOCK ? DRAWN_BLOCKS : DRAWN_SUPER);
        const int high = (int)random_in(&state, -10, 12);
        struct operand w = draw_operand(scheme, n, k, high - 6, high, &state);
        for (int j = 0; j < 4 && good; j++) {
            const size_t m = (size_t)random_in(&state, 1, random_bits(&state) % 3 ? 13 : DRAWN_M);
            good = agrees(scheme, &w, m, &state);
        }
        free_operand(&w);
    }
    tap(good, "%s: drawn products", scheme->name);
}

/* More rows of X than stay in a cache, and the scales that MXFP4 alone has. */
static void test_many_rows(const struct scheme *scheme)
{
    uint64_t state = 82;
    struct operand w = draw_operand(scheme, 33, MANY_K, -3, 3, &state);
    tap(agrees(scheme, &w, MANY_ROWS, &state), "%s: %d rows", scheme->name, MANY_ROWS);
    free_operand(&w);
}

static void test_scales(const struct scheme *scheme)
{
    const int spread = is_a16(scheme) ? 40 : 8; /* the least of a row are subnormal halves, or nothing */
    uint64_t state = 83;
    int good = 1;
    for (int low = -136; low < 86 && good; low += 9) {
        const int least = low < -127 ? -127 : low; /* at first alone, which calls for an exponent of -128 */
        struct operand w = draw_operand(scheme, 40, 96, least, low < -127 ? least : low + spread, &state);
        good = agrees(scheme, &w, 7, &state);
        free_operand(&w);
    }
    tap(good, "%s: scales from 2^-127 on", scheme->name);
}

/* A16: scales that are subnormal beside such as call for an exponent of the row. */
static void test_far_scales(const struct scheme *scheme)
{
    uint64_t state = 88;
    int good = 1;
    for (int i = 0; i < 8 && good; i++) {
        struct operand w = draw_operand(scheme, 40, 96, i % 2 ? -24 : -14, 15, &state);
        good = agrees(scheme, &w, 1 + (size_t)i, &state);
        free_operand(&w);
    }
    tap(good, "%s: scales from 2^-24 to 2^15", scheme->name);
}

/* A16: rows of X with a single 1 give the weights, each of which is rounded as the scheme says. */
static void test_one_hot(const struct scheme *scheme)
{
    enum { K = 96 };
    uint64_t state = 89;
    int good = 1;
    for (int i = 0; i < 9 && good; i++) {
        const pwl_qgemm_type type = (pwl_qgemm_type)(i % 3);
        struct operand w = draw_operand(scheme, 40, K, i < 3 ? -6 : -24, i < 3 ? 2 : 15, &state);
        struct problem p = draw_problem(scheme, &w, i % 2 ? K : 1, &state);
        uint8_t *const x = calloc(K * K, sizeof(float));
        for (size_t m = 0; m < K; m++)
            put_x(type, x, m * K + (m + (size_t)i * 7) % K, 1);
        p.product.x = (pwl_qgemm_input){x, K, type, 0, NULL, NULL};
        p.product.bias = NULL;
        good = agree(scheme, &w, &p, &state);
        free(x);
        free_problem(&p);
        free_operand(&w);
    }
    tap(good, "%s: weights, by rows of X with a single 1", scheme->name);
}

/* The longest rows of the largest numbers, which need all of 32 bits. */
static void test_extremes(void)
{
    enum { M = 3, N = 5, K = 65792 };
    static const int8_t ends[] = {-128, 127};
    uint64_t state = 84;
    int good = 1;
    for (int i = 0; i < 8 && good; i++) {
        struct operand w = {.n_w = need(N), .bias = need(4 * N), .bias_up = need(4 * N)};
        int8_t *const q = need((size_t)N * K);
        size_t bytes;
        memset(q, ends[i % 2], (size_t)N * K);
        memset(w.n_w, 1, N);
        for (size_t j = 0; j < N; j++)
            w.bias[j] = (int32_t)(j % 2 ? INT32_MIN : INT32_MAX);
        must(pwl_qgemm_weights_bytes(PWL_QGEMM_ROWS8, N, K, &bytes));
        must(pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, w.n_w, N, K), need(bytes), bytes, &w.packed, NULL));
        arrange(&w, &state);
        struct problem p = draw_problem(&schemes[4], &w, M, &state);
        memset(p.x, ends[i / 2 % 2], M * p.product.x.stride);
        p.product.x.zero_point = ends[i / 4];
        good = agree(&schemes[4], &w, &p, &state);
        free(q);
        free_problem(&p);
        free_operand(&w);
    }
    tap(good, "INT8: sums of 32 bits");
}

/* Exponents that leave nothing of a sum, or its sign alone. */
static void test_exponents(void)
{
    static const int32_t far[] = {INT32_MIN, -700, -300, -33, 21, 33, 34, 35, 300, 700, INT32_MAX};
    uint64_t state = 90;
    int good = 1;
    for (size_t i = 0; i < sizeof far / sizeof far[0] && good; i++) {
        struct operand w = draw_operand(&schemes[4], 40, 96, 0, 0, &state);
        struct problem p = draw_problem(&schemes[4], &w, 13, &state);
        for (size_t m = 0; m < 13 && i % 2; m++)
            p.n_x[m] = m % 2 ? INT8_MIN : INT8_MAX;
        p.product.y.n_y = far[i];
        good = agree(&schemes[4], &w, &p, &state);
        free_problem(&p);
        free_operand(&w);
    }
    tap(good, "INT8: exponents beyond those of sums");
}

/* Super-blocks of the least and the largest codes by those of X, of which ways add some in 16 bits. */
static void test_super_extremes(const struct scheme *scheme)
{
    const struct qgemm_kind *const kind = super_kind_of(scheme->format);
    const size_t n = 33, k = PWL_SUPER_BLOCK, bytes = n * pwl_format_bytes(kind->blocks);
    uint64_t state = 87;
    int good = 1;
    for (int i = 0; i < 4 && good; i++) {
        struct operand w = {.n_w = need(n), .bias = calloc(n, 4), .bias_up = calloc(n, 4)};
        uint8_t *const blocks = need(bytes);
        memset(blocks, i % 2 ? 0xff : 0, bytes);
        for (size_t row = 0; row < n; row++)
            memset(blocks + row * (bytes / n) + (kind->blocks == PWL_Q6_K ? bytes / n - 2 : 0), 0x30, 2);
        for (size_t row = 0; row < n && kind->blocks != PWL_Q6_K; row++)
            memset(blocks + row * (bytes / n) + 2, 0x30, 2);
        for (size_t row = 0; row < n && kind->blocks == PWL_Q6_K; row++)
            memset(blocks + row * (bytes / n) + offsetof(pwl_block_q6_k, scales), 0x80, 16);
        w.packed = pack_new(kind, blocks, n, k);
        arrange(&w, &state);
        struct problem p = draw_problem(scheme, &w, 3, &state);
        pwl_block_q8_1 *const x = need(3 * (k / PWL_BLOCK) * sizeof *x);
        for (size_t b = 0; b < 3 * (k / PWL_BLOCK); b++) {
            x[b] = (pwl_block_q8_1){0x3c00, 0, {0}};
            memset(x[b].qs, i / 2 ? 127 : -128, PWL_BLOCK);
        }
        p.product.x = (pwl_qgemm_input){x, k / PWL_BLOCK, PWL_QGEMM_BLOCKS_Q8_1, 0, NULL, NULL};
        good = agree(scheme, &w, &p, &state);
        free(blocks);
        free(x);
        free_problem(&p);
        free_operand(&w);
    }
    tap(good, "%s: the least and the largest codes", scheme->name);
}

int main(void)
{
    printf("# ways:");
    for (size_t i = 0; i < pwl_qgemm_way_count; i++)
        printf(" %s%s", pwl_qgemm_ways[i].name,
               (pwl_qgemm_ways[i].level & pwl_levels()) == pwl_qgemm_ways[i].level ? "" : " (not here)");
    printf("\n");
    for (int i = 0; i < SCHEMES; i++) {
        test_drawn(&schemes[i]);
        test_many_rows(&schemes[i]);
        if (super_kind_of(schemes[i].format))
            test_super_extremes(&schemes[i]);
    }
    for (int i = SCHEMES - 3; i < SCHEMES; i++)
        test_one_hot(&schemes[i]);
    test_scales(&schemes[3]);
    test_scales(&schemes[SCHEMES - 1]);
    test_far_scales(&schemes[SCHEMES - 3]);
    test_far_scales(&schemes[SCHEMES - 2]);
    test_extremes();
    test_exponents();
    return tap_end();
}
