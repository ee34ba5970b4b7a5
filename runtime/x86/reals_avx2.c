/* SPDX-License-Identifier: Apache-2.0 */
/* 32 floats at a time to codes, 8 back. */
#include "../reals.h"
#include "line_avx2.h"

typedef __m256 reals;

/* Codes of 8 floats, in words of 32 bits. What is 2^31 and beyond converts to -2^31, as what is below does; it has all
 * its bits flipped. */
INLINE __m256i code(const pwl_scaling *of, const float *x)
{
    const __m256 read = _mm256_loadu_ps(x), numbers = _mm256_cmp_ps(read, read, _CMP_ORD_Q);
    const __m256 steps = _mm256_and_ps(_mm256_mul_ps(read, _mm256_set1_ps(of->inverse)), numbers);
    const __m256i beyond = _mm256_castps_si256(_mm256_cmp_ps(steps, _mm256_set1_ps(2147483648.0f), _CMP_GE_OQ));
    const __m256i whole = _mm256_xor_si256(_mm256_cvtps_epi32(steps), beyond);
    const __m256i clamped =
        _mm256_min_epi32(_mm256_max_epi32(whole, _mm256_set1_epi32(of->least)), _mm256_set1_epi32(of->most));
    return _mm256_add_epi32(clamped, _mm256_set1_epi32(of->zero));
}

/* Low halves of the words of a and b, in their order. */
INLINE __m256i low_halves(__m256i a, __m256i b)
{
    const __m256i low = _mm256_set1_epi32(UINT16_MAX);
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low)), 0xd8);
}

INLINE __m256i low_bytes(__m256i a, __m256i b)
{
    const __m256i low = _mm256_set1_epi16(UINT8_MAX);
    return _mm256_permute4x64_epi64(_mm256_packus_epi16(_mm256_and_si256(a, low), _mm256_and_si256(b, low)), 0xd8);
}

size_t pwl_codes_avx2(const pwl_scaling *of, const float *x, pwl_type type, void *codes, size_t count)
{
    const int log2_bytes = (int)type >> 1;
    size_t k;
    for (k = 0; k + 32 <= count; k += 32) {
        const __m256i a = code(of, x + k), b = code(of, x + k + 8), c = code(of, x + k + 16), d = code(of, x + k + 24);
        __m256i *const to = (__m256i *)((char *)codes + (k << log2_bytes));
        if (log2_bytes == 0) {
            _mm256_storeu_si256(to, low_bytes(low_halves(a, b), low_halves(c, d)));
        } else if (log2_bytes == 1) {
            _mm256_storeu_si256(to, low_halves(a, b));
            _mm256_storeu_si256(to + 1, low_halves(c, d));
        } else {
            _mm256_storeu_si256(to, a);
            _mm256_storeu_si256(to + 1, b);
            _mm256_storeu_si256(to + 2, c);
            _mm256_storeu_si256(to + 3, d);
        }
    }
    return k;
}

INLINE __m256i load(pwl_type type, const void *codes, size_t k)
{
    switch (type) {
    case PWL_S8:
        return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)((const int8_t *)codes + k)));
    case PWL_U8:
        return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)((const uint8_t *)codes + k)));
    case PWL_S16:
        return _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)((const int16_t *)codes + k)));
    case PWL_U16:
        return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)((const uint16_t *)codes + k)));
    default:
        return _mm256_loadu_si256((const __m256i *)((const int32_t *)codes + k));
    }
}

#include "reals_back.h"

size_t pwl_reals_avx2(const pwl_scaling *of, pwl_type type, const void *codes, float *y, size_t count, int streamed)
{
    return store_all(of, type, codes, y, count, streamed);
}
