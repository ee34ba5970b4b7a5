/* SPDX-License-Identifier: Apache-2.0 */
/* The proof of no overflow against every code in 128 bits: random tables, and tables with hostile fields. */
#include <check.h>

#include <pwl/pwl.h>

#include "../support/reference_eval.h"
#include "../support/suite.h"
#include "made_reference.h"

static pwl_status status_of(enum ref_step step)
{
    static const pwl_status statuses[] = {
        PWL_OK, PWL_ERR_PRODUCT, PWL_ERR_BIAS, PWL_ERR_ROUNDING, PWL_ERR_LEFT_SHIFT, PWL_ERR_SUM, PWL_ERR_FOLD};
    return statuses[step];
}

/* What the proof must say, from every code of the input: the first segment with a value that leaves the accumulator,
 * the earliest step that does so in it, or the width of the widest value. */
static pwl_proof prove_by_enumeration(const struct made_table *made)
{
    const struct ref_table reference = made_reference(made);
    pwl_proof proof = {PWL_OK, -1, 1};
    for (int64_t q = made->table.qmin_x; q <= made->table.qmax_x; q++) {
        const struct ref_result result = ref_eval(&reference, q);
        const pwl_status status = status_of(result.leaves);
        if (result.bits > proof.acc_bits)
            proof.acc_bits = result.bits;
        if (status == PWL_OK)
            continue;
        if (proof.status == PWL_OK || result.segment < proof.segment ||
            (result.segment == proof.segment && status < proof.status)) {
            proof.status = status;
            proof.segment = result.segment;
        }
    }
    if (proof.status != PWL_OK)
        proof.acc_bits = 0;
    return proof;
}

/* One run for each storage. */
START_TEST(random_tables_are_proven_exactly_when_every_code_fits)
{
    uint64_t state = 3 + (uint64_t)_i;
    int seen[PWL_ERR_FOLD + 1] = {0};
    for (int round = 0; round < 24 * 400; round++) {
        struct made_table made;
        pwl_proof proof;
        made_random(&made, &state, (pwl_storage)_i, (pwl_form)(round % 3), (pwl_rounding)(round / 3 % 4),
                    round / 12 % 2, 60);
        const pwl_proof expected = prove_by_enumeration(&made);
        (void)!pwl_table_check(&made.table, &proof);
        ck_assert_int_eq(proof.status, expected.status);
        ck_assert_int_eq(proof.segment, expected.segment);
        ck_assert_int_eq(proof.acc_bits, expected.acc_bits);
        seen[proof.status]++;
    }
    /* Each step fails often enough to be compared, but for what lies out of a random table's reach: an INT8 product
     * beyond 2^31, and a sum, where term_c is much narrower than the accumulator. */
    for (int status = PWL_ERR_PRODUCT; status <= PWL_ERR_FOLD; status++) {
        if ((status != PWL_ERR_PRODUCT || _i != PWL_INT8) && (status != PWL_ERR_SUM || _i == PWL_INT16))
            ck_assert_int_gt(seen[status], 40);
    }
    ck_assert_int_gt(seen[PWL_OK], 1000);
}
END_TEST

static int64_t random_extreme(uint64_t *state)
{
    static const int64_t values[] = {INT64_MIN,     INT64_MIN + 1, -1,        0,        1,
                                     INT64_MAX - 1, INT64_MAX,     INT32_MIN, INT32_MAX};
    const uint64_t k = random_bits(state) % 12;
    return k < 9 ? values[k] : random_width(state, k == 9 ? 64 : 16);
}

/* Any bytes in a table: a verdict without undefined behaviour, and a yes that holds. */
START_TEST(hostile_fields_get_a_verdict)
{
    uint64_t state = 7;
    int seen[PWL_ERR_FOLD + 1] = {0};
    for (int round = 0; round < 200000; round++) {
        struct made_table made;
        pwl_table *const table = &made.table;
        made_random(&made, &state, (pwl_storage)(round % 3), (pwl_form)(round / 3 % 3), (pwl_rounding)(round / 9 % 4),
                    round / 36 % 2, 20);
        int64_t *const fields[] = {&table->zp_x,   &table->qmin_x, &table->qmax_x,
                                   &table->qmin_y, &table->qmax_y, &table->fold_sum};
        for (int k = (int)(random_bits(&state) % 3); k >= 0; k--)
            *fields[random_bits(&state) % 6] = random_extreme(&state);
        if (random_bits(&state) % 16 == 0)
            table->version ^= (uint8_t)random_bits(&state);
        if (random_bits(&state) % 16 == 0)
            table->rounding ^= (uint8_t)random_bits(&state);
        pwl_proof proof;
        const pwl_status status = pwl_table_check(table, &proof);
        ck_assert_int_eq(proof.status, status);
        seen[status]++;
        if (status == PWL_OK && table->qmax_x - table->qmin_x < 1000)
            ck_assert_int_eq(prove_by_enumeration(&made).status, PWL_OK);
    }
    ck_assert_int_gt(seen[PWL_OK], 1000);
    ck_assert_int_gt(seen[PWL_ERR_RANGE_X], 1000);
    ck_assert_int_gt(seen[PWL_ERR_ZERO_POINT], 1000);
    ck_assert_int_gt(seen[PWL_ERR_FOLD], 1000);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("enumerated");
    TCase *const tcase = tcase_create("enumerated");
    tcase_add_loop_test(tcase, random_tables_are_proven_exactly_when_every_code_fits, 0, 3);
    tcase_add_test(tcase, hostile_fields_get_a_verdict);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
