/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of one block, for the host and for devices: scale, codes and values. A product that is not exact is
 * never an operand of a sum that a compiler might fuse with it.
 */
#ifndef PWL_BLOCK_H
#define PWL_BLOCK_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#include <pwl/blocks.h>
#include <pwl/half.h>

/* Above a loop over a block: on a device its elements stay in registers only if their places are known. */
#ifdef __CUDA_ARCH__
#define PWL_UNROLL _Pragma("unroll")
#else
#define PWL_UNROLL
#endif

/* What the 32 values of a block have in common. */
typedef struct pwl_extent {
    float amax;  /* largest magnitude */
    float first; /* the first value of that magnitude */
    int finite;  /* none is infinite or NaN; else amax and first are 0 */
} pwl_extent;

typedef struct pwl_scale {
    uint16_t stored; /* d, or e */
    float unit;      /* what the codes count, before it was rounded to fp16 where the rule goes by that */
    float inverse;   /* what values are multiplied by */
} pwl_scale;

PWL_FN float pwl_magnitude(float v)
{
    return pwl_f32_of_bits(pwl_bits_of_f32(v) & 0x7fffffff);
}

PWL_FN int pwl_is_finite(float v)
{
    return v - v == 0;
}

PWL_FN pwl_extent pwl_extent_of(const float *v)
{
    const pwl_extent none = {0, 0, 0};
    pwl_extent extent = {0, 0, 1};
    PWL_UNROLL
    for (int j = 0; j < PWL_BLOCK; j++) {
        if (!pwl_is_finite(v[j]))
            extent.finite = 0;
        if (pwl_magnitude(v[j]) > extent.amax) {
            extent.amax = pwl_magnitude(v[j]);
            extent.first = v[j];
        }
    }
    return extent.finite ? extent : none;
}

/* floor(log2 amax) - 2 with the bias 127, from 0 on: at most 252. 2^(127 - e) is then a normal number. */
PWL_FN pwl_scale pwl_scale_mxfp4(pwl_extent extent)
{
    const int exponent = (int)(pwl_bits_of_f32(extent.amax) >> 23) - 2, e = exponent > 0 ? exponent : 0;
    const pwl_scale scale = {(uint16_t)e, 0, pwl_f32_of_bits((uint32_t)(254 - e) << 23)};
    const pwl_scale none = {255, 0, 0};
    return extent.finite ? scale : none;
}

/* v / 127, correctly rounded, by what is left of v after a first quotient. */
PWL_FN float pwl_over_127_fused(float v)
{
    const float inverse = 0x1.020408p-7f, quotient = v * inverse;
    return fmaf(fmaf(-127, quotient, v), inverse, quotient);
}

/* v / 127; devices have no instruction that divides, and the host may have none that fuses. */
PWL_FN float pwl_over_127(float v)
{
#ifdef __CUDA_ARCH__
    return pwl_over_127_fused(v);
#else
    return v / 127;
#endif
}

PWL_FN pwl_scale pwl_scale_of(pwl_format format, pwl_rule rule, pwl_extent extent)
{
    pwl_scale scale = {0x7fff, 0, 0};
    if (format == PWL_MXFP4)
        return pwl_scale_mxfp4(extent);
    if (!extent.finite)
        return scale;
    if (format != PWL_Q4_0)
        scale.unit = pwl_over_127(extent.amax);
    else
        scale.unit = rule == PWL_RULE_DOCUMENT ? extent.amax / 7 : extent.first / -8;
    scale.stored = pwl_f16_from_f32(scale.unit);
    if (format != PWL_Q4_0 && rule == PWL_RULE_DEFAULT)
        scale.unit = pwl_f32_from_f16(scale.stored);
    /* 1 / 0 and 1 / 2^-149 are infinite: the codes are those of 0 then. */
    scale.inverse = 1 / scale.unit;
    if (!(pwl_magnitude(scale.inverse) <= FLT_MAX))
        scale.inverse = 0;
    return scale;
}

