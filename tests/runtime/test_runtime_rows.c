/* SPDX-License-Identifier: Apache-2.0 */
/* Row operators against the real functions, over structured and drawn rows, within the bounds of docs/operators.md. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../support/made_rows.h"
#include "../support/random.h"
#include "../support/row_shapes.h"
#include "../support/suite.h"

enum { ROOM = 65536, GUARD = 64 };

static const pwl_type types[] = {PWL_S8, PWL_U8, PWL_S16, PWL_U16};

static void *block(size_t bytes)
{
    void *const memory = malloc(bytes);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

/* Runs one row, and sees that nothing beyond it is written. */
static void run_softmax(const made_softmax *made, const void *x, void *y, size_t length)
{
    const size_t bytes = length * (size_t)type_bits((pwl_type)made->softmax.out) / 8;
    memset((char *)y + bytes, 0x5a, GUARD);
    pwl_softmax_run(&made->softmax, &(pwl_rows){.x = x, .y = y, .count = 1, .length = length}, PWL_LEVELS_ALL);
    for (int k = 0; k < GUARD; k++)
        ck_assert_int_eq(((const char *)y)[bytes + (size_t)k], 0x5a);
}

/* Each type of input into each type of output, with zero points inside and outside of them. */
static void assert_softmax(const made_softmax *made, size_t length, int rows, uint64_t *state)
{
    const pwl_type in = (pwl_type)made->softmax.in;
    uint16_t *const x = block(2 * length + GUARD), *const y = block(2 * length + GUARD);
    const long double bound = softmax_bound(made);
    ck_assert_int_eq(pwl_softmax_check(&made->softmax), PWL_OK);
    for (int k = 0; k < rows; k++) {
        row_shape *const shape = shapes[k % SHAPES];
        fill_row(in, x, length, shape, part_of(in, k / SHAPES), state);
        run_softmax(made, x, y, length);
        const long double error = softmax_error(made, x, y, length, NULL);
        if (error > bound)
            ck_abort_msg("row %d of %zu, types %d %d: off by %.6Lf, which may be %.6Lf", k, length, in,
                         made->softmax.out, error, bound);
    }
    free(x);
    free(y);
}

static const struct {
    pwl_type out;
    int bits;
    int64_t zp;
} outputs[] = {{PWL_U8, 8, 0},   {PWL_S8, 8, -128}, {PWL_S8, 7, 0},
               {PWL_U16, 16, 0}, {PWL_S16, 15, 0},  {PWL_U16, 1, 70000}};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

START_TEST(softmax_keeps_its_bound)
{
    static const size_t lengths[] = {1, 2, 3, 63, 64, 65, 128, 255, 256, 257, 1000, 4096, 16384, 65536};
    static const double scales[] = {0.0472, 0.3, 0.001, 3.7};
    const pwl_type in = types[_i % 4];
    uint64_t state = 0x50f7u + (uint64_t)_i;
    made_softmax made;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        const size_t length = lengths[l];
        const double scale = scales[((size_t)_i / 4 + l) % 4];
        const size_t o = ((size_t)_i / 4 + l) % OUTPUTS;
        make_softmax(&made, in, type_bits(in) == 8 ? scale : scale / 256, outputs[o].out, outputs[o].bits,
                     outputs[o].zp, (uint32_t)length);
        assert_softmax(&made, length, (length > 4096 ? 32 : 224) / quick_step(4), &state);
    }
}
END_TEST

START_TEST(log_softmax_keeps_its_bound)
{
    static const size_t lengths[] = {1, 2, 65, 256, 1000, 65536};
    static const double out_scales[] = {0.0625, 0.00048828125, 0.013, 1.5};
    const pwl_type in = types[_i % 4], out = types[_i / 4 % 4];
    uint64_t state = 0x106u + (uint64_t)_i;
    made_softmax made;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        make_log_softmax(&made, in, type_bits(in) == 8 ? 0.0472 : 0.0003, out, out_scales[((size_t)_i + l) % 4],
                         type_highest(out) - (int)(l % 3), (uint32_t)lengths[l]);
        assert_softmax(&made, lengths[l], (lengths[l] > 4096 ? 32 : 224) / quick_step(4), &state);
    }
}
END_TEST

/* Fewer fraction bits of the exponential make the bound larger, and it holds too. */
START_TEST(every_fraction_keeps_its_bound)
{
    uint64_t state = 0xf4ac;
    made_softmax made;
    make_softmax(&made, types[_i % 2 * 2], 0.05 / (_i % 2 ? 256 : 1), PWL_U8, 8, 0, 300);
    make_exp(&made, 8 + _i / 2);
    assert_softmax(&made, 300, 224 / quick_step(4), &state);
}
END_TEST

