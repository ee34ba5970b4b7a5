/* SPDX-License-Identifier: Apache-2.0 */
/* Reduced tables against their definition in 128-bit integers, and the limits of their proof. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <check.h>
#include <stdlib.h>

#include <pwl/reduce.h>

#include "made_reference.h"

#include "check_ways.h"

#include "../support/suite.h"

static ref_int floor_divide(ref_int v, ref_int d)
{
    const ref_int down = v / d;
    return v % d < 0 ? down - 1 : down;
}

static void assert_magnitude(ref_int v, int bits)
{
    const ref_int limit = ref_power(bits);
    if (v >= limit || -v >= limit)
        ck_abort_msg("a proven value reaches 2^%d", bits);
}

/* From the comment at the top of reduce.h: multiplication and division, no header of the project but for names. */
static int64_t defined(const struct made_table *made, const pwl_reduction *reduction, int64_t q_x)
{
    const struct ref_table core = made_reference(made);
    const int word_bits = 8 << made->table.storage, step = 1 << reduction->log2_step;
    ref_int q = q_x, d, r = 0, m, v, n;
    q = q < reduction->qmin_x ? reduction->qmin_x : q > reduction->qmax_x ? reduction->qmax_x : q;
    d = q - reduction->zp_x;
    if (reduction->kind == PWL_LEADING_ZEROS) {
        if (d <= 0)
            return reduction->below;
        /* The largest r for which d * 2^(r * step) is below 2^w. */
        while (d >= ref_power(word_bits - (int)r * step))
            r--;
        while (r * step < word_bits && d * ref_power((int)(r + 1) * step) < ref_power(word_bits))
            r++;
        m = r < 0 ? d / ref_power((int)-r * step) : d * ref_power((int)r * step);
    } else {
        const int dropped = reduction->fraction - word_bits;
        ref_int z = d * reduction->factor;
        assert_magnitude(z, 62);
        if (dropped > 0)
            z = ref_divide(z, dropped, REF_HALF_UP);
        r = floor_divide(z, ref_power(word_bits));
        m = z - r * ref_power(word_bits);
    }
    const struct ref_result result = ref_eval(&core, (int64_t)m);
    if (result.leaves != REF_FITS)
        ck_abort_msg("the core's value leaves the accumulator");
    v = result.value - r * reduction->addend;
    assert_magnitude(v, 61);
    n = reduction->shift + reduction->direction * r;
    n = n < 0 ? 0 : n > 62 ? 62 : n;
    v = (n > 0 ? ref_divide(v, (int)n, REF_HALF_UP) : v) + reduction->zp_y;
    return v < core.qmin_y ? core.qmin_y : v > core.qmax_y ? core.qmax_y : (int64_t)v;
}

/* Every field legal by itself; half of the time its ranges are those of one of the laws. */
static void random_reduction(uint64_t *state, const pwl_table *core, pwl_reduction *reduction)
{
    const int word_bits = 8 << core->storage, tame = random_bits(state) % 4 != 0;
    const int bits = random_bits(state) % 2 ? 16 : 32, is_unsigned = random_bits(state) % 2;
    const int64_t min = is_unsigned ? 0 : -((int64_t)1 << (bits - 1)), max = min + (int64_t)(UINT64_MAX >> (64 - bits));
    *reduction = (pwl_reduction){.version = PWL_REDUCTION_VERSION, .kind = random_bits(state) % 2};
    reduction->qmin_x = random_bits(state) % 2 ? min : random_in(state, min, max);
    reduction->qmax_x = random_bits(state) % 2 ? max : random_in(state, reduction->qmin_x, max);
    reduction->zp_x =
        random_bits(state) % 4 ? random_in(state, min - 10, max + 10) : random_width(state, tame ? 33 : 61);
    reduction->zp_y = random_width(state, tame ? 17 : 61);
    reduction->direction = (int8_t)random_in(state, -1, 1);
    reduction->shift = (int16_t)(tame ? random_in(state, 0, 20) : random_in(state, INT16_MIN, INT16_MAX));
    if (reduction->direction == 0 || !tame)
        reduction->addend = random_width(state, tame ? 24 : 62);
    if (reduction->kind == PWL_LEADING_ZEROS) {
        reduction->log2_step = random_bits(state) % 2;
        reduction->below = random_in(state, core->qmin_y, core->qmax_y);
    } else {
        reduction->fraction = (uint8_t)random_in(state, word_bits, 62);
        reduction->factor = random_width(state, tame ? 62 - bits : 62);
    }
}

