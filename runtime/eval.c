/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation of one code: the specification, for every storage, form and rounding, in little code. */
#include <pwl/fixed.h>
#include <pwl/pwl.h>

#include "elements.h"

/* Where a code is evaluated. */
struct location {
    int64_t q; /* the clamped code, mirrored when it lies in the folded half */
    int32_t segment;
    int mirrored;
};

/*
 * A clamped code has at most 33 bits, and a fold has zp_x in the code range, so that a mirrored code has at most 34.
 * start[0] <= q holds for each of them.
 */
static struct location locate(const pwl_table *table, int64_t q_x)
{
    struct location at = {pwl_sat(q_x, table->qmin_x, table->qmax_x), 0, 0};
    int32_t end = table->segments;
    if ((table->flags & PWL_FLAG_FOLD) && at.q < table->zp_x) {
        at.q = 2 * table->zp_x - at.q;
        at.mirrored = 1;
    }
    while (end - at.segment > 1) {
        const int32_t middle = (at.segment + end) >> 1;
        if (element_start(table, middle) <= at.q)
            at.segment = middle;
        else
            end = middle;
    }
    return at;
}

int32_t pwl_segment(const pwl_table *table, int64_t q_x)
{
    return locate(table, q_x).segment;
}

int64_t pwl_eval_unclamped(const pwl_table *table, int64_t q_x)
{
    const struct location at = locate(table, q_x);
    const int32_t i = at.segment;
    const int64_t X = at.q - (table->form == PWL_ANCHORED ? element_start(table, i) : table->zp_x);
    const int32_t q_b = element_slope(table, i);
    const int64_t offset = element_offset(table, i);
    int64_t raw;
    if (table->storage == PWL_INT32)
        raw = pwl_line64(table->form, table->rounding, q_b, X, table->n[i], offset);
    else
        raw = pwl_line32(table->form, table->rounding, q_b, (int32_t)X, table->n[i], (int32_t)offset);
    return at.mirrored ? table->fold_sum - raw : raw;
}

int64_t pwl_eval(const pwl_table *table, int64_t q_x)
{
    return pwl_sat(pwl_eval_unclamped(table, q_x), table->qmin_y, table->qmax_y);
}