START_TEST(order_is_kept)
{
    made_softmax made;
    int16_t x[2000];
    uint16_t y[2000];
    uint64_t state = 0x0de4;
    make_softmax(&made, PWL_S16, 0.0007, PWL_U16, 16, 0, 2000);
    for (int k = 0; k < 2000; k++)
        x[k] = (int16_t)random_in(&state, -9000, 9000);
    run_softmax(&made, x, y, 2000 - GUARD);
    for (int i = 0; i < 2000 - GUARD; i++)
        for (int k = 0; k < 2000 - GUARD; k++)
            if (x[i] >= x[k])
                ck_assert_int_ge(y[i], y[k]);
}
END_TEST

/* Masked places as if they were not there, whatever codes they hold. */
START_TEST(masks)
{
    enum { ROWS = 8, LENGTH = 300 };
    const pwl_type in = types[_i % 4], out = types[_i / 4 % 4];
    const int is_log = _i / 16;
    uint16_t x[ROWS * LENGTH], y[ROWS * LENGTH], some[LENGTH], some_y[LENGTH];
    uint8_t mask[ROWS * LENGTH];
    uint64_t state = 0x3a5c + (uint64_t)_i;
    made_softmax made;
    if (is_log)
        make_log_softmax(&made, in, 0.01, out, 0.05, 0, LENGTH);
    else
        make_softmax(&made, in, 0.01, out, type_bits(out) - 1, 3, LENGTH);
    fill_row(in, x, (size_t)ROWS * LENGTH, drawn, 0, &state);
    for (int k = 0; k < ROWS * LENGTH; k++)
        mask[k] = (uint8_t)(k / LENGTH == 3 ? 0 : k / LENGTH == 4 ? 255 : random_bits(&state) & 4);
    for (int is_shared = 0; is_shared < 2; is_shared++) {
        pwl_softmax_run(
            &made.softmax,
            &(pwl_rows){
                .x = x, .y = y, .count = ROWS, .length = LENGTH, .mask = mask, .mask_stride = is_shared ? 0 : LENGTH},
            PWL_LEVELS_ALL);
        for (size_t r = 0; r < ROWS; r++) {
            const uint8_t *const row_mask = mask + (is_shared ? 0 : r * LENGTH);
            size_t count = 0, next = 0;
            for (size_t k = 0; k < LENGTH; k++)
                if (row_mask[k])
                    set_code_at(in, some, count++, code_at(in, x, r * LENGTH + k));
            if (count)
                pwl_softmax_run(&made.softmax, &(pwl_rows){.x = some, .y = some_y, .count = 1, .length = count}, 0);
            for (size_t k = 0; k < LENGTH; k++) {
                const int32_t least = is_log ? made.softmax.qmin_y : 3;
                ck_assert_int_eq(code_at(out, y, r * LENGTH + k), row_mask[k] ? code_at(out, some_y, next++) : least);
            }
        }
    }
}
END_TEST

START_TEST(causal_rows)
{
    enum { ROWS = 20, LENGTH = 17 };
    static const size_t firsts[] = {0, 3, 6, 9, 12, 15, 18, SIZE_MAX - 5, SIZE_MAX};
    int8_t x[ROWS * LENGTH];
    uint8_t y[ROWS * LENGTH], alone[LENGTH], mask[ROWS * LENGTH];
    uint64_t state = 0xca05;
    made_softmax made;
    make_softmax(&made, PWL_S8, 0.05, PWL_U8, 8, 0, LENGTH);
    fill_row(PWL_S8, x, ROWS * LENGTH, drawn, 0, &state);
    for (int k = 0; k < ROWS * LENGTH; k++)
        mask[k] = (uint8_t)(random_bits(&state) & 1);
    for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++)
        for (int is_masked = 0; is_masked < 2; is_masked++) {
            const size_t first = firsts[f];
            pwl_softmax_run(&made.softmax,
                            &(pwl_rows){.x = x,
                                        .y = y,
                                        .count = ROWS,
                                        .length = LENGTH,
                                        .is_causal = 1,
                                        .first = first,
                                        .mask = is_masked ? mask : NULL,
                                        .mask_stride = LENGTH},
                            PWL_LEVELS_ALL);
            for (size_t r = 0; r < ROWS; r++) {
                const size_t length = first < LENGTH && first + r + 1 < LENGTH ? first + r + 1 : LENGTH;
                pwl_softmax_run(&made.softmax,
                                &(pwl_rows){.x = x + r * LENGTH,
                                            .y = alone,
                                            .count = 1,
                                            .length = length,
                                            .mask = is_masked ? mask + r * LENGTH : NULL},
                                PWL_LEVELS_ALL);
                for (size_t k = 0; k < LENGTH; k++)
                    ck_assert_int_eq(y[r * LENGTH + k], k < length ? alone[k] : 0);
            }
        }
}
END_TEST

