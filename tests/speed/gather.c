/* SPDX-License-Identifier: Apache-2.0 */
#include "baselines.h"

#ifdef __AVX512BW__
#include <immintrin.h>

/* `count` is a multiple of 16. */
int gather_s16(const uint32_t *words, const int16_t *x, int16_t *y, size_t count)
{
    const __m512i fractions = _mm512_set1_epi32(127), half = _mm512_set1_epi32(64);
    for (size_t k = 0; k < count; k += 16) {
        const __m512i u = _mm512_add_epi32(_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)(x + k))),
                                           _mm512_set1_epi32(32768));
        const __m512i word = _mm512_i32gather_epi32(_mm512_srli_epi32(u, 7), words, 4);
        const __m512i product = _mm512_mullo_epi32(_mm512_srai_epi32(word, 16), _mm512_and_si512(u, fractions));
        const __m512i v = _mm512_add_epi32(_mm512_srai_epi32(_mm512_slli_epi32(word, 16), 16),
                                           _mm512_srai_epi32(_mm512_add_epi32(product, half), 7));
        _mm256_storeu_si256((__m256i *)(y + k), _mm512_cvtepi32_epi16(v));
    }
    return 1;
}
#else
int gather_s16(const uint32_t *words, const int16_t *x, int16_t *y, size_t count)
{
    (void)words, (void)x, (void)y, (void)count;
    return 0;
}
#endif
