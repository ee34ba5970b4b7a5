/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that a product is made of, for the host and for devices: weights, exponents, codes. */
#ifndef PWL_QGEMM_WEIGHT_H
#define PWL_QGEMM_WEIGHT_H

#include <stdint.h>

#include <pwl/half.h>
#include <pwl/qgemm.h>

/* 2^n, n in -1022..1023 */
PWL_FN double pwl_qgemm_power(int n)
{
    return pwl_f64_of_bits((uint64_t)(1023 + n) << 52);
}

/* Element `at` of an array of floats of a type. */
PWL_FN float pwl_qgemm_element(pwl_qgemm_type type, const void *data, size_t at)
{
    if (type == PWL_QGEMM_F32)
        return ((const float *)data)[at];
    return type == PWL_QGEMM_F16 ? pwl_f32_from_f16(((const uint16_t *)data)[at])
                                 : pwl_f32_from_bf16(((const uint16_t *)data)[at]);
}

/* What a code counts: q - 8, q, or E2M1's value. */
PWL_FN double pwl_qgemm_code_value(pwl_qgemm_format format, int code)
{
    if (format == PWL_QGEMM_Q4_0)
        return code - 8;
    if (format != PWL_QGEMM_MXFP4)
        return code;
    /* As in pwl_value_of(): a code's bits are those of its value over 2^126 in a float. */
    return pwl_f32_of_bits((uint32_t)(code & 7) << 22 | (uint32_t)(code & 8) << 28) * 0x1p126;
}

/* A block's scale, also where no float holds its product with a code. 2^-127 to 2^127 in MXFP4; ROWS8 has none. */
PWL_FN double pwl_qgemm_scale_value(pwl_qgemm_format format, uint16_t stored)
{
    if (format == PWL_QGEMM_ROWS8)
        return 1;
    return format == PWL_QGEMM_MXFP4 ? pwl_qgemm_power(stored - 127) : (double)pwl_f32_from_f16(stored);
}

/* One weight, w[n,k] over 2^e, rounded to fp16, or bf16. */
PWL_FN uint16_t pwl_qgemm_weight(pwl_qgemm_format format, int code, uint16_t scale, int e, int bf16)
{
    const double v = pwl_qgemm_code_value(format, code) * pwl_qgemm_scale_value(format, scale) * pwl_qgemm_power(-e);
    return bf16 ? pwl_round_f64(v, 7, 8) : pwl_round_f64(v, 10, 5);
}

/*
 * floor(log2 amax) - 14, not below -126, of a finite amax: amax * 2^-f is then below 2^15, and 2^-f and 2^f are normal
 * floats.
 */
PWL_FN int pwl_qgemm_input_exponent(float amax)
{
    const int f = (int)(pwl_bits_of_f32(amax) >> 23) - 127 - 14;
    if (amax == 0)
        return 0;
    return f < -126 ? -126 : f;
}

/*
 * The least f >= 0 with 128 * d * 2^-f <= 65504 for a finite fp16 number d >= 0, the largest scale of a row of Q8_1:
 * 511.75 is the last below 512.
 */
PWL_FN int pwl_qgemm_blocks_exponent(float d)
{
    const int f = (int)(pwl_bits_of_f32(d) >> 23) - 127 - 8;
    return f < 0 ? 0 : f;
}

/*
 * d q of an element v of Q8_1, exactly: v * inverse rounded to an integer, ties away from zero, at most 127 in
 * magnitude, as pwl_code_of() makes it, without integers. |v * inverse| < 2^22: of that plus the largest number below a
 * half, 2^23 leaves the integer part when what is less is dropped.
 */
PWL_FN float pwl_q8_1_real(float inverse, float d, float v)
{
#ifdef __CUDA_ARCH__
    const float p = __fmul_rn(v, inverse);
#else
    const float p = v * inverse;
#endif
    const float magnitude = pwl_f32_of_bits(pwl_bits_of_f32(p) & 0x7fffffff);
#ifdef __CUDA_ARCH__
    const float whole = __fadd_rz(magnitude + 0x1.fffffep-2f, 0x1p23f) - 0x1p23f;
#else
    const float whole = (float)(int)(magnitude + 0x1.fffffep-2f);
#endif
    const float q = whole < 127 ? whole : 127;
    return d * pwl_f32_of_bits(pwl_bits_of_f32(q) | (pwl_bits_of_f32(p) & 0x80000000u));
}

/* The largest n in [-126, 126] with amax * 2^n <= 127; 0 for an amax of 0. */
PWL_FN int pwl_qgemm_shift_of(float amax)
{
    /* amax is s * 2^p with 1 <= s < 2, and 127 is 1.984375 * 2^6. */
    const uint32_t bits = pwl_bits_of_f32(amax);
    const int n = 6 - ((int)(bits >> 23) - 127) - ((bits & 0x7fffff) > 0x7e0000);
    if (amax == 0)
        return 0;
    return n > 126 ? 126 : n < -126 ? -126 : n;
}

/* v * 2^n to an int8 as quantised activations and weights are, n in [-126, 126]. A NaN is 0, an infinity the last code.
 */
PWL_FN int pwl_qgemm_code_s8(float v, int n)
{
    const double p = (double)v * pwl_qgemm_power(n);
    if (p != p)
        return 0;
    if (p >= 127)
        return 127;
    if (p <= -127)
        return -127;
    return p < 0 ? -(int)(0.5 - p) : (int)(p + 0.5);
}

#endif
