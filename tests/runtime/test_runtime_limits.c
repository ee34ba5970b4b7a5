/* SPDX-License-Identifier: Apache-2.0 */
/* The proof of no overflow: each step of the arithmetic exactly at the accumulator's end and one past it. */
#include <check.h>

#include <pwl/pwl.h>

#include "../support/made_table.h"
#include "../support/suite.h"
#include "proof_checks.h"

/* One segment at one value of X, beside a constant one. */
struct edge {
    pwl_storage storage;
    pwl_form form;
    pwl_rounding rounding;
    int64_t X, q_b, n, offset;
    pwl_status status;
};

#define I8 PWL_INT8
#define I16 PWL_INT16
#define I32 PWL_INT32
static const int64_t max32 = INT32_MAX, min32 = INT32_MIN, max64 = INT64_MAX, min64 = INT64_MIN;

static void assert_edges(const struct edge *edges, int count)
{
    for (int k = 0; k < count; k++) {
        const struct edge *const edge = &edges[k];
        struct made_table made;
        /* Two codes, so placed that zp_x and the other code's difference stay in their types. */
        const int at = edge->X > 0, q = edge->X > 0 ? 1 : -1;
        plain_table(&made);
        made.table.storage = (uint8_t)edge->storage;
        made.table.form = (uint8_t)edge->form;
        made.table.rounding = (uint8_t)edge->rounding;
        made.table.qmin_x = made.start[0] = q > 0 ? 0 : -1;
        made.table.qmax_x = made.start[1] = made.table.qmin_x + 1;
        made.table.zp_x = q - edge->X;
        made.q_b[at] = edge->q_b;
        made.n[at] = edge->n;
        made.offset[at] = edge->offset;
        assert_packed(&made, edge->status, edge->status == PWL_OK ? -1 : at);
    }
}

START_TEST(products_stay_in_the_accumulator)
{
    const struct edge edges[] = {
        {I8, PWL_ABSOLUTE, PWL_FLOOR, INT16_MAX, INT8_MIN, 0, 0, PWL_OK}, /* INT8 products are always far from 2^31 */
        {I16, PWL_ABSOLUTE, PWL_FLOOR, max32, 1, 0, 0, PWL_OK},
        {I16, PWL_ABSOLUTE, PWL_FLOOR, -max32, -1, 0, 0, PWL_OK},
        {I16, PWL_ABSOLUTE, PWL_FLOOR, min32, 1, 0, 0, PWL_OK},
        {I16, PWL_ABSOLUTE, PWL_FLOOR, min32, -1, 0, 0, PWL_ERR_PRODUCT},
        {I16, PWL_ABSOLUTE, PWL_FLOOR, 1073741823, 2, 0, 0, PWL_OK},
        {I16, PWL_ABSOLUTE, PWL_FLOOR, 1073741824, 2, 0, 0, PWL_ERR_PRODUCT},
        {I16, PWL_ABSOLUTE, PWL_FLOOR, -1073741824, 2, 0, 0, PWL_OK},
        {I16, PWL_ABSOLUTE, PWL_FLOOR, -1073741825, 2, 0, 0, PWL_ERR_PRODUCT},
        {I16, PWL_BIASED, PWL_FLOOR, 65536, INT16_MIN, 0, 0, PWL_OK},
        {I16, PWL_BIASED, PWL_FLOOR, 65537, INT16_MIN, 0, max32, PWL_ERR_PRODUCT}, /* a bias does not bring it back */
        {I32, PWL_ABSOLUTE, PWL_FLOOR, max64, 1, 0, 0, PWL_OK},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, -max64, -1, 0, 0, PWL_OK},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, min64, 1, 0, 0, PWL_OK},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, min64, -1, 0, 0, PWL_ERR_PRODUCT},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, ((int64_t)1 << 62) - 1, 2, 0, 0, PWL_OK},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, (int64_t)1 << 62, 2, 0, 0, PWL_ERR_PRODUCT},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, -((int64_t)1 << 62), 2, 0, 0, PWL_OK},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, -((int64_t)1 << 62) - 1, 2, 0, 0, PWL_ERR_PRODUCT},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, (int64_t)1 << 32, min32, 0, 0, PWL_OK},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, ((int64_t)1 << 32) + 1, min32, 0, 0, PWL_ERR_PRODUCT},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, 1 - ((int64_t)1 << 32), min32, 0, 0, PWL_OK},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, -((int64_t)1 << 32), min32, 0, 0, PWL_ERR_PRODUCT},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, max64, max32, 63, 0, PWL_ERR_PRODUCT}, /* more than 64 bits of magnitude */
        {I32, PWL_ABSOLUTE, PWL_FLOOR, min64, min32, 63, 0, PWL_ERR_PRODUCT},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, min64, 2, 63, 0, PWL_ERR_PRODUCT}, /* 2^64, which 64 bits read as 0 */
        {I32, PWL_ABSOLUTE, PWL_FLOOR, min64, -2, 63, 0, PWL_ERR_PRODUCT},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, min64, 0, 63, 0, PWL_OK},
    };
    assert_edges(edges, ARRAY_SIZE(edges));
}
END_TEST

