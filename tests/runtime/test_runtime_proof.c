/* SPDX-License-Identifier: Apache-2.0 */
/* The proof of no overflow, before the arithmetic: each field at its limit and one past it. */
#include <check.h>

#include <pwl/pwl.h>

#include "../support/made_table.h"
#include "../support/suite.h"
#include "proof_checks.h"

START_TEST(null_pointers_are_refused)
{
    struct made_table made;
    plain_table(&made);
    assert_proof(&made.table, PWL_OK, -1);
    assert_proof(NULL, PWL_ERR_NULL, -1);
    for (int k = 0; k < 4; k++) {
        pwl_table table = made.table;
        if (k == 0)
            table.start = NULL;
        if (k == 1)
            table.q_b = NULL;
        if (k == 2)
            table.n = NULL;
        if (k == 3)
            table.offset = NULL;
        assert_proof(&table, PWL_ERR_NULL, -1);
    }
}
END_TEST

START_TEST(other_versions_are_refused)
{
    struct made_table made;
    plain_table(&made);
    made.table.version = PWL_TABLE_VERSION + 1;
    assert_proof(&made.table, PWL_ERR_VERSION, -1);
    made.table.version = 0;
    assert_proof(&made.table, PWL_ERR_VERSION, -1);
}
END_TEST

START_TEST(fields_end_at_their_last_value)
{
    struct made_table made;
    for (int storage = 0; storage <= 3; storage++) {
        plain_table(&made);
        made.table.storage = (uint8_t)storage;
        if (storage <= PWL_INT32)
            made_pack(&made);
        assert_proof(&made.table, storage <= PWL_INT32 ? PWL_OK : PWL_ERR_FIELD, -1);
    }
    for (int form = 0; form <= 3; form++) {
        plain_table(&made);
        made.table.form = (uint8_t)form;
        assert_proof(&made.table, form <= PWL_ANCHORED ? PWL_OK : PWL_ERR_FIELD, -1);
    }
    for (int rounding = 0; rounding <= 4; rounding++) {
        plain_table(&made);
        made.table.rounding = (uint8_t)rounding;
        assert_proof(&made.table, rounding <= PWL_HALF_EVEN ? PWL_OK : PWL_ERR_FIELD, -1);
    }
    for (int bit = 2; bit < 16; bit++) {
        plain_table(&made);
        made.table.flags = (uint16_t)(1u << bit);
        assert_proof(&made.table, PWL_ERR_FIELD, -1);
    }
    plain_table(&made);
    made.table.fold_sum = 1;
    assert_proof(&made.table, PWL_ERR_FIELD, -1);
}
END_TEST

START_TEST(segments_are_1_to_4096)
{
    static int16_t start[4097], q_b[4097];
    static int32_t offset[4097];
    static int8_t n[4097];
    pwl_table table = {.version = PWL_TABLE_VERSION,
                       .storage = PWL_INT16,
                       .start = start,
                       .q_b = q_b,
                       .n = n,
                       .offset = offset,
                       .qmax_x = 5000,
                       .qmax_y = 1};
    for (int i = 0; i < 4097; i++)
        start[i] = (int16_t)i;
    assert_proof(&table, PWL_ERR_SEGMENTS, -1);
    table.segments = 1;
    assert_proof(&table, PWL_OK, -1);
    table.segments = 4096;
    assert_proof(&table, PWL_OK, -1);
    table.segments = 4097;
    assert_proof(&table, PWL_ERR_SEGMENTS, -1);
    table.segments = UINT16_MAX;
    assert_proof(&table, PWL_ERR_SEGMENTS, -1);
}
END_TEST

START_TEST(input_range_fits_the_storage)
{
    for (int storage = 0; storage <= 2; storage++) {
        const int64_t half = (int64_t)1 << ((8 << storage) - 1);
        for (int is_unsigned = 0; is_unsigned <= 1; is_unsigned++) {
            const int64_t min = is_unsigned ? 0 : -half, max = min + 2 * half - 1;
            const struct {
                int64_t qmin, qmax;
                pwl_status status;
            } rows[] = {
                {min, max, PWL_OK},
                {max, max, PWL_OK},
                {min - 1, max, PWL_ERR_RANGE_X},
                {min, max + 1, PWL_ERR_RANGE_X},
                {min + 1, min, PWL_ERR_RANGE_X},
                {INT64_MIN, INT64_MAX, PWL_ERR_RANGE_X},
                {INT64_MAX, INT64_MIN, PWL_ERR_RANGE_X},
            };
            for (int k = 0; k < ARRAY_SIZE(rows); k++) {
                struct made_table made;
                plain_table(&made);
                made.table.storage = (uint8_t)storage;
                made.table.flags = is_unsigned ? PWL_FLAG_UNSIGNED_X : 0;
                made.table.segments = 1;
                made.table.qmin_x = made.start[0] = rows[k].qmin;
                made.table.qmax_x = rows[k].qmax;
                assert_packed(&made, rows[k].status, -1);
            }
        }
    }
}
END_TEST

