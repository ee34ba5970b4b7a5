/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fp16 and bf16 as their bits: conversions, and the arithmetic of two halves in a word, with the same results on the
 * host, in integers and doubles, as on a device, by one instruction.
 *
 *            sign  exponent  stored significand   largest          smallest above 0
 *   fp16     1     5         10                   65504            2^-24
 *   bf16     1     8         7                    2^128 - 2^120    2^-133
 *
 * Functions take all values of their types, unless they say otherwise. Rounding is to nearest, ties to even, once; what
 * is beyond the largest number by half a unit is infinite; subnormal numbers are kept everywhere; a NaN result is
 * 0x7fff on the host, and on a device some NaN. Host code must not be compiled with -ffast-math, nor run with another
 * rounding mode, nor with more precision than that of double (FLT_EVAL_METHOD 2). Held to this by test_bits.c and
 * test_bits_cuda.c in tests/kernels/arch/.
 *
 * Sources: fp16 is binary16 of IEEE 754-2008; bf16 is the upper half of its binary32; the instructions are those of the
 * PTX ISA, cvt and {fma, sub, mul}.rn.{f16x2, bf16x2}.
 */
#ifndef PWL_HALF_H
#define PWL_HALF_H

#include <stdint.h>
#include <string.h>

#include <pwl/fixed.h>

/* Numbers and their bits. */
PWL_FN float pwl_f32_of_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

PWL_FN uint32_t pwl_bits_of_f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

PWL_FN double pwl_f64_of_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

PWL_FN uint64_t pwl_bits_of_f64(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/*
 * v rounded to a format of `digits` stored significand bits and `exponents` exponent bits. v is no subnormal double:
 * what comes here is a sum of products of two halves, a multiple of 2^-266, or a float.
 */
PWL_FN uint16_t pwl_round_f64(double v, int digits, int exponents)
{
    const uint64_t bits = pwl_bits_of_f64(v), significand = (bits & 0xfffffffffffffu) | 0x10000000000000u;
    const uint16_t sign = (uint16_t)(bits >> 63 << 15), infinity = (uint16_t)(((1u << exponents) - 1) << digits);
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1023, lowest = 2 - (1 << (exponents - 1));
    /* Below the normal numbers, more bits go. The hidden bit counts one step of the exponent: hence steps, from 0. */
    const int steps = exponent > lowest ? exponent - lowest : 0;
    const int drop = 52 - digits + (exponent < lowest ? lowest - exponent : 0);
    uint64_t kept, half, rest, code;
    if (v != v)
        return 0x7fff;
    if (drop > 53) /* less than half of the smallest number */
        return sign;
    kept = significand >> drop;
    half = (uint64_t)1 << (drop - 1);
    rest = significand & (2 * half - 1);
    kept += rest > half || (rest == half && (kept & 1));
    code = ((uint64_t)steps << digits) + kept; /* a carry moves on to the next exponent by itself */
    return (uint16_t)(sign | (code < infinity ? code : infinity));
}

/* Conversions; those to float are exact. */
PWL_FN float pwl_f32_from_f16(uint16_t h)
{
#ifdef __CUDA_ARCH__
    float v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(h)); /* v = h */
    return v;
#else
    /* Without branches. Zero and subnormal numbers are exact, at most 10 bits times 2^-24; infinity and NaN have
     * exponent 31, which is 255 here; the others move by the difference of the biases. */
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, rest = h & 0x7fffu;
    const uint32_t small = pwl_bits_of_f32((float)(int32_t)rest * 5.9604644775390625e-8f);
    const uint32_t normal = (rest << 13) + (rest < 0x7c00 ? 112u << 23 : 224u << 23);
    return pwl_f32_of_bits(sign | (rest < 0x400 ? small : normal));
#endif
}

PWL_FN uint16_t pwl_f16_from_f32(float v)
{
#ifdef __CUDA_ARCH__
    uint16_t h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(v)); /* h = RN16(v) */
    return h;
#else
    /* pwl_round_f64(v, 10, 5), without branches, for loops. Normal numbers: 13 bits go, what is added carries where
     * they are more than half of the last one kept, or half of an odd one; from 65520 on that gives infinity. Below
     * 2^-14 the processor rounds to the last bit of 1/2, which is 2^-24. */
    const uint32_t bits = pwl_bits_of_f32(v), a = bits & 0x7fffffffu;
    const uint32_t normal = (a - (112u << 23) + 0xfff + (a >> 13 & 1)) >> 13;
    const uint32_t small = pwl_bits_of_f32(pwl_f32_of_bits(a) + 0.5f) - 0x3f000000u;
    const uint32_t finite = a < 0x38800000u ? small : normal, code = a < 0x47800000u ? finite : 0x7c00;
    return (uint16_t)(a > 0x7f800000u ? 0x7fff : code | (bits >> 16 & 0x8000u));
