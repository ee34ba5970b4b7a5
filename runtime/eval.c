/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation of one code as library functions. */
#include <pwl/eval.h>
#include <pwl/pwl.h>

int32_t pwl_segment(const pwl_table *table, int64_t q_x)
{
    return pwl_locate(table, q_x).segment;
}

int64_t pwl_eval_unclamped(const pwl_table *table, int64_t q_x)
{
    return pwl_eval_unclamped_inline(table, q_x);
}

int64_t pwl_eval(const pwl_table *table, int64_t q_x)
{
    /* A call, not pwl_eval_inline(): in a small memory one copy of the arithmetic is enough. */
    return pwl_sat(pwl_eval_unclamped(table, q_x), table->qmin_y, table->qmax_y);
}
