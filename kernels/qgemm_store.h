/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a sum once it is complete, for the host and for devices. A kernel is told the type of Y when it is
 * compiled, and hands each sum to one of these: another type of Y is another case here, nothing else.
 */
#ifndef PWL_QGEMM_STORE_H
#define PWL_QGEMM_STORE_H

#include <math.h>
#include <stdint.h>

#include <pwl/fixed.h>
#include <pwl/qgemm.h>

#include "half.h"

/* v * 2^exponent, e + f: -254 to 239. Rounded once, where the result is a subnormal number. */
PWL_FN float pwl_qgemm_scaled(float v, int exponent)
{
    if (exponent < -126 || exponent > 127)
        return ldexpf(v, exponent);
#ifdef __CUDA_ARCH__
    return __fmul_rn(v, pwl_f32_of_bits((uint32_t)(127 + exponent) << 23));
#else
    return v * pwl_f32_of_bits((uint32_t)(127 + exponent) << 23);
#endif
}

/* y[m,n] of a sum in fp32 */
PWL_FN float pwl_qgemm_finish(float sum, int exponent, float bias)
{
    return pwl_qgemm_scaled(sum, exponent) + bias;
}

/* Element `at` of Y, of a type of floats. */
PWL_FN void pwl_qgemm_store(pwl_qgemm_type type, void *y, size_t at, float v)
{
    if (type == PWL_QGEMM_F32)
        ((float *)y)[at] = v;
    else
        ((uint16_t *)y)[at] = type == PWL_QGEMM_F16 ? pwl_f16_from_f32(v) : pwl_bf16_from_f32(v);
}

/*
 * S8 of a sum v, |v| <= 2^32: sat(shr(v, n) + zero_point). Beyond 40 a shift leaves 0 (rounded half up, as v / 2^n >
 * -1/2), beyond -31 what is not 0 saturates; so n may be any sum of three exponents.
 */
PWL_FN int8_t pwl_qgemm_store_s8(int64_t v, int64_t n, int32_t zero_point)
{
    const int shift = (int)pwl_sat(n, -31, 40);
    return (int8_t)pwl_sat(pwl_shr64(v, shift, PWL_HALF_UP) + zero_point, -128, 127);
}

PWL_FN int32_t pwl_qgemm_store_s32(int64_t v)
{
    return (int32_t)pwl_sat(v, INT32_MIN, INT32_MAX);
}

#endif
