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

/* pwl_shr32() for words, by the rounding, then negated where n says so. */
INLINE __m256i shift_words(__m256i p, __m256i n, int rounding)
{
    const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi32(1);
    const __m256i shift = _mm256_and_si256(n, _mm256_set1_epi32(31));
    const __m256i negated = _mm256_sub_epi32(zero, _mm256_srli_epi32(n, 8));
    __m256i half, down;
    if (rounding == PWL_PLAIN_DOWN)
        return _mm256_srav_epi32(p, n);
    half = _mm256_srli_epi32(_mm256_sllv_epi32(one, shift), 1);
    down =
        rounding == PWL_PLAIN_AWAY ? _mm256_srli_epi32(p, 31) : _mm256_andnot_si256(_mm256_srav_epi32(p, shift), one);
    /* Nothing where no bit is lost. */
    p = _mm256_add_epi32(p, _mm256_and_si256(_mm256_cmpgt_epi32(shift, zero), _mm256_sub_epi32(half, down)));
    return _mm256_sub_epi32(_mm256_xor_si256(_mm256_srav_epi32(p, shift), negated), negated);
}

#endif