/* A core over every code of its words, and a reduction; both proven. */
static void random_reduced(uint64_t *state, struct made_table *made, pwl_reduced *reduced, pwl_storage storage)
{
    do {
        const uint64_t choice = random_bits(state);
        made_random(made, state, storage, (pwl_form)(choice % 3), (pwl_rounding)(choice / 3 % 4), 0, 1 << 30);
        random_reduction(state, &made->table, &reduced->reduction);
        reduced->core = made->table;
    } while (pwl_reduced_check(reduced, NULL) != PWL_OK);
}

START_TEST(every_16_bit_code_as_defined)
{
    uint64_t state = 0x5eed0000u + (uint64_t)_i;
    struct made_table made;
    pwl_reduced reduced;
    for (int k = 0; k < 4; k++) {
        random_reduced(&state, &made, &reduced, (pwl_storage)(_i % 3));
        for (int64_t q = -32768; q <= 65535; q++)
            ck_assert_int_eq(pwl_reduced_eval(&reduced, q), defined(&made, &reduced.reduction, q));
    }
}
END_TEST

START_TEST(random_wide_codes_as_defined)
{
    uint64_t state = 0xc0de0000u + (uint64_t)_i;
    struct made_table made;
    pwl_reduced reduced;
    for (int k = 0; k < 400; k++) {
        random_reduced(&state, &made, &reduced, (pwl_storage)(_i % 3));
        for (int j = 0; j < 400; j++) {
            /* Around the zero point, whose octaves are narrow, and anywhere; outside the range too. */
            const int64_t near = reduced.reduction.zp_x + random_width(&state, 33);
            const int64_t q = j < 4   ? (j % 2 ? INT64_MAX : INT64_MIN)
                              : j < 8 ? (j % 2 ? reduced.reduction.qmin_x : reduced.reduction.qmax_x)
                              : j % 2 ? near
                                      : random_width(&state, 34);
            ck_assert_int_eq(pwl_reduced_eval(&reduced, q), defined(&made, &reduced.reduction, q));
        }
    }
}
END_TEST

/* d = 1 to 2^33 at every power of two and its neighbours, in both steps and every word. */
START_TEST(leading_ones_reach_the_top)
{
    for (int word_bits = 8; word_bits <= 32; word_bits *= 2)
        for (int log2_step = 0; log2_step < 2; log2_step++) {
            const pwl_reduction reduction = {.kind = PWL_LEADING_ZEROS, .log2_step = (uint8_t)log2_step};
            for (int64_t power = 1; power <= (int64_t)1 << 33; power *= 2)
                for (int64_t d = power > 1 ? power - 1 : 1; d <= power + 1; d++) {
                    const pwl_reduced_code code = pwl_reduce(&reduction, word_bits, d);
                    ck_assert_int_lt(code.m, (int64_t)1 << word_bits);
                    ck_assert_int_ge(code.m, (int64_t)1 << (word_bits - 1 - log2_step));
                    const int shift = (int)code.r * (1 << log2_step);
                    if (code.r >= 0)
                        ck_assert_int_eq(code.m, d << shift);
                }
        }
    ck_assert_int_eq(pwl_bit_length(0), 0);
    ck_assert_int_eq(pwl_bit_length(UINT64_MAX), 64);
}
END_TEST

/* One segment of raw value 1000, 16-bit words. */
static pwl_reduced flat(struct made_table *made, pwl_reduction_kind kind)
{
    memset(made, 0, sizeof *made);
    made->table = (pwl_table){.version = PWL_TABLE_VERSION,
                              .storage = PWL_INT16,
                              .flags = PWL_FLAG_UNSIGNED_X,
                              .segments = 1,
                              .qmax_x = 65535,
                              .qmin_y = -100,
                              .qmax_y = 100};
    made->offset[0] = 1000;
    return (pwl_reduced){.reduction = {.version = PWL_REDUCTION_VERSION,
                                       .kind = (uint8_t)kind,
                                       .fraction = kind == PWL_EXPONENT ? 16 : 0,
                                       .qmax_x = 65535,
                                       .shift = 4},
                         .core = *made_pack(made)};
}