START_TEST(output_range_fits_the_signed_or_the_unsigned_type)
{
    for (int storage = 0; storage <= 2; storage++) {
        const int64_t half = (int64_t)1 << ((8 << storage) - 1);
        const struct {
            int64_t qmin, qmax;
            pwl_status status;
        } rows[] = {
            {-half, half - 1, PWL_OK},
            {0, 2 * half - 1, PWL_OK},
            {7, 7, PWL_OK},
            {-half - 1, 0, PWL_ERR_RANGE_Y},
            {-1, half, PWL_ERR_RANGE_Y},
            {0, 2 * half, PWL_ERR_RANGE_Y},
            {1, 0, PWL_ERR_RANGE_Y},
            {INT64_MIN, INT64_MAX, PWL_ERR_RANGE_Y},
            {INT64_MAX, INT64_MIN, PWL_ERR_RANGE_Y},
        };
        for (int k = 0; k < ARRAY_SIZE(rows); k++) {
            struct made_table made;
            plain_table(&made);
            made.table.storage = (uint8_t)storage;
            made.table.qmin_y = rows[k].qmin;
            made.table.qmax_y = rows[k].qmax;
            assert_packed(&made, rows[k].status, -1);
        }
    }
}
END_TEST

/* With slopes of 0, which do not excuse a zero point outside its type. Codes are -8..8. */
START_TEST(zero_point_and_difference_stay_in_their_types)
{
    static const struct {
        pwl_storage storage;
        int64_t zp_x;
        pwl_status status;
    } rows[] = {
        {PWL_INT8, INT16_MAX, PWL_OK},
        {PWL_INT8, INT16_MIN, PWL_OK},
        {PWL_INT8, INT16_MAX + 1, PWL_ERR_ZERO_POINT},
        {PWL_INT8, INT16_MIN - 1, PWL_ERR_ZERO_POINT},
        {PWL_INT8, INT64_MIN, PWL_ERR_ZERO_POINT},
        {PWL_INT16, INT32_MAX - 7, PWL_OK}, /* -8 - zp_x = INT32_MIN */
        {PWL_INT16, INT32_MAX - 6, PWL_ERR_ZERO_POINT},
        {PWL_INT16, 8 - (int64_t)INT32_MAX, PWL_OK},
        {PWL_INT16, 7 - (int64_t)INT32_MAX, PWL_ERR_ZERO_POINT},
        {PWL_INT16, (int64_t)INT32_MAX + 1, PWL_ERR_ZERO_POINT},
        {PWL_INT16, (int64_t)INT32_MIN - 1, PWL_ERR_ZERO_POINT},
        {PWL_INT16, INT64_MAX, PWL_ERR_ZERO_POINT},
        {PWL_INT32, INT64_MAX - 7, PWL_OK},
        {PWL_INT32, INT64_MAX - 6, PWL_ERR_ZERO_POINT},
        {PWL_INT32, 8 - INT64_MAX, PWL_OK},
        {PWL_INT32, 7 - INT64_MAX, PWL_ERR_ZERO_POINT},
        {PWL_INT32, INT64_MIN, PWL_ERR_ZERO_POINT},
        {PWL_INT32, INT64_MAX, PWL_ERR_ZERO_POINT},
    };
    for (int k = 0; k < ARRAY_SIZE(rows); k++) {
        for (int form = 0; form <= 2; form++) {
            struct made_table made;
            plain_table(&made);
            made.table.storage = (uint8_t)rows[k].storage;
            made.table.form = (uint8_t)form;
            made.table.zp_x = rows[k].zp_x;
            assert_packed(&made, rows[k].status, -1);
        }
    }
    /* All 16-bit codes: the type of zp_x binds before the difference does. */
    struct made_table made;
    plain_table(&made);
    made.table.qmin_x = made.start[0] = 1;
    made.start[1] = 2;
    made.table.zp_x = INT32_MAX;
    assert_packed(&made, PWL_OK, -1);
    made.table.zp_x++;
    assert_packed(&made, PWL_ERR_ZERO_POINT, -1);
}
END_TEST

