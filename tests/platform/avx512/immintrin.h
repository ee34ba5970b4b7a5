/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The intrinsics of AVX-512 that the runtime uses, in plain C, so that its kernels run on machines without them: found
 * before the compiler's <immintrin.h>, which it has for all else. Lane by lane as in Intel's manual: Intel 64 and IA-32
 * Architectures Software Developer's Manual, volume 2. A mask's bit k belongs to lane k.
 */
#pragma GCC system_header
#ifndef EMULATED_IMMINTRIN_H
#define EMULATED_IMMINTRIN_H

#include_next <immintrin.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A vector by its lanes. */
typedef union emulated {
    __m512i v;
    int8_t s8[64];
    uint8_t u8[64];
    int16_t s16[32];
    uint16_t u16[32];
    int32_t s32[16];
    uint32_t u32[16];
    int64_t s64[8];
    uint64_t u64[8];
    float f32[16];
    __m512 floats;
} emulated;

#define EMULATED static inline __attribute__((unused))

/* Of lanes of one type: r = expression for each lane k of a and b. */
#define BINARY(name, lane, count, expression)                                                                          \
    EMULATED __m512i emulated_##name(__m512i va, __m512i vb)                                                           \
    {                                                                                                                  \
        emulated a = {.v = va}, b = {.v = vb}, r;                                                                      \
        for (int k = 0; k < count; k++)                                                                                \
            r.lane[k] = (expression);                                                                                  \
        return r.v;                                                                                                    \
    }
#define MASK(name, lane, count, mask, expression)                                                                      \
    EMULATED mask emulated_##name(__m512i va, __m512i vb)                                                              \
    {                                                                                                                  \
        emulated a = {.v = va}, b = {.v = vb};                                                                         \
        mask r = 0;                                                                                                    \
        for (int k = 0; k < count; k++)                                                                                \
            r = (mask)(r | (mask)(expression) << k);                                                                   \
        return r;                                                                                                      \
    }
