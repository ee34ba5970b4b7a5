/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integers of up to 2^22 on either side of 0 as floats, and back, by adding 1.5 * 2^23: the last bit of such a float
 * counts 1. Faster than conversions, which few units of a device make.
 */
#ifndef PWL_NEAR_H
#define PWL_NEAR_H

#include <stdint.h>

#include <pwl/fixed.h>

#include "half.h"

#define PWL_NEAR_BITS 0x4b400000u /* of 1.5 * 2^23 */
#define PWL_NEAR_ZERO 12582912.0f

/* Whether all codes are so near to the zero point. */
PWL_FN int pwl_is_near(int64_t zero_point, int64_t qmin, int64_t qmax)
{
    return qmin - zero_point >= -(INT64_C(1) << 22) && qmax - zero_point <= INT64_C(1) << 22;
}

/* pwl_real_of_code(), of a zero point less PWL_NEAR_BITS. */
PWL_FN float pwl_near_real(uint32_t q, uint32_t zero, float scale)
{
    return scale * (pwl_f32_of_bits(q - zero) - PWL_NEAR_ZERO);
}

#endif
