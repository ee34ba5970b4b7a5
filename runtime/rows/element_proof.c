/* SPDX-License-Identifier: Apache-2.0 */
/* The proof that an operator of elements is safe to run, for every code. docs/operators.md, "What a check proves", is
 * its plan. */
#include <pwl/elements.h>

#include "../element.h"
#include "../within.h"

#define ZERO_POINT_LIMIT ((int64_t)1 << 32)
#define CONSTANT_LIMIT ((int64_t)1 << 62)

/* Codes and limits of an output, and the shift before it. */
static pwl_status check_output(uint8_t out, int64_t qmin_y, int64_t qmax_y, int64_t zp_y, int shift)
{
    if (out > PWL_U16)
        return PWL_ERR_FIELD;
    if (qmin_y > qmax_y || qmin_y < pwl_type_lowest((pwl_type)out) || qmax_y > pwl_type_highest((pwl_type)out))
        return PWL_ERR_RANGE_Y;
    if (!is_within(zp_y, -ZERO_POINT_LIMIT, ZERO_POINT_LIMIT))
        return PWL_ERR_ZERO_POINT;
    return is_within(shift, 1, 62) ? PWL_OK : PWL_ERR_SHIFT;
}

pwl_status pwl_requantise_check(const pwl_requantise *requantise)
{
    int64_t lowest, highest, farthest;
    pwl_status status;
    if (!requantise)
        return PWL_ERR_NULL;
    if (requantise->version != PWL_ELEMENTS_VERSION)
        return PWL_ERR_VERSION;
    if (requantise->in > PWL_S32)
        return PWL_ERR_FIELD;
    status = check_output(requantise->out, requantise->qmin_y, requantise->qmax_y, requantise->zp_y, requantise->shift);
    if (status != PWL_OK)
        return status;
    lowest = pwl_type_lowest((pwl_type)requantise->in);
    highest = pwl_type_highest((pwl_type)requantise->in);
    if (!is_within(requantise->zp_x, lowest, highest))
        return PWL_ERR_ZERO_POINT;
    farthest =
        requantise->zp_x - lowest > highest - requantise->zp_x ? requantise->zp_x - lowest : highest - requantise->zp_x;
    /* Below 2^31 * 2^32, and so is what is left of 63 bits beside the half that is added. */
    if (requantise->multiplier < (int32_t)1 << 30 ||
        requantise->multiplier * farthest > INT64_MAX - ((int64_t)1 << (requantise->shift - 1)))
        return PWL_ERR_CONSTANT;
    return PWL_OK;
}

/* F a + G b is below 2^48, so that 2^62 for C and 2^61 for the half that is added leave nothing. */
pwl_status pwl_add_check(const pwl_add *add)
{
    pwl_status status;
    if (!add)
        return PWL_ERR_NULL;
    if (add->version != PWL_ELEMENTS_VERSION)
        return PWL_ERR_VERSION;
    if (add->in_a > PWL_U16 || add->in_b > PWL_U16)
        return PWL_ERR_FIELD;
    status = check_output(add->out, add->qmin_y, add->qmax_y, add->zp_y, add->shift);
    if (status != PWL_OK)
        return status;
    if (add->factor_a < 0 || add->factor_b < 0 || !is_within(add->constant, -CONSTANT_LIMIT, CONSTANT_LIMIT))
        return PWL_ERR_CONSTANT;
    return PWL_OK;
}