/* op(a, b) where the mask says so, else what `kept` has. */
#define MASKED(name, op, lane, count, mask)                                                                            \
    EMULATED __m512i emulated_##name(__m512i kept, mask m, __m512i va, __m512i vb)                                     \
    {                                                                                                                  \
        emulated r = {.v = emulated_##op(va, vb)}, w = {.v = kept};                                                    \
        for (int k = 0; k < count; k++)                                                                                \
            r.lane[k] = m >> k & 1 ? r.lane[k] : w.lane[k];                                                            \
        return r.v;                                                                                                    \
    }
EMULATED __m512i emulated_second(__m512i a, __m512i b)
{
    (void)a;
    return b;
}
#define BLEND(name, lane, count, mask)                                                                                 \
    EMULATED __m512i emulated_##name(mask m, __m512i va, __m512i vb)                                                   \
    {                                                                                                                  \
        emulated a = {.v = va}, r = {.v = vb};                                                                         \
        for (int k = 0; k < count; k++)                                                                                \
            r.lane[k] = m >> k & 1 ? r.lane[k] : a.lane[k];                                                            \
        return r.v;                                                                                                    \
    }
/* Masked loads and stores touch nothing else. */
#define MEMORY(bits, lane, count, mask, element)                                                                       \
    EMULATED __m512i emulated_maskz_loadu_epi##bits(mask m, const void *from)                                          \
    {                                                                                                                  \
        emulated r = {.u64 = {0}};                                                                                     \
        for (int k = 0; k < count; k++)                                                                                \
            if (m >> k & 1)                                                                                            \
                memcpy(&r.lane[k], (const char *)from + sizeof(element) * (size_t)k, sizeof(element));                 \
        return r.v;                                                                                                    \
    }                                                                                                                  \
    EMULATED void emulated_mask_storeu_epi##bits(void *to, mask m, __m512i v)                                          \
    {                                                                                                                  \
        emulated a = {.v = v};                                                                                         \
        for (int k = 0; k < count; k++)                                                                                \
            if (m >> k & 1)                                                                                            \
                memcpy((char *)to + sizeof(element) * (size_t)k, &a.lane[k], sizeof(element));                         \
    }

BINARY(add_epi8, u8, 64, (uint8_t)(a.u8[k] + b.u8[k]))
BINARY(add_epi16, u16, 32, (uint16_t)(a.u16[k] + b.u16[k]))
BINARY(add_epi32, u32, 16, a.u32[k] + b.u32[k])
BINARY(add_epi64, u64, 8, a.u64[k] + b.u64[k])
BINARY(sub_epi8, u8, 64, (uint8_t)(a.u8[k] - b.u8[k]))
BINARY(sub_epi16, u16, 32, (uint16_t)(a.u16[k] - b.u16[k]))
BINARY(sub_epi32, u32, 16, a.u32[k] - b.u32[k])
BINARY(sub_epi64, u64, 8, a.u64[k] - b.u64[k])
BINARY(subs_epu16, u16, 32, (uint16_t)(a.u16[k] > b.u16[k] ? a.u16[k] - b.u16[k] : 0))
BINARY(min_epi16, s16, 32, a.s16[k] < b.s16[k] ? a.s16[k] : b.s16[k])
BINARY(max_epi16, s16, 32, a.s16[k] > b.s16[k] ? a.s16[k] : b.s16[k])
BINARY(max_epu16, u16, 32, a.u16[k] > b.u16[k] ? a.u16[k] : b.u16[k])
BINARY(min_epu16, u16, 32, a.u16[k] < b.u16[k] ? a.u16[k] : b.u16[k])
BINARY(min_epu32, u32, 16, a.u32[k] < b.u32[k] ? a.u32[k] : b.u32[k])
BINARY(mullo_epi32, u32, 16, a.u32[k] * b.u32[k])
BINARY(min_epi32, s32, 16, a.s32[k] < b.s32[k] ? a.s32[k] : b.s32[k])
BINARY(max_epi32, s32, 16, a.s32[k] > b.s32[k] ? a.s32[k] : b.s32[k])
BINARY(min_epi64, s64, 8, a.s64[k] < b.s64[k] ? a.s64[k] : b.s64[k])
BINARY(max_epi64, s64, 8, a.s64[k] > b.s64[k] ? a.s64[k] : b.s64[k])
BINARY(mullo_epi16, s16, 32, (int16_t)(a.s16[k] * b.s16[k]))
BINARY(mulhi_epi16, s16, 32, (int16_t)(a.s16[k] * b.s16[k] >> 16))
BINARY(mul_epi32, s64, 8, (int64_t)a.s32[2 * k] * b.s32[2 * k])
BINARY(mul_epu32, u64, 8, (uint64_t)a.u32[2 * k] * b.u32[2 * k])
BINARY(mullo_epi64, u64, 8, a.u64[k] * b.u64[k])
BINARY(max_epu8, u8, 64, a.u8[k] > b.u8[k] ? a.u8[k] : b.u8[k])
BINARY(madd_epi16, u32, 16, (uint32_t)(a.s16[2 * k] * b.s16[2 * k]) + (uint32_t)(a.s16[2 * k + 1] * b.s16[2 * k + 1]))
BINARY(and_si512, u64, 8, a.u64[k] & b.u64[k])
BINARY(or_si512, u64, 8, a.u64[k] | b.u64[k])
BINARY(xor_si512, u64, 8, a.u64[k] ^ b.u64[k])
BINARY(andnot_epi32, u32, 16, ~a.u32[k] & b.u32[k])
BINARY(andnot_epi64, u64, 8, ~a.u64[k] & b.u64[k])
/* Counts as large as the word leave 0, or the sign. */
BINARY(sllv_epi16, u16, 32, (uint16_t)(b.u16[k] < 16 ? (uint32_t)a.u16[k] << b.u16[k] : 0))
BINARY(srlv_epi16, u16, 32, (uint16_t)(b.u16[k] < 16 ? a.u16[k] >> b.u16[k] : 0))
BINARY(sllv_epi32, u32, 16, b.u32[k] < 32 ? a.u32[k] << b.u32[k] : 0)
BINARY(srav_epi32, s32, 16, a.s32[k] >> (b.u32[k] < 32 ? b.u32[k] : 31))
BINARY(srlv_epi32, u32, 16, b.u32[k] < 32 ? a.u32[k] >> b.u32[k] : 0)
BINARY(sllv_epi64, u64, 8, b.u64[k] < 64 ? a.u64[k] << b.u64[k] : 0)
BINARY(srlv_epi64, u64, 8, b.u64[k] < 64 ? a.u64[k] >> b.u64[k] : 0)
BINARY(srav_epi64, s64, 8, a.s64[k] >> (b.u64[k] < 64 ? b.u64[k] : 63))
BINARY(shuffle_epi8, u8, 64, (uint8_t)(b.u8[k] & 128 ? 0 : a.u8[(k & ~15) | (b.u8[k] & 15)]))
BINARY(permutexvar_epi8, u8, 64, b.u8[a.u8[k] & 63])
BINARY(permutexvar_epi16, u16, 32, b.u16[a.u16[k] & 31])
BINARY(permutexvar_epi32, u32, 16, b.u32[a.u32[k] & 15])
BINARY(unpacklo_epi64, u64, 8, k & 1 ? b.u64[k & ~1] : a.u64[k & ~1])
BINARY(unpackhi_epi64, u64, 8, k & 1 ? b.u64[k | 1] : a.u64[k | 1])
BINARY(unpacklo_epi8, u8, 64, (k & 1 ? b.u8 : a.u8)[(k & ~15) + (k & 15) / 2])
BINARY(unpackhi_epi8, u8, 64, (k & 1 ? b.u8 : a.u8)[(k & ~15) + 8 + (k & 15) / 2])
BINARY(unpacklo_epi16, u16, 32, (k & 1 ? b.u16 : a.u16)[(k & ~7) + (k & 7) / 2])
BINARY(unpackhi_epi16, u16, 32, (k & 1 ? b.u16 : a.u16)[(k & ~7) + 4 + (k & 7) / 2])

/* Sums of eight differences without their signs. */
EMULATED __m512i emulated_sad_epu8(__m512i va, __m512i vb)
{
    emulated a = {.v = va}, b = {.v = vb}, r = {.u64 = {0}};
    for (int k = 0; k < 64; k++)
        r.u64[k / 8] += (uint64_t)(a.u8[k] > b.u8[k] ? a.u8[k] - b.u8[k] : b.u8[k] - a.u8[k]);
    return r.v;
}

EMULATED int16_t emulated_saturated(int32_t v)
{
    return (int16_t)(v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v);
}
EMULATED int32_t emulated_unsigned(int32_t v, int32_t most)
{
    return v < 0 ? 0 : v > most ? most : v;
}
/* In each 128 bits, four words of a and then four of b. */
BINARY(packs_epi32, s16, 32, emulated_saturated((k & 4 ? b.s32 : a.s32)[k / 8 * 4 + (k & 3)]))
BINARY(packus_epi32, u16, 32, (uint16_t)emulated_unsigned((k & 4 ? b.s32 : a.s32)[k / 8 * 4 + (k & 3)], UINT16_MAX))
BINARY(packus_epi16, u8, 64, (uint8_t)emulated_unsigned((k & 8 ? b.s16 : a.s16)[k / 16 * 8 + (k & 7)], UINT8_MAX))

MASK(cmpge_epi16_mask, s16, 32, __mmask32, a.s16[k] >= b.s16[k])
MASK(cmpgt_epi16_mask, s16, 32, __mmask32, a.s16[k] > b.s16[k])
MASK(cmplt_epu16_mask, u16, 32, __mmask32, a.u16[k] < b.u16[k])
MASK(cmpgt_epi32_mask, s32, 16, __mmask16, a.s32[k] > b.s32[k])
MASK(cmpneq_epi32_mask, u32, 16, __mmask16, a.u32[k] != b.u32[k])
MASK(cmpneq_epi64_mask, u64, 8, __mmask8, a.u64[k] != b.u64[k])
MASK(test_epi64_mask, u64, 8, __mmask8, (a.u64[k] & b.u64[k]) != 0)
MASK(testn_epi16_mask, u16, 32, __mmask32, (a.u16[k] & b.u16[k]) == 0)
MASK(testn_epi32_mask, u32, 16, __mmask16, (a.u32[k] & b.u32[k]) == 0)
MASK(testn_epi64_mask, u64, 8, __mmask8, (a.u64[k] & b.u64[k]) == 0)

MASKED(mask_add_epi16, add_epi16, u16, 32, __mmask32)
MASKED(mask_add_epi32, add_epi32, u32, 16, __mmask16)
MASKED(mask_sub_epi32, sub_epi32, u32, 16, __mmask16)
MASKED(mask_sub_epi16, sub_epi16, u16, 32, __mmask32)
MASKED(mask_andnot_epi32, andnot_epi32, u32, 16, __mmask16)
MASKED(mask_andnot_epi64, andnot_epi64, u64, 8, __mmask8)
BLEND(mask_blend_epi8, u8, 64, __mmask64)
BLEND(mask_blend_epi16, u16, 32, __mmask32)
BLEND(mask_blend_epi32, u32, 16, __mmask16)
BLEND(mask_blend_epi64, u64, 8, __mmask8)
MEMORY(8, u8, 64, __mmask64, uint8_t)
MEMORY(16, u16, 32, __mmask32, uint16_t)
MEMORY(32, u32, 16, __mmask16, uint32_t)

/* The lane of a and then b that an index's low bits say. */
#define PERMUTE2(bits, lane, count)                                                                                    \
    EMULATED __m512i emulated_permutex2var_epi##bits(__m512i va, __m512i vi, __m512i vb)                               \
    {                                                                                                                  \
        emulated a = {.v = va}, i = {.v = vi}, b = {.v = vb}, r;                                                       \
        for (int k = 0; k < count; k++)                                                                                \
            r.lane[k] = (i.lane[k] & count ? b : a).lane[i.lane[k] & (count - 1)];                                     \
        return r.v;                                                                                                    \
    }
PERMUTE2(8, u8, 64)
PERMUTE2(16, u16, 32)
PERMUTE2(32, u32, 16)
PERMUTE2(64, u64, 8)

EMULATED __m512i emulated_set1_epi64(int64_t word)
{
    emulated r;
    for (int k = 0; k < 8; k++)
        r.s64[k] = word;
    return r.v;
}
EMULATED __m512i emulated_set1_epi32(int32_t word)
{
    return emulated_set1_epi64((int64_t)((uint64_t)(uint32_t)word << 32 | (uint32_t)word));
}
EMULATED __m512i emulated_set1_epi16(int16_t word)
{
    return emulated_set1_epi32((int32_t)((uint32_t)(uint16_t)word * 0x00010001u));
}
EMULATED __m512i emulated_set1_epi8(int8_t word)
{
    return emulated_set1_epi16((int16_t)((uint8_t)word * 0x0101));
}

/* Of one count for all lanes. */
EMULATED __m512i emulated_slli_epi16(__m512i a, unsigned count)
{
    return emulated_sllv_epi16(a, emulated_set1_epi16((int16_t)count));
}
EMULATED __m512i emulated_srai_epi16(__m512i va, unsigned count)
{
    emulated r = {.v = va};
    for (int k = 0; k < 32; k++)
        r.s16[k] = (int16_t)(r.s16[k] >> (count < 16 ? count : 15));
    return r.v;
}
EMULATED __m512i emulated_srli_epi16(__m512i a, unsigned count)
{
    return emulated_srlv_epi16(a, emulated_set1_epi16((int16_t)count));
}
EMULATED __m512i emulated_srli_epi32(__m512i va, unsigned count)
{
    emulated r = {.v = va};
    for (int k = 0; k < 16; k++)
        r.u32[k] = count < 32 ? r.u32[k] >> count : 0;
    return r.v;
}
EMULATED __m512i emulated_srl_epi32(__m512i a, __m128i count)
{
    return emulated_srli_epi32(a, (unsigned)_mm_cvtsi128_si32(count));
}
EMULATED __m512i emulated_slli_epi64(__m512i a, unsigned count)
{
    return emulated_sllv_epi64(a, emulated_set1_epi64(count));
}
EMULATED __m512i emulated_srli_epi64(__m512i a, unsigned count)
{
    return emulated_srlv_epi64(a, emulated_set1_epi64(count));
}

/* Bit k of the result is the one of `truth` that the bits of a, b and c make the number of, a's the highest. */
EMULATED __m512i emulated_ternarylogic(__m512i va, __m512i vb, __m512i vc, int truth)
{
    emulated a = {.v = va}, b = {.v = vb}, c = {.v = vc}, r = {.u64 = {0}};
    for (int k = 0; k < 8; k++)
        for (int bits = 0; bits < 8; bits++)
            if (truth >> bits & 1)
                r.u64[k] |= (bits & 4 ? a.u64[k] : ~a.u64[k]) & (bits & 2 ? b.u64[k] : ~b.u64[k]) &
                            (bits & 1 ? c.u64[k] : ~c.u64[k]);
    return r.v;
}

EMULATED __m512i emulated_i32gather_epi32(__m512i vi, const void *from, int scale)
{
    emulated i = {.v = vi}, r;
    for (int k = 0; k < 16; k++)
        memcpy(&r.u32[k], (const char *)from + (ptrdiff_t)i.s32[k] * scale, 4);
    return r.v;
}

EMULATED __m512i emulated_load(const void *from)
{
    emulated r;
    memcpy(&r, from, sizeof r);
    return r.v;
}
EMULATED void emulated_store(void *to, __m512i v)
{
    memcpy(to, &v, sizeof v);
}

EMULATED __m512i emulated_broadcast_i32x4(__m128i v)
{
    emulated r;
    for (int k = 0; k < 4; k++)
        memcpy(&r.u32[4 * k], &v, sizeof v);
    return r.v;
}
EMULATED __m512i emulated_castsi128_si512(__m128i v)
{
    emulated r = {.u64 = {0}};
    memcpy(&r, &v, sizeof v);
    return r.v;
}
EMULATED __m128i emulated_castsi512_si128(__m512i v)
{
    __m128i r;
    memcpy(&r, &v, sizeof r);
    return r;
}
EMULATED __m256i emulated_castsi512_si256(__m512i v)
{
    __m256i r;
    memcpy(&r, &v, sizeof r);
    return r;
}
EMULATED __m512i emulated_castsi256_si512(__m256i v)
{
    emulated r = {.u64 = {0}};
    memcpy(&r, &v, sizeof v);
    return r.v;
}
EMULATED __m512i emulated_inserti64x4(__m512i a, __m256i b, int at)
{
    emulated r = {.v = a};
    memcpy(&r.u64[4 * at], &b, sizeof b);
    return r.v;
}
EMULATED __m512i emulated_setr_epi64(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g,
                                     int64_t h)
{
    emulated r = {.s64 = {a, b, c, d, e, f, g, h}};
    return r.v;
}
EMULATED __mmask64 emulated_movepi8_mask(__m512i v)
{
    emulated a = {.v = v};
    __mmask64 r = 0;
    for (int k = 0; k < 64; k++)
        r |= (__mmask64)(a.u8[k] >> 7) << k;
    return r;
}
EMULATED __mmask32 emulated_movepi16_mask(__m512i v)
{
    emulated a = {.v = v};
    __mmask32 r = 0;
    for (int k = 0; k < 32; k++)
        r |= (__mmask32)(a.u16[k] >> 15) << k;
    return r;
}

/* Real numbers. Words of 32 bits are converted as the machine's own do, one by one. */
EMULATED __m512 emulated_loadu_ps(const float *from)
{
    emulated r;
    memcpy(&r, from, sizeof r);
    return r.floats;
}
EMULATED void emulated_storeu_ps(float *to, __m512 v)
{
    memcpy(to, &v, sizeof v);
}
EMULATED __m512 emulated_set1_ps(float number)
{
    emulated r;
    for (int k = 0; k < 16; k++)
        r.f32[k] = number;
    return r.floats;
}
EMULATED __m512 emulated_maskz_mul_ps(__mmask16 m, __m512 va, __m512 vb)
{
    emulated a = {.floats = va}, b = {.floats = vb}, r;
    for (int k = 0; k < 16; k++)
        r.f32[k] = m >> k & 1 ? a.f32[k] * b.f32[k] : 0;
    return r.floats;
}
EMULATED __m512 emulated_mul_ps(__m512 a, __m512 b)
{
    return emulated_maskz_mul_ps(UINT16_MAX, a, b);
}
/* a >= b, or that both are numbers. */
EMULATED __mmask16 emulated_cmp_ps_mask(__m512 va, __m512 vb, int what)
{
    emulated a = {.floats = va}, b = {.floats = vb};
    __mmask16 r = 0;
    for (int k = 0; k < 16; k++) {
        const int ordered = a.f32[k] == a.f32[k] && b.f32[k] == b.f32[k];
        r = (__mmask16)(r | (what == _CMP_GE_OQ ? a.f32[k] >= b.f32[k] : ordered) << k);
    }
    return r;
}
EMULATED __m512i emulated_cvtps_epi32(__m512 va)
{
    emulated a = {.floats = va}, r;
    for (int k = 0; k < 16; k++)
        r.s32[k] = _mm_cvtss_si32(_mm_set_ss(a.f32[k]));
    return r.v;
}
EMULATED __m512 emulated_cvtepi32_ps(__m512i va)
{
    emulated a = {.v = va}, r;
    for (int k = 0; k < 16; k++)
        r.f32[k] = (float)a.s32[k];
    return r.floats;
}

#include "conversions.h"

#undef BINARY
#undef MASK
#undef MASKED
#undef BLEND
#undef MEMORY
#undef PERMUTE2
#undef EMULATED

#define _mm512_add_epi16 emulated_add_epi16
#define _mm512_add_epi32 emulated_add_epi32
#define _mm512_add_epi64 emulated_add_epi64
#define _mm512_add_epi8 emulated_add_epi8
#define _mm512_and_si512 emulated_and_si512
#define _mm512_broadcast_i32x4 emulated_broadcast_i32x4
#define _mm512_castsi128_si512 emulated_castsi128_si512
#define _mm512_castsi256_si512 emulated_castsi256_si512
#define _mm512_castsi512_si128 emulated_castsi512_si128
#define _mm512_castsi512_si256 emulated_castsi512_si256
#define _mm512_cmp_ps_mask emulated_cmp_ps_mask
#define _mm512_cmpge_epi16_mask emulated_cmpge_epi16_mask
#define _mm512_cmpgt_epi16_mask emulated_cmpgt_epi16_mask
#define _mm512_cmpgt_epi32_mask emulated_cmpgt_epi32_mask
#define _mm512_cmplt_epu16_mask emulated_cmplt_epu16_mask
#define _mm512_cmpneq_epi32_mask emulated_cmpneq_epi32_mask
#define _mm512_cmpneq_epi64_mask emulated_cmpneq_epi64_mask
#define _mm512_cvtepi32_ps emulated_cvtepi32_ps
#define _mm512_cvtps_epi32 emulated_cvtps_epi32
#define _mm512_i32gather_epi32 emulated_i32gather_epi32
#define _mm512_inserti64x4 emulated_inserti64x4
#define _mm512_load_si512 emulated_load
#define _mm512_loadu_ps emulated_loadu_ps
#define _mm512_loadu_si512 emulated_load
#define _mm512_madd_epi16 emulated_madd_epi16
#define _mm512_mask_add_epi16 emulated_mask_add_epi16
#define _mm512_mask_add_epi32 emulated_mask_add_epi32
#define _mm512_mask_andnot_epi32 emulated_mask_andnot_epi32
#define _mm512_mask_andnot_epi64 emulated_mask_andnot_epi64
#define _mm512_mask_blend_epi16 emulated_mask_blend_epi16
#define _mm512_mask_blend_epi32 emulated_mask_blend_epi32
#define _mm512_mask_blend_epi64 emulated_mask_blend_epi64
#define _mm512_mask_blend_epi8 emulated_mask_blend_epi8
#define _mm512_mask_mov_epi32(kept, m, v) emulated_mask_blend_epi32(m, kept, v)
#define _mm512_mask_storeu_epi16 emulated_mask_storeu_epi16
#define _mm512_mask_storeu_epi32 emulated_mask_storeu_epi32
#define _mm512_mask_storeu_epi8 emulated_mask_storeu_epi8
#define _mm512_mask_sub_epi16 emulated_mask_sub_epi16
#define _mm512_mask_sub_epi32 emulated_mask_sub_epi32
#define _mm512_maskz_loadu_epi16 emulated_maskz_loadu_epi16
#define _mm512_maskz_loadu_epi32 emulated_maskz_loadu_epi32
#define _mm512_maskz_loadu_epi8 emulated_maskz_loadu_epi8
#define _mm512_maskz_mul_ps emulated_maskz_mul_ps
#define _mm512_max_epi16 emulated_max_epi16
#define _mm512_max_epi32 emulated_max_epi32
#define _mm512_max_epi64 emulated_max_epi64
#define _mm512_mullo_epi64 emulated_mullo_epi64
#define _mm512_mul_epu32 emulated_mul_epu32
#define _mm512_max_epu16 emulated_max_epu16
#define _mm512_max_epu8 emulated_max_epu8
#define _mm512_min_epi16 emulated_min_epi16
#define _mm512_min_epi32 emulated_min_epi32
#define _mm512_min_epu32 emulated_min_epu32
#define _mm512_mullo_epi32 emulated_mullo_epi32
#define _mm512_min_epi64 emulated_min_epi64
#define _mm512_min_epu16 emulated_min_epu16
#define _mm512_movepi16_mask emulated_movepi16_mask
#define _mm512_movepi8_mask emulated_movepi8_mask
#define _mm512_mul_epi32 emulated_mul_epi32
#define _mm512_mul_ps emulated_mul_ps
#define _mm512_mulhi_epi16 emulated_mulhi_epi16
#define _mm512_mullo_epi16 emulated_mullo_epi16
#define _mm512_or_si512 emulated_or_si512
#define _mm512_packs_epi32 emulated_packs_epi32
#define _mm512_packus_epi16 emulated_packus_epi16
#define _mm512_packus_epi32 emulated_packus_epi32
#define _mm512_permutex2var_epi16 emulated_permutex2var_epi16
#define _mm512_permutex2var_epi32 emulated_permutex2var_epi32
#define _mm512_permutex2var_epi64 emulated_permutex2var_epi64
#define _mm512_permutex2var_epi8 emulated_permutex2var_epi8
#define _mm512_permutexvar_epi16 emulated_permutexvar_epi16
#define _mm512_permutexvar_epi32 emulated_permutexvar_epi32
#define _mm512_permutexvar_epi8 emulated_permutexvar_epi8
#define _mm512_set1_epi16 emulated_set1_epi16
#define _mm512_set1_epi32 emulated_set1_epi32
#define _mm512_set1_epi64 emulated_set1_epi64
#define _mm512_set1_epi8 emulated_set1_epi8
#define _mm512_set1_ps emulated_set1_ps
#undef _mm512_setr_epi64
#define _mm512_setr_epi64 emulated_setr_epi64
#define _mm512_setzero_si512() emulated_set1_epi64(0)
#define _mm512_shuffle_epi8 emulated_shuffle_epi8
#define _mm512_slli_epi16 emulated_slli_epi16
#define _mm512_slli_epi64 emulated_slli_epi64
#define _mm512_sllv_epi16 emulated_sllv_epi16
#define _mm512_sllv_epi32 emulated_sllv_epi32
#define _mm512_sllv_epi64 emulated_sllv_epi64
#define _mm512_srai_epi16 emulated_srai_epi16
#define _mm512_srav_epi32 emulated_srav_epi32
#define _mm512_srav_epi64 emulated_srav_epi64
#define _mm512_srl_epi32 emulated_srl_epi32
#define _mm512_srli_epi16 emulated_srli_epi16
#define _mm512_srli_epi32 emulated_srli_epi32
#define _mm512_srli_epi64 emulated_srli_epi64
#define _mm512_srlv_epi16 emulated_srlv_epi16
#define _mm512_srlv_epi32 emulated_srlv_epi32
#define _mm512_srlv_epi64 emulated_srlv_epi64
#define _mm512_store_si512 emulated_store
#define _mm512_storeu_ps emulated_storeu_ps
#define _mm512_storeu_si512 emulated_store
#define _mm512_stream_ps emulated_storeu_ps
#define _mm512_stream_si512 emulated_store
#define _mm512_sub_epi16 emulated_sub_epi16
#define _mm512_sub_epi32 emulated_sub_epi32
#define _mm512_sub_epi64 emulated_sub_epi64
#define _mm512_sub_epi8 emulated_sub_epi8
#define _mm512_subs_epu16 emulated_subs_epu16
#define _mm512_ternarylogic_epi32 emulated_ternarylogic
#define _mm512_ternarylogic_epi64 emulated_ternarylogic
#define _mm512_test_epi64_mask emulated_test_epi64_mask
#define _mm512_testn_epi16_mask emulated_testn_epi16_mask
#define _mm512_testn_epi32_mask emulated_testn_epi32_mask
#define _mm512_testn_epi64_mask emulated_testn_epi64_mask
#define _mm512_unpackhi_epi16 emulated_unpackhi_epi16
#define _mm512_unpackhi_epi64 emulated_unpackhi_epi64
#define _mm512_unpacklo_epi64 emulated_unpacklo_epi64
#define _mm512_unpacklo_epi16 emulated_unpacklo_epi16
#define _mm512_unpacklo_epi8 emulated_unpacklo_epi8
#define _mm512_unpackhi_epi8 emulated_unpackhi_epi8
#define _mm512_sad_epu8 emulated_sad_epu8
#define _mm512_xor_si512 emulated_xor_si512

#endif
