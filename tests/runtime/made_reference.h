/* SPDX-License-Identifier: Apache-2.0 */
/* A made table for the evaluator in reference_eval.h. */
#ifndef MADE_REFERENCE_H
#define MADE_REFERENCE_H

#include "../support/made_table.h"
#include "../support/reference_eval.h"

static inline struct ref_table made_reference(const struct made_table *made)
{
    const pwl_table *const table = &made->table;
    const struct ref_table reference = {
        .form = table->form,
        .rounding = table->rounding,
        .fold = (table->flags & PWL_FLAG_FOLD) != 0,
        .acc_bits = table->storage == PWL_INT32 ? 64 : 32,
        .count = table->segments,
        .start = made->start,
        .q_b = made->q_b,
        .n = made->n,
        .offset = made->offset,
        .zp_x = table->zp_x,
        .qmin_x = table->qmin_x,
        .qmax_x = table->qmax_x,
        .qmin_y = table->qmin_y,
        .qmax_y = table->qmax_y,
        .fold_sum = table->fold_sum,
    };
    return reference;
}

#endif
