/* SPDX-License-Identifier: Apache-2.0 */
/*
 * E4M3 as its bits: a sign, 4 exponent bits of bias 7, 3 stored bits of a significand. No infinity; 0x7f and 0xff are
 * NaN. The largest number is 448 (0x7e), the smallest normal one 2^-6 (0x08), the smallest above 0 2^-9 (0x01).
 *
 * The same results on the host as on a device, under the conditions of pwl/half.h. Every float and every code is
 * visited by test_e4m3.c in tests/kernels/arch/.
 *
 * Source: the OCP 8-bit Floating Point Specification 1.0.
 */
#ifndef PWL_E4M3_H
#define PWL_E4M3_H

#include <stdint.h>

#include <pwl/half.h>

#define PWL_E4M3_LARGEST 448.0f

/* Exact; NaN is 0x7fc00000, with the sign of the code. */
PWL_FN float pwl_f32_from_e4m3(uint8_t code)
{
    const uint32_t sign = (uint32_t)(code & 0x80u) << 24, rest = code & 0x7fu;
    const uint32_t small = pwl_bits_of_f32((float)(int32_t)rest * 0.001953125f); /* in units of 2^-9 */
    const uint32_t normal = (rest << 20) + (120u << 23);                         /* by the difference of the biases */
    const uint32_t finite = rest < 8 ? small : normal;
    return pwl_f32_of_bits(sign | (rest == 0x7f ? 0x7fc00000u : finite));
}

/* To nearest, ties to even; beyond the largest number, infinity too, it is that; a NaN is 0x7f. */
PWL_FN uint8_t pwl_e4m3_from_f32(float v)
{
    const uint32_t bits = pwl_bits_of_f32(v), a = bits & 0x7fffffffu;
    /* Normal numbers lose 20 bits, as in pwl_f16_from_f32(); below 2^-6, what is added to 2^14 is rounded to 2^-9. */
    const uint32_t normal = (a - (120u << 23) + 0x7ffffu + (a >> 20 & 1)) >> 20;
    const uint32_t small = pwl_bits_of_f32(pwl_f32_of_bits(a) + 16384.0f) - 0x46800000u;
    const uint32_t finite = a < 121u << 23 ? small : normal, code = finite < 0x7e ? finite : 0x7e;
    return (uint8_t)(a > 0x7f800000u ? 0x7fu : code | (bits >> 24 & 0x80u));
}

/*
 * The scale of numbers whose largest finite magnitude is amax: a number's code stands for scale times its value.
 * RN32(amax / 448), at least 2^-126, so that its inverse is finite.
 */
PWL_FN float pwl_e4m3_scale(float amax)
{
#ifdef __CUDA_ARCH__
    const float scale = __fdiv_rn(amax, PWL_E4M3_LARGEST);
#else
    const float scale = amax / PWL_E4M3_LARGEST;
#endif
    const float least = pwl_f32_of_bits(1u << 23);
    return scale < least ? least : scale;
}

/* Code of v by inverse = RN32(1 / scale): E4M3(RN32(v * inverse)). An infinity is -448 or 448, a NaN is NaN. */
PWL_FN uint8_t pwl_e4m3_code(float v, float inverse)
{
#ifdef __CUDA_ARCH__
    return pwl_e4m3_from_f32(__fmul_rn(v, inverse));
#else
    return pwl_e4m3_from_f32(v * inverse);
#endif
}

PWL_FN float pwl_e4m3_inverse(float scale)
{
#ifdef __CUDA_ARCH__
    return __fdiv_rn(1, scale);
#else
    return 1 / scale;
#endif
}

#endif
