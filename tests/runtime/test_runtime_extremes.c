/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of tables at the ends of the proof: every way gives pwl_eval's codes, and pwl_eval those of arithmetic that
 * cannot overflow, where products, sums and addends come within a few units of the limits of their types. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "../support/extreme_table.h"
#include "../support/suite.h"
#include "check_ways.h"
#include "made_reference.h"

/* Tables of each kind. */
enum { TABLES = 3 };

static struct made_table made;

/* Output codes are as many as the type and the storage hold, or every other time fewer. */
static void set_outputs(uint64_t *state, pwl_type out)
{
    pwl_table *const table = &made.table;
    const int64_t half = (int64_t)1 << ((8 << table->storage) - 1);
    table->qmin_y = limits[out].min < -half ? -half : limits[out].min;
    table->qmax_y = table->qmin_y < 0 ? half - 1 : 2 * half - 1;
    if (table->qmax_y > limits[out].max)
        table->qmax_y = limits[out].max;
    if (random_bits(state) % 2)
        table->qmin_y = random_in(state, table->qmin_y, table->qmax_y);
}

static void check_reference(uint64_t *state, pwl_type in)
{
    const struct ref_table reference = made_reference(&made);
    for (int k = 0; k < 64; k++) {
        const int64_t q = random_code(state, &made.table, in);
        const struct ref_result expected = ref_eval(&reference, q);
        ck_assert_int_eq(expected.leaves, REF_FITS);
        ck_assert_int_eq(pwl_eval(&made.table, q), expected.q_y);
    }
}

/* Counts the limits that a field of the first segment, some units further, would pass. */
static void count_limits(int met[PWL_ERR_FOLD + 1])
{
    int64_t *const fields[] = {&made.offset[0], &made.q_b[0], &made.table.zp_x, &made.table.fold_sum};
    for (int k = 0; k < 8; k++) {
        int64_t *const field = fields[k / 2];
        const int64_t before = *field, by = k % 2 ? 4 : -4;
        if (before > INT64_MAX - 4 || before < INT64_MIN + 4)
            continue;
        *field += by;
        const pwl_status status = pwl_table_check(made_pack(&made), NULL);
        if (status <= PWL_ERR_FOLD)
            met[status]++;
        *field = before;
    }
    made_pack(&made);
}

/* One run for each storage and pair of types: each form, rounding and fold of signed and of unsigned codes. */
START_TEST(every_way_holds_at_the_limits)
{
    const pwl_type in = (pwl_type)(_i / 6 % 6), out = (pwl_type)(_i % 6);
    const int storage = _i / 36;
    /* Tables are the same on every machine, whatever ways it has. */
    uint64_t state = 1000 + (uint64_t)_i, visits = 2000 + (uint64_t)_i;
    int met[PWL_ERR_FOLD + 1] = {0};
    for (int k = 0; k < 3 * 4 * 2 * 2 * TABLES; k++) {
        const int form = k % 3, rounding = k / 3 % 4, fold = k / 12 % 2, is_unsigned = k / 24 % 2;
        const int64_t codes = (int64_t)1 << (random_bits(&state) % 2 ? 8 << storage : 6);
        do
            draw_extreme(&made, &state, (pwl_storage)storage, (pwl_form)form, (pwl_rounding)rounding, fold, codes);
        while ((made.table.flags & PWL_FLAG_UNSIGNED_X ? 1 : 0) != is_unsigned);
        set_outputs(&state, out);
        ck_assert_int_eq(pwl_table_check(&made.table, NULL), PWL_OK);
        count_limits(met);
        check_reference(&state, in);
        check_ways(&made.table, &visits, in, out, A_SAMPLE);
    }
    for (int limit = PWL_ERR_PRODUCT; limit <= PWL_ERR_FOLD; limit++)
        /* Products and term_c of INT8 have too few bits to come close to 2^31 often. */
        if (storage != PWL_INT8 || (limit != PWL_ERR_PRODUCT && limit != PWL_ERR_SUM))
            ck_assert_msg(met[limit] > 0, "no table comes close to: %s", pwl_status_text((pwl_status)limit));
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("runtime extremes");
    TCase *const tcase = tcase_create("limits");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, every_way_holds_at_the_limits, 0, 108);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
