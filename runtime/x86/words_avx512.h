/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of words of 16 bits, from which 32 words at a time are picked by index. They lie in memory aligned to 64
 * bytes: what picks from two vectors overwrites one, which has to be copied from somewhere in any case. */
#ifndef PWL_WORDS_AVX512_H
#define PWL_WORDS_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#include "../loop.h"

/* Where bits 6 and 7 of an index are set. */
typedef struct index_bits {
    __mmask32 bit6, bit7;
} index_bits;

INLINE index_bits bits_of(__m512i i)
{
    index_bits of;
    of.bit6 = _mm512_movepi16_mask(_mm512_slli_epi16(i, 9));
    of.bit7 = _mm512_movepi16_mask(_mm512_slli_epi16(i, 8));
    return of;
}

/* Of the 64 words there, by the low 6 bits of the index; of 128, by the low 7. */
INLINE __m512i pick_of_64(const uint16_t *words, __m512i i)
{
    return _mm512_permutex2var_epi16(_mm512_load_si512(words), i, _mm512_load_si512(words + 32));
}

INLINE __m512i pick_of_128(const uint16_t *words, __m512i i, index_bits bits)
{
    return _mm512_mask_blend_epi16(bits.bit6, pick_of_64(words, i), pick_of_64(words + 64, i));
}

/* Element i of `count` words: 32, 64, 128 or 256. */
INLINE __m512i pick(const void *words, __m512i i, index_bits bits, int count)
{
    const uint16_t *const of = (const uint16_t *)words;
    if (count == 32)
        return _mm512_permutexvar_epi16(i, _mm512_load_si512(of));
    if (count == 64)
        return pick_of_64(of, i);
    if (count == 128)
        return pick_of_128(of, i, bits);
    return _mm512_mask_blend_epi16(bits.bit7, pick_of_128(of, i, bits), pick_of_128(of + 128, i, bits));
}

#endif
