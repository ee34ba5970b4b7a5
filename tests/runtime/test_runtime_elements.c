/* SPDX-License-Identifier: Apache-2.0 */
/* Requantisation and addition: the formula of docs/operators.md for any constants that pass their check, its bound for
 * those that a ratio of scales gives, arrays of every length, and what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/elements.h>

#include "../support/random.h"
#include "../support/suite.h"
#include "../support/typed_array.h"

enum { ROOM = 65536, GUARD = 64 };

static int64_t any_in(uint64_t *state, int64_t min, int64_t max)
{
    const uint64_t choice = random_bits(state) % 8;
    return choice == 0 ? min : choice == 1 ? max : random_in(state, min, max);
}

/* Of arrays for inputs and output, one after the other. */
static int32_t room_a[ROOM + GUARD], room_b[ROOM + GUARD], room_y[ROOM + GUARD];

/* What a sum below 2^63 and a shift give, as long double holds it: exactly. */
static int64_t rounded(long double sum, int n, int64_t zp_y, int64_t qmin_y, int64_t qmax_y)
{
    const long double v = floorl(ldexpl(sum + ldexpl(1, n - 1), -n)) + (long double)zp_y;
    return v < (long double)qmin_y ? qmin_y : v > (long double)qmax_y ? qmax_y : (int64_t)v;
}

/* Every code of 8 or 16 bits; of 32 some of every width, and the ends. */
static size_t fill_inputs(pwl_type type, int32_t *array, uint64_t *state)
{
    const size_t count = type == PWL_S32 ? 4096 : (size_t)1 << 8 * BYTES(type);
    for (size_t k = 0; k < count; k++)
        pwl_set_element_of(type, array, k,
                           type == PWL_S32
                               ? (k < 2 ? (k ? INT32_MAX : INT32_MIN) : (int32_t)random_bits(state) >> k % 32)
                               : pwl_type_lowest(type) + (int64_t)k);
    return count;
}

static void draw_output(uint64_t *state, pwl_type out, int32_t *qmin_y, int32_t *qmax_y, int64_t *zp_y)
{
    const int is_near = random_bits(state) % 4 != 0;
    *qmin_y = (int32_t)any_in(state, pwl_type_lowest(out), pwl_type_highest(out));
    *qmax_y = (int32_t)any_in(state, *qmin_y, pwl_type_highest(out));
    *zp_y = is_near ? any_in(state, pwl_type_lowest(out), pwl_type_highest(out))
                    : any_in(state, -((int64_t)1 << 32), (int64_t)1 << 32);
}

START_TEST(checked_requantisation_is_the_formula)
{
    const pwl_type in = (pwl_type)(_i % 5);
    uint64_t state = 0x2e9 + (uint64_t)_i;
    int passed = 0;
    const size_t count = fill_inputs(in, room_a, &state);
    for (int k = 0; k < (in == PWL_S32 || BYTES(in) == 1 ? 3000 : 100) / quick_step(4); k++) {
        pwl_requantise of = {.version = PWL_ELEMENTS_VERSION,
                             .in = (uint8_t)in,
                             .out = (uint8_t)(random_bits(&state) % 4),
                             .shift = (uint8_t)any_in(&state, 1, 62),
                             .multiplier = (int32_t)any_in(&state, 1 << 30, INT32_MAX),
                             .zp_x = any_in(&state, pwl_type_lowest(in), pwl_type_highest(in))};
        draw_output(&state, (pwl_type)of.out, &of.qmin_y, &of.qmax_y, &of.zp_y);
        if (pwl_requantise_check(&of) != PWL_OK)
            continue;
        passed++;
        pwl_requantise_run(&of, room_a, room_y, count);
        for (size_t j = 0; j < count; j++) {
            const int64_t x = pwl_element_of(in, room_a, j);
            const long double sum = (long double)of.multiplier * (long double)(x - of.zp_x);
            ck_assert_int_eq(pwl_element_of((pwl_type)of.out, room_y, j),
                             rounded(sum, of.shift, of.zp_y, of.qmin_y, of.qmax_y));
            ck_assert_int_eq(pwl_element_of((pwl_type)of.out, room_y, j), pwl_requantise_element(&of, x));
        }
    }
    ck_assert_int_gt(passed, 10);
}
END_TEST

