/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codes of up to 2^22 on either side of their zero point as real numbers, by pwl_f32_from_preset(): faster than
 * conversions, which few units of a device make.
 */
#ifndef PWL_NEAR_H
#define PWL_NEAR_H

#include <math.h>
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

/* Whether the codes are -2^15 to 2^15 - 1 around the zero point. */
PWL_FN int pwl_is_all16(int64_t zero_point, int64_t qmin, int64_t qmax)
{
    return qmin - zero_point == INT16_MIN && qmax - zero_point == INT16_MAX;
}

/* pwl_code_of_real() of any y, where the codes are these; counted from the lowest. */
PWL_FN uint32_t pwl_round16(float inverse, float y)
{
    const float steps = y * inverse;
    int32_t code;
#ifdef __CUDA_ARCH__
    asm("{\n\t"
        ".reg .s16 code;\n\t"
        "cvt.rni.s16.f32 code, %1;\n\t" /* code = saturated rint(steps), of NaN 0 */
        "cvt.s32.s16 %0, code;\n\t"
        "}"
        : "=r"(code)
        : "f"(steps));
#else
    code = steps != steps ? 0 : (int32_t)fminf(fmaxf(rintf(steps), -32768.0f), 32767.0f);
#endif
    return (uint32_t)(code + 32768);
}

#endif