/* A long flat row is one whose shift is beyond 62: p is below a quarter of a step, and every code 0. */
START_TEST(flat_rows_shift_beyond_62)
{
    uint8_t *const x = block(ROOM), *const y = block(ROOM + GUARD);
    made_softmax made;
    make_softmax(&made, PWL_U8, 0.0472, PWL_U8, 8, 0, ROOM);
    memset(x, 17, ROOM);
    for (size_t length = 256; length <= ROOM; length *= 2) {
        run_softmax(&made, x, y, length);
        ck_assert_int_le(y[0], length <= 512); /* of 512 places each is half a step */
        ck_assert_int_ge(y[0], length <= 256);
        ck_assert_int_eq(y[length - 1], y[0]);
    }
    free(x);
    free(y);
}
END_TEST

START_TEST(norms_keep_their_bound)
{
    static const uint32_t lengths[] = {1, 2, 3, 63, 64, 65, 384, 1000, 4096, 65536};
    const pwl_type in = types[_i % 4], out = types[_i / 4 % 4];
    const pwl_norm_kind kind = (pwl_norm_kind)(_i / 16);
    uint64_t state = 0x4042u + (uint64_t)_i;
    double *const gamma = block(ROOM * sizeof *gamma), *const beta = block(ROOM * sizeof *beta);
    void *const gamma_codes = block(ROOM * sizeof(int32_t)), *const beta_codes = block(ROOM * sizeof(int64_t));
    uint16_t *const x = block(2 * ROOM), *const y = block(2 * ROOM + GUARD);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        const uint32_t length = lengths[l];
        const int has_beta = (int)l % 2, width = type_bits(out);
        /* Of RMSNorm with a zero point at an end the sums of the longest rows of 16 bits are too large. */
        const int32_t zp_x = length > 4096 ? (type_lowest(in) + type_highest(in) + 1) / 2 : type_lowest(in) + 100;
        made_norm made = {
            .gamma = gamma, .beta = has_beta ? beta : NULL, .gamma_codes = gamma_codes, .beta_codes = beta_codes};
        for (uint32_t c = 0; c < length; c++) {
            gamma[c] = (double)random_in(&state, 200, 2000) / (random_bits(&state) % 20 == 0 ? -1000 : 1000);
            beta[c] = (double)random_in(&state, -500, 500) / 1000;
        }
        make_norm(&made, kind, in, width == 8 ? 0.02 : 0.0005, zp_x, out, width == 8 ? 0.03 : 0.0002,
                  (type_lowest(out) + type_highest(out)) / 2 + (int)l, length, l % 3 ? 1e-5 : 0);
        ck_assert_int_eq(pwl_norm_check(&made.norm), PWL_OK);
        const long double bound = norm_bound(&made);
        ck_assert(bound < 0.75L);
        for (int k = 0; k < (length > 4096 ? 32 : 224) / quick_step(4); k++) {
            fill_row(in, x, length, shapes[k % SHAPES], part_of(in, k / SHAPES), &state);
            memset((char *)y + length * (size_t)width / 8, 0x5a, GUARD);
            pwl_norm_run(&made.norm, x, y, 1, PWL_LEVELS_ALL);
            for (int j = 0; j < GUARD; j++)
                ck_assert_int_eq(((const char *)y)[length * (size_t)width / 8 + (size_t)j], 0x5a);
            const long double error = norm_error(&made, x, y);
            if (error > bound)
                ck_abort_msg("kind %d, row %d of %u, types %d %d: off by %.6Lf, which may be %.6Lf", (int)kind, k,
                             length, in, out, error, bound);
        }
    }
    free(gamma);
    free(beta);
    free(gamma_codes);
    free(beta_codes);
    free(x);
    free(y);
}
END_TEST

