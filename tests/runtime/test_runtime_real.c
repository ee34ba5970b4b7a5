/* SPDX-License-Identifier: Apache-2.0 */
/* Floats through a table: pwl_run_real() by every level gives what the definition in wider arithmetic does, at floats
 * of every kind and at ties, reads and writes nothing outside [0, count), and works in place. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/real.h>

#include "../../runtime/reals.h"
#include "../support/made_table.h"
#include "../support/suite.h"
#include "../support/typed_array.h"

enum { GUARD = 16, MOST = 2200, STRIDE = 4099 };

static struct made_table made;
static _Alignas(64) unsigned char memory[300 << 10];

/* The code by its definition. A product of two floats is exact in double; what lies beyond 2^52 has no fraction. */
static int64_t code_of(float x, pwl_affine of, struct type_limits type)
{
    const float steps = (float)((double)x * (1.0f / of.scale));
    const double down = floor(steps), rest = (double)steps - down;
    const double whole = isnan(steps) ? 0 : rest > 0.5 || (rest == 0.5 && fmod(down, 2) != 0) ? down + 1 : down;
    return (int64_t)fmin(fmax(whole + (double)of.zero_point, (double)type.min), (double)type.max);
}

static float value_of(const pwl_plan *plan, pwl_affine of_x, pwl_affine of_y, float x)
{
    const int64_t q = pwl_eval(plan->table, code_of(x, of_x, limits[plan->in]));
    return (float)((double)(float)(q - of_y.zero_point) * of_y.scale);
}

static void draw(uint64_t *state, int storage, pwl_type out)
{
    const int64_t half = (int64_t)1 << ((8 << storage) - 1);
    do {
        const uint64_t choice = random_bits(state);
        made_random(&made, state, (pwl_storage)storage, (pwl_form)(choice % 3), (pwl_rounding)(choice / 3 % 4),
                    (int)(choice / 12 % 2), 2000);
        made.table.qmin_y = limits[out].min < -half ? -half : limits[out].min;
        made.table.qmax_y = made.table.qmin_y < 0 ? half - 1 : 2 * half - 1;
        if (made.table.qmax_y > limits[out].max)
            made.table.qmax_y = limits[out].max;
    } while (pwl_table_check(&made.table, NULL) != PWL_OK);
}

