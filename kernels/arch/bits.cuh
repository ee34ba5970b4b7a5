/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packed small codes to fp16, bf16 and int8 without a conversion instruction: C and C++ for the host, CUDA for devices
 * of 8.0 and later, the same bits everywhere.
 *
 * The idea: an fp16 number from 1024 to 2047 is 1024 plus its low 10 bits (a bf16 number from 128 to 255, 128 plus its
 * low 7 bits). So `0x6400 | q` is 1024 + q for q in 0..1023, and one exact subtraction of 1024 and the code's bias
 * leaves the value. Bias and scale are never fused into one multiply-add: the rounded product 1032 * scale alone would
 * be off by up to half a quantisation step.
 *
 * Order: code i of a word is its bits from width * i up. Results come as words of two halves, the lower one first:
 *   eight 4-bit codes   w[i] = codes i and i + 4; pwl_natural() gives codes 2i and 2i + 1
 *   four 8-bit codes    as each function says
 * A packer that orders the codes to suit the consumer saves the reordering.
 */
#ifndef PWL_BITS_CUH
#define PWL_BITS_CUH

#include <stdint.h>

#include <pwl/fixed.h>
#include <pwl/half.h>

/* Eight halves, and four; eight bytes. */
typedef struct pwl_halves8 {
    uint32_t w[4];
} pwl_halves8;

typedef struct pwl_halves4 {
    uint32_t w[2];
} pwl_halves4;

typedef struct pwl_bytes8 {
    uint32_t w[2];
} pwl_bytes8;

/* -- Words ----------------------------------------------------------------------------------------------------------
 */

PWL_FN uint32_t pwl_and_or(uint32_t a, uint32_t b, uint32_t c)
{
#ifdef __CUDA_ARCH__
    uint32_t d;
    asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); /* d = (a & b) | c */
    return d;
#else
    return (a & b) | c;
#endif
}

PWL_FN uint32_t pwl_and_xor(uint32_t a, uint32_t b, uint32_t c)
{
#ifdef __CUDA_ARCH__
    uint32_t d;
    asm("lop3.b32 %0, %1, %2, %3, 0x6A;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); /* d = (a & b) ^ c */
    return d;
#else
    return (a & b) ^ c;
#endif
}

/* Byte i of the result is the one that nibble i of the selector names: 0 to 3 those of a, 4 to 7 those of b; with 8 in
 * the nibble the sign of that byte in all its bits. The selector's upper half means nothing. */
PWL_FN uint32_t pwl_prmt(uint32_t a, uint32_t b, uint32_t selector)
{
#ifdef __CUDA_ARCH__
    uint32_t d;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector)); /* d = bytes of b:a by selector */
    return d;
#else
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t d = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t nibble = selector >> 4 * i & 15, byte = (uint32_t)(bytes >> 8 * (nibble & 7) & 0xff);
        d |= (nibble < 8 ? byte : 0xff * (byte >> 7)) << 8 * i;
    }
    return d;
#endif
}

/* c + the products of a's and b's bytes, all signed. */
PWL_FN int32_t pwl_dp4a(uint32_t a, uint32_t b, int32_t c)
{
#ifdef __CUDA_ARCH__
    asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b)); /* c += a . b */
#else
    for (int i = 0; i < 32; i += 8)
        c += (int8_t)(uint8_t)(a >> i) * (int8_t)(uint8_t)(b >> i);
#endif
    return c;
}

/* One half in both halves of a word. */
PWL_FN uint32_t pwl_twice(uint16_t h)
{
    return (uint32_t)h << 16 | h;
}

/* w[i] = codes i and i + 4 into codes 2i and 2i + 1 */
PWL_FN pwl_halves8 pwl_natural(pwl_halves8 v)
{
    const pwl_halves8 ordered = {{pwl_prmt(v.w[0], v.w[1], 0x5410), pwl_prmt(v.w[2], v.w[3], 0x5410),
                                  pwl_prmt(v.w[0], v.w[1], 0x7632), pwl_prmt(v.w[2], v.w[3], 0x7632)}};
    return ordered;
}

/* Each of the eight times one fp16 scale, rounded once. */
PWL_FN pwl_halves8 pwl_scale_f16(pwl_halves8 v, uint16_t scale)
{
    const uint32_t scales = pwl_twice(scale);
    const pwl_halves8 scaled = {{pwl_mul_f16x2(v.w[0], scales), pwl_mul_f16x2(v.w[1], scales),
                                 pwl_mul_f16x2(v.w[2], scales), pwl_mul_f16x2(v.w[3], scales)}};
    return scaled;
}