/* x and y one array: what comes out is what comes out apart. */
START_TEST(in_place)
{
    enum { ROWS = 5, LENGTH = 333 };
    const double ones[LENGTH] = {1, 2, 3};
    int32_t gamma_codes[LENGTH];
    uint64_t state = 0x1491;
    made_softmax made;
    made_norm norm = {.gamma = ones, .gamma_codes = gamma_codes};
    for (int t = 0; t < 4; t++) {
        uint16_t x[ROWS * LENGTH], y[ROWS * LENGTH];
        const size_t bytes = (size_t)ROWS * LENGTH * (size_t)type_bits(types[t]) / 8;
        make_softmax(&made, types[t], 0.01, types[t ^ 1], 7, 0, LENGTH);
        make_norm(&norm, (pwl_norm_kind)(t & 1), types[t], 0.01, type_lowest(types[t]), types[t ^ 1], 0.05, 0, LENGTH,
                  0);
        ck_assert_int_eq(pwl_norm_check(&norm.norm), PWL_OK);
        fill_row(types[t], x, (size_t)ROWS * LENGTH, drawn, 0, &state);
        pwl_softmax_run(&made.softmax, &(pwl_rows){.x = x, .y = y, .count = ROWS, .length = LENGTH}, PWL_LEVELS_ALL);
        pwl_softmax_run(&made.softmax, &(pwl_rows){.x = x, .y = x, .count = ROWS, .length = LENGTH}, PWL_LEVELS_ALL);
        ck_assert_mem_eq(x, y, bytes);
        pwl_norm_run(&norm.norm, x, y, ROWS, PWL_LEVELS_ALL);
        pwl_norm_run(&norm.norm, x, x, ROWS, PWL_LEVELS_ALL);
        ck_assert_mem_eq(x, y, bytes);
    }
}
END_TEST

/* The cell proof, and each core at both ends of every cell and at drawn words, against their delta. */
START_TEST(cores_keep_delta)
{
    const long double bounds[] = {reciprocal_delta(), rsqrt_delta()};
    uint64_t state = 0xde17a;
    ck_assert(bounds[0] < 0x1p-22L && bounds[1] < 0x1p-20L);
    const uint64_t step = test_is_long() ? 1 : 4001;
    for (uint64_t word = (uint64_t)1 << 30; word < (uint64_t)1 << 32;
         word += 1 + (step > 1 ? random_bits(&state) % step : 0)) {
        const uint64_t v = word << random_bits(&state) % 31;
        const pwl_row_factor root = pwl_row_rsqrt(&core_rsqrt, v), quotient = pwl_row_reciprocal(&core_reciprocal, v);
        ck_assert(fabsl(ldexpl(root.factor, -root.shift) * sqrtl(v) - 1) <= bounds[1]);
        ck_assert(fabsl(ldexpl(quotient.factor, -quotient.shift) * v - 1) <= bounds[0]);
    }
    for (int shift = 0; shift < 63; shift++)
        for (int k = -2; k <= 2; k++) {
            const uint64_t v = ((uint64_t)1 << shift) + (uint64_t)k;
            if ((int64_t)v < 1)
                continue;
            const pwl_row_factor root = pwl_row_rsqrt(&core_rsqrt, v);
            ck_assert(fabsl(ldexpl(root.factor, -root.shift) * sqrtl(v) - 1) <= bounds[1]);
            if (v <= (uint64_t)1 << 62) {
                const pwl_row_factor quotient = pwl_row_reciprocal(&core_reciprocal, v);
                ck_assert(fabsl(ldexpl(quotient.factor, -quotient.shift) * v - 1) <= bounds[0]);
            }
        }
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("runtime_rows");
    TCase *const bounds = tcase_create("bounds"), *const rows = tcase_create("rows");
    tcase_set_timeout(bounds, 0);
    tcase_add_loop_test(bounds, softmax_keeps_its_bound, 0, 24);
    tcase_add_loop_test(bounds, log_softmax_keeps_its_bound, 0, 16);
    tcase_add_loop_test(bounds, every_fraction_keeps_its_bound, 0, 46);
    tcase_add_loop_test(bounds, norms_keep_their_bound, 0, 32);
    tcase_add_test(bounds, cores_keep_delta);
    tcase_add_test(rows, order_is_kept);
    tcase_add_loop_test(rows, masks, 0, 32);
    tcase_add_test(rows, causal_rows);
    tcase_add_test(rows, flat_rows_shift_beyond_62);
    tcase_add_test(rows, in_place);
    suite_add_tcase(suite, bounds);
    suite_add_tcase(suite, rows);
    return run_suite(suite);
}