#endif
}

PWL_FN float pwl_f32_from_bf16(uint16_t h)
{
    return pwl_f32_of_bits((uint32_t)h << 16);
}

PWL_FN uint16_t pwl_bf16_from_f32(float v)
{
#ifdef __CUDA_ARCH__
    uint16_t h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(v)); /* h = RNbf16(v) */
    return h;
#else
    const uint32_t bits = pwl_bits_of_f32(v); /* as above, 16 bits go of all numbers */
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
}

/*
 * a * b + c with the last bit set where the result is not exact (rounded to odd), so that rounding it once more to at
 * most 51 bits gives the correctly rounded value. a and b have at most 11 bits: the product is exact, and so is what
 * the sum leaves over. Source: Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms
 * using rounding to odd", IEEE Transactions on Computers 57(4), 2008.
 */
PWL_FN double pwl_fma_to_odd(double a, double b, double c)
{
    const double product = a * b, sum = product + c;
    const double part = sum - product, left = (product - (sum - part)) + (c - part);
    uint64_t bits;
    if (sum - sum != 0 || left == 0) /* infinite, NaN or exact */
        return sum;
    bits = pwl_bits_of_f64(sum);
    if (!(bits & 1))
        bits += (left > 0) == (sum > 0) ? 1u : UINT64_MAX;
    return pwl_f64_of_bits(bits);
}

/* RN(a * b + c) */
PWL_FN uint16_t pwl_f16_fma(uint16_t a, uint16_t b, uint16_t c)
{
    return pwl_round_f64(pwl_fma_to_odd(pwl_f32_from_f16(a), pwl_f32_from_f16(b), pwl_f32_from_f16(c)), 10, 5);
}

PWL_FN uint16_t pwl_bf16_fma(uint16_t a, uint16_t b, uint16_t c)
{
    return pwl_round_f64(pwl_fma_to_odd(pwl_f32_from_bf16(a), pwl_f32_from_bf16(b), pwl_f32_from_bf16(c)), 7, 8);
}

/*
 * Two halves in a word. Each instruction says .rn: without it, ptxas may fuse a product with a sum.
 */
PWL_FN uint32_t pwl_fma_f16x2(uint32_t a, uint32_t b, uint32_t c)
{
#ifdef __CUDA_ARCH__
    uint32_t d;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); /* d = RN16(a * b + c), each half */
    return d;
#else
    const uint32_t high = pwl_f16_fma((uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16));
    return high << 16 | pwl_f16_fma((uint16_t)a, (uint16_t)b, (uint16_t)c);
#endif
}

PWL_FN uint32_t pwl_sub_f16x2(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    uint32_t d;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); /* d = RN16(a - b), each half */
    return d;
#else
    return pwl_fma_f16x2(a, 0x3c003c00, b ^ 0x80008000); /* a * 1 + -b */
#endif
}

PWL_FN uint32_t pwl_mul_f16x2(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    uint32_t d;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); /* d = RN16(a * b), each half */
    return d;
#else
    return pwl_fma_f16x2(a, b, 0x80008000);              /* -0 leaves every product's sign alone */
#endif
}

PWL_FN uint32_t pwl_fma_bf16x2(uint32_t a, uint32_t b, uint32_t c)
{
#ifdef __CUDA_ARCH__
    uint32_t d;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); /* d = RNbf16(a * b + c), each half */
    return d;
#else
    const uint32_t high = pwl_bf16_fma((uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16));
    return high << 16 | pwl_bf16_fma((uint16_t)a, (uint16_t)b, (uint16_t)c);
#endif
}

/* sm_80 has no sub and mul of bf16x2, only the fma. */
PWL_FN uint32_t pwl_sub_bf16x2(uint32_t a, uint32_t b)
{
    return pwl_fma_bf16x2(a, 0x3f803f80, b ^ 0x80008000); /* a * 1 + -b */
}

PWL_FN uint32_t pwl_mul_bf16x2(uint32_t a, uint32_t b)
{
    return pwl_fma_bf16x2(a, b, 0x80008000); /* a * b + -0 */
}

#endif