START_TEST(biased_products_stay_in_the_accumulator)
{
    const struct edge edges[] = {
        {I8, PWL_BIASED, PWL_FLOOR, 10, 1, 0, max32 - 10, PWL_OK},
        {I8, PWL_BIASED, PWL_FLOOR, 10, 1, 31, max32 - 9, PWL_ERR_BIAS},
        {I8, PWL_BIASED, PWL_FLOOR, -10, 1, 0, min32 + 10, PWL_OK},
        {I8, PWL_BIASED, PWL_FLOOR, -10, 1, 0, min32 + 9, PWL_ERR_BIAS},
        {I16, PWL_BIASED, PWL_FLOOR, max32, 1, 0, min32, PWL_OK},
        {I16, PWL_BIASED, PWL_FLOOR, max32, 1, 0, 1, PWL_ERR_BIAS},
        {I32, PWL_BIASED, PWL_FLOOR, 10, 1, 0, max64 - 10, PWL_OK},
        {I32, PWL_BIASED, PWL_FLOOR, 10, 1, 0, max64 - 9, PWL_ERR_BIAS},
        {I32, PWL_BIASED, PWL_FLOOR, -10, 1, 0, min64 + 10, PWL_OK},
        {I32, PWL_BIASED, PWL_FLOOR, -10, 1, 0, min64 + 9, PWL_ERR_BIAS},
        {I32, PWL_BIASED, PWL_FLOOR, min64, 1, 0, min64, PWL_ERR_BIAS},
    };
    assert_edges(edges, ARRAY_SIZE(edges));
}
END_TEST

START_TEST(rounding_addends_stay_in_the_accumulator)
{
    const struct edge edges[] = {
        {I8, PWL_BIASED, PWL_HALF_UP, 0, 0, 4, max32 - 8, PWL_OK},
        {I8, PWL_BIASED, PWL_HALF_UP, 0, 0, 4, max32 - 7, PWL_ERR_ROUNDING},
        {I8, PWL_BIASED, PWL_HALF_EVEN, 0, 0, 4, max32 - 8, PWL_OK},
        {I8, PWL_BIASED, PWL_HALF_EVEN, 0, 0, 4, max32 - 7, PWL_ERR_ROUNDING},
        {I8, PWL_BIASED, PWL_HALF_AWAY, 0, 0, 4, max32 - 8, PWL_OK},
        {I8, PWL_BIASED, PWL_HALF_AWAY, 0, 0, 4, max32 - 7, PWL_ERR_ROUNDING},
        {I8, PWL_BIASED, PWL_HALF_AWAY, 0, 0, 4, 8 - max32, PWL_OK}, /* away from zero works on |p| */
        {I8, PWL_BIASED, PWL_HALF_AWAY, 0, 0, 4, 7 - max32, PWL_ERR_ROUNDING},
        {I8, PWL_BIASED, PWL_HALF_AWAY, 0, 0, 1, min32, PWL_ERR_ROUNDING},
        {I8, PWL_BIASED, PWL_HALF_AWAY, 0, 0, 0, min32, PWL_OK},
        {I8, PWL_BIASED, PWL_HALF_UP, 0, 0, 4, min32, PWL_OK},
        {I8, PWL_BIASED, PWL_HALF_EVEN, 0, 0, 4, min32, PWL_OK},
        {I8, PWL_BIASED, PWL_FLOOR, 0, 0, 4, max32, PWL_OK},
        {I8, PWL_BIASED, PWL_HALF_UP, 0, 0, 0, max32, PWL_OK},
        {I16, PWL_ABSOLUTE, PWL_HALF_UP, 1073741823, 1, 31, 0, PWL_OK}, /* + 2^30 = 2^31 - 1 */
        {I16, PWL_ABSOLUTE, PWL_HALF_UP, 1073741824, 1, 31, 0, PWL_ERR_ROUNDING},
        {I32, PWL_ABSOLUTE, PWL_HALF_UP, ((int64_t)1 << 62) - 1, 1, 63, 0, PWL_OK},
        {I32, PWL_ABSOLUTE, PWL_HALF_UP, (int64_t)1 << 62, 1, 63, 0, PWL_ERR_ROUNDING},
        {I32, PWL_BIASED, PWL_HALF_AWAY, 0, 0, 4, 8 - max64, PWL_OK},
        {I32, PWL_BIASED, PWL_HALF_AWAY, 0, 0, 4, 7 - max64, PWL_ERR_ROUNDING},
        {I32, PWL_BIASED, PWL_HALF_AWAY, 0, 0, 1, min64, PWL_ERR_ROUNDING},
        {I32, PWL_BIASED, PWL_HALF_EVEN, 0, 0, 1, min64, PWL_OK},
    };
    assert_edges(edges, ARRAY_SIZE(edges));
}
END_TEST

