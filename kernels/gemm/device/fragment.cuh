/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane's registers of operand A, from the words of gemm/layout.h: C for the host, CUDA for devices. `scales` holds
 * those of row g, low, and row g + 8, high.
 */
#ifndef PWL_QGEMM_FRAGMENT_CUH
#define PWL_QGEMM_FRAGMENT_CUH

#include <stdint.h>

#include <pwl/qgemm.h>

#include "arch/bits.cuh"
#include "gemm/fp8.h"

typedef struct pwl_fragment {
    uint32_t r[4];
} pwl_fragment;

/* Each pair times its row's scale, rounded once where the pair is exact. */
PWL_FN pwl_fragment pwl_fragment_scaled(uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3, uint32_t scales)
{
    const uint32_t g = pwl_prmt(scales, 0, 0x1010), g8 = pwl_prmt(scales, 0, 0x3232);
    const pwl_fragment a = {{pwl_mul_f16x2(r0, g), pwl_mul_f16x2(r1, g8), pwl_mul_f16x2(r2, g), pwl_mul_f16x2(r3, g8)}};
    return a;
}

/* q, exact in fp16, of a word of nibbles; of two words of bytes. */
PWL_FN pwl_fragment pwl_fragment_q4_0(uint32_t nibbles)
{
    const pwl_halves8 v = pwl_f16_from_u4b8(nibbles);
    const pwl_fragment a = {{v.w[0], v.w[1], v.w[2], v.w[3]}};
    return a;
}

PWL_FN pwl_fragment pwl_fragment_q8_0(uint32_t row_g, uint32_t row_g8)
{
    const pwl_halves4 g = pwl_f16_from_u8b128_packed(row_g ^ 0x80808080);
    const pwl_halves4 g8 = pwl_f16_from_u8b128_packed(row_g8 ^ 0x80808080);
    const pwl_fragment a = {{g.w[0], g8.w[0], g.w[1], g8.w[1]}};
    return a;
}

/*
 * RN16(q * d * 2^-e) of Q4_0 and Q8_0. units are 2^-e, 2^-7 at least, in the place of scales: q * 2^-e is exact, and
 * d * 2^-e would not be.
 */
PWL_FN pwl_fragment pwl_fragment_weights(pwl_fragment q, uint32_t scales, uint32_t units)
{
    const pwl_fragment exact = pwl_fragment_scaled(q.r[0], q.r[1], q.r[2], q.r[3], units);
    return pwl_fragment_scaled(exact.r[0], exact.r[1], exact.r[2], exact.r[3], scales);
}

/*
 * 2^14 * 2^(s - e) in fp16 for pwl_fragment_mxfp4(), s being stored - 127: of a block with a code that is not 0, s - e
 * is 1 at most, and of the others any scale will do that is finite. 0 where s - e < -28: so is RN16(6 * 2^-29).
 */
PWL_FN uint16_t pwl_fragment_mxfp4_scale(uint8_t stored, int e)
{
    const int s = stored - 127 - e, exponent = (s > 1 ? 1 : s) + 14 + 15; /* with the bias of fp16 */
    return (uint16_t)(exponent > 0 ? exponent << 10 : 0);
}

PWL_FN pwl_fragment pwl_fragment_mxfp4(uint32_t nibbles, uint32_t scales)
{
    return pwl_fragment_scaled(pwl_e2m1_bits(nibbles, 0, 3, 0x0e000e00), pwl_e2m1_bits(nibbles, 1, 3, 0x0e000e00),
                               pwl_e2m1_bits(nibbles, 2, 3, 0x0e000e00), pwl_e2m1_bits(nibbles, 3, 3, 0x0e000e00),
                               scales);
}

/* 2^126 * 2^(s - e) in bf16, likewise. s - e is -253 at least, where this is 0, as is RNb(6 * 2^-253). */
PWL_FN uint16_t pwl_fragment_mxfp4_bf16_scale(uint8_t stored, int e)
{
    const int s = stored - 127 - e;
    return (uint16_t)(((s > 1 ? 1 : s) + 126 + 127) << 7);
}

/* RNb(q * 2^(s - e)) */
PWL_FN pwl_fragment pwl_fragment_mxfp4_bf16(uint32_t nibbles, uint32_t scales)
{
    const uint32_t g = pwl_prmt(scales, 0, 0x1010), g8 = pwl_prmt(scales, 0, 0x3232);
    const pwl_fragment a = {{pwl_mul_bf16x2(pwl_e2m1_bits(nibbles, 0, 6, 0x01c001c0), g),
                             pwl_mul_bf16x2(pwl_e2m1_bits(nibbles, 1, 6, 0x01c001c0), g8),
                             pwl_mul_bf16x2(pwl_e2m1_bits(nibbles, 2, 6, 0x01c001c0), g),
                             pwl_mul_bf16x2(pwl_e2m1_bits(nibbles, 3, 6, 0x01c001c0), g8)}};
    return a;
}

