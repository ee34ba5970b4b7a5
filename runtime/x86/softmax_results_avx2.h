/* SPDX-License-Identifier: Apache-2.0 */
/* The results of exponentials of a row. Only files compiled for AVX2 may have it. */
#ifndef PWL_SOFTMAX_RESULTS_AVX2_H
#define PWL_SOFTMAX_RESULTS_AVX2_H

#include "line_avx2.h"

#include "../rows/softmax_bytes.h"

/* What the results of a row share, in each lane. */
typedef struct lanes {
    __m256i factor, half, zero, least, most;
    __m128i shift;
} lanes;

static inline lanes lanes_of(const pwl_softmax *softmax, pwl_row_factor reciprocal)
{
    const pwl_softmax_scale scale = pwl_softmax_scale_of(softmax, reciprocal);
    const lanes all = {_mm256_set1_epi64x(scale.factor),   _mm256_set1_epi64x(scale.half),
                       _mm256_set1_epi32(scale.zero),      _mm256_set1_epi32(softmax->qmin_y),
                       _mm256_set1_epi32(softmax->qmax_y), _mm_cvtsi32_si128(scale.shift)};
    return all;
}

/* Those of eight exponentials, which 22 bits hold before they saturate. */
INLINE __m256i eight(const lanes *all, const uint32_t *exp)
{
    const __m256i e = _mm256_loadu_si256((const __m256i *)(const void *)exp);
    const __m256i even = _mm256_srl_epi64(_mm256_add_epi64(_mm256_mul_epu32(e, all->factor), all->half), all->shift);
    const __m256i odd = _mm256_srl_epi64(
        _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(e, 32), all->factor), all->half), all->shift);
    const __m256i p = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
    return _mm256_min_epi32(_mm256_max_epi32(_mm256_add_epi32(p, all->zero), all->least), all->most);
}

/* The lower bytes of 32 words: halves of a, b, c and d in turn, four bytes each. */
INLINE __m256i bytes_mixed(__m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i byte = _mm256_set1_epi32(255);
    const __m256i words = _mm256_packus_epi32(_mm256_and_si256(a, byte), _mm256_and_si256(b, byte));
    const __m256i others = _mm256_packus_epi32(_mm256_and_si256(c, byte), _mm256_and_si256(d, byte));
    return _mm256_packus_epi16(words, others);
}

#endif