static void assert_status(const pwl_reduced *reduced, pwl_status expected)
{
    pwl_proof proof = {PWL_ERR_NULL, 5, 77};
    ck_assert_int_eq(pwl_reduced_check(reduced, &proof), expected);
    ck_assert_int_eq(pwl_reduced_check(reduced, NULL), expected);
    ck_assert_int_eq(proof.status, expected);
    ck_assert_int_eq(proof.segment, -1);
    ck_assert_int_eq(proof.acc_bits != 0, expected == PWL_OK);
}

#define REFUSED(kind, change, expected)                                                                                \
    do {                                                                                                               \
        pwl_reduced reduced = flat(&made, kind);                                                                       \
        pwl_reduction *const r = &reduced.reduction;                                                                   \
        assert_status(&reduced, PWL_OK);                                                                               \
        change;                                                                                                        \
        assert_status(&reduced, expected);                                                                             \
        (void)r;                                                                                                       \
    } while (0)

START_TEST(illegal_fields_are_refused)
{
    struct made_table made;
    assert_status(NULL, PWL_ERR_NULL);
    REFUSED(PWL_EXPONENT, reduced.core.start = NULL, PWL_ERR_NULL);
    REFUSED(PWL_EXPONENT, r->version = 2, PWL_ERR_VERSION);
    REFUSED(PWL_EXPONENT, r->kind = 2, PWL_ERR_REDUCTION);
    REFUSED(PWL_EXPONENT, r->log2_step = 1, PWL_ERR_REDUCTION);
    REFUSED(PWL_EXPONENT, r->fraction = 15, PWL_ERR_REDUCTION);
    REFUSED(PWL_EXPONENT, r->fraction = 62, PWL_OK);
    REFUSED(PWL_EXPONENT, r->fraction = 63, PWL_ERR_REDUCTION);
    REFUSED(PWL_EXPONENT, r->below = 1, PWL_ERR_REDUCTION);
    REFUSED(PWL_LEADING_ZEROS, r->fraction = 16, PWL_ERR_REDUCTION);
    REFUSED(PWL_LEADING_ZEROS, r->factor = 1, PWL_ERR_REDUCTION);
    REFUSED(PWL_LEADING_ZEROS, r->log2_step = 1, PWL_OK);
    REFUSED(PWL_LEADING_ZEROS, r->log2_step = 2, PWL_ERR_REDUCTION);
    REFUSED(PWL_LEADING_ZEROS, r->below = 100, PWL_OK);
    REFUSED(PWL_LEADING_ZEROS, r->below = 101, PWL_ERR_REDUCTION);
    REFUSED(PWL_LEADING_ZEROS, r->below = -101, PWL_ERR_REDUCTION);
    REFUSED(PWL_LEADING_ZEROS, r->direction = -1, PWL_OK);
    REFUSED(PWL_LEADING_ZEROS, r->direction = -2, PWL_ERR_REDUCTION);
    REFUSED(PWL_LEADING_ZEROS, r->direction = 2, PWL_ERR_REDUCTION);
    REFUSED(PWL_LEADING_ZEROS, r->qmin_x = 65536, PWL_ERR_RANGE_X);
    REFUSED(PWL_LEADING_ZEROS, r->qmin_x = (int64_t)INT32_MIN - 1, PWL_ERR_RANGE_X);
    REFUSED(PWL_LEADING_ZEROS, r->qmin_x = INT32_MIN, PWL_OK);
    REFUSED(PWL_LEADING_ZEROS, r->qmax_x = UINT32_MAX, PWL_OK);
    REFUSED(PWL_LEADING_ZEROS, r->qmax_x = (int64_t)UINT32_MAX + 1, PWL_ERR_RANGE_X);
    REFUSED(PWL_LEADING_ZEROS, r->zp_x = (int64_t)1 << 60, PWL_OK);
    REFUSED(PWL_LEADING_ZEROS, r->zp_x = ((int64_t)1 << 60) + 1, PWL_ERR_ZERO_POINT);
    REFUSED(PWL_LEADING_ZEROS, r->zp_x = INT64_MIN, PWL_ERR_ZERO_POINT);
    REFUSED(PWL_LEADING_ZEROS, r->zp_y = -((int64_t)1 << 60), PWL_OK);
    REFUSED(PWL_LEADING_ZEROS, r->zp_y = -((int64_t)1 << 60) - 1, PWL_ERR_ZERO_POINT);
    REFUSED(PWL_LEADING_ZEROS, (made.table.flags |= PWL_FLAG_FOLD, reduced.core = made.table), PWL_ERR_REDUCTION);
}
END_TEST

