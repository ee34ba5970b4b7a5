/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many real values at once have the codes that each has alone: at ties and next to them, at and beyond the ends. */
#include <check.h>
#include <float.h>
#include <math.h>

#include "function/quantise.h"

#include "../../support/random.h"
#include "../../support/suite.h"

enum { COUNT = 4000 };

/* A number whose code the tensor clamps, or not, near a tie of two codes half the time. */
static double drawn(uint64_t *state, const struct tensor *tensor)
{
    static const double ends[] = {0, -0.0, DBL_MIN / 4, DBL_MAX, -DBL_MAX, INFINITY, -INFINITY, 0x1p62, -0x1p63};
    const uint64_t choice = random_bits(state) % 8;
    if (choice == 0)
        return ends[random_bits(state) % (sizeof ends / sizeof *ends)];
    if (choice == 1)
        return ldexp((double)(int64_t)random_bits(state), (int)(random_bits(state) % 200) - 160);
    const long double code = (long double)random_in(state, tensor->qmin - 3, tensor->qmax + 3);
    const long double steps = code - (long double)tensor->zero_point + (choice < 6 ? 0.5L : 0);
    double x = (double)(steps * tensor->scale.value);
    for (int64_t apart = random_in(state, -3, 3); apart != 0; apart += apart < 0 ? 1 : -1)
        x = nextafter(x, apart < 0 ? -INFINITY : INFINITY);
    return x;
}

/* Codes of some type from now and then a narrower range, and zero points inside, near, and as far off as they may be.
 */
START_TEST(all_have_the_codes_of_each)
{
    static const char *const scales[] = {
        "2^-12", "2^3", "0.0472", "3.1e-9", "2^-64", "2^64", "0.333333333333333333333"};
    static const int64_t zeros[] = {0, -3, 24576, INT32_MAX, (int64_t)1 << 50, -((int64_t)1 << 62)};
    static double x[COUNT];
    static uint32_t q[COUNT];
    uint64_t state = (uint64_t)_i;
    const bool is_signed = _i % 2;
    const int bits = (int[]){2, 8, 16, 32}[_i / 2 % 4];
    struct tensor tensor = {.bits = bits, .is_signed = is_signed};
    struct diag diag = {0};
    tensor.zero_point = zeros[_i / 8 % 6];
    tensor.qmin = code_min(bits, is_signed);
    tensor.qmax = code_max(bits, is_signed);
    if (random_bits(&state) % 4 == 0)
        tensor.qmin = random_in(&state, tensor.qmin, tensor.qmax);
    ck_assert_int_eq(scale_parse(scales[_i / 48], "scale", &tensor.scale, &diag), 0);
    for (int k = 0; k < COUNT; k++)
        x[k] = drawn(&state, &tensor);

    size_t outside = 0;
    int64_t first = 0, expected_first = 0;
    const size_t found = quantise_all(&tensor, x, COUNT, q, &first);
    for (int k = 0; k < COUNT; k++) {
        const int64_t code = quantise(&tensor, x[k]);
        const int64_t clamped = code < tensor.qmin ? tensor.qmin : code > tensor.qmax ? tensor.qmax : code;
        if (code != clamped && outside++ == 0)
            expected_first = code;
        ck_assert_msg(q[k] == (uint32_t)clamped, "%a: %lld, not %lld", x[k], (long long)q[k], (long long)clamped);
    }
    ck_assert_uint_eq(found, outside);
    ck_assert_int_eq(first, expected_first);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("quantise");
    TCase *const tcase = tcase_create("quantise");
    tcase_add_loop_test(tcase, all_have_the_codes_of_each, 0, 48 * 7);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
