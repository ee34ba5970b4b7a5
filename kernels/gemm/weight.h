/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that a product is made of, for the host and for devices: weights, exponents, codes. */
#ifndef PWL_QGEMM_WEIGHT_H
#define PWL_QGEMM_WEIGHT_H

#include <stdint.h>

#include <pwl/half.h>
#include <pwl/qgemm.h>

#include "layout.h"

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
    if (pwl_qgemm_is_q4(format))
        return code - 8;
    if (format != PWL_QGEMM_MXFP4)
        return code;
    /* As in pwl_value_of(): a code's bits are those of its value over 2^126 in a float. */
    return pwl_f32_of_bits((uint32_t)(code & 7) << 22 | (uint32_t)(code & 8) << 28) * 0x1p126;
}

/* A block's scale, also where no float holds its product with a code. 2^-127 to 2^127 in MXFP4; rows have none. */
PWL_FN double pwl_qgemm_scale_value(pwl_qgemm_format format, uint16_t stored)
{
    if (format == PWL_QGEMM_ROWS8 || format == PWL_QGEMM_ROWS4)
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

/* v * 2^(n - 4) likewise, to -8..7: 127 is the last that rounds to 8, and clipped. */
PWL_FN int pwl_qgemm_code_s4(float v, int n)
{
    const double p = (double)v * pwl_qgemm_power(n - 4);
    if (p != p)
        return 0;
    if (p >= 7)
        return 7;
    if (p <= -8)
        return -8;
    return p < 0 ? -(int)(0.5 - p) : (int)(p + 0.5);
}

/* Squared errors of numbers in ROWS4, by n_w: from pwl_qgemm_shift_of() - 1 on. Sums of K stay below 2^43. */
#define PWL_QGEMM_SHIFTS_S4 5

typedef struct pwl_qgemm_errors_s4 {
    uint64_t of[PWL_QGEMM_SHIFTS_S4];
} pwl_qgemm_errors_s4;

/* Adds those of v, which is finite; n as pwl_qgemm_shift_of() has it. In units of 2^-(n + 6), |u| <= 127 * 64. */
PWL_FN void pwl_qgemm_add_errors_s4(pwl_qgemm_errors_s4 *errors, float v, int n)
{
    const double p = (double)v * pwl_qgemm_power(n + 6) + 0.5;
    const int32_t whole = (int32_t)p, u = whole - (p < whole);
    for (int i = 0; i < PWL_QGEMM_SHIFTS_S4; i++) {
        const int step = 11 - i; /* log2 of a code's */
        const int32_t rounded = (u + (1 << (step - 1))) >> step;
        const int32_t code = rounded < -8 ? -8 : rounded > 7 ? 7 : rounded;
        const int32_t error = u - code * (1 << step);
        errors->of[i] += (uint64_t)((int64_t)error * error);
    }
}

/* n_w of a row: of what errs least the smallest. */
PWL_FN int pwl_qgemm_shift_s4(const pwl_qgemm_errors_s4 *errors, int n)
{
    uint64_t least = errors->of[0];
    int best = 0;
    for (int i = 1; i < PWL_QGEMM_SHIFTS_S4; i++) {
        if (errors->of[i] < least && n - 1 + i <= 126) {
            least = errors->of[i];
            best = i;
        }
    }
    return n - 1 + best; /* n is above -122, as amax is below 2^128 */
}

#endif
