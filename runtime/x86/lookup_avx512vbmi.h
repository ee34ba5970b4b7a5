/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to bytes by four permutations of 64 bytes, the top bits of a code choosing among them. Only files compiled for
 * AVX-512 VBMI may have it. */
#ifndef PWL_LOOKUP_AVX512VBMI_H
#define PWL_LOOKUP_AVX512VBMI_H

#include <immintrin.h>

typedef struct table_256 {
    __m512i part[4];
} table_256;

static inline __m512i look_up(const table_256 *values, __m512i x)
{
    const __mmask64 bit_7 = _mm512_movepi8_mask(x), bit_6 = _mm512_movepi8_mask(_mm512_add_epi8(x, x));
    __m512i lower = _mm512_permutexvar_epi8(x, values->part[0]), upper = _mm512_permutexvar_epi8(x, values->part[2]);
    lower = _mm512_mask_permutexvar_epi8(lower, bit_6, x, values->part[1]);
    upper = _mm512_mask_permutexvar_epi8(upper, bit_6, x, values->part[3]);
    return _mm512_mask_blend_epi8(bit_7, lower, upper);
}

#endif
