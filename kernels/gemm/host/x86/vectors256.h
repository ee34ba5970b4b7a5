/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of AVX2 and F16C by the names of loops.h and vnni.h: 8 rows of weights to a vector, one vector at a time,
 * as there are 16 registers. */
#include "x86.h"

typedef __m256i integers;
typedef __m256i codes;
typedef __m256 floats;

enum { LANES = 8, VECTORS = 1, ALL = PWL_QGEMM_PANEL / LANES };

#define load(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define spread(p) _mm256_set1_epi32(word_at(p))
#define low(q) _mm256_and_si256(q, _mm256_set1_epi8(15))
#define high(q) _mm256_and_si256(_mm256_srli_epi16(q, 4), _mm256_set1_epi8(15))
#define right(v, n) _mm256_srli_epi16(v, n)
#define only(v, mask) _mm256_and_si256(v, _mm256_set1_epi8(mask))
#define join(a, b) _mm256_or_si256(a, b)
#define word_right(v, n) _mm256_srli_epi32(v, n)
#define word_only(v) _mm256_and_si256(v, _mm256_set1_epi32(255))
#define load_floats(p) _mm256_loadu_ps(p)
#define exponent(p) _mm256_castsi256_ps(_mm256_and_si256(_mm256_castps_si256(p), _mm256_set1_epi32(0x7f800000)))
#define larger(a, b) _mm256_max_ps(a, b)
#define add_product(y, a, b) _mm256_add_ps(y, _mm256_mul_ps(a, b))
#define value(c) _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_setr_epi8(PWL_QGEMM_E2M1_SHIFTED)), c)
#define add(a, b) _mm256_add_epi32(a, b)
#define integer(i) _mm256_set1_epi32(i)
#define real(f) _mm256_set1_ps(f)
#define to_real(s) _mm256_cvtepi32_ps(s)
#define times(a, b) _mm256_mul_ps(a, b)
#define plus(a, b) _mm256_add_ps(a, b)
#define minus(a, b) _mm256_sub_ps(a, b)
#define store_integers(p, s) _mm256_storeu_si256((__m256i *)(void *)(p), s)
#define store(p, y) _mm256_storeu_ps(p, y)
#define nothing() _mm256_setzero_si256()
#define zeros() _mm256_setzero_ps()

#define from_halves(p) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define from_codes(p) _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(p))))
#define from_signed(p) _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(p))))

INLINE codes value_codes(pwl_qgemm_kind kind, codes both, size_t upper)
{
    if (is_bytes(kind))
        return both;
    const codes c = upper ? high(both) : low(both);
    return kind == PWL_QGEMM_E2M1 ? value(c) : c;
}

INLINE floats scales(pwl_qgemm_kind kind, const uint8_t *tile, size_t row)
{
    const __m128i bits = _mm_loadu_si128((const __m128i *)(const void *)scales_at(kind, tile, row));
    if (kind == PWL_QGEMM_E2M1)
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
    return _mm256_cvtph_ps(bits);
}