static void check(const pwl_plan *plan, pwl_affine of_x, pwl_affine of_y, const float *numbers, size_t count,
                  size_t shift, uint32_t level)
{
    static float y[64 + MOST + GUARD], before[64 + MOST + GUARD];
    float *const x = malloc((count + 1) * sizeof *x); /* of exactly its size, for ASan */
    ck_assert_ptr_nonnull(x);
    memcpy(x, numbers, count * sizeof *x);
    memset(y, 0x5a, sizeof y);
    memcpy(before, y, sizeof y);
    ck_assert_int_eq(pwl_run_real_by(plan, &of_x, x, &of_y, y + shift, count, level), PWL_OK);
    ck_assert(!memcmp(y, before, shift * sizeof *y));
    ck_assert(!memcmp(y + shift + count, before, (64 + MOST + GUARD - shift - count) * sizeof *y));
    for (size_t k = 0; k < count; k++) {
        const float expected = value_of(plan, of_x, of_y, x[k]);
        if (memcmp(&expected, &y[shift + k], sizeof expected))
            ck_abort_msg("level %u, types %d to %d, %s, scale %a, zero point %lld: x[%zu] = %a gives %a, not %a",
                         (unsigned)level, plan->in, plan->out, plan->way, (double)of_x.scale,
                         (long long)of_x.zero_point, k, (double)x[k], (double)y[shift + k], (double)expected);
    }
    ck_assert_int_eq(pwl_run_real_by(plan, &of_x, x, &of_y, x, count, level), PWL_OK);
    ck_assert(!memcmp(x, y + shift, count * sizeof *x));
    free(x);
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Numbers of every kind, those that end at the limits of codes or between two codes, and any bits. */
static void draw_numbers(uint64_t *state, pwl_affine of, struct type_limits type, float *x)
{
    static const float kinds[] = {
        0,       -0.0f,           NAN,        -NAN,        INFINITY,     -INFINITY, FLT_MAX,  -FLT_MAX,
        FLT_MIN, 0x1p-149f,       -0x1p-149f, 0x0.8p-126f, -0x0.fp-126f, 0x1p31f,   -0x1p31f, 0x1.fffffep30f,
        0x1p32f, -0x1.000002p31f, 0x1p62f,    -0x1p63f,    0x1p64f};
    for (size_t k = 0; k < MOST; k++) {
        const uint64_t choice = random_bits(state) % 8;
        const int64_t q = choice == 1   ? random_in(state, type.min - 2, type.min + 2)
                          : choice == 2 ? random_in(state, type.max - 2, type.max + 2)
                                        : random_in(state, type.min, type.max);
        const double halves = (double)(q - of.zero_point) + (choice % 2 ? 0.5 : 0);
        x[k] = float_of((uint32_t)random_bits(state));
        if (choice == 0)
            x[k] = kinds[random_bits(state) % (sizeof kinds / sizeof *kinds)];
        else if (choice < 6)
            x[k] = (float)(halves * of.scale);
        if (choice == 5)
            x[k] = nextafterf(x[k], random_bits(state) % 2 ? INFINITY : -INFINITY);
    }
}

static pwl_plan plan_of(pwl_type in, pwl_type out)
{
    pwl_plan plan;
    ck_assert_int_eq(pwl_plan_init(&plan, memory, sizeof memory, &made.table, in, out, PWL_LEVELS_ALL), PWL_OK);
    return plan;
}

/* One run for each pair of types. */
START_TEST(every_level_gives_the_definitions_numbers)
{
    static const pwl_affine affines[] = {{0x1p-4f, 0},     {0.0472f, -3},       {0x1p-126f, 77},
                                         {0x1p126f, -128}, {0x1p-12f, 1 << 30}, {3.7e-3f, -(1 << 30)},
                                         {0x1p-28f, 1},    {1.1f, 40000},       {0x1p-20f, INT64_C(1) << 33}};
    static float numbers[MOST];
    const pwl_type in = (pwl_type)(_i / 6), out = (pwl_type)(_i % 6);
    const int storage = (_i / 6 > _i % 6 ? _i / 6 : _i % 6) >> 1;
    uint64_t state = 40 + (uint64_t)_i;
    for (int round = 0; round < 9; round++) {
        const pwl_affine of_x = affines[round], of_y = affines[random_bits(&state) % 9];
        draw(&state, storage, out);
        const pwl_plan plan = plan_of(in, out);
        draw_numbers(&state, of_x, limits[in], numbers);
        for (size_t k = 0; k < pwl_real_way_count; k++) {
            const uint32_t level = pwl_real_ways[k].level;
            const int serves = pwl_affine_serves(of_x, storage == 2) && pwl_affine_serves(of_y, storage == 2);
            if ((level & pwl_levels()) != level)
                continue;
            if (!serves) {
                ck_assert_int_eq(pwl_run_real_by(&plan, &of_x, numbers, &of_y, numbers, 1, level), PWL_ERR_FIELD);
                continue;
            }
            check(&plan, of_x, of_y, numbers, MOST, 0, level);
            for (size_t count = 0; count <= 70; count++)
                check(&plan, of_x, of_y, numbers + random_bits(&state) % 1000, count, random_bits(&state) % 65, level);
        }
    }
}
END_TEST

/* One float in STRIDE, which has no factor in common with 2^32: a million of all signs and exponents. */
START_TEST(floats_over_their_whole_range)
{
    static float numbers[MOST];
    const pwl_affine of_x = {0x1.8p-9f, 5}, of_y = {0x1p-8f, -128};
    uint64_t state = 3;
    uint64_t bits = 0;
    draw(&state, 1, PWL_S16);
    const pwl_plan plan = plan_of(PWL_S16, PWL_S16);
    while (bits <= UINT32_MAX) {
        size_t count = 0;
        for (; count < MOST && bits <= UINT32_MAX; bits += STRIDE)
            numbers[count++] = float_of((uint32_t)bits);
        check(&plan, of_x, of_y, numbers, count, 0, pwl_levels());
    }
}
END_TEST

/* Long enough that stores pass the caches by, from every place in a line of theirs that begins a float. */
START_TEST(long_arrays_are_mapped_whole)
{
    enum { LONG = (8 << 20) + 5000 };
    float *const x = malloc(LONG * sizeof *x), *const y = malloc((LONG + 17) * sizeof *y);
    const pwl_affine of = {0x1p-4f, 0};
    uint64_t state = 4;
    ck_assert(x && y);
    draw(&state, 0, PWL_S8);
    const pwl_plan plan = plan_of(PWL_S8, PWL_S8);
    for (size_t k = 0; k < LONG; k++)
        x[k] = (float)(k % 4001) * 0x1p-7f - 15;
    for (size_t shift = 0; shift < 16; shift += 5) {
        y[shift + LONG] = 77;
        ck_assert_int_eq(pwl_run_real(&plan, of, x, of, y + shift, LONG), PWL_OK);
        for (size_t k = 0; k < LONG; k++)
            if (k < 5000 || k > LONG - 5000 || k % 97 == 0)
                ck_assert(y[shift + k] == value_of(&plan, of, of, x[k]));
        ck_assert(y[shift + LONG] == 77);
    }
    free(x);
    free(y);
}
END_TEST

START_TEST(what_cannot_be_done_is_said)
{
    const pwl_affine good = {1, 0}, bad[] = {{0, 0}, {-1, 0}, {NAN, 0}, {0x1p127f, 0}, {1, INT64_C(1) << 31}};
    float x = 1, y = 7;
    uint64_t state = 5;
    draw(&state, 0, PWL_S8);
    const pwl_plan plan = plan_of(PWL_S8, PWL_S8);
    ck_assert_int_eq(pwl_run_real(NULL, good, &x, good, &y, 1), PWL_ERR_NULL);
    ck_assert_int_eq(pwl_run_real(&plan, good, NULL, good, &y, 1), PWL_ERR_NULL);
    ck_assert_int_eq(pwl_run_real(&plan, good, &x, good, NULL, 1), PWL_ERR_NULL);
    ck_assert_int_eq(pwl_run_real(&plan, good, NULL, good, NULL, 0), PWL_OK);
    for (int k = 0; k < 5; k++) {
        ck_assert_int_eq(pwl_run_real(&plan, bad[k], &x, good, &y, 1), PWL_ERR_FIELD);
        ck_assert_int_eq(pwl_run_real(&plan, good, &x, bad[k], &y, 1), PWL_ERR_FIELD);
    }
    ck_assert(y == 7);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("runtime real");
    TCase *const tcase = tcase_create("reals");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, every_level_gives_the_definitions_numbers, 0, 36);
    tcase_add_test(tcase, floats_over_their_whole_range);
    tcase_add_test(tcase, long_arrays_are_mapped_whole);
    tcase_add_test(tcase, what_cannot_be_done_is_said);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
