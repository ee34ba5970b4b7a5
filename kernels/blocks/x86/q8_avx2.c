/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of Q8_1 by AVX2 and F16C: block.h's arithmetic, 8 values to a vector. */
#include <immintrin.h>

#include "blocks/q8.h"

enum { VECTORS = PWL_BLOCK / 8 };

/* Magnitudes compare as integers do, infinities and NaN above all others. */
static inline uint32_t largest(const __m256 v[VECTORS])
{
    const __m256i rest = _mm256_set1_epi32(0x7fffffff);
    __m256i most = _mm256_and_si256(_mm256_castps_si256(v[0]), rest);
    __m128i half;
    for (int i = 1; i < VECTORS; i++)
        most = _mm256_max_epi32(most, _mm256_and_si256(_mm256_castps_si256(v[i]), rest));
    half = _mm_max_epi32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(half);
}

/* v * inverse, ties away from zero: to it the largest number below a half is added, with its sign. */
static inline __m256i rounded(__m256 v, __m256 inverse)
{
    const __m256 p = _mm256_mul_ps(v, inverse), sign = _mm256_and_ps(p, _mm256_set1_ps(-0.0f));
    return _mm256_cvttps_epi32(_mm256_add_ps(p, _mm256_or_ps(sign, _mm256_set1_ps(0x1.fffffep-2f))));
}

/* Codes, clipped, in order; their sum. Packing takes four values of each operand by turns. */
static inline int32_t put_codes(const __m256 v[VECTORS], __m256 inverse, int8_t qs[PWL_BLOCK])
{
    const __m256i least = _mm256_set1_epi16(-127), most = _mm256_set1_epi16(127), ones = _mm256_set1_epi16(1);
    __m256i low = _mm256_packs_epi32(rounded(v[0], inverse), rounded(v[1], inverse));
    __m256i high = _mm256_packs_epi32(rounded(v[2], inverse), rounded(v[3], inverse));
    __m256i sums;
    __m128i half;
    low = _mm256_min_epi16(_mm256_max_epi16(low, least), most);
    high = _mm256_min_epi16(_mm256_max_epi16(high, least), most);
    _mm256_storeu_si256((__m256i *)(void *)qs, _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high),
                                                                           _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
    sums = _mm256_madd_epi16(_mm256_add_epi16(low, high), ones);
    half = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
    return _mm_cvtsi128_si32(half);
}

static inline uint16_t to_f16(float v)
{
    return (uint16_t)_mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(v), _MM_FROUND_TO_NEAREST_INT));
}

static inline void put_block(const float *x, pwl_block_q8_1 *to)
{
    __m256 v[VECTORS];
    float amax, unit, inverse, sum;
    uint32_t bits;
    for (int i = 0; i < VECTORS; i++)
        v[i] = _mm256_loadu_ps(x + i * 8);
    bits = largest(v);
    if (bits >= 0x7f800000) {
        *to = (pwl_block_q8_1){0x7fff, 0x7fff, {0}};
        return;
    }
    amax = _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128((int)bits)));
    to->d = to_f16(amax / 127);
    unit = _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(to->d)));
    inverse = unit == 0 ? 0 : 1 / unit; /* 2^24 at most */
    sum = unit * (float)put_codes(v, _mm256_set1_ps(inverse), to->qs);
    to->s = sum == sum ? to_f16(sum) : 0x7fff;
}

void pwl_q8_1_avx2(const float *x, size_t blocks, pwl_block_q8_1 *to)
{
    for (size_t b = 0; b < blocks; b++)
        put_block(x + b * PWL_BLOCK, to + b);
}
