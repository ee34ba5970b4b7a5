/* SPDX-License-Identifier: Apache-2.0 */
/* Which products in INT8 can be stored by 32 bits, and by what numbers. */
#include "narrow.h"

#include "check.h"

/* Beyond these no shift is narrow. */
enum { FURTHEST = 1024 };

#define FURTHEST_ZERO (INT64_C(1) << 29)

static pwl_qgemm_narrow_way way_of(const pwl_qgemm_product *product, const pwl_qgemm_epilogue *e,
                                   const pwl_planned *table)
{
    const pwl_cuda_plan *const plan = &table->plan;
    const int64_t zero = table->memory ? (int64_t)e->as.of_x.zero_point - plan->qmin_x : 0;
    if (!table->memory)
        return product->y.type == PWL_QGEMM_S8 ? PWL_QGEMM_CODES : PWL_QGEMM_SUMS;
    if (e->as.gated || plan->wide || zero >= FURTHEST_ZERO || zero <= -FURTHEST_ZERO ||
        product->y.type == PWL_QGEMM_S32 || product->y.type == PWL_QGEMM_U32)
        return PWL_QGEMM_IN_64_BITS;
    if (plan->qmax_x - plan->qmin_x < 256 && plan->qmin_x >= PWL_PLAN_BYTE_FIRST &&
        plan->qmax_x < PWL_PLAN_BYTE_FIRST + PWL_PLAN_BYTE_CODES)
        return PWL_QGEMM_VALUES;
    if (!plan->image_bytes || plan->even ||
        pwl_qgemm_narrow_cells_at(plan) + plan->cells * sizeof(uint32_t) > PWL_QGEMM_NARROW_TABLE)
        return PWL_QGEMM_IN_64_BITS;
    return PWL_QGEMM_LINES;
}

pwl_qgemm_narrow pwl_qgemm_narrow_of(const pwl_qgemm_product *product, const pwl_qgemm_epilogue *e,
                                     const pwl_planned *table)
{
    const pwl_qgemm_output *const y = &product->y;
    const pwl_cuda_plan *const plan = &table->plan;
    pwl_qgemm_narrow narrow = {.way = way_of(product, e, table)};
    narrow.y_bytes = (uint32_t)pwl_qgemm_type_bytes(y->type);
    narrow.copied = (uintptr_t)y->data % 16 == 0 && y->stride * narrow.y_bytes % 16 == 0;
    narrow.paired = (uintptr_t)y->data % (2 * narrow.y_bytes) == 0 && y->stride % 2 == 0;
    narrow.n = (int32_t)pwl_sat(table->memory ? e->n_x : y->n_y, -FURTHEST, FURTHEST);
    narrow.zero = y->zero_point;
    if (narrow.way < PWL_QGEMM_VALUES)
        return narrow;
    narrow.zero = (int32_t)(e->as.of_x.zero_point - plan->qmin_x);
    narrow.last = (int32_t)(plan->qmax_x - plan->qmin_x);
    narrow.table_bytes =
        narrow.way == PWL_QGEMM_VALUES
            ? 256 * narrow.y_bytes
            : (pwl_qgemm_narrow_cells_at(plan) + plan->cells * (uint32_t)sizeof(uint32_t) + 15) / 16 * 16;
    narrow.saturates = (y->type == PWL_QGEMM_S8 || y->type == PWL_QGEMM_S16) &&
                       (plan->within || (plan->qmin_y == e->codes.min && plan->qmax_y == e->codes.max));
    return narrow;
}