PWL_FN pwl_halves8 pwl_scale_bf16(pwl_halves8 v, uint16_t scale)
{
    const uint32_t scales = pwl_twice(scale);
    const pwl_halves8 scaled = {{pwl_mul_bf16x2(v.w[0], scales), pwl_mul_bf16x2(v.w[1], scales),
                                 pwl_mul_bf16x2(v.w[2], scales), pwl_mul_bf16x2(v.w[3], scales)}};
    return scaled;
}

/* -- One integer to fp16 --------------------------------------------------------------------------------------------
 */

/* q, 0 to 1023: 0x6400 | q is 1024 + q. */
PWL_FN uint16_t pwl_f16_from_u10(uint32_t q)
{
    return (uint16_t)pwl_sub_f16x2(0x6400u | q, 0x6400);
}

/* v, -8 to 7, by way of v + 8: 5 is 13, is 0x640d (1037), less 0x6408 (1032) is 0x4500. */
PWL_FN uint16_t pwl_f16_from_int4(int32_t v)
{
    return (uint16_t)pwl_sub_f16x2(0x6400u | (uint32_t)(v + 8), 0x6408);
}

/* -- Eight 4-bit codes to fp16 --------------------------------------------------------------------------------------
 */

/*
 * Codes 0, 1, 2, 3 of each 16 bits lie low in a byte, and make 1024 + q, or 4 bits higher, and make 1024 + 16 q, which
 * a multiply-add by 1/16 puts right; all of it is exact. low_bits and high_bits are the 1024, with the bit of 8 where
 * the codes are in two's complement: flipping it turns them into codes of bias 8.
 */
PWL_FN pwl_halves8 pwl_f16_from_nibbles(uint32_t x, uint32_t low_bits, uint32_t high_bits, uint32_t minus,
                                        uint32_t plus)
{
    const uint32_t next = x >> 8;
    const pwl_halves8 v = {{
        pwl_sub_f16x2(pwl_and_xor(x, 0x000f000f, low_bits), minus),
        pwl_fma_f16x2(pwl_and_xor(x, 0x00f000f0, high_bits), 0x2c002c00, plus), /* / 16 */
        pwl_sub_f16x2(pwl_and_xor(next, 0x000f000f, low_bits), minus),
        pwl_fma_f16x2(pwl_and_xor(next, 0x00f000f0, high_bits), 0x2c002c00, plus),
    }};
    return v;
}

/* q in 0..15: -1024 and, of the sixteenths, -64 */
PWL_FN pwl_halves8 pwl_f16_from_u4(uint32_t x)
{
    return pwl_f16_from_nibbles(x, 0x64006400, 0x64006400, 0x64006400, 0xd400d400);
}

/* q - 8: -1032 and, the 8 coming after the division, -72 */
PWL_FN pwl_halves8 pwl_f16_from_u4b8(uint32_t x)
{
    return pwl_f16_from_nibbles(x, 0x64006400, 0x64006400, 0x64086408, 0xd480d480);
}

/* q as two's complement, -8 to 7 */
PWL_FN pwl_halves8 pwl_f16_from_s4(uint32_t x)
{
    return pwl_f16_from_nibbles(x, 0x64086408, 0x64806480, 0x64086408, 0xd480d480);
}

/*
 * (q - zero) * scale, each step rounded to fp16: exact before the multiplication where zero is a multiple of 1/64 and
 * at most 16 in magnitude.
 */
PWL_FN pwl_halves8 pwl_f16_from_u4_scaled(uint32_t x, uint16_t scale, uint16_t zero)
{
    const uint32_t zeros = pwl_twice(zero);
    pwl_halves8 v = pwl_f16_from_u4(x);
    for (int i = 0; i < 4; i++)
        v.w[i] = pwl_sub_f16x2(v.w[i], zeros);
    return pwl_scale_f16(v, scale);
}

/* -- Eight 4-bit codes to bf16 --------------------------------------------------------------------------------------
 */

/* 7 bits hold 128 + q, not 128 + 16 q: each pair of codes is shifted to the low end. */
PWL_FN pwl_halves8 pwl_bf16_from_nibbles(uint32_t x, uint32_t bits, uint32_t minus)
{
    pwl_halves8 v;
    for (int i = 0; i < 4; i++)
        v.w[i] = pwl_sub_bf16x2(pwl_and_xor(x >> 4 * i, 0x000f000f, bits), minus);
    return v;
}

