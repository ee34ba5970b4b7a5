/* SPDX-License-Identifier: Apache-2.0 */
/* What SSE4.1's ways share. Only files compiled for SSE4.1 may have it. */
#ifndef PWL_LINE_SSE41_H
#define PWL_LINE_SSE41_H

#include <immintrin.h>

#include "../loop.h"

/* Intrinsics of this width, and those that regard a vector as so many bits. */
typedef __m128i vector;
#define OP(name) _mm_##name
#define BITS(name) _mm_##name##_si128

INLINE vector in_each_16(__m128i v)
{
    return v;
}

/* 2^(31 - n) for words whose low byte is n, at most 31. Its byte k is 2^e with e = 31 - 8 k - n, or 0 where e is not 0
 * to 7, and then e + 120, clipped to 255, has the top bit set, for which a lookup gives 0. */
INLINE vector scale_of(vector n)
{
    const vector powers = _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, -128);
    const vector spread = _mm_shuffle_epi8(n, _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
    const vector e = _mm_sub_epi8(_mm_set1_epi32(0x070f171f), spread);
    return _mm_shuffle_epi8(powers, _mm_adds_epu8(e, _mm_set1_epi8(120)));
}

/* Words of 64 bits, of the even and the odd words of 32, shifted right by 31. */
INLINE vector shift_31(vector even, vector odd)
{
    return _mm_blend_epi16(_mm_srli_epi64(even, 31), _mm_add_epi64(odd, odd), 0xcc);
}

/* p >> n, ties to even values as span.h tells. There is no shift by each word's own n: instead
 * (p + 2^31) * 2^(31 - n), below 2^63, is shifted right by 31, and 2^(31 - n) taken away. */
INLINE vector shift_words(vector p, vector n, int ties)
{
    const vector scale = scale_of(n), from_lowest = _mm_xor_si128(p, _mm_set1_epi32(INT32_MIN));
    const vector even = _mm_mul_epu32(from_lowest, scale);
    const vector odd = _mm_mul_epu32(_mm_srli_epi64(from_lowest, 32), _mm_srli_epi64(scale, 32));
    const vector shifted = _mm_sub_epi32(shift_31(even, odd), scale), zero = _mm_setzero_si128();
    vector rest, tie;
    if (!ties)
        return shifted;
    /* The lower 31 bits are what is lost, and 0 for n = 0. */
    rest = _mm_blend_epi16(even, _mm_slli_epi64(odd, 32), 0xcc);
    tie = _mm_and_si128(_mm_cmpeq_epi32(_mm_add_epi32(rest, rest), zero), _mm_cmpgt_epi32(n, zero));
    return _mm_andnot_si128(_mm_srli_epi32(tie, 31), shifted);
}

#endif