/* 65535 takes 16 bits. The exponents r of the leading zeros run from 15, at d = 1, to 0. */
START_TEST(wide_values_are_refused)
{
    struct made_table made;
    REFUSED(PWL_EXPONENT, r->factor = ((int64_t)1 << 46) - 1, PWL_OK);
    REFUSED(PWL_EXPONENT, r->factor = (int64_t)1 << 46, PWL_ERR_REDUCED_CODE);
    REFUSED(PWL_EXPONENT, r->factor = -((int64_t)1 << 46), PWL_ERR_REDUCED_CODE);
    REFUSED(PWL_EXPONENT, (r->factor = 1, r->zp_x = -((int64_t)1 << 60)), PWL_OK);
    REFUSED(PWL_EXPONENT, (r->factor = 3, r->zp_x = -((int64_t)1 << 60)), PWL_ERR_REDUCED_CODE);
    REFUSED(PWL_LEADING_ZEROS, r->addend = ((int64_t)1 << 56) - 1, PWL_OK);
    REFUSED(PWL_LEADING_ZEROS, r->addend = (int64_t)1 << 56, PWL_ERR_REDUCED_VALUE);
    REFUSED(PWL_LEADING_ZEROS, r->addend = INT64_MIN, PWL_ERR_REDUCED_VALUE);
    REFUSED(PWL_EXPONENT, (r->factor = 65536, r->addend = (int64_t)1 << 44), PWL_ERR_REDUCED_VALUE);
    /* d = 65535 alone: r = 0 leaves every addend harmless. */
    REFUSED(PWL_LEADING_ZEROS, (r->qmin_x = 65535, r->addend = ((int64_t)1 << 60) - 1), PWL_OK);
    /* No d is positive: nothing is evaluated. */
    REFUSED(PWL_LEADING_ZEROS, (r->zp_x = 65535, r->addend = INT64_MAX), PWL_OK);
}
END_TEST

/* Only a 32-bit core has values of 61 bits; the second segment is to blame. */
START_TEST(wide_core_values_are_refused)
{
    for (int wide = 0; wide < 2; wide++) {
        struct made_table made;
        pwl_reduced reduced = flat(&made, PWL_LEADING_ZEROS);
        pwl_proof proof;
        made.table.storage = PWL_INT32;
        made.table.form = PWL_BIASED;
        made.table.qmax_x = UINT32_MAX;
        made.table.segments = 2;
        made.start[1] = 70000;
        made.offset[1] = -((int64_t)1 << 60) + !wide;
        reduced.core = *made_pack(&made);
        ck_assert_int_eq(pwl_reduced_check(&reduced, &proof), wide ? PWL_ERR_REDUCED_VALUE : PWL_OK);
        ck_assert_int_eq(proof.segment, wide ? 1 : -1);
    }
}
END_TEST

START_TEST(a_code_without_a_leading_one_gives_below)
{
    struct made_table made;
    pwl_reduced reduced = flat(&made, PWL_LEADING_ZEROS);
    reduced.reduction.zp_x = 10;
    reduced.reduction.below = -7;
    assert_status(&reduced, PWL_OK);
    ck_assert_int_eq(pwl_reduced_eval(&reduced, -5), -7);
    ck_assert_int_eq(pwl_reduced_eval(&reduced, 10), -7);
    ck_assert_int_eq(pwl_reduced_eval(&reduced, 11), 63); /* half_up(1000 / 16) */
}
END_TEST

/* Shifts are clipped: far to the right everything rounds to 0, to the left nothing moves. */
START_TEST(shifts_are_clipped)
{
    struct made_table made;
    pwl_reduced reduced = flat(&made, PWL_LEADING_ZEROS);
    reduced.reduction.zp_y = 3;
    reduced.reduction.shift = INT16_MAX;
    ck_assert_int_eq(pwl_reduced_eval(&reduced, 65535), 3);
    made.offset[0] = -1000;
    reduced.core = *made_pack(&made);
    ck_assert_int_eq(pwl_reduced_eval(&reduced, 65535), 3);
    made.offset[0] = 50;
    reduced.core = *made_pack(&made);
    reduced.reduction.shift = INT16_MIN;
    ck_assert_int_eq(pwl_reduced_eval(&reduced, 65535), 53);
}
END_TEST

