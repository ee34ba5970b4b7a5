/* SPDX-License-Identifier: Apache-2.0 */
/* What AVX2's ways share. Only files compiled for AVX2 may have it. */
#ifndef PWL_LINE_AVX2_H
#define PWL_LINE_AVX2_H

#include <immintrin.h>

#include "../loop.h"

/* Intrinsics of this width, and those that regard a vector as so many bits. */
typedef __m256i vector;
#define OP(name) _mm256_##name
#define BITS(name) _mm256_##name##_si256

INLINE vector in_each_16(__m128i v)
{
    return _mm256_broadcastsi128_si256(v);
}

/* p >> n, ties to even values as span.h tells. */
INLINE __m256i shift_words(__m256i p, __m256i n, int even)
{
    const __m256i shifted = _mm256_srav_epi32(p, n), zero = _mm256_setzero_si256();
    __m256i rest, tie;
    if (!even)
        return shifted;
    rest = _mm256_sllv_epi32(p, _mm256_and_si256(_mm256_sub_epi32(zero, n), _mm256_set1_epi32(31)));
    tie = _mm256_cmpeq_epi32(rest, zero);
    return _mm256_andnot_si256(_mm256_srli_epi32(tie, 31), shifted);
}

#endif