PWL_FN pwl_halves8 pwl_bf16_from_u4(uint32_t x)
{
    return pwl_bf16_from_nibbles(x, 0x43004300, 0x43004300); /* 128 + q - 128 */
}

PWL_FN pwl_halves8 pwl_bf16_from_u4b8(uint32_t x)
{
    return pwl_bf16_from_nibbles(x, 0x43004300, 0x43084308); /* 128 + q - 136 */
}

PWL_FN pwl_halves8 pwl_bf16_from_s4(uint32_t x)
{
    return pwl_bf16_from_nibbles(x, 0x43084308, 0x43084308);
}

/* -- Four 8-bit codes -----------------------------------------------------------------------------------------------
 */

/* q - 128 in fp16: a byte under the byte 0x64 is 1024 + q, less 0x6480 (1152). w[0] = codes 0 and 1, w[1] = 2 and 3. */
PWL_FN pwl_halves4 pwl_f16_from_u8b128(uint32_t x)
{
    const pwl_halves4 v = {{pwl_sub_f16x2(pwl_prmt(x, 0x64646464, 0x5150), 0x64806480),
                            pwl_sub_f16x2(pwl_prmt(x, 0x64646464, 0x5352), 0x64806480)}};
    return v;
}

/* The same for bytes that were packed in the order 0, 2, 1, 3: w[0] = bytes 0 and 2, w[1] = bytes 1 and 3. */
PWL_FN pwl_halves4 pwl_f16_from_u8b128_packed(uint32_t x)
{
    const pwl_halves4 v = {{pwl_sub_f16x2(pwl_prmt(x, 0x64646464, 0x5250), 0x64806480),
                            pwl_sub_f16x2(pwl_prmt(x, 0x64646464, 0x5351), 0x64806480)}};
    return v;
}

/* Two's complement; w[0] = codes 0 and 1, w[1] = codes 2 and 3. */
PWL_FN pwl_halves4 pwl_f16_from_s8(uint32_t x)
{
    return pwl_f16_from_u8b128(x ^ 0x80808080);
}

/*
 * Two's complement in bf16: 128 + the low 7 bits, less 128, or 256 for the sign: these are made as -128 and -256, and
 * added. w[0] = codes 0 and 2, w[1] = codes 1 and 3.
 */
PWL_FN pwl_halves4 pwl_bf16_from_s8(uint32_t x)
{
    pwl_halves4 v;
    for (int i = 0; i < 2; i++) {
        const uint32_t codes = x >> 8 * i, low = pwl_and_or(codes, 0x007f007f, 0x43004300);
        v.w[i] = pwl_fma_bf16x2(low, 0x3f803f80, pwl_and_or(codes, 0x00800080, 0xc300c300)); /* low * 1 + that */
    }
    return v;
}

/* q - 128 */
PWL_FN pwl_halves4 pwl_bf16_from_u8b128(uint32_t x)
{
    return pwl_bf16_from_s8(x ^ 0x80808080);
}

/* -- Eight 4-bit codes to bytes -------------------------------------------------------------------------------------
 */

/*
 * q - 8 in each byte, as it is or once the bit of 8 is flipped; w[0] = codes 0, 2, 4, 6, w[1] = codes 1, 3, 5, 7. The
 * bit of 128 keeps each byte's borrow in the byte: 128 + q - 8 is 120 to 135.
 */
PWL_FN pwl_bytes8 pwl_s8_from_nibbles(uint32_t x, uint32_t bits)
{
    const pwl_bytes8 v = {{(pwl_and_xor(x, 0x0f0f0f0f, bits) - 0x08080808) ^ 0x80808080,
                           (pwl_and_xor(x >> 4, 0x0f0f0f0f, bits) - 0x08080808) ^ 0x80808080}};
    return v;
}

/* q */
PWL_FN pwl_bytes8 pwl_u8_from_u4(uint32_t x)
{
    const pwl_bytes8 v = {{x & 0x0f0f0f0f, x >> 4 & 0x0f0f0f0f}};
    return v;
}

/* q - 8 */
PWL_FN pwl_bytes8 pwl_s8_from_u4b8(uint32_t x)
{
    return pwl_s8_from_nibbles(x, 0x80808080);
}