/* RNb(q * d) of a pair of exact q in fp16: by way of fp32, where the product is exact. A power of two changes nothing.
 */
PWL_FN uint32_t pwl_fragment_pair_bf16(uint32_t pair, uint16_t scale)
{
    const float d = pwl_f32_from_f16(scale);
    const uint32_t high = pwl_bf16_from_f32(pwl_f32_from_f16((uint16_t)(pair >> 16)) * d);
    return high << 16 | pwl_bf16_from_f32(pwl_f32_from_f16((uint16_t)pair) * d);
}

PWL_FN pwl_fragment pwl_fragment_weights_bf16(pwl_fragment q, uint32_t scales)
{
    const uint16_t g = (uint16_t)scales, g8 = (uint16_t)(scales >> 16);
    const pwl_fragment a = {{pwl_fragment_pair_bf16(q.r[0], g), pwl_fragment_pair_bf16(q.r[1], g8),
                             pwl_fragment_pair_bf16(q.r[2], g), pwl_fragment_pair_bf16(q.r[3], g8)}};
    return a;
}

/* A block's scale as fragments of halves take it: d, or what MXFP4's becomes in a row with exponent e. */
PWL_FN uint16_t pwl_fragment_scale(pwl_qgemm_format format, int bf16, uint16_t stored, int e)
{
    if (format != PWL_QGEMM_MXFP4)
        return stored;
    return bf16 ? pwl_fragment_mxfp4_bf16_scale((uint8_t)stored, e) : pwl_fragment_mxfp4_scale((uint8_t)stored, e);
}

/*
 * Weights of a step as halves: of word0 alone in the formats of nibbles. `units` are used where rows have exponents,
 * which of bf16 weights only MXFP4's do.
 */
PWL_FN pwl_fragment pwl_fragment_halves(pwl_qgemm_format format, int bf16, int exponents, uint32_t word0,
                                        uint32_t word1, uint32_t scales, uint32_t units)
{
    pwl_fragment q;
    if (format == PWL_QGEMM_MXFP4)
        return bf16 ? pwl_fragment_mxfp4_bf16(word0, scales) : pwl_fragment_mxfp4(word0, scales);
    q = format == PWL_QGEMM_Q8_0 ? pwl_fragment_q8_0(word0, word1) : pwl_fragment_q4_0(word0);
    if (bf16)
        return pwl_fragment_weights_bf16(q, scales);
    return exponents ? pwl_fragment_weights(q, scales, units)
                     : pwl_fragment_scaled(q.r[0], q.r[1], q.r[2], q.r[3], scales);
}

/* Bytes of a step, of rows g and g + 8, or 2g and 2g + 1: in Q4_0 q - 8, or q as it is `from_zero`; in formats of bytes
 * the words. */
PWL_FN pwl_bytes8 pwl_fragment_bytes(pwl_qgemm_format format, int from_zero, uint32_t word0, uint32_t word1)
{
    const pwl_bytes8 words = {{word0, word1}};
    if (format == PWL_QGEMM_ROWS4)
        return pwl_s8_from_s4_times16(word0);
    if (format != PWL_QGEMM_Q4_0)
        return words;
    return from_zero ? pwl_u8_from_u4(word0) : pwl_s8_from_u4b8(word0);
}

/* E4M3 of words of MXFP4_E4M3 (gemm/fp8.h); of `scales`, bytes 2 * step and 2 * step + 1 are those of the rows. */
PWL_FN pwl_fragment pwl_fragment_mxfp4_e4m3(uint32_t g, uint32_t g8, uint32_t scales, unsigned step)
{
    const pwl_qgemm_e2m1_bytes of = pwl_qgemm_e2m1_of(pwl_prmt(scales, 0, 0x4440 + step * 2));
    const pwl_qgemm_e2m1_bytes of8 = pwl_qgemm_e2m1_of(pwl_prmt(scales, 0, 0x4441 + step * 2));
    const uint32_t magnitudes = g & 0x77777777, magnitudes8 = g8 & 0x77777777;
    const pwl_fragment a = {{pwl_prmt(of.low, of.high, magnitudes) | (g & 0x80808080),
                             pwl_prmt(of8.low, of8.high, magnitudes8) | (g8 & 0x80808080),
                             pwl_prmt(of.low, of.high, magnitudes >> 16) | (g << 4 & 0x80808080),
                             pwl_prmt(of8.low, of8.high, magnitudes8 >> 16) | (g8 << 4 & 0x80808080)}};
    return a;
}

/* The four bytes of X beside such a word: of columns c, c + 1, low, and of c + 8, c + 9. */
PWL_FN uint32_t pwl_fragment_input(uint16_t pair, uint16_t later)
{
    return pwl_prmt(pair, later, 0x5140);
}

#endif
