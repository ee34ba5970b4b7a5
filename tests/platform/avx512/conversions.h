/* SPDX-License-Identifier: Apache-2.0 */
/* The conversions between words of different widths of the <immintrin.h> beside this, which includes it. */
#ifndef EMULATED_CONVERSIONS_H
#define EMULATED_CONVERSIONS_H

/* Wider words from narrower ones, and the low bits of them. */
#define WIDEN(name, vector, element, lane, count)                                                                      \
    EMULATED __m512i emulated_##name(vector v)                                                                         \
    {                                                                                                                  \
        element a[sizeof(vector) / sizeof(element)];                                                                   \
        emulated r;                                                                                                    \
        memcpy(a, &v, sizeof a);                                                                                       \
        for (int k = 0; k < count; k++)                                                                                \
            r.lane[k] = a[k];                                                                                          \
        return r.v;                                                                                                    \
    }
#define NARROW(name, vector, element, lane, count)                                                                     \
    EMULATED vector emulated_##name(__m512i v)                                                                         \
    {                                                                                                                  \
        emulated a = {.v = v};                                                                                         \
        element low[sizeof(vector) / sizeof(element)] = {0};                                                           \
        vector r;                                                                                                      \
        for (int k = 0; k < count; k++)                                                                                \
            low[k] = (element)a.lane[k];                                                                               \
        memcpy(&r, low, sizeof r);                                                                                     \
        return r;                                                                                                      \
    }
WIDEN(cvtepi8_epi16, __m256i, int8_t, s16, 32)
WIDEN(cvtepu8_epi16, __m256i, uint8_t, s16, 32)
WIDEN(cvtepi8_epi32, __m128i, int8_t, s32, 16)
WIDEN(cvtepu8_epi32, __m128i, uint8_t, s32, 16)
WIDEN(cvtepi16_epi32, __m256i, int16_t, s32, 16)
WIDEN(cvtepu16_epi32, __m256i, uint16_t, s32, 16)
WIDEN(cvtepi8_epi64, __m128i, int8_t, s64, 8)
WIDEN(cvtepu8_epi64, __m128i, uint8_t, s64, 8)
WIDEN(cvtepi16_epi64, __m128i, int16_t, s64, 8)
WIDEN(cvtepu16_epi64, __m128i, uint16_t, s64, 8)
WIDEN(cvtepi32_epi64, __m256i, int32_t, s64, 8)
WIDEN(cvtepu32_epi64, __m256i, uint32_t, s64, 8)
NARROW(cvtepi32_epi8, __m128i, uint8_t, u32, 16)
NARROW(cvtepi32_epi16, __m256i, uint16_t, u32, 16)
NARROW(cvtepi64_epi8, __m128i, uint8_t, u64, 8)
NARROW(cvtepi64_epi16, __m128i, uint16_t, u64, 8)

#undef WIDEN
#undef NARROW

#define _mm512_cvtepi16_epi32 emulated_cvtepi16_epi32
#define _mm512_cvtepi16_epi64 emulated_cvtepi16_epi64
#define _mm512_cvtepi32_epi16 emulated_cvtepi32_epi16
#define _mm512_cvtepi32_epi64 emulated_cvtepi32_epi64
#define _mm512_cvtepi32_epi8 emulated_cvtepi32_epi8
#define _mm512_cvtepi64_epi16 emulated_cvtepi64_epi16
#define _mm512_cvtepi64_epi8 emulated_cvtepi64_epi8
#define _mm512_cvtepi8_epi16 emulated_cvtepi8_epi16
#define _mm512_cvtepi8_epi32 emulated_cvtepi8_epi32
#define _mm512_cvtepi8_epi64 emulated_cvtepi8_epi64
#define _mm512_cvtepu16_epi32 emulated_cvtepu16_epi32
#define _mm512_cvtepu16_epi64 emulated_cvtepu16_epi64
#define _mm512_cvtepu32_epi64 emulated_cvtepu32_epi64
#define _mm512_cvtepu8_epi16 emulated_cvtepu8_epi16
#define _mm512_cvtepu8_epi32 emulated_cvtepu8_epi32
#define _mm512_cvtepu8_epi64 emulated_cvtepu8_epi64

#endif
