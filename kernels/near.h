/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codes of up to 2^22 on either side of their zero point as real numbers, by pwl_f32_from_preset(): faster than
 * conversions, which few units of a device make.
 */
#ifndef PWL_NEAR_H
#define PWL_NEAR_H

#include <stdint.h>

#include <pwl/fixed.h>

#include "bits.cuh"

/* Whether all codes are so near to the zero point. */
PWL_FN int pwl_is_near(int64_t zero_point, int64_t qmin, int64_t qmax)
{
    return qmin - zero_point >= -(INT64_C(1) << 22) && qmax - zero_point <= INT64_C(1) << 22;
}

/* pwl_real_of_code(), of a zero point less PWL_PRESET. */
PWL_FN float pwl_near_real(uint32_t q, uint32_t zero, float scale)
{
    return scale * pwl_f32_from_preset((int32_t)(q - zero));
}

#endif