START_TEST(left_shifts_stay_in_the_accumulator)
{
    const struct edge edges[] = {
        {I8, PWL_ABSOLUTE, PWL_FLOOR, 16383, 1, -17, 0, PWL_OK},
        {I8, PWL_ABSOLUTE, PWL_FLOOR, 16384, 1, -17, 0, PWL_ERR_LEFT_SHIFT},
        {I8, PWL_ABSOLUTE, PWL_FLOOR, -16384, 1, -17, 0, PWL_OK},
        {I8, PWL_ABSOLUTE, PWL_FLOOR, -16385, 1, -17, 0, PWL_ERR_LEFT_SHIFT},
        {I8, PWL_BIASED, PWL_HALF_UP, 0, 0, -1, 1073741823, PWL_OK},
        {I8, PWL_BIASED, PWL_HALF_UP, 0, 0, -1, 1073741824, PWL_ERR_LEFT_SHIFT},
        {I16, PWL_ABSOLUTE, PWL_FLOOR, -1, 1, -31, 0, PWL_OK},
        {I16, PWL_ABSOLUTE, PWL_FLOOR, 1, 1, -31, 0, PWL_ERR_LEFT_SHIFT},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, -1, 1, -63, 0, PWL_OK},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, 1, 1, -63, 0, PWL_ERR_LEFT_SHIFT},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, ((int64_t)1 << 62) - 1, 1, -1, 0, PWL_OK},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, (int64_t)1 << 62, 1, -1, 0, PWL_ERR_LEFT_SHIFT},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, -((int64_t)1 << 62) - 1, 1, -1, 0, PWL_ERR_LEFT_SHIFT},
    };
    assert_edges(edges, ARRAY_SIZE(edges));
}
END_TEST

START_TEST(sums_stay_in_the_accumulator)
{
    const struct edge edges[] = {
        {I8, PWL_ABSOLUTE, PWL_FLOOR, 9709, 27, -13, 8191, PWL_OK}, /* 262143 * 2^13 + 8191 = 2^31 - 1 */
        {I8, PWL_ABSOLUTE, PWL_FLOOR, 9709, 27, -13, 8192, PWL_ERR_SUM},
        {I16, PWL_ABSOLUTE, PWL_FLOOR, 10, 1, 0, max32 - 10, PWL_OK},
        {I16, PWL_ABSOLUTE, PWL_FLOOR, 10, 1, 0, max32 - 9, PWL_ERR_SUM},
        {I16, PWL_ABSOLUTE, PWL_FLOOR, -10, 1, 0, min32 + 10, PWL_OK},
        {I16, PWL_ABSOLUTE, PWL_FLOOR, -10, 1, 0, min32 + 9, PWL_ERR_SUM},
        {I16, PWL_ABSOLUTE, PWL_HALF_UP, 3, 1, 1, max32 - 2, PWL_OK}, /* 1.5 rounds to 2 */
        {I16, PWL_ABSOLUTE, PWL_HALF_UP, 3, 1, 1, max32 - 1, PWL_ERR_SUM},
        {I16, PWL_ABSOLUTE, PWL_FLOOR, 3, 1, 1, max32 - 1, PWL_OK}, /* or to 1 */
        {I32, PWL_ABSOLUTE, PWL_FLOOR, max64 - 100, 1, 0, 100, PWL_OK},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, max64 - 100, 1, 0, 101, PWL_ERR_SUM},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, min64, 1, 0, 0, PWL_OK},
        {I32, PWL_ABSOLUTE, PWL_FLOOR, min64, 1, 0, -1, PWL_ERR_SUM},
    };
    assert_edges(edges, ARRAY_SIZE(edges));
}
END_TEST

