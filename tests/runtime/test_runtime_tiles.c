/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax over tiles, and sums of values that it weighs: the codes of the whole row where nothing is rescaled, the
 * bounds of docs/operators.md else, exact integers on the way, and nothing beyond the arrays. */
#include <stdlib.h>
#include <string.h>

#include "../support/made_rows.h"
#include "../support/random.h"
#include "../support/row_shapes.h"
#include "../support/suite.h"

enum { ROOM = 4096, GUARD = 64, CHANNELS = 130 };

static const pwl_type types[] = {PWL_S8, PWL_U8, PWL_S16, PWL_U16};
static uint16_t x[ROOM], y[ROOM + GUARD], whole[ROOM], v[64 * (CHANNELS + 3)];
static uint8_t mask[ROOM];

static void *element(pwl_type type, uint16_t *array, size_t k)
{
    return (char *)array + k * (size_t)type_bits(type) / 8;
}

/* Tiles of up to so many places, one after the other. */
static pwl_softmax_tiles run_tiles(const pwl_softmax *softmax, size_t length, size_t most, int has_mask,
                                   uint64_t *state, int *tiles)
{
    const pwl_type in = (pwl_type)softmax->in, out = (pwl_type)softmax->out;
    const size_t bytes = length * (size_t)type_bits(out) / 8;
    const uint64_t first = *state;
    pwl_softmax_tiles row = {0};
    memset(y, 0x5a, sizeof y);
    *tiles = 0;
    for (int pass = 0; pass < 2; pass++) {
        uint64_t again = first;
        for (size_t at = 0, count; at < length; at += count) {
            count = (size_t)random_in(&again, 1, (int64_t)most);
            count = count < length - at ? count : length - at;
            if (pass == 0)
                pwl_softmax_tiles_add(softmax, &row, element(in, x, at), has_mask ? mask + at : NULL, count);
            else
                pwl_softmax_tiles_write(softmax, &row, element(in, x, at), element(out, y, at),
                                        has_mask ? mask + at : NULL, count);
            *tiles += pass == 0;
        }
        *state = again;
    }
    for (size_t k = 0; k < GUARD; k++)
        ck_assert_int_eq(((const char *)y)[bytes + k], 0x5a);
    return row;
}

static void run_whole(const pwl_softmax *softmax, size_t length, int has_mask)
{
    pwl_softmax_run(softmax,
                    &(pwl_rows){.x = x, .y = whole, .count = 1, .length = length, .mask = has_mask ? mask : NULL}, 0);
}

/* Either kind, of each type of input; into 8 or 16 bits. */
static void make_any(made_softmax *made, pwl_type in, int is_log, uint64_t *state, uint32_t length)
{
    static const double scales[] = {0.0472, 0.3, 0.003, 0.9};
    const long double scale = scales[random_bits(state) % 4] / (type_bits(in) == 16 ? 200 : 1);
    if (is_log)
        make_log_softmax(made, in, scale, PWL_S16, 0x1p-11L, 32767, length);
    else if (random_bits(state) % 2)
        make_softmax(made, in, scale, PWL_U8, 8, 0, length);
    else
        make_softmax(made, in, scale, PWL_S16, 15, -5, length);
    if (!is_log && random_bits(state) % 3 == 0)
        make_exp(made, 12);
    ck_assert_int_eq(pwl_softmax_check(&made->softmax), PWL_OK);
}

static void draw_mask(size_t length, uint64_t *state)
{
    const int kind = (int)(random_bits(state) % 4);
    for (size_t k = 0; k < length; k++)
        mask[k] = kind == 0 ? 0 : kind == 1 ? k + 1 == length : (uint8_t)(random_bits(state) % 3);
}

/* docs/operators.md: what rescalings add. */
static long double tiles_bound(const made_softmax *made, size_t length, uint32_t rescalings)
{
    const pwl_softmax *const softmax = &made->softmax;
    const int F = softmax->fraction;
    const long double eta = ldexpl(1, type_bits((pwl_type)softmax->in) == 8 ? -F - 1 : -F);
    const long double rho = (rescalings + 1) * (long double)(length - 1) * eta + ldexpl(rescalings, -F - 1);
    long double largest;
    if (rescalings == 0)
        return softmax_bound(made);
    if (softmax->kind == PWL_SOFTMAX)
        return 0.5L + ldexpl(rho + reciprocal_delta() * (1 + rho), softmax->out_bits);
    return softmax_bound(made) + (rho - softmax_rho(made, softmax->longest, &largest)) / made->out_scale +
           rho * ldexpl(1, 29 - softmax->step_shift - softmax->log_shift);
}