START_TEST(starts_ascend_from_the_first_code_to_the_last)
{
    struct made_table made;
    const struct {
        int64_t start[3];
        pwl_status status;
        int segment;
    } rows[] = {
        {{-8, 0, 8}, PWL_OK, -1},       {{-8, -7, -6}, PWL_OK, -1},      {{-7, 0, 8}, PWL_ERR_START, 0},
        {{-9, 0, 8}, PWL_ERR_START, 0}, {{-8, -8, 8}, PWL_ERR_START, 1}, {{-8, 1, 1}, PWL_ERR_START, 2},
        {{-8, 1, 0}, PWL_ERR_START, 2}, {{-8, -9, 0}, PWL_ERR_START, 1}, {{-8, 0, 9}, PWL_ERR_START, 2},
    };
    for (int k = 0; k < ARRAY_SIZE(rows); k++) {
        plain_table(&made);
        made.table.segments = 3;
        memcpy(made.start, rows[k].start, sizeof rows[k].start);
        assert_packed(&made, rows[k].status, rows[k].segment);
    }

    /* Folded at 3: the image of -8 is 14, beyond qmax_x = 8. */
    plain_table(&made);
    made.table.flags = PWL_FLAG_FOLD;
    made.table.zp_x = made.start[0] = 3;
    made.start[1] = 14;
    assert_packed(&made, PWL_OK, -1);
    made.start[1] = 15;
    assert_packed(&made, PWL_ERR_START, 1);
    made.start[0] = -8;
    assert_packed(&made, PWL_ERR_START, 0);
}
END_TEST

START_TEST(shift_counts_stop_below_the_accumulators_width)
{
    for (int storage = 0; storage <= 2; storage++) {
        const int max = storage == PWL_INT32 ? 63 : 31;
        const int counts[] = {max, -max, max + 1, -max - 1, 127, -128};
        for (int k = 0; k < ARRAY_SIZE(counts); k++) {
            struct made_table made;
            plain_table(&made);
            made.table.storage = (uint8_t)storage;
            made.n[1] = counts[k];
            assert_packed(&made, k < 2 ? PWL_OK : PWL_ERR_SHIFT, k < 2 ? -1 : 1);
        }
    }
}
END_TEST

START_TEST(offsets_of_int32_have_48_bits_but_a_bias_64)
{
    const int64_t limit = (int64_t)1 << 47;
    const int64_t offsets[] = {limit - 1, -limit, limit, -limit - 1, INT64_MAX, INT64_MIN};
    for (int form = 0; form <= 2; form++) {
        for (int k = 0; k < ARRAY_SIZE(offsets); k++) {
            const int fits = k < 2 || form == PWL_BIASED;
            struct made_table made;
            plain_table(&made);
            made.table.storage = PWL_INT32;
            made.table.form = (uint8_t)form;
            made.offset[1] = offsets[k];
            assert_packed(&made, fits ? PWL_OK : PWL_ERR_OFFSET, fits ? -1 : 1);
        }
    }
}
END_TEST

START_TEST(every_status_has_its_own_text)
{
    for (int a = PWL_OK; a <= PWL_ERR_FOLD; a++) {
        ck_assert_str_ne(pwl_status_text((pwl_status)a), pwl_status_text((pwl_status)(PWL_ERR_FOLD + 1)));
        for (int b = PWL_OK; b < a; b++)
            ck_assert_str_ne(pwl_status_text((pwl_status)a), pwl_status_text((pwl_status)b));
    }
    ck_assert_ptr_nonnull(pwl_status_text((pwl_status)-1));
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("proof");
    TCase *const tcase = tcase_create("proof");
    tcase_add_test(tcase, null_pointers_are_refused);
    tcase_add_test(tcase, other_versions_are_refused);
    tcase_add_test(tcase, fields_end_at_their_last_value);
    tcase_add_test(tcase, segments_are_1_to_4096);
    tcase_add_test(tcase, input_range_fits_the_storage);
    tcase_add_test(tcase, output_range_fits_the_signed_or_the_unsigned_type);
    tcase_add_test(tcase, zero_point_and_difference_stay_in_their_types);
    tcase_add_test(tcase, starts_ascend_from_the_first_code_to_the_last);
    tcase_add_test(tcase, shift_counts_stop_below_the_accumulators_width);
    tcase_add_test(tcase, offsets_of_int32_have_48_bits_but_a_bias_64);
    tcase_add_test(tcase, every_status_has_its_own_text);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