/* q as two's complement */
PWL_FN pwl_bytes8 pwl_s8_from_s4(uint32_t x)
{
    return pwl_s8_from_nibbles(x, 0x88888888);
}

/* 16 times q as two's complement: for sums that are divided by 16 at their end. */
PWL_FN pwl_bytes8 pwl_s8_from_s4_times16(uint32_t x)
{
    const pwl_bytes8 v = {{x << 4 & 0xf0f0f0f0, x & 0xf0f0f0f0}};
    return v;
}

/* 16 * (q - 8) */
PWL_FN pwl_bytes8 pwl_s8_from_u4b8_times16(uint32_t x)
{
    const pwl_bytes8 v = {{pwl_and_xor(x << 4, 0xf0f0f0f0, 0x80808080), pwl_and_xor(x, 0xf0f0f0f0, 0x80808080)}};
    return v;
}

/* -- FP4 (E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and a sign) and the scales of MXFP4 (E8M0) -------------------------------
 */

/*
 * The code's three bits at the low end of the exponent are its value over a power of two, also where they are
 * a subnormal number. Pair i lies in the upper bits of x << (12 - 4 i); `down` moves them to fp16 (3) or bf16 (6).
 */
PWL_FN uint32_t pwl_e2m1_bits(uint32_t x, int i, int down, uint32_t mask)
{
    const uint32_t codes = x << (12 - 4 * i);
    return pwl_and_or(codes, 0x80008000, codes >> down & mask);
}

/* Value * scale, rounded once, for |scale| < 4: scale_2_14 is 2^14 * scale, which is infinite from 4 on. */
PWL_FN pwl_halves8 pwl_f16_from_e2m1_times(uint32_t x, uint16_t scale_2_14)
{
    const uint32_t scales = pwl_twice(scale_2_14);
    pwl_halves8 v;
    for (int i = 0; i < 4; i++)
        v.w[i] = pwl_mul_f16x2(pwl_e2m1_bits(x, i, 3, 0x0e000e00), scales);
    return v;
}

PWL_FN pwl_halves8 pwl_f16_from_e2m1(uint32_t x)
{
    return pwl_f16_from_e2m1_times(x, 0x7400); /* a scale of 1 */
}

PWL_FN pwl_halves8 pwl_bf16_from_e2m1(uint32_t x)
{
    pwl_halves8 v;
    for (int i = 0; i < 4; i++)
        v.w[i] = pwl_mul_bf16x2(pwl_e2m1_bits(x, i, 6, 0x01c001c0), 0x7e807e80); /* 2^126 */
    return v;
}

/* One code, times an fp16 scale. */
PWL_FN uint16_t pwl_f16_from_e2m1_scaled(uint32_t code, uint16_t scale)
{
    const uint32_t bits = (code & 8) << 12 | (code & 7) << 9;
    return (uint16_t)pwl_mul_f16x2(pwl_mul_f16x2(bits, 0x7400), scale);
}

/* 2^(e - 127): 2^-127 is a subnormal number, and 255 is NaN. */
PWL_FN float pwl_f32_from_e8m0(uint8_t e)
{
    const uint32_t bits = e == 255 ? 0x7fffffffu : (uint32_t)e << 23;
    return pwl_f32_of_bits(e == 0 ? 0x00400000u : bits);
}

PWL_FN uint16_t pwl_bf16_from_e8m0(uint8_t e)
{
    return (uint16_t)(pwl_bits_of_f32(pwl_f32_from_e8m0(e)) >> 16);
}

/* MXFP4: exact but for 2^128 and more, which is infinite. */
PWL_FN pwl_halves8 pwl_bf16_from_mxfp4(uint32_t x, uint8_t e)
{
    return pwl_scale_bf16(pwl_bf16_from_e2m1(x), pwl_bf16_from_e8m0(e));
}

/* -- Integer sums to float ------------------------------------------------------------------------------------------
 */

/* What an accumulator starts from for pwl_f32_from_preset(): 1.5 * 2^23 as a float, whose last bit counts 1. */
#define PWL_PRESET 0x4b400000
#define PWL_PRESET_FLOAT 12582912.0f

/* sum, of an accumulator that holds PWL_PRESET + sum with |sum| < 2^22. */
PWL_FN float pwl_f32_from_preset(int32_t accumulator)
{
    return pwl_f32_of_bits((uint32_t)accumulator) - PWL_PRESET_FLOAT;
}

#endif