/* Every pair of types; the array in memory of its own size, so that a sanitizer sees what lies outside. */
START_TEST(arrays_hold_what_single_codes_give)
{
    static const size_t sizes[] = {1, 1, 2, 2, 4, 4};
    enum { COUNT = 257 };
    for (int in = PWL_S8; in <= PWL_U32; in++)
        for (int out = PWL_S8; out <= PWL_U32; out++) {
            uint64_t state = (uint64_t)(in * 8 + out);
            struct made_table made;
            pwl_reduced reduced;
            unsigned char *const x = malloc(COUNT * sizes[in]), *const y = malloc((COUNT + 1) * sizes[out]);
            ck_assert(x && y);
            do
                random_reduced(&state, &made, &reduced, (pwl_storage)(random_bits(&state) % 3));
            while (!pwl_fits(&reduced.core, (pwl_type)out));
            for (size_t k = 0; k < COUNT * sizes[in]; k++)
                x[k] = (unsigned char)random_bits(&state);
            memset(y, 0x5a, (COUNT + 1) * sizes[out]);
            pwl_reduced_map(&reduced, (pwl_type)in, x, (pwl_type)out, y, COUNT);
            for (size_t k = 0; k < COUNT; k++) {
                int64_t code = 0, result = 0;
                memcpy(&code, x + k * sizes[in], sizes[in]);
                memcpy(&result, y + k * sizes[out], sizes[out]);
                const int64_t half = (int64_t)1 << (8 * sizes[in] - 1), top = (int64_t)1 << (8 * sizes[out] - 1);
                if (in % 2 == 0 && code >= half)
                    code -= 2 * half;
                if (out % 2 == 0 && result >= top)
                    result -= 2 * top;
                ck_assert_int_eq(result, pwl_reduced_eval(&reduced, code));
            }
            for (size_t k = COUNT * sizes[out]; k < (COUNT + 1) * sizes[out]; k++)
                ck_assert_int_eq(y[k], 0x5a);
            if (sizes[in] == sizes[out]) {
                pwl_reduced_map(&reduced, (pwl_type)in, x, (pwl_type)out, x, COUNT);
                ck_assert(memcmp(x, y, COUNT * sizes[out]) == 0);
            }
            free(x);
            free(y);
        }
}
END_TEST

/* The same, of output codes that the type has. */
static void random_reduced_to(uint64_t *state, struct made_table *made, pwl_reduced *reduced, pwl_storage storage,
                              pwl_type out)
{
    do {
        random_reduced(state, made, reduced, storage);
        reduced->core.qmin_y = pwl_sat(reduced->core.qmin_y, limits[out].min, limits[out].max);
        reduced->core.qmax_y = pwl_sat(reduced->core.qmax_y, limits[out].min, limits[out].max);
        if (reduced->reduction.kind == PWL_LEADING_ZEROS)
            reduced->reduction.below = pwl_sat(reduced->reduction.below, reduced->core.qmin_y, reduced->core.qmax_y);
    } while (pwl_reduced_check(reduced, NULL) != PWL_OK);
}

/* One run for each storage and pair of types. */
START_TEST(every_way_gives_the_runtimes_codes)
{
    const pwl_type in = (pwl_type)(_i / 6 % 6), out = (pwl_type)(_i % 6);
    const struct arena of = arena();
    uint64_t state = 0xfeed0000u + (uint64_t)_i;
    struct made_table made;
    pwl_reduced reduced;
    for (int k = 0; k < 8; k++) {
        pwl_plan plan;
        int64_t codes[100], expected[100];
        random_reduced_to(&state, &made, &reduced, (pwl_storage)(_i / 36), out);
        const pwl_source source = pwl_source_of_reduced(&reduced);
        check_source(&source, &state, in, out, k == 0 ? EVERY_CODE : A_SAMPLE);
        /* As callers make plans, with memory and without. */
        const size_t bytes = k % 2 ? pwl_reduced_plan_size(&reduced, in, out, PWL_LEVELS_ALL) : 0;
        ck_assert_int_eq(pwl_reduced_plan_init(&plan, of.memory, bytes, &reduced, in, out, PWL_LEVELS_ALL), PWL_OK);
        ck_assert_int_eq(strcmp(pwl_plan_way(&plan), "map") == 0, bytes == 0);
        for (int q = 0; q < 100; q++) {
            codes[q] = random_reduced_code(&state, &reduced, in);
            expected[q] = pwl_reduced_eval(&reduced, codes[q]);
        }
        check_run(&plan, &reduced.core, 100, 0, 0, codes, expected);
    }
}
END_TEST