/* Constants of every size, those at the limits of 32-bit sums among them. */
static void draw_add(uint64_t *state, pwl_add *of)
{
    const int width = (int)(random_bits(state) % 32);
    of->shift = (uint8_t)any_in(state, 1, random_bits(state) % 2 ? 31 : 62);
    of->factor_a = (int32_t)any_in(state, 0, INT32_MAX >> width);
    of->factor_b = (int32_t)any_in(state, 0, INT32_MAX >> width);
    of->constant = any_in(state, -((int64_t)1 << 62), (int64_t)1 << 62) >> random_bits(state) % 62;
    if (random_bits(state) % 2) { /* the largest or the least sum is the last that 32 bits hold, or the first beyond */
        const int64_t a = random_bits(state) % 2, half = (int64_t)1 << (of->shift - 1);
        const pwl_type in_a = (pwl_type)of->in_a, in_b = (pwl_type)of->in_b;
        of->constant =
            a ? INT32_MAX - half - of->factor_a * pwl_type_highest(in_a) - of->factor_b * pwl_type_highest(in_b)
              : INT32_MIN - of->factor_a * pwl_type_lowest(in_a) - of->factor_b * pwl_type_lowest(in_b);
        of->constant += random_in(state, -1, 1);
    }
}

START_TEST(checked_addition_is_the_formula)
{
    const pwl_type in_a = (pwl_type)(_i % 4), in_b = (pwl_type)(_i / 4);
    uint64_t state = 0xadd + (uint64_t)_i;
    const size_t count = fill_inputs(in_a, room_a, &state);
    for (int k = 0; k < (BYTES(in_a) == 1 ? 4000 : 60) / quick_step(4); k++) {
        pwl_add of = {.version = PWL_ELEMENTS_VERSION,
                      .in_a = (uint8_t)in_a,
                      .in_b = (uint8_t)in_b,
                      .out = (uint8_t)(random_bits(&state) % 4)};
        draw_add(&state, &of);
        draw_output(&state, (pwl_type)of.out, &of.qmin_y, &of.qmax_y, &of.zp_y);
        ck_assert_int_eq(pwl_add_check(&of), PWL_OK);
        for (size_t j = 0; j < count; j++)
            pwl_set_element_of(in_b, room_b, j, any_in(&state, pwl_type_lowest(in_b), pwl_type_highest(in_b)));
        pwl_add_run(&of, room_a, room_b, room_y, count);
        for (size_t j = 0; j < count; j++) {
            const int64_t a = pwl_element_of(in_a, room_a, j), b = pwl_element_of(in_b, room_b, j);
            const long double sum = (long double)of.factor_a * (long double)a +
                                    (long double)of.factor_b * (long double)b + (long double)of.constant;
            ck_assert_int_eq(pwl_element_of((pwl_type)of.out, room_y, j),
                             rounded(sum, of.shift, of.zp_y, of.qmin_y, of.qmax_y));
            ck_assert_int_eq(pwl_element_of((pwl_type)of.out, room_y, j), pwl_add_element(&of, a, b));
        }
    }
}
END_TEST

/* Sums of 32 bits and of 64, of every two codes of 8 bits, within the bound that the page gives. */
START_TEST(additions_keep_their_bound)
{
    static const double scales[][3] = {{0.05, 0.031, 0.06}, {0.013, 0.4, 0.21}, {0.3, 0.3, 0.6}, {0.0007, 0.02, 0.05}};
    const pwl_type in_a = (pwl_type)(_i % 2), in_b = (pwl_type)(_i / 2 % 2), out = (pwl_type)(_i / 4 % 4);
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++)
        for (int n = 20; n <= 30; n += 10) {
            const long double scale = out >= PWL_S16 ? scales[s][2] / 128 : scales[s][2];
            const long double ratio_a = scales[s][0] / scale, ratio_b = scales[s][1] / scale;
            const int64_t zp_a = pwl_type_lowest(in_a) + 100, zp_b = pwl_type_lowest(in_b) + 9,
                          zp_y = pwl_type_highest(out) / 3;
            const int shift = n - (out >= PWL_S16 ? 7 : 0);
            pwl_add of = {.version = PWL_ELEMENTS_VERSION,
                          .in_a = (uint8_t)in_a,
                          .in_b = (uint8_t)in_b,
                          .out = (uint8_t)out,
                          .shift = (uint8_t)shift,
                          .factor_a = (int32_t)roundl(ldexpl(ratio_a, shift)),
                          .factor_b = (int32_t)roundl(ldexpl(ratio_b, shift)),
                          .qmin_y = (int32_t)pwl_type_lowest(out),
                          .qmax_y = (int32_t)pwl_type_highest(out),
                          .zp_y = zp_y};
            of.constant = -(of.factor_a * zp_a + of.factor_b * zp_b);
            const long double bound = 0.5L + fabsl(ldexpl(of.factor_a, -shift) - ratio_a) * 155 +
                                      fabsl(ldexpl(of.factor_b, -shift) - ratio_b) * 246;
            ck_assert_int_eq(pwl_add_check(&of), PWL_OK);
            for (int k = 0; k < 65536; k++) {
                pwl_set_element_of(in_a, room_a, (size_t)k, pwl_type_lowest(in_a) + (k & 255));
                pwl_set_element_of(in_b, room_b, (size_t)k, pwl_type_lowest(in_b) + (k >> 8));
            }
            pwl_add_run(&of, room_a, room_b, room_y, 65536);
            for (int k = 0; k < 65536; k++) {
                const long double real = ratio_a * (long double)(pwl_type_lowest(in_a) + (k & 255) - zp_a) +
                                         ratio_b * (long double)(pwl_type_lowest(in_b) + (k >> 8) - zp_b) +
                                         (long double)zp_y;
                const long double target = fminl(fmaxl(real, of.qmin_y), of.qmax_y);
                const long double error = fabsl((long double)pwl_element_of(out, room_y, (size_t)k) - target);
                if (error > bound)
                    ck_abort_msg("pair %d, n %d: off by %.9Lf, bound %.9Lf", k, shift, error, bound);
            }
        }
}
END_TEST

