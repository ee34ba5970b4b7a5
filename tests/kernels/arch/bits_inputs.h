/* SPDX-License-Identifier: Apache-2.0 */
/* What each conversion of bits_cases.h is asked: every code in every place, every scale, and random words. */
#ifndef BITS_INPUTS_H
#define BITS_INPUTS_H

#include <stddef.h>

#include "../../support/random.h"
#include "bits_cases.h"

#define BITS_MOST_INPUTS ((size_t)1 << 19)

static inline uint32_t rotate(uint32_t x, unsigned bits)
{
    return x << bits | x >> (-bits & 31);
}

/* All 65536 values of each half of a word, the other half at random. */
static inline size_t bits_words(bits_input *in, uint64_t *state, uint32_t step)
{
    size_t n = 0;
    for (uint32_t half = 0; half < 65536; half += step) {
        const uint32_t other = (uint32_t)random_bits(state);
        in[n++] = (bits_input){half | other << 16, 0, 0};
        in[n++] = (bits_input){half << 16 | other >> 16, 0, 0};
    }
    return n;
}

/* Floats around each boundary between two values of the format whose numbers are a float's upper `kept` bits. */
static inline size_t bits_floats(bits_input *in, uint64_t *state, uint32_t step, uint32_t (*boundary)(uint32_t code))
{
    size_t n = 0;
    for (uint32_t code = 0; code < 65536; code += step) {
        for (int32_t beside = -1; beside <= 1; beside++)
            in[n++] = (bits_input){boundary(code) + (uint32_t)beside, 0, 0};
        in[n++] = (bits_input){(uint32_t)random_bits(state), 0, 0};
        in[n++] = (bits_input){code << 16 | (uint32_t)(random_bits(state) & 0xffff), 0, 0};
    }
    return n;
}

/* Half way from a half to the next one in magnitude, as a float: 0x1p-25 times an odd number where it is subnormal. */
static inline uint32_t bits_after_f16(uint32_t code)
{
    const float v = pwl_f32_from_f16((uint16_t)code), next = pwl_f32_from_f16((uint16_t)(code + 1));
    const int last = (code & 0x7fff) >= 0x7bff; /* from there to 2^16, if it were a number */
    return last ? (code & 0x8000) << 16 | 0x477ff000u : pwl_bits_of_f32((v + next) / 2);
}

static inline uint32_t bits_after_bf16(uint32_t code)
{
    return code << 16 | 0x8000u;
}

/*
 * Every scale with all sixteen codes in places that turn with it; then 64 scales with every code in every place. The
 * zeros are the integers of 0..15 and, every other time, any half.
 */
static inline size_t bits_scales(bits_input *in, uint64_t *state, uint32_t step)
{
    static const uint32_t codes[] = {0x76543210, 0xfedcba98};
    size_t n = 0;
    for (uint32_t scale = 0; scale < 65536; scale += step) {
        for (int i = 0; i < 2; i++) {
            const uint16_t integer = pwl_f16_from_f32((float)(scale % 16)), any = (uint16_t)random_bits(state);
            in[n++] = (bits_input){rotate(codes[i], 4 * (scale / step % 8)), scale, (scale >> 4) % 2 ? any : integer};
        }
    }
    for (uint32_t scale = 0; scale < 65536; scale += 1024) {
        for (unsigned turn = 0; turn < 16; turn++)
            in[n++] = (bits_input){rotate(codes[turn / 8], 4 * (turn % 8)), scale + 15 * turn, 0x4800 /* 8 */};
    }
    return n;
}

/* Random halves, every other time of exponents that lie close together, and every eighth time equal or opposite. */
static inline size_t bits_triples(bits_input *in, uint64_t *state, uint32_t step)
{
    size_t n = 0;
    for (; n < (1u << 18) / step; n++) {
        const uint64_t a = random_bits(state), b = random_bits(state);
        const uint32_t close = n % 2 ? 0xe3ffe3ffu : 0xffffffffu, one = n % 2 ? 0x10001000u : 0;
        in[n] =
            (bits_input){((uint32_t)a & close) + one, ((uint32_t)(a >> 32) & close) + one, ((uint32_t)b & close) + one};
        if (n % 8 == 7)
            in[n].zero = in[n].x ^ (b >> 32 & 0x80008000u);
        if (n % 16 == 15)
            in[n].scale = 0x3c003f80; /* 1 in either format */
    }
    return n;
}

static inline size_t bits_selectors(bits_input *in, uint64_t *state, uint32_t step)
{
    size_t n = 0;
    for (uint32_t selector = 0; selector < 65536; selector += step)
        in[n++] = (bits_input){(uint32_t)random_bits(state), (uint32_t)random_bits(state), selector};
    return n;
}

/* Words of bytes that are at random, or one of the ends. */
static inline size_t bits_dots(bits_input *in, uint64_t *state, uint32_t step)
{
    static const uint32_t ends[] = {0x80808080, 0x7f7f7f7f, 0xffffffff, 0x7f80ff01};
    size_t n = 0;
    for (uint32_t i = 0; i < 65536; i += step) {
        const uint32_t x = i % 3 ? (uint32_t)random_bits(state) : ends[i / 3 % 4];
        const uint32_t other = i % 5 ? (uint32_t)random_bits(state) : ends[i / 5 % 4];
        in[n++] = (bits_input){x, other, (uint32_t)random_bits(state)};
    }
    return n;
}

/* Fills at most BITS_MOST_INPUTS; `small` asks for a few hundredths of them. */
static inline size_t bits_draw(enum bits_case id, bits_input *in, int small)
{
    uint64_t state = (uint64_t)id;
    const uint32_t step = small ? 61 : 1;
    switch (id) {
    case BITS_CASE_f16_u4b8_scaled:
    case BITS_CASE_f16_e2m1_scaled:
    case BITS_CASE_f16_e2m1_times:
    case BITS_CASE_f16_e2m1_scalar:
    case BITS_CASE_bf16_s4_scaled:
    case BITS_CASE_f16_u4_scaled:
    case BITS_CASE_bf16_mxfp4:
        return bits_scales(in, &state, step);
    case BITS_CASE_f16_of_f32:
        return bits_floats(in, &state, step, bits_after_f16);
    case BITS_CASE_bf16_of_f32:
        return bits_floats(in, &state, step, bits_after_bf16);
    case BITS_CASE_fma_f16x2:
    case BITS_CASE_fma_bf16x2:
        return bits_triples(in, &state, step);
    case BITS_CASE_prmt:
        return bits_selectors(in, &state, step);
    case BITS_CASE_dp4a:
        return bits_dots(in, &state, step);
    default:
        return bits_words(in, &state, step);
    }
}

#endif
