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

/* p >> n, ties to even values as span.h tells: those of an odd value, whose dropped bits are 0, are one less of p. For
 * n = 0 nothing is dropped. p - 1 is within the type, as p has 2^(n - 1) added. */
INLINE __m256i shift_words(__m256i p, __m256i n, int even)
{
    const __m256i shifted = _mm256_srav_epi32(p, n);
    const __m256i odd = _mm256_and_si256(shifted, _mm256_min_epu32(n, _mm256_set1_epi32(1)));
    return even ? _mm256_srav_epi32(_mm256_sub_epi32(p, odd), n) : shifted;
}

#endif