/* y = m - 3 r + 96, which tells every word and octave from the others, up to the last of 32 bits. */
START_TEST(every_way_tells_octaves_apart)
{
    static const int64_t zero_points[] = {-2, 0, 77, (int64_t)1 << 31};
    const int storage = 1 + _i % 2, word_bits = 8 << storage;
    uint64_t state = (uint64_t)_i;
    for (size_t k = 0; k < sizeof zero_points / sizeof *zero_points; k++) {
        struct made_table made;
        pwl_reduced reduced = {{.version = PWL_REDUCTION_VERSION, .log2_step = (uint8_t)(_i / 2), .addend = 3}, {0}};
        memset(&made, 0, sizeof made);
        made.table = (pwl_table){.version = PWL_TABLE_VERSION,
                                 .storage = (uint8_t)storage,
                                 .flags = PWL_FLAG_UNSIGNED_X,
                                 .segments = 1,
                                 .qmax_x = ((int64_t)1 << word_bits) - 1,
                                 .qmax_y = ((int64_t)1 << word_bits) - 1};
        made.q_b[0] = 1;
        reduced.core = *made_pack(&made);
        reduced.reduction.zp_x = zero_points[k];
        reduced.reduction.zp_y = 96;
        reduced.reduction.qmax_x = UINT32_MAX;
        ck_assert_int_eq(pwl_reduced_check(&reduced, NULL), PWL_OK);
        const pwl_source source = pwl_source_of_reduced(&reduced);
        check_source(&source, &state, PWL_U32, storage == 1 ? PWL_U16 : PWL_U32, EVERY_CODE);
    }
}
END_TEST

START_TEST(what_cannot_be_planned_is_refused)
{
    uint64_t state = 3;
    unsigned char memory[64];
    struct made_table made;
    pwl_reduced reduced;
    pwl_plan plan;
    do
        random_reduced(&state, &made, &reduced, PWL_INT16);
    while (reduced.core.qmin_y >= 0);
    ck_assert_int_eq(pwl_reduced_plan_init(NULL, memory, 64, &reduced, PWL_S16, PWL_S16, 0), PWL_ERR_NULL);
    ck_assert_int_eq(pwl_reduced_plan_init(&plan, memory, 64, NULL, PWL_S16, PWL_S16, 0), PWL_ERR_NULL);
    ck_assert_int_eq(pwl_reduced_plan_init(&plan, NULL, 64, &reduced, PWL_S16, PWL_S16, 0), PWL_ERR_NULL);
    ck_assert_int_eq(pwl_reduced_plan_init(&plan, NULL, 0, &reduced, (pwl_type)6, PWL_S16, 0), PWL_ERR_FIELD);
    ck_assert_int_eq(pwl_reduced_plan_init(&plan, NULL, 0, &reduced, PWL_S16, (pwl_type)6, 0), PWL_ERR_FIELD);
    ck_assert_int_eq(pwl_reduced_plan_init(&plan, NULL, 0, &reduced, PWL_S16, PWL_U16, 0), PWL_ERR_RANGE_Y);
    ck_assert_int_eq(pwl_reduced_plan_init(&plan, NULL, 0, &reduced, PWL_S16, PWL_S32, 0), PWL_OK);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("reduced tables");
    TCase *const tcase = tcase_create("all");
    tcase_set_timeout(tcase, 100);
    tcase_add_loop_test(tcase, every_way_gives_the_runtimes_codes, 0, 108);
    tcase_add_loop_test(tcase, every_way_tells_octaves_apart, 0, 4);
    tcase_add_test(tcase, what_cannot_be_planned_is_refused);
    tcase_add_loop_test(tcase, every_16_bit_code_as_defined, 0, 6);
    tcase_add_loop_test(tcase, random_wide_codes_as_defined, 0, 6);
    tcase_add_test(tcase, leading_ones_reach_the_top);
    tcase_add_test(tcase, illegal_fields_are_refused);
    tcase_add_test(tcase, wide_values_are_refused);
    tcase_add_test(tcase, wide_core_values_are_refused);
    tcase_add_test(tcase, a_code_without_a_leading_one_gives_below);
    tcase_add_test(tcase, shifts_are_clipped);
    tcase_add_test(tcase, arrays_hold_what_single_codes_give);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
