/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation: shifts and roundings, the documents' worked example, random tables against 128-bit arithmetic, and the
 * two-shift flow. */
#include <check.h>

#include <pwl/fixed.h>
#include <pwl/pwl.h>

#include "../support/reference_eval.h"
#include "../support/suite.h"
#include "made_reference.h"
#include "unfused.h"

static const pwl_rounding roundings[] = {PWL_FLOOR, PWL_HALF_UP, PWL_HALF_AWAY, PWL_HALF_EVEN};

/* Ties of both signs, by hand: p / 2 for p = -5..5. */
START_TEST(ties_of_both_signs_round_as_named)
{
    static const int expected[4][11] = {
        {-3, -2, -2, -1, -1, 0, 0, 1, 1, 2, 2},
        {-2, -2, -1, -1, 0, 0, 1, 1, 2, 2, 3},
        {-3, -2, -2, -1, -1, 0, 1, 1, 2, 2, 3},
        {-2, -2, -2, -1, 0, 0, 0, 1, 2, 2, 2},
    };
    for (int rounding = 0; rounding < 4; rounding++) {
        for (int p = -5; p <= 5; p++) {
            ck_assert_int_eq(pwl_shr32(p, 1, rounding), expected[rounding][p + 5]);
            ck_assert_int_eq(pwl_shr64(p, 1, rounding), expected[rounding][p + 5]);
            /* The same ties at the top of a wide shift. */
            ck_assert_int_eq(pwl_shr64(p * ((int64_t)1 << 40), 41, rounding), expected[rounding][p + 5]);
        }
    }
}
END_TEST

static int64_t reference_shr(int64_t p, int n, int rounding)
{
    return n > 0 ? (int64_t)ref_divide(p, n, rounding) : (int64_t)(p * ref_power(-n));
}

/* Whether shr of p passes the proof in an accumulator of `bits`. */
static int is_provable(int64_t p, int n, int rounding, int bits)
{
    const ref_int limit = ref_power(bits - 1);
    const ref_int magnitude = rounding == PWL_HALF_AWAY && p < 0 ? -(ref_int)p : p;
    if (n > 0)
        return rounding == PWL_FLOOR || magnitude + ref_power(n - 1) < limit;
    return p * ref_power(-n) < limit && p * ref_power(-n) >= -limit;
}

static int64_t shr_under_test(int bits, int64_t p, int n, int rounding)
{
    return bits == 32 ? pwl_shr32((int32_t)p, n, rounding) : pwl_shr64(p, n, rounding);
}

/* The values where a rounding changes its mind: multiples of 2^n, ties, their neighbours, and the type's ends. */
START_TEST(shifts_equal_division_at_every_count)
{
    for (int bits = 32; bits <= 64; bits += 32) {
        const int64_t max = bits == 32 ? INT32_MAX : INT64_MAX, min = -max - 1;
        int compared = 0;
        for (int n = 1 - bits; n <= bits - 1; n++) {
            const ref_int unit = ref_power(n > 0 ? n : 0);
            for (int quarter = -26; quarter <= 26; quarter++) {
                for (int step = -1; step <= 1; step++) {
                    const ref_int from_zero = unit * quarter / 4 + step;
                    const ref_int values[] = {from_zero, max + from_zero, min + from_zero};
                    for (int k = 0; k < 3; k++) {
                        if (values[k] < min || values[k] > max)
                            continue;
                        const int64_t p = (int64_t)values[k];
                        for (int rounding = 0; rounding < 4; rounding++) {
                            if (!is_provable(p, n, rounding, bits))
                                continue;
                            ck_assert_int_eq(shr_under_test(bits, p, n, rounding), reference_shr(p, n, rounding));
                            compared++;
                        }
                    }
                }
            }
        }
        ck_assert_int_gt(compared, 20000);
    }
}
END_TEST

START_TEST(random_shifts_equal_division)
{
    uint64_t state = 1;
    for (int bits = 32; bits <= 64; bits += 32) {
        for (int k = 0; k < 100000; k++) {
            const int64_t p = random_width(&state, bits);
            const int n = (int)random_in(&state, 1 - bits, bits - 1), rounding = (int)(random_bits(&state) % 4);
            if (is_provable(p, n, rounding, bits))
                ck_assert_int_eq(shr_under_test(bits, p, n, rounding), reference_shr(p, n, rounding));
        }
    }
}
END_TEST