/* Ties away from zero; |v| < 2^23. To v is added the largest number below a half, with v's sign: of a tie, the sum is
 * rounded up to the next integer, and of what is less by at least 2^-25, to less. */
PWL_FN int pwl_round_away(float v)
{
    return (int)(v + pwl_f32_of_bits((pwl_bits_of_f32(v) & 0x80000000u) | 0x3effffffu));
}

PWL_FN int pwl_clip(int v, int min, int max)
{
    if (v < min)
        return min;
    return v > max ? max : v;
}

/*
 * |v| < 8. From 1 on, a code is the exponent and the first bit of the mantissa, 252 less than these bits of the float,
 * to which all but half of a code is added: ties go down, or where that code is odd, up.
 */
PWL_FN int pwl_e2m1_of(float v, int ties_to_even)
{
    const float a = pwl_magnitude(v);
    const uint32_t bits = pwl_bits_of_f32(a), up = ties_to_even ? bits >> 22 & 1 : 0;
    const int below_one = (a > 0.25f) + (ties_to_even ? a >= 0.75f : a > 0.75f);
    const int above = a < 1 ? below_one : (int)((bits + 0x1fffff + up) >> 22) - 252, code = above < 7 ? above : 7;
    const int negative = ties_to_even ? (int)(pwl_bits_of_f32(v) >> 31) : v < 0 && code;
    return negative ? code + 8 : code;
}

/*
 * The code of a finite v. v * inverse is at most 8 in magnitude for Q4_0, below 8 for MXFP4, and for Q8 below 191:
 * there a stored d that is a subnormal fp16 number may be a third below the unrounded one. Up to roundings, which the
 * clips and the range of pwl_round_away() leave room for.
 */
PWL_FN int pwl_code_of(pwl_format format, pwl_rule rule, pwl_scale scale, float v)
{
#ifdef __CUDA_ARCH__
    const float p = __fmul_rn(v, scale.inverse);
#else
    const float p = v * scale.inverse;
#endif
    if (format == PWL_MXFP4)
        return pwl_e2m1_of(p, rule != PWL_RULE_GGML);
    if (format != PWL_Q4_0)
        return pwl_clip(pwl_round_away(p), -127, 127);
    if (rule == PWL_RULE_DOCUMENT)
        return pwl_clip(pwl_round_away(p) + 8, 0, 15);
    return pwl_clip((int)(p + 8.5f), 0, 15);
}

/* Q8_1's s. sum_q has 12 bits: its product with an fp16 number is exact. */
PWL_FN uint16_t pwl_sum_of(pwl_rule rule, pwl_extent extent, pwl_scale scale, int sum_q, float sum_x)
{
    if (!extent.finite)
        return 0x7fff;
    return pwl_f16_from_f32(rule == PWL_RULE_DOCUMENT ? sum_x : scale.unit * (float)sum_q);
}

/* The scale of stored codes. */
PWL_FN float pwl_unit_of(pwl_format format, uint16_t stored)
{
    if (format != PWL_MXFP4)
        return pwl_f32_from_f16(stored);
    if (stored == 255)
        return pwl_f32_of_bits(0x7fc00000);
    return pwl_f32_of_bits(stored ? (uint32_t)stored << 23 : 0x00400000); /* 2^-127 is a subnormal number */
}

/* Exact: at most 8 and 11 bits. A code of E2M1 is a float over 2^126, also where that is a subnormal one. */
PWL_FN float pwl_value_of(pwl_format format, float unit, int code)
{
    float v, nan; /* nan is one where v is */
    if (format == PWL_Q4_0)
        v = (float)(code - 8) * unit;
    else if (format == PWL_MXFP4)
        v = pwl_f32_of_bits((uint32_t)(code & 7) << 22 | (uint32_t)(code & 8) << 28) * 0x1p126f * unit;
    else
        v = (float)code * unit;
    nan = format == PWL_MXFP4 ? unit : v; /* units that are infinite, of other formats, make it of 0 */
    return nan == nan ? v : pwl_f32_of_bits(0x7fc00000);
}

#endif