/* Each length, each misalignment, in place, and nothing beyond. */
START_TEST(arrays_of_every_length)
{
    static const pwl_type types[] = {PWL_S8, PWL_U16, PWL_S32};
    const pwl_type in = types[_i], out = _i == 1 ? PWL_S16 : PWL_U8;
    const size_t in_bytes = BYTES(in), out_bytes = BYTES(out);
    const pwl_requantise of = {.version = PWL_ELEMENTS_VERSION,
                               .in = (uint8_t)in,
                               .out = (uint8_t)out,
                               .shift = in == PWL_S32 ? 54 : 31,
                               .multiplier = 1500000000,
                               .qmin_y = (int32_t)pwl_type_lowest(out),
                               .qmax_y = (int32_t)pwl_type_highest(out),
                               .zp_y = 3};
    const pwl_add sum = {.version = PWL_ELEMENTS_VERSION,
                         .in_a = (uint8_t)in,
                         .in_b = PWL_S8,
                         .out = (uint8_t)out,
                         .shift = 20,
                         .factor_a = 700000,
                         .factor_b = 300000,
                         .qmin_y = (int32_t)pwl_type_lowest(out),
                         .qmax_y = (int32_t)pwl_type_highest(out)};
    uint64_t state = 0x1e6 + (uint64_t)_i;
    ck_assert_int_eq(pwl_requantise_check(&of), PWL_OK);
    for (size_t length = 0; length <= 200; length++)
        for (size_t offset = 0; offset < 3; offset++) {
            char *const x = (char *)room_a + offset * in_bytes, *const y = (char *)room_y + offset * out_bytes;
            int8_t *const b = (int8_t *)room_b + offset;
            for (size_t k = 0; k < length; k++) {
                pwl_set_element_of(in, x, k, random_in(&state, pwl_type_lowest(in), pwl_type_highest(in)));
                b[k] = (int8_t)random_in(&state, -128, 127);
            }
            for (int is_sum = 0; is_sum <= (in != PWL_S32); is_sum++) {
                memset(room_y, 0x5a, sizeof room_y);
                if (is_sum)
                    pwl_add_run(&sum, x, b, y, length);
                else
                    pwl_requantise_run(&of, x, y, length);
                for (size_t k = 0; k < length; k++)
                    ck_assert_int_eq(pwl_element_of(out, y, k),
                                     is_sum ? pwl_add_element(&sum, pwl_element_of(in, x, k), b[k])
                                            : pwl_requantise_element(&of, pwl_element_of(in, x, k)));
                for (size_t k = 0; k < GUARD; k++)
                    ck_assert_int_eq(y[length * out_bytes + k], 0x5a);
                for (size_t k = 0; k < offset * out_bytes; k++)
                    ck_assert_int_eq(((char *)room_y)[k], 0x5a);
            }
            if (in_bytes == out_bytes) {
                pwl_add_run(&sum, x, b, x, length);
                ck_assert_mem_eq(x, y, length * out_bytes);
            }
        }
}
END_TEST

#define REFUSED(type, check, good, what, expected)                                                                     \
    do {                                                                                                               \
        type own = good, *const s = &own;                                                                              \
        ck_assert_int_eq(check(s), PWL_OK);                                                                            \
        what;                                                                                                          \
        ck_assert_int_eq(check(s), expected);                                                                          \
    } while (0)