START_TEST(absolute_value_and_saturation_reach_the_ends)
{
    ck_assert(pwl_abs64(INT64_MIN) == (uint64_t)1 << 63);
    ck_assert(pwl_abs64(-1) == 1 && pwl_abs64(0) == 0 && pwl_abs64(INT64_MAX) == INT64_MAX);
    ck_assert(pwl_sat(INT64_MIN, -3, 4) == -3 && pwl_sat(-3, -3, 4) == -3 && pwl_sat(0, -3, 4) == 0);
    ck_assert(pwl_sat(4, -3, 4) == 4 && pwl_sat(5, -3, 4) == 4 && pwl_sat(INT64_MAX, -3, 4) == 4);
}
END_TEST

/* Document 002, sigmoid segment 8 at x = 0.1; the segment reaches from x = -0.006 to 0.246. */
static void golden_table(struct made_table *made)
{
    *made = (struct made_table){
        .table = {.version = PWL_TABLE_VERSION,
                  .storage = PWL_INT16,
                  .flags = PWL_FLAG_UNSIGNED_X,
                  .segments = 3,
                  .zp_x = 24576,
                  .qmax_x = 65535,
                  .qmax_y = 65535},
        .start = {0, 24551, 25584},
        .q_b = {0, 32619, 0},
        .n = {0, 13, 0},
        .offset = {0, 32770, 65535},
    };
    made_pack(made);
}

static const struct unfused_segment golden_segment = {32619, 16385, 9, 4, -1};

START_TEST(the_documents_example_holds_in_every_intermediate)
{
    struct made_table made;
    pwl_proof proof;
    const struct unfused_flow flow = unfused_eval(&golden_segment, 24576, 0, 65535, 24986);
    ck_assert_int_eq(flow.x_offset, 410);
    ck_assert_int_eq(flow.bx, 13373790);
    ck_assert_int_eq(flow.q_bx, 26120);
    ck_assert_int_eq(flow.term_bx, 1632);
    ck_assert_int_eq(flow.term_c, 32770);
    ck_assert_int_eq(flow.y, 34402);
    ck_assert_int_eq(flow.q_y, 34402);

    golden_table(&made);
    ck_assert_int_eq(pwl_table_check(&made.table, &proof), PWL_OK);
    ck_assert_int_eq(proof.segment, -1);
    ck_assert_int_eq(pwl_segment(&made.table, 24986), 1);
    ck_assert_int_eq(pwl_line32(PWL_ABSOLUTE, PWL_FLOOR, 32619, 410, 0, 0), 13373790);
    ck_assert_int_eq(pwl_shr32(13373790, 13, PWL_FLOOR), 1632);
    ck_assert_int_eq(pwl_eval(&made.table, 24986), 34402);
    ck_assert_int_eq(pwl_eval_unclamped(&made.table, 24986), 34402);

    const struct ref_table reference = made_reference(&made);
    const struct ref_result result = ref_eval(&reference, 24986);
    ck_assert_int_eq((int64_t)result.product, 13373790);
    ck_assert_int_eq(result.q_y, 34402);
}
END_TEST

START_TEST(the_documents_segment_is_equal_fused_and_unfused)
{
    struct made_table made;
    golden_table(&made);
    for (int q = 24551; q < 25584; q++)
        ck_assert_int_eq(pwl_eval(&made.table, q), unfused_eval(&golden_segment, 24576, 0, 65535, q).q_y);
}
END_TEST

/* As the documents' method makes them: one n_yc, non-negative shifts, floor. */
START_TEST(fused_equals_unfused_for_non_negative_shifts_under_floor)
{
    uint64_t state = 2;
    int proven = 0;
    for (int round = 0; round < 3000; round++) {
        struct made_table made;
        struct unfused_segment segments[MADE_MAX_SEGMENTS];
        const pwl_storage storage = (pwl_storage)(round % 3);
        const int bits = 8 << storage, n_yc = (int)random_in(&state, -4, 4);
        made_random(&made, &state, storage, PWL_ABSOLUTE, PWL_FLOOR, 0, 100);
        for (int i = 0; i < made.table.segments; i++) {
            struct unfused_segment *const segment = &segments[i];
            segment->n_bx = (int)random_in(&state, 0, bits - 1);
            segment->n_yb = (int)random_in(&state, 0, bits - 1);
            segment->n_yc = n_yc;
            segment->q_b = made.q_b[i];
            segment->q_c = random_width(&state, bits);
            made.n[i] = segment->n_bx + segment->n_yb;
            made.offset[i] = unfused_shift(segment->q_c, n_yc);
        }
        made_pack(&made);
        if (pwl_table_check(&made.table, NULL) != PWL_OK)
            continue;
        proven++;
        for (int64_t q = made.table.qmin_x; q <= made.table.qmax_x; q++) {
            const struct unfused_flow flow = unfused_eval(&segments[pwl_segment(&made.table, q)], made.table.zp_x,
                                                          made.table.qmin_y, made.table.qmax_y, q);
            ck_assert_int_eq(pwl_eval(&made.table, q), flow.q_y);
        }
    }
    ck_assert_int_gt(proven, 1500);
}
END_TEST