START_TEST(tiles_keep_their_bound)
{
    const pwl_type in = types[_i % 4];
    uint64_t state = 0x711e + (uint64_t)_i;
    int same = 0, rescaled = 0;
    for (int k = 0; k < (type_bits(in) == 8 ? 400 : 100) / quick_step(2); k++) {
        static const size_t lengths[] = {1, 2, 63, 64, 65, 300, 1024, ROOM};
        const size_t length = lengths[k % 8], most = random_bits(&state) % 2 ? 64 : 1 + random_bits(&state) % length;
        const int has_mask = k % 3 == 0;
        int tiles;
        made_softmax made;
        make_any(&made, in, _i / 4, &state, (uint32_t)length);
        fill_row(in, x, length, k % 5 == 4 ? ramp : shapes[k / 8 % SHAPES], part_of(in, k), &state);
        draw_mask(length, &state);
        const pwl_softmax_tiles row = run_tiles(&made.softmax, length, most, has_mask, &state, &tiles);
        ck_assert_uint_lt(row.rescalings, (uint32_t)tiles + !tiles);
        const long double error = row.sum ? softmax_error(&made, x, y, length, has_mask ? mask : NULL) : 0;
        const long double bound = tiles_bound(&made, length, row.rescalings);
        if (!(error <= bound))
            ck_abort_msg("case %d, %zu places, %u rescalings: off by %.7Lf, bound %.7Lf", k, length, row.rescalings,
                         error, bound);
        run_whole(&made.softmax, length, has_mask);
        if (row.rescalings == 0)
            ck_assert_mem_eq(y, whole, length * (size_t)type_bits((pwl_type)made.softmax.out) / 8);
        same += row.rescalings == 0;
        rescaled += row.rescalings > 5;
    }
    ck_assert_int_gt(same, 8);
    ck_assert_int_gt(rescaled, 1);
}
END_TEST

__extension__ typedef unsigned __int128 wide;

/* Every F, sums up to what the longest row has, every difference: the quotient of 128 bits. */
START_TEST(rescalings_are_exact)
{
    uint64_t state = 0x5ca1e + (uint64_t)_i;
    for (int F = 8; F <= 30; F++) {
        made_softmax made;
        make_softmax(&made, types[_i], 0.01L / (_i < 2 ? 1 : 100), PWL_U8, 8, 0, 65536);
        make_exp(&made, F);
        for (int k = 0; k < 20000; k++) {
            const uint64_t sum = random_bits(&state) >> (18 + random_bits(&state) % 46);
            const uint32_t d = (uint32_t)(random_bits(&state) % (1u << type_bits(types[_i])));
            const wide product = (wide)sum * pwl_softmax_exp(&made.softmax, d);
            ck_assert_uint_eq(pwl_softmax_rescaled(&made.softmax, sum, d),
                              (uint64_t)((product + ((wide)1 << (F - 1))) >> F));
        }
    }
}
END_TEST

/* The real weighted mean of a channel, in codes of v less its zero point. */
static long double mean_of(const made_softmax *made, const pwl_row_values *values, size_t from, size_t length,
                           const uint8_t *of_row, size_t c)
{
    const pwl_type in = (pwl_type)made->softmax.in;
    long double sum = 0, weighted = 0;
    for (size_t k = 0; k < length; k++) {
        const long double e = expl(made->in_scale * (code_at(in, x, from + k) - type_highest(in)));
        if (of_row && !of_row[k])
            continue;
        sum += e;
        weighted += e * (code_at((pwl_type)values->type, values->v, k * values->stride + c) - values->zero_point);
    }
    return sum > 0 ? weighted / sum : 0;
}