START_TEST(requantisation_refused)
{
    static const pwl_requantise good = {.version = PWL_ELEMENTS_VERSION,
                                        .in = PWL_S32,
                                        .out = PWL_S8,
                                        .shift = 40,
                                        .multiplier = 1500000000,
                                        .qmin_y = -128,
                                        .qmax_y = 127};
#define NOT(what, expected) REFUSED(pwl_requantise, pwl_requantise_check, good, what, expected)
    ck_assert_int_eq(pwl_requantise_check(NULL), PWL_ERR_NULL);
    NOT(s->version = 2, PWL_ERR_VERSION);
    NOT(s->in = PWL_U32, PWL_ERR_FIELD);
    NOT(s->out = PWL_S32, PWL_ERR_FIELD);
    NOT(s->qmin_y = -129, PWL_ERR_RANGE_Y);
    NOT(s->qmax_y = 128, PWL_ERR_RANGE_Y);
    NOT((s->qmin_y = 9, s->qmax_y = 8), PWL_ERR_RANGE_Y);
    NOT(s->zp_y = ((int64_t)1 << 32) + 1, PWL_ERR_ZERO_POINT);
    NOT(s->zp_y = INT64_MIN, PWL_ERR_ZERO_POINT);
    NOT((s->in = PWL_U8, s->zp_x = -1), PWL_ERR_ZERO_POINT);
    NOT((s->in = PWL_U8, s->zp_x = 256), PWL_ERR_ZERO_POINT);
    NOT(s->zp_x = (int64_t)INT32_MAX + 1, PWL_ERR_ZERO_POINT);
    NOT(s->zp_x = INT64_MIN, PWL_ERR_ZERO_POINT);
    NOT(s->shift = 0, PWL_ERR_SHIFT);
    NOT(s->shift = 63, PWL_ERR_SHIFT);
    NOT(s->multiplier = (1 << 30) - 1, PWL_ERR_CONSTANT);
    NOT(s->multiplier = INT32_MIN, PWL_ERR_CONSTANT);
    /* 2^63 - 2^32 - 2^31 + 1 is left to half of 2^33, and not to that of 2^34. */
    NOT((s->multiplier = INT32_MAX, s->zp_x = INT32_MIN, s->shift = 33), PWL_OK);
    NOT((s->multiplier = INT32_MAX, s->zp_x = INT32_MIN, s->shift = 34), PWL_ERR_CONSTANT);
    NOT((s->multiplier = INT32_MAX, s->zp_x = INT32_MAX, s->shift = 34), PWL_ERR_CONSTANT);
#undef NOT
}
END_TEST

START_TEST(addition_refused)
{
    static const pwl_add good = {.version = PWL_ELEMENTS_VERSION,
                                 .in_a = PWL_S8,
                                 .in_b = PWL_U16,
                                 .out = PWL_U8,
                                 .shift = 20,
                                 .factor_a = 700000,
                                 .factor_b = 300000,
                                 .qmax_y = 255};
#define NOT(what, expected) REFUSED(pwl_add, pwl_add_check, good, what, expected)
    ck_assert_int_eq(pwl_add_check(NULL), PWL_ERR_NULL);
    NOT(s->version = 0, PWL_ERR_VERSION);
    NOT(s->in_a = PWL_S32, PWL_ERR_FIELD);
    NOT(s->in_b = PWL_S32, PWL_ERR_FIELD);
    NOT(s->out = PWL_U32, PWL_ERR_FIELD);
    NOT(s->qmin_y = -1, PWL_ERR_RANGE_Y);
    NOT(s->qmax_y = 256, PWL_ERR_RANGE_Y);
    NOT(s->zp_y = -((int64_t)1 << 32) - 1, PWL_ERR_ZERO_POINT);
    NOT(s->shift = 0, PWL_ERR_SHIFT);
    NOT(s->shift = 63, PWL_ERR_SHIFT);
    NOT(s->factor_a = -1, PWL_ERR_CONSTANT);
    NOT(s->factor_b = -1, PWL_ERR_CONSTANT);
    NOT(s->factor_b = INT32_MIN, PWL_ERR_CONSTANT);
    NOT(s->constant = ((int64_t)1 << 62) + 1, PWL_ERR_CONSTANT);
    NOT(s->constant = INT64_MIN, PWL_ERR_CONSTANT);
#undef NOT
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("runtime_elements");
    TCase *const formula = tcase_create("formula"), *const refused = tcase_create("refused");
    tcase_set_timeout(formula, 0);
    tcase_add_loop_test(formula, checked_requantisation_is_the_formula, 0, 5);
    tcase_add_loop_test(formula, checked_addition_is_the_formula, 0, 16);
    tcase_add_loop_test(formula, additions_keep_their_bound, 0, 16);
    tcase_add_loop_test(formula, arrays_of_every_length, 0, 3);
    tcase_add_test(refused, requantisation_refused);
    tcase_add_test(refused, addition_refused);
    suite_add_tcase(suite, formula);
    suite_add_tcase(suite, refused);
    return run_suite(suite);
}