/* The anchored form is bounded by the segment's own length, whatever the zero point. */
START_TEST(anchored_sums_stay_in_the_accumulator)
{
    struct made_table made;
    plain_table(&made);
    made.table.form = PWL_ANCHORED;
    made.table.flags = PWL_FLAG_UNSIGNED_X;
    made.table.qmin_x = made.start[0] = 0;
    made.table.qmax_x = 65535;
    made.start[1] = 65535;
    made.table.zp_x = -2000000000;
    made.q_b[0] = INT16_MAX; /* * 65534 = 2147352578 at the segment's last code */
    made.offset[0] = 131069;
    assert_packed(&made, PWL_OK, -1);
    made.offset[0]++;
    assert_packed(&made, PWL_ERR_SUM, 0);
    made.offset[0] = 0;
    made.q_b[0] = INT16_MIN;
    assert_packed(&made, PWL_OK, -1);
    made.offset[0] = -65537; /* -32768 * 65534 - 65536 = -2^31 */
    assert_packed(&made, PWL_ERR_SUM, 0);
    made.offset[0]++;
    assert_packed(&made, PWL_OK, -1);
}
END_TEST

/* Identity folded at 0 over -8..100: mirrored codes are 1..8. */
static void folded_table(struct made_table *made)
{
    plain_table(made);
    made->table.flags = PWL_FLAG_FOLD;
    made->table.qmax_x = 100;
    made->start[0] = 0;
    made->start[1] = 9;
    made->q_b[0] = 1;
    made->offset[0] = made->offset[1] = 0;
    made_pack(made);
}

START_TEST(fold_differences_stay_in_the_accumulator)
{
    struct made_table made;
    folded_table(&made);
    assert_packed(&made, PWL_OK, -1);
    made.table.fold_sum = min32 + 8;
    assert_packed(&made, PWL_OK, -1);
    made.table.fold_sum = min32 + 7;
    assert_packed(&made, PWL_ERR_FOLD, 0);
    made.q_b[0] = -1;
    made.table.fold_sum = max32 - 8;
    assert_packed(&made, PWL_OK, -1);
    made.table.fold_sum = max32 - 7;
    assert_packed(&made, PWL_ERR_FOLD, 0);

    /* Codes that no folded code is mirrored to do not meet the difference: 0 itself, and 9..100. */
    folded_table(&made);
    made.offset[0] = 0;
    made.offset[1] = max32;
    made.table.fold_sum = -8;
    assert_packed(&made, PWL_OK, -1);
    made.table.qmin_x = -9;
    assert_packed(&made, PWL_ERR_FOLD, 1);
    folded_table(&made);
    made.q_b[0] = INT16_MAX;
    made.offset[0] = min32;
    made.table.fold_sum = 32766; /* 32766 - (32767 - 2^31) = 2^31 - 1 at code 1; at code 0 it would be 2^31 + 32766 */
    assert_packed(&made, PWL_OK, -1);
    made.table.fold_sum++;
    assert_packed(&made, PWL_ERR_FOLD, 0);

    /* fold_sum itself is read into the accumulator. */
    folded_table(&made);
    made.q_b[0] = 0;
    made.offset[0] = 5;
    made.table.fold_sum = max32;
    assert_packed(&made, PWL_OK, -1);
    made.table.fold_sum = max32 + 1;
    assert_packed(&made, PWL_ERR_FOLD, -1);
    made.table.storage = PWL_INT32;
    made.table.fold_sum = max64;
    assert_packed(&made, PWL_OK, -1);
    made.offset[0] = -1;
    assert_packed(&made, PWL_ERR_FOLD, 0);
}
END_TEST

