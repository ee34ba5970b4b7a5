/* SPDX-License-Identifier: Apache-2.0 */
/* 64 floats at a time to codes, 16 back. */
#include <immintrin.h>

#include "../loop.h"
#include "../reals.h"

typedef __m512i vector;
typedef __m512 reals;
#define OP(name) _mm512_##name

/* Codes of 16 floats, in words of 32 bits. What is 2^31 and beyond converts to -2^31, as what is below does. */
INLINE __m512i code(const pwl_scaling *of, const float *x)
{
    const __m512 read = _mm512_loadu_ps(x);
    const __mmask16 numbers = _mm512_cmp_ps_mask(read, read, _CMP_ORD_Q);
    const __m512 steps = _mm512_maskz_mul_ps(numbers, read, _mm512_set1_ps(of->inverse));
    const __mmask16 beyond = _mm512_cmp_ps_mask(steps, _mm512_set1_ps(2147483648.0f), _CMP_GE_OQ);
    const __m512i whole = _mm512_mask_mov_epi32(_mm512_cvtps_epi32(steps), beyond, _mm512_set1_epi32(INT32_MAX));
    const __m512i clamped =
        _mm512_min_epi32(_mm512_max_epi32(whole, _mm512_set1_epi32(of->least)), _mm512_set1_epi32(of->most));
    return _mm512_add_epi32(clamped, _mm512_set1_epi32(of->zero));
}

size_t pwl_codes_avx512(const pwl_scaling *of, const float *x, pwl_type type, void *codes, size_t count)
{
    const int log2_bytes = (int)type >> 1;
    size_t k;
    for (k = 0; k + 64 <= count; k += 64) {
        char *const to = (char *)codes + (k << log2_bytes);
        int part;
        for (part = 0; part < 4; part++) {
            const __m512i v = code(of, x + k + 16 * part);
            if (log2_bytes == 0)
                _mm_storeu_si128((__m128i *)to + part, _mm512_cvtepi32_epi8(v));
            else if (log2_bytes == 1)
                _mm256_storeu_si256((__m256i *)to + part, _mm512_cvtepi32_epi16(v));
            else
                _mm512_storeu_si512((__m512i *)to + part, v);
        }
    }
    return k;
}

INLINE __m512i load(pwl_type type, const void *codes, size_t k)
{
    switch (type) {
    case PWL_S8:
        return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)((const int8_t *)codes + k)));
    case PWL_U8:
        return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)((const uint8_t *)codes + k)));
    case PWL_S16:
        return _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)((const int16_t *)codes + k)));
    case PWL_U16:
        return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)((const uint16_t *)codes + k)));
    default:
        return _mm512_loadu_si512((const int32_t *)codes + k);
    }
}

#include "reals_back.h"

size_t pwl_reals_avx512(const pwl_scaling *of, pwl_type type, const void *codes, float *y, size_t count, int streamed)
{
    return store_all(of, type, codes, y, count, streamed);
}