static void assert_equal_at(const struct made_table *made, const struct ref_table *reference, int64_t q_x)
{
    const struct ref_result expected = ref_eval(reference, q_x);
    ck_assert_int_eq(expected.leaves, REF_FITS);
    ck_assert_int_eq(pwl_segment(&made->table, q_x), expected.segment);
    ck_assert_int_eq(pwl_eval_unclamped(&made->table, q_x), (int64_t)expected.value);
    ck_assert_int_eq(pwl_eval(&made->table, q_x), expected.q_y);
}

/* One run for each storage, form, rounding and fold. */
START_TEST(random_tables_equal_the_reference_at_every_code)
{
    const int fold = _i % 2, rounding = _i / 2 % 4, form = _i / 8 % 3, storage = _i / 24;
    uint64_t state = 1000 + (uint64_t)_i;
    int proven = 0, saturated = 0, mirrored = 0;
    for (int round = 0; round < 250; round++) {
        struct made_table made;
        made_random(&made, &state, (pwl_storage)storage, (pwl_form)form, roundings[rounding], fold, 100);
        if (pwl_table_check(&made.table, NULL) != PWL_OK)
            continue;
        proven++;
        const struct ref_table reference = made_reference(&made);
        const int64_t beyond[] = {INT64_MIN, INT64_MAX, made.table.qmin_x - 1, made.table.qmax_x + 1};
        for (int64_t q = made.table.qmin_x; q <= made.table.qmax_x; q++) {
            assert_equal_at(&made, &reference, q);
            saturated += pwl_eval(&made.table, q) != pwl_eval_unclamped(&made.table, q);
            mirrored += fold && q < made.table.zp_x;
        }
        for (int k = 0; k < 4; k++)
            assert_equal_at(&made, &reference, beyond[k]);
    }
    /* The loop above must have had something to compare. */
    ck_assert_int_gt(proven, 20);
    ck_assert_int_gt(saturated, 100);
    if (fold)
        ck_assert_int_gt(mirrored, 100);
}
END_TEST

/* A full table has as many segments as codes: each of them finds its own. */
START_TEST(every_code_finds_its_segment_in_a_full_table)
{
    static int8_t start[256], q_b[256], n[256];
    static int16_t term_c[256];
    const pwl_table table = {.version = PWL_TABLE_VERSION,
                             .storage = PWL_INT8,
                             .segments = 256,
                             .start = start,
                             .q_b = q_b,
                             .n = n,
                             .offset = term_c,
                             .qmin_x = -128,
                             .qmax_x = 127,
                             .qmin_y = -128,
                             .qmax_y = 127};
    for (int q = -128; q < 128; q++) {
        start[q + 128] = (int8_t)q;
        term_c[q + 128] = (int16_t)(q * 37 % 128);
    }
    ck_assert_int_eq(pwl_table_check(&table, NULL), PWL_OK);
    for (int q = -128; q < 128; q++) {
        ck_assert_int_eq(pwl_segment(&table, q), q + 128);
        ck_assert_int_eq(pwl_eval(&table, q), q * 37 % 128);
    }
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("runtime");
    TCase *const shifts = tcase_create("shifts");
    TCase *const tables = tcase_create("tables");
    tcase_add_test(shifts, ties_of_both_signs_round_as_named);
    tcase_add_test(shifts, shifts_equal_division_at_every_count);
    tcase_add_test(shifts, random_shifts_equal_division);
    tcase_add_test(shifts, absolute_value_and_saturation_reach_the_ends);
    tcase_add_test(tables, the_documents_example_holds_in_every_intermediate);
    tcase_add_test(tables, the_documents_segment_is_equal_fused_and_unfused);
    tcase_add_test(tables, fused_equals_unfused_for_non_negative_shifts_under_floor);
    tcase_add_loop_test(tables, random_tables_equal_the_reference_at_every_code, 0, 72);
    tcase_add_test(tables, every_code_finds_its_segment_in_a_full_table);
    suite_add_tcase(suite, shifts);
    suite_add_tcase(suite, tables);
    return run_suite(suite);
}
