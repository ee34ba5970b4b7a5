/* SPDX-License-Identifier: Apache-2.0 */
/* What AVX2's ways of 64-bit words share. */
#ifndef PWL_LONG_AVX2_H
#define PWL_LONG_AVX2_H

#include "line_avx2.h"

/* Words of 64 bits for codes 0, 1, 4 and 5, and for the other four. */
typedef struct wide {
    __m256i part[2];
} wide;

INLINE wide widen(__m256i low, __m256i high)
{
    wide of;
    of.part[0] = _mm256_unpacklo_epi32(low, high);
    of.part[1] = _mm256_unpackhi_epi32(low, high);
    return of;
}

/* p >> n of p + 2^63, ties to even values as span.h tells. For n = 63, p >> n is 0 in the only tie there is, and 2^63
 * would make it odd: there it is left alone. */
INLINE __m256i shift_long(__m256i p, __m256i n, int even)
{
    const __m256i shifted = _mm256_srlv_epi64(p, n), zero = _mm256_setzero_si256(), most = _mm256_set1_epi64x(63);
    __m256i rest, tie;
    if (!even)
        return shifted;
    rest = _mm256_sllv_epi64(p, _mm256_and_si256(_mm256_sub_epi64(zero, n), most));
    tie = _mm256_andnot_si256(_mm256_cmpeq_epi64(n, most), _mm256_cmpeq_epi64(rest, zero));
    return _mm256_andnot_si256(_mm256_srli_epi64(tie, 63), shifted);
}

/* Values clipped to int32. */
INLINE __m256i saturate(const wide *v)
{
    const __m256 first = _mm256_castsi256_ps(v->part[0]), second = _mm256_castsi256_ps(v->part[1]);
    const __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0x88));
    const __m256i high = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0xdd));
    const __m256i fits = _mm256_cmpeq_epi32(high, _mm256_srai_epi32(low, 31));
    const __m256i nearest = _mm256_xor_si256(_mm256_srai_epi32(high, 31), _mm256_set1_epi32(INT32_MAX));
    return _mm256_blendv_epi8(nearest, low, fits);
}

#endif