static void assert_weighed(const made_softmax *made, const pwl_rows *rows, const pwl_row_values *values)
{
    static int32_t o[4 * CHANNELS + 1];
    const int bits = type_bits((pwl_type)values->type);
    const long double most = fmaxl(type_highest((pwl_type)values->type) - values->zero_point,
                                   values->zero_point - type_lowest((pwl_type)values->type));
    long double unused;
    const long double rho = softmax_rho(made, (uint32_t)rows->length, &unused), delta = reciprocal_delta();
    const long double bound = ldexpl(1, bits) * rho + most * delta + ldexpl(1 + delta, bits - 30);
    memset(o, 0x5a, sizeof o);
    pwl_softmax_weigh(&made->softmax, rows, values, o);
    ck_assert_int_eq(o[rows->count * values->channels], 0x5a5a5a5a);
    for (size_t r = 0; r < rows->count; r++)
        for (size_t c = 0; c < values->channels; c++) {
            const long double real = mean_of(made, values, r * rows->length, pwl_rows_reach(rows, r),
                                             rows->mask ? rows->mask + r * rows->mask_stride : NULL, c);
            const long double error = fabsl(ldexpl(o[r * values->channels + c], bits - 30) - real);
            if (!(error <= bound))
                ck_abort_msg("row %zu, channel %zu: off by %.9Lf, bound %.9Lf", r, c, error, bound);
        }
}

START_TEST(weighted_sums_keep_their_bound)
{
    const pwl_type in = types[_i % 4], type = types[_i / 4];
    uint64_t state = 0xa77 + (uint64_t)_i;
    for (int k = 0; k < (type_bits(in) == 8 ? 240 : 120) / quick_step(8); k++) {
        static const size_t lengths[] = {1, 2, 7, 63, 64}, channels[] = {1, 3, 64, 65, CHANNELS};
        const size_t length = lengths[k % 5];
        const int is_flat = k % 3 == 0;
        made_softmax made;
        const pwl_row_values values = {.v = v,
                                       .type = (uint8_t)type,
                                       .zero_point = k % 2 ? type_lowest(type) + (k & 2 ? 0 : 77) : type_highest(type),
                                       .channels = channels[k / 5 % 5],
                                       .stride = channels[k / 5 % 5] + (size_t)k % 4};
        const pwl_rows rows = {.x = x,
                               .count = 1 + (size_t)k % 4,
                               .length = length,
                               .mask = k % 4 == 1 ? mask : NULL,
                               .mask_stride = k % 8 == 1 ? 0 : length,
                               .is_causal = k % 4 == 2,
                               .first = (size_t)k % 3};
        ck_assert_int_eq(pwl_row_values_check(&values), PWL_OK);
        make_any(&made, in, k % 7 == 0, &state, (uint32_t)length);
        for (size_t j = 0; j < rows.count; j++)
            fill_row(in, (uint16_t *)element(in, x, j * length), length, shapes[(size_t)k % SHAPES],
                     is_flat ? 0 : part_of(in, k), &state);
        draw_mask(rows.count * length, &state);
        for (size_t j = 0; j < length * values.stride; j++)
            set_code_at(type, v, j,
                        (int32_t)(k % 5 == 1   ? type_lowest(type)
                                  : k % 5 == 2 ? type_highest(type)
                                               : random_in(&state, type_lowest(type), type_highest(type))));
        assert_weighed(&made, &rows, &values);
    }
}
END_TEST

/* Long rows, whose first channel holds one end at the largest code and the other elsewhere, and whose second is drawn.
 */
START_TEST(long_weighted_sums)
{
    static uint16_t values_of[2 * ROOM];
    const pwl_type in = types[_i % 4], type = types[_i / 4];
    uint64_t state = 0x10e6 + (uint64_t)_i;
    for (int k = 0; k < 24 / quick_step(4); k++) {
        const size_t length = k % 2 ? ROOM : 300;
        const int32_t low = type_lowest(type), high = type_highest(type);
        const pwl_row_values values = {
            .v = values_of, .type = (uint8_t)type, .zero_point = k % 3 ? low : high, .channels = 2, .stride = 2};
        const pwl_rows row = {.x = x, .count = 1, .length = length};
        made_softmax made;
        make_any(&made, in, 0, &state, (uint32_t)length);
        fill_row(in, x, length, shapes[(size_t)k % SHAPES], part_of(in, k), &state);
        for (size_t j = 0; j < length; j++) {
            const int is_largest = code_at(in, x, j) == type_highest(in);
            set_code_at(type, values_of, 2 * j, is_largest == k % 2 ? low : high);
            set_code_at(type, values_of, 2 * j + 1, (int32_t)random_in(&state, low, high));
        }
        assert_weighed(&made, &row, &values);
    }
}
END_TEST

