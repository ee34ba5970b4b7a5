/* SPDX-License-Identifier: Apache-2.0 */
/* The conversions of bits.cuh, each as words in, words out, so that one loop runs them all on the host or a device. */
#ifndef BITS_CASES_H
#define BITS_CASES_H

#include "arch/bits.cuh"

/* A word of codes; a scale or E8M0 code, and a zero, where a conversion takes them. */
typedef struct bits_input {
    uint32_t x, scale, zero;
} bits_input;

typedef struct bits_output {
    uint32_t w[4];
} bits_output;

/*
 * CASE(name, type of the results, result of bits_input `in`). The types are PAIRS (pwl_halves8), HALVES (pwl_halves4),
 * BYTES (pwl_bytes8) and WORD (up to 32 bits).
 */
#define BITS_CASES(CASE)                                                                                               \
    CASE(f16_u4, PAIRS, pwl_f16_from_u4(in.x))                                                                         \
    CASE(f16_u4b8, PAIRS, pwl_f16_from_u4b8(in.x))                                                                     \
    CASE(f16_s4, PAIRS, pwl_f16_from_s4(in.x))                                                                         \
    CASE(bf16_u4, PAIRS, pwl_bf16_from_u4(in.x))                                                                       \
    CASE(bf16_u4b8, PAIRS, pwl_bf16_from_u4b8(in.x))                                                                   \
    CASE(bf16_s4, PAIRS, pwl_bf16_from_s4(in.x))                                                                       \
    CASE(f16_e2m1, PAIRS, pwl_f16_from_e2m1(in.x))                                                                     \
    CASE(bf16_e2m1, PAIRS, pwl_bf16_from_e2m1(in.x))                                                                   \
    CASE(f16_u4_natural, PAIRS, pwl_natural(pwl_f16_from_u4(in.x)))                                                    \
    CASE(f16_u8b128, HALVES, pwl_f16_from_u8b128(in.x))                                                                \
    CASE(f16_u8b128_packed, HALVES, pwl_f16_from_u8b128_packed(in.x))                                                  \
    CASE(f16_s8, HALVES, pwl_f16_from_s8(in.x))                                                                        \
    CASE(bf16_u8b128, HALVES, pwl_bf16_from_u8b128(in.x))                                                              \
    CASE(bf16_s8, HALVES, pwl_bf16_from_s8(in.x))                                                                      \
    CASE(u8_u4, BYTES, pwl_u8_from_u4(in.x))                                                                           \
    CASE(s8_u4b8, BYTES, pwl_s8_from_u4b8(in.x))                                                                       \
    CASE(s8_s4, BYTES, pwl_s8_from_s4(in.x))                                                                           \
    CASE(s8_u4b8_times16, BYTES, pwl_s8_from_u4b8_times16(in.x))                                                       \
    CASE(s8_s4_times16, BYTES, pwl_s8_from_s4_times16(in.x))                                                           \
    CASE(f16_u4b8_scaled, PAIRS, pwl_scale_f16(pwl_f16_from_u4b8(in.x), (uint16_t)in.scale))                           \
    CASE(f16_e2m1_scaled, PAIRS, pwl_scale_f16(pwl_f16_from_e2m1(in.x), (uint16_t)in.scale))                           \
    CASE(f16_e2m1_times, PAIRS, pwl_f16_from_e2m1_times(in.x, (uint16_t)in.scale))                                     \
    CASE(f16_e2m1_scalar, WORD, pwl_f16_from_e2m1_scaled(in.x & 15, (uint16_t)in.scale))                               \
    CASE(bf16_s4_scaled, PAIRS, pwl_scale_bf16(pwl_bf16_from_s4(in.x), (uint16_t)in.scale))                            \
    CASE(f16_u4_scaled, PAIRS, pwl_f16_from_u4_scaled(in.x, (uint16_t)in.scale, (uint16_t)in.zero))                    \
    CASE(bf16_mxfp4, PAIRS, pwl_bf16_from_mxfp4(in.x, (uint8_t)in.scale))                                              \
    CASE(f32_e8m0, WORD, pwl_bits_of_f32(pwl_f32_from_e8m0((uint8_t)in.x)))                                            \
    CASE(bf16_e8m0, WORD, pwl_bf16_from_e8m0((uint8_t)in.x))                                                           \
    CASE(f16_u10, WORD, pwl_f16_from_u10(in.x & 1023))                                                                 \
    CASE(f16_int4, WORD, pwl_f16_from_int4((int32_t)(in.x & 15) - 8))                                                  \
    CASE(f32_preset, WORD, pwl_bits_of_f32(pwl_f32_from_preset((int32_t)(PWL_PRESET + (in.x & 0x7fffff) - 0x400000)))) \
    CASE(f16_of_f32, WORD, pwl_f16_from_f32(pwl_f32_of_bits(in.x)))                                                    \
    CASE(bf16_of_f32, WORD, pwl_bf16_from_f32(pwl_f32_of_bits(in.x)))                                                  \
    CASE(f32_of_f16, WORD, pwl_bits_of_f32(pwl_f32_from_f16((uint16_t)in.x)))                                          \
    CASE(fma_f16x2, WORD, pwl_fma_f16x2(in.x, in.scale, in.zero))                                                      \
    CASE(fma_bf16x2, WORD, pwl_fma_bf16x2(in.x, in.scale, in.zero))                                                    \
    CASE(prmt, WORD, pwl_prmt(in.x, in.scale, in.zero))                                                                \
    CASE(dp4a, WORD, (uint32_t)pwl_dp4a(in.x, in.scale, (int32_t)(in.zero & 0xffffff) - 0x800000))

#define BITS_PAIRS(value)                                                                                              \
    const pwl_halves8 v = value;                                                                                       \
    const bits_output out = {{v.w[0], v.w[1], v.w[2], v.w[3]}};
#define BITS_HALVES(value)                                                                                             \
    const pwl_halves4 v = value;                                                                                       \
    const bits_output out = {{v.w[0], v.w[1], 0, 0}};
#define BITS_BYTES(value)                                                                                              \
    const pwl_bytes8 v = value;                                                                                        \
    const bits_output out = {{v.w[0], v.w[1], 0, 0}};
#define BITS_WORD(value) const bits_output out = {{value, 0, 0, 0}};

#define BITS_RUN(name, type, value)                                                                                    \
    PWL_FN bits_output bits_##name(bits_input in)                                                                      \
    {                                                                                                                  \
        BITS_##type(value) return out;                                                                                 \
    }
BITS_CASES(BITS_RUN)
#undef BITS_RUN

enum bits_case {
#define BITS_NAME(name, type, value) BITS_CASE_##name,
    BITS_CASES(BITS_NAME)
#undef BITS_NAME
        BITS_CASE_COUNT
};

#endif
