/* SPDX-License-Identifier: Apache-2.0 */
/* Which tables kernels can evaluate fast, and by what numbers. */
#include "fast.h"

#include "check.h"

static pwl_qgemm_rounding rounding_of(float inverse, int64_t zero_point, int64_t qmin, int64_t qmax)
{
    const int64_t first = qmin - zero_point, last = qmax - zero_point;
    const pwl_qgemm_rounding rounding = {inverse, (float)first, (float)last, PWL_PRESET + (uint32_t)first};
    return rounding;
}

static pwl_qgemm_way way_of(const pwl_qgemm_product *product, const pwl_qgemm_epilogue *e, const pwl_planned *table)
{
    const pwl_cuda_plan *const plan = &table->plan;
    const pwl_qgemm_type type = product->y.type;
    const int codes = pwl_qgemm_is_integer(type), four = type == PWL_QGEMM_S32 || type == PWL_QGEMM_U32;
    if (!table->memory || product->scheme == PWL_QGEMM_INT8 || plan->wide ||
        !pwl_is_near(e->as.of_x.zero_point, plan->qmin_x, plan->qmax_x))
        return PWL_QGEMM_BY_SEARCH;
    if (e->as.gated && codes && (four || !pwl_is_near(e->as.of_out.zero_point, e->codes.min, e->codes.max)))
        return PWL_QGEMM_BY_SEARCH;
    if (plan->qmax_x - plan->qmin_x < 256 && plan->qmin_x >= PWL_PLAN_BYTE_FIRST &&
        plan->qmax_x < PWL_PLAN_BYTE_FIRST + PWL_PLAN_BYTE_CODES)
        return PWL_QGEMM_BY_VALUE;
    if (!plan->image_bytes || plan->even)
        return PWL_QGEMM_BY_SEARCH;
    if ((e->as.gated || !codes) && !pwl_is_near(e->as.of_y.zero_point, plan->qmin_y, plan->qmax_y))
        return PWL_QGEMM_BY_SEARCH;
    return PWL_QGEMM_BY_IMAGE;
}

pwl_qgemm_fast pwl_qgemm_fast_of(const pwl_qgemm_product *product, const pwl_qgemm_epilogue *e,
                                 const pwl_planned *table)
{
    const pwl_qgemm_output *const y = &product->y;
    const pwl_cuda_plan *const plan = &table->plan;
    pwl_qgemm_fast fast = {.way = way_of(product, e, table)};
    fast.y_bytes = (uint32_t)pwl_qgemm_type_bytes(y->type);
    fast.aligned = (uintptr_t)y->data % (4 * fast.y_bytes) == 0 && y->stride % 4 == 0;
    if (fast.way == PWL_QGEMM_BY_SEARCH)
        return fast;
    fast.x = rounding_of(e->x_inverse, e->as.of_x.zero_point, plan->qmin_x, plan->qmax_x);
    fast.qmin_y = (int32_t)plan->qmin_y;
    fast.qmax_y = (int32_t)plan->qmax_y;
    fast.all16 = (y->type == PWL_QGEMM_S16 || y->type == PWL_QGEMM_U16) && plan->qmin_y == e->codes.min &&
                 plan->qmax_y == e->codes.max && pwl_is_all16(e->as.of_x.zero_point, plan->qmin_x, plan->qmax_x);
    fast.zero_y = (uint32_t)e->as.of_y.zero_point - PWL_PRESET;
    if (e->as.gated && pwl_qgemm_is_integer(y->type))
        fast.out = rounding_of(e->out_inverse, e->as.of_out.zero_point, e->codes.min, e->codes.max);
    fast.zero_out = (uint32_t)e->as.of_out.zero_point - PWL_PRESET;
    fast.up_limit = e->as.up_limit > 0 ? e->as.up_limit : INFINITY;
    fast.up_plus = e->as.up_plus == 0 ? -0.0f : e->as.up_plus;
    return fast;
}