/* The longest row, of largest exponentials and values as far from the zero point as they get. */
START_TEST(longest_weighted_sums)
{
    static uint16_t codes[PWL_LONGEST_ROW], far[PWL_LONGEST_ROW];
    for (int t = 0; t < 4; t++)
        for (int end = 0; end < 2; end++) {
            const pwl_type type = types[t];
            const int32_t low = type_lowest(type), high = type_highest(type);
            made_softmax made;
            int32_t o;
            make_softmax(&made, PWL_S16, 0.0001L, PWL_U8, 8, 0, PWL_LONGEST_ROW);
            for (size_t k = 0; k < PWL_LONGEST_ROW; k++) {
                set_code_at(PWL_S16, codes, k, -7);
                set_code_at(type, far, k, end ? high : low);
            }
            pwl_softmax_weigh(
                &made.softmax, &(pwl_rows){.x = codes, .count = 1, .length = PWL_LONGEST_ROW},
                &(pwl_row_values){
                    .v = far, .type = (uint8_t)type, .zero_point = end ? low : high, .channels = 1, .stride = 1},
                &o);
            const long double real = end ? high - low : low - high, count = 30 - type_bits(type);
            ck_assert(fabsl(ldexpl(o, (int)-count) - real) <=
                      fabsl(real) * reciprocal_delta() + ldexpl(1, (int)-count));
        }
}
END_TEST

START_TEST(values_refused)
{
    const pwl_row_values good = {.type = PWL_U8, .zero_point = 255, .channels = 1, .stride = 1};
    pwl_row_values values = good;
    ck_assert_int_eq(pwl_row_values_check(NULL), PWL_ERR_NULL);
    ck_assert_int_eq(pwl_row_values_check(&values), PWL_OK);
    values.zero_point = 256;
    ck_assert_int_eq(pwl_row_values_check(&values), PWL_ERR_ZERO_POINT);
    values.zero_point = -1;
    ck_assert_int_eq(pwl_row_values_check(&values), PWL_ERR_ZERO_POINT);
    values = good;
    values.type = PWL_S32;
    ck_assert_int_eq(pwl_row_values_check(&values), PWL_ERR_FIELD);
}
END_TEST

/* In place, and a row that has nothing. */
START_TEST(tiles_in_place_and_empty)
{
    made_softmax made;
    uint64_t state = 1;
    uint8_t codes[100] = {0}, out[100], none[100] = {0};
    pwl_softmax_tiles row = {0};
    make_softmax(&made, PWL_U8, 0.05L, PWL_U8, 8, 3, 100);
    pwl_softmax_tiles_add(&made.softmax, &row, codes, NULL, 0);
    memset(out, 9, sizeof out);
    for (size_t k = 0; k < 100; k++)
        codes[k] = (uint8_t)random_bits(&state);
    pwl_softmax_tiles_add(&made.softmax, &row, codes, none, 100);
    ck_assert(row.sum == 0 && row.rescalings == 0);
    pwl_softmax_tiles_write(&made.softmax, &row, codes, out, NULL, 100);
    for (size_t k = 0; k < 100; k++)
        ck_assert_int_eq(out[k], 3);
    pwl_softmax_tiles_add(&made.softmax, &row, codes, NULL, 100);
    ck_assert_uint_eq(row.rescalings, 0);
    pwl_softmax_tiles_write(&made.softmax, &row, codes, out, NULL, 100);
    pwl_softmax_tiles_write(&made.softmax, &row, codes, codes, NULL, 100);
    ck_assert_mem_eq(codes, out, 100);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("runtime_tiles");
    TCase *const tiles = tcase_create("tiles"), *const weighted = tcase_create("weighted");
    tcase_set_timeout(tiles, 0);
    tcase_set_timeout(weighted, 0);
    tcase_add_loop_test(tiles, tiles_keep_their_bound, 0, 8);
    tcase_add_loop_test(tiles, rescalings_are_exact, 0, 4);
    tcase_add_test(tiles, tiles_in_place_and_empty);
    tcase_add_loop_test(weighted, weighted_sums_keep_their_bound, 0, 16);
    tcase_add_loop_test(weighted, long_weighted_sums, 0, 16);
    tcase_add_test(weighted, longest_weighted_sums);
    tcase_add_test(weighted, values_refused);
    suite_add_tcase(suite, tiles);
    suite_add_tcase(suite, weighted);
    return run_suite(suite);
}
