/* SPDX-License-Identifier: Apache-2.0 */
/* AVX-512 VNNI: 16 rows of weights to a vector, both vectors of a panel at a time. */
#include "x86.h"

typedef __m512i integers;
typedef __m512i codes;
typedef __m512 floats;

#define MOST 6
#define MOST_INTEGERS 12
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

/*
 * A16 by Q4_0 with one row of X, and no exponent: a row of weights to a vector, 16 columns at a time. A block has 16
 * weights at most, (q - 8) d for q from 0 to 15, which are multiples of four: those of 1, 3, 5 and 7 are rounded, and
 * the others 2, 4 or 8 times these, for no half is too small to be a multiple of 2^-24, nor is a product of it. What q
 * stands for is then looked up: a permutation takes the low 4 bits of each lane for the lane that it gives.
 */
typedef struct turned {
    integers of[4]; /* bits 128 l and up of of[t] belong to row 4 l + t */
} turned;

/* Vectors with a word of 16 rows each, so that a row's four words are side by side. */
INLINE turned turn(integers a, integers b, integers c, integers d)
{
    const integers ab = _mm512_unpacklo_epi32(a, b), cd = _mm512_unpacklo_epi32(c, d);
    const integers more_ab = _mm512_unpackhi_epi32(a, b), more_cd = _mm512_unpackhi_epi32(c, d);
    const turned made = {{_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd),
                          _mm512_unpacklo_epi64(more_ab, more_cd), _mm512_unpackhi_epi64(more_ab, more_cd)}};
    return made;
}

INLINE integers rounded_bits(const pwl_qgemm_rounding *by, floats d, float count)
{
    const floats p = times(d, real(count)), unit = larger(times(exponent(p), real(by->digits)), real(by->least));
    return _mm512_castps_si512(minus(plus(p, unit), unit));
}

/* Of 16 rows: 1, 3, 5 and 7 times d, rounded. */
INLINE turned multiples(const pwl_qgemm_rounding *by, floats d)
{
    return turn(rounded_bits(by, d, 1), rounded_bits(by, d, 3), rounded_bits(by, d, 5), rounded_bits(by, d, 7));
}

/* Lanes [4 k, 4 k + 4). The instruction takes a constant, which k is in loops that are laid open. */
INLINE __m128i quarter(integers v, size_t k)
{
    switch (k) {
    case 0:
        return _mm512_castsi512_si128(v);
    case 1:
        return _mm512_extracti32x4_epi32(v, 1);
    case 2:
        return _mm512_extracti32x4_epi32(v, 2);
    default:
        return _mm512_extracti32x4_epi32(v, 3);
    }
}

/* y[r] += a block of 16 rows; tile: their codes. */
INLINE void add_rows(const pwl_qgemm_pass *pass, const uint8_t *tile, floats d, const float *x, floats y[16])
{
    const floats counts = _mm512_setr_ps(-8, -1, -2, -1, -4, -1, -2, -1, 0, 1, 2, 1, 4, 1, 2, 1);
    const integers pick = _mm512_setr_epi32(0, 3, 1, 2, 0, 1, 0, 0, 0, 0, 0, 1, 0, 2, 1, 3);
    const turned of = multiples(&pass->rounding, d);
    const turned q = turn(load(tile), load(tile + 64), load(tile + 128), load(tile + 192));
    const floats first = _mm512_loadu_ps(x), second = _mm512_loadu_ps(x + 16);
    UNROLL for (size_t r = 0; r < 16; r++)
    {
        const integers lane = _mm512_add_epi32(pick, _mm512_set1_epi32((int)(r / 4 * 4)));
        const floats w = times(_mm512_permutexvar_ps(lane, _mm512_castsi512_ps(of.of[r % 4])), counts);
        const integers c = _mm512_cvtepu8_epi32(quarter(q.of[r % 4], r / 4));
        y[r] = add_product(y[r], _mm512_permutexvar_ps(c, w), first);
        y[r] = add_product(y[r], _mm512_permutexvar_ps(_mm512_srli_epi32(c, 4), w), second);
    }
}

static void one_row(const pwl_qgemm_pass *pass)
{
    for (size_t half = 0; half < 2; half++) {
        const uint8_t *tile = pass->tiles + half * 256;
        const float *x = pass->x;
        floats y[16];
        UNROLL for (size_t r = 0; r < 16; r++) y[r] = zeros();
        for (size_t b = 0; b < pass->blocks; b++, tile += 576, x += PWL_BLOCK) {
            if (half == 0)
                fetch((uintptr_t)tile + AHEAD, 576);
            add_rows(pass, tile, from_halves(pass->tiles + b * 576 + 512 + half * 32), x, y);
        }
        UNROLL for (size_t r = 0; r < 16; r++)((float *)pass->sums)[half * 16 + r] = _mm512_reduce_add_ps(y[r]);
    }
}

void pwl_qgemm_avx512vnni(const pwl_qgemm_pass *pass)
{
    if (pass->kind == PWL_QGEMM_HALVES4 && pass->rows == 1 && !pass->rounding.scales)
        one_row(pass);
    else
        multiply(pass);
}

PWL_QGEMM_DEFINE_ROUND(avx512vnni)