START_TEST(a_fold_lies_within_the_codes)
{
    struct made_table made;
    for (int64_t zp_x = -9; zp_x <= 9; zp_x++) {
        const int inside = zp_x >= -8 && zp_x <= 8;
        plain_table(&made);
        made.table.flags = PWL_FLAG_FOLD;
        made.table.segments = 1;
        made.table.zp_x = made.start[0] = zp_x;
        assert_packed(&made, inside ? PWL_OK : PWL_ERR_FOLD, -1);
    }
}
END_TEST

/* A mirrored code beyond qmax_x counts as every other. */
START_TEST(mirrored_codes_beyond_the_range_are_proven)
{
    struct made_table made;
    plain_table(&made);
    made.table.flags = PWL_FLAG_FOLD;
    made.table.segments = 1;
    made.table.zp_x = made.start[0] = 8; /* mirrored codes are 9..24, X = 1..16 */
    made.q_b[0] = 1;
    made.offset[0] = max32 - 16;
    assert_packed(&made, PWL_OK, -1);
    made.offset[0]++;
    assert_packed(&made, PWL_ERR_SUM, 0);
}
END_TEST

START_TEST(accumulator_bits_are_the_widest_intermediate)
{
    static const struct {
        pwl_form form;
        pwl_rounding rounding;
        int64_t X, q_b, n, offset;
        int bits;
    } rows[] = {
        {PWL_ABSOLUTE, PWL_FLOOR, 0, 0, 0, 0, 1},      {PWL_ABSOLUTE, PWL_FLOOR, -1, 1, 0, 0, 1},
        {PWL_ABSOLUTE, PWL_FLOOR, 1, 1, 0, 0, 2},      {PWL_ABSOLUTE, PWL_FLOOR, 127, 1, 3, 0, 8},
        {PWL_ABSOLUTE, PWL_FLOOR, 128, 1, 3, 0, 9},    {PWL_ABSOLUTE, PWL_FLOOR, -128, 1, 3, 0, 8},
        {PWL_ABSOLUTE, PWL_FLOOR, -129, 1, 3, 0, 9},   {PWL_ABSOLUTE, PWL_HALF_UP, 124, 1, 3, 0, 9},
        {PWL_ABSOLUTE, PWL_HALF_UP, 123, 1, 3, 0, 8},  {PWL_ABSOLUTE, PWL_HALF_AWAY, -124, 1, 3, 0, 9},
        {PWL_ABSOLUTE, PWL_HALF_UP, -124, 1, 3, 0, 8}, {PWL_ABSOLUTE, PWL_FLOOR, 3, 1, -5, 0, 8},
        {PWL_ABSOLUTE, PWL_FLOOR, 1, 1, 0, 127, 9},    {PWL_BIASED, PWL_FLOOR, 1, 1, 7, 127, 9},
        {PWL_ABSOLUTE, PWL_FLOOR, max32, 1, 0, 0, 32}, {PWL_ABSOLUTE, PWL_FLOOR, 1, 1, 1, -128, 8},
    };
    for (int k = 0; k < ARRAY_SIZE(rows); k++) {
        struct made_table made;
        pwl_proof proof;
        plain_table(&made);
        made.table.form = (uint8_t)rows[k].form;
        made.table.rounding = (uint8_t)rows[k].rounding;
        made.table.segments = 1;
        made.table.qmin_x = made.table.qmax_x = made.start[0] = 0;
        made.table.zp_x = -rows[k].X;
        made.q_b[0] = rows[k].q_b;
        made.n[0] = rows[k].n;
        made.offset[0] = rows[k].offset;
        ck_assert_int_eq(pwl_table_check(made_pack(&made), &proof), PWL_OK);
        ck_assert_int_eq(proof.acc_bits, rows[k].bits);
    }
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("limits");
    TCase *const tcase = tcase_create("limits");
    tcase_add_test(tcase, products_stay_in_the_accumulator);
    tcase_add_test(tcase, biased_products_stay_in_the_accumulator);
    tcase_add_test(tcase, rounding_addends_stay_in_the_accumulator);
    tcase_add_test(tcase, left_shifts_stay_in_the_accumulator);
    tcase_add_test(tcase, sums_stay_in_the_accumulator);
    tcase_add_test(tcase, anchored_sums_stay_in_the_accumulator);
    tcase_add_test(tcase, fold_differences_stay_in_the_accumulator);
    tcase_add_test(tcase, a_fold_lies_within_the_codes);
    tcase_add_test(tcase, mirrored_codes_beyond_the_range_are_proven);
    tcase_add_test(tcase, accumulator_bits_are_the_widest_intermediate);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
