/* SPDX-License-Identifier: Apache-2.0 */
/* AVX-512 VNNI: 16 rows of weights to a vector, both vectors of a panel at a time. */
#include "x86.h"

typedef __m512i integers;
typedef __m512i codes;
typedef __m512 floats;

#define MOST 6
enum { LANES = 16, VECTORS = 2, ALL = PWL_QGEMM_PANEL / LANES };

#define load(p) _mm512_loadu_si512(p)
#define spread(p) _mm512_set1_epi32(word_at(p))
#define dot(s, u, q) _mm512_dpbusd_epi32(s, u, q)
#define low(q) _mm512_and_si512(q, _mm512_set1_epi8(15))
#define high(q) _mm512_and_si512(_mm512_srli_epi16(q, 4), _mm512_set1_epi8(15))
#define right(v, n) _mm512_srli_epi16(v, n)
#define only(v, mask) _mm512_and_si512(v, _mm512_set1_epi8(mask))
#define join(a, b) _mm512_or_si512(a, b)
#define word_right(v, n) _mm512_srli_epi32(v, n)
#define word_only(v) _mm512_and_si512(v, _mm512_set1_epi32(255))
#define load_floats(p) _mm512_loadu_ps(p)
#define exponent(p) _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(p), _mm512_set1_epi32(0x7f800000)))
#define larger(a, b) _mm512_max_ps(a, b)
#define add_product(y, a, b) _mm512_fmadd_ps(a, b, y)
#define value(c) _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_setr_epi8(PWL_QGEMM_E2M1_SHIFTED)), c)
#define add(a, b) _mm512_add_epi32(a, b)
#define integer(i) _mm512_set1_epi32(i)
#define real(f) _mm512_set1_ps(f)
#define to_real(s) _mm512_cvtepi32_ps(s)
#define times(a, b) _mm512_mul_ps(a, b)
#define plus(a, b) _mm512_add_ps(a, b)
#define minus(a, b) _mm512_sub_ps(a, b)
#define store_integers(p, s) _mm512_storeu_si512(p, s)
#define store(p, y) _mm512_storeu_ps(p, y)
#define nothing() _mm512_setzero_si512()
#define zeros() _mm512_setzero_ps()

#define from_halves(p) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(p)))
#define from_codes(p) _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p))))
#define from_signed(p) _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p))))

INLINE codes value_codes(pwl_qgemm_kind kind, codes both, size_t upper)
{
    if (is_bytes(kind))
        return both;
    const codes c = upper ? high(both) : low(both);
    return kind == PWL_QGEMM_E2M1 ? value(c) : c;
}

INLINE floats scales(pwl_qgemm_kind kind, const uint8_t *tile, size_t row)
{
    const __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)scales_at(kind, tile, row));
    if (kind == PWL_QGEMM_E2M1)
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
    return _mm512_cvtph_ps(bits);
}

#include "vnni.h"

void pwl_qgemm_avx512vnni(const pwl_qgemm_pass *pass)
{
    multiply(pass);
}
