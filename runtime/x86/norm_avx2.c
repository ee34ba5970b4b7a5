/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm and RMSNorm of 16-bit codes to 16 bits: four places at once in 64-bit lanes, whose factors have 32 bits. */
#include <immintrin.h>

#include "../element.h"
#include "../loop.h"
#include "../rows/row_ways.h"

/* n u - A and t within 31 bits and a sign. */
int pwl_norm_avx2_serves(const pwl_norm *norm)
{
    const int64_t limit = (int64_t)1 << 31;
    return norm->in >= PWL_S16 && norm->out >= PWL_S16 && (int64_t)norm->length * UINT16_MAX < limit &&
           pwl_norm_most(norm) < (uint64_t)limit;
}

/* Codes less the middle of their type, as signed words. */
static __m256i words_of(const uint16_t *x, __m256i flip)
{
    return _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)x), flip);
}

/* As norm_avx512.c has it. */
static pwl_norm_row sum_row(const pwl_norm *norm, const uint16_t *x, int64_t base)
{
    const __m256i flip = _mm256_set1_epi16((short)base), ones = _mm256_set1_epi16(1);
    const __m256i lower = _mm256_set1_epi64x(UINT32_MAX);
    __m256i sums = _mm256_setzero_si256(), squares = sums;
    const int64_t p = norm->zp_x - base, n = norm->length;
    int64_t sum = 0, square = 0, square_lanes[4];
    int32_t sum_lanes[8];
    size_t at, k;
    for (at = 0; at + 16 <= norm->length; at += 16) {
        const __m256i v = words_of(x + at, flip), pairs = _mm256_madd_epi16(v, v);
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(v, ones));
        squares = _mm256_add_epi64(squares, _mm256_and_si256(pairs, lower));
        squares = _mm256_add_epi64(squares, _mm256_srli_epi64(pairs, 32));
    }
    _mm256_storeu_si256((__m256i *)(void *)sum_lanes, sums);
    _mm256_storeu_si256((__m256i *)(void *)square_lanes, squares);
    for (k = 0; k < 8; k++)
        sum += sum_lanes[k];
    for (k = 0; k < 4; k++)
        square += square_lanes[k];
    for (; at < norm->length; at++) {
        const int64_t v = (int16_t)(x[at] ^ (uint16_t)base);
        sum += v;
        square += v * v;
    }
    return pwl_norm_row_of(norm, sum - n * p, square - 2 * p * sum + n * p * p);
}

/* What all places of a row share, in each lane. */
typedef struct lanes {
    __m256i n, taken, factor, t_half, t_raised, half, raised, zero, least, most;
    __m128i t_shift, shift;
} lanes;

/* v >> n, rounding down, for |v| < 2^62: raised = 2^62 >> n. */
INLINE __m256i shift_down(__m256i v, __m128i n, __m256i raised)
{
    const __m256i bias = _mm256_set1_epi64x((int64_t)1 << 62);
    return _mm256_sub_epi64(_mm256_srl_epi64(_mm256_add_epi64(v, bias), n), raised);
}

/* The results of four codes, from place `at` on, as words in the lower half. */
INLINE __m128i four(const pwl_norm *norm, const lanes *all, __m256i codes, size_t at)
{
    const __m256i c = _mm256_sub_epi64(_mm256_mul_epi32(codes, all->n), all->taken);
    const __m256i t =
        shift_down(_mm256_add_epi64(_mm256_mul_epi32(c, all->factor), all->t_half), all->t_shift, all->t_raised);
    const __m256i gamma = _mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)(const void *)(norm->gamma + at)));
    __m256i v = _mm256_add_epi64(_mm256_mul_epi32(t, gamma), all->half);
    if (norm->beta)
        v = _mm256_add_epi64(v, _mm256_loadu_si256((const __m256i *)(const void *)(norm->beta + at)));
    v = _mm256_add_epi64(shift_down(v, all->shift, all->raised), all->zero);
    v = _mm256_blendv_epi8(v, all->least, _mm256_cmpgt_epi64(all->least, v));
    v = _mm256_blendv_epi8(v, all->most, _mm256_cmpgt_epi64(v, all->most));
    v = _mm256_shuffle_epi8(v, _mm256_setr_epi8(0, 1, 8, 9, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                                -1, 0, 1, 8, 9, -1, -1, -1, -1, -1, -1, -1, -1));
    return _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

static lanes lanes_of(const pwl_norm *norm, const pwl_norm_row *row)
{
    const int shift = norm->gamma_shift + norm->fraction;
    lanes all;
    all.n = _mm256_set1_epi64x(norm->length);
    all.taken = _mm256_set1_epi64x(norm->length * norm->zp_x + row->sum);
    all.factor = _mm256_set1_epi64x(row->factor);
    all.t_half = _mm256_set1_epi64x((int64_t)1 << (row->shift - 1));
    all.t_raised = _mm256_set1_epi64x(((int64_t)1 << 62) >> row->shift);
    all.t_shift = _mm_cvtsi32_si128(row->shift);
    all.half = _mm256_set1_epi64x((int64_t)1 << (shift - 1));
    all.raised = _mm256_set1_epi64x(((int64_t)1 << 62) >> shift);
    all.shift = _mm_cvtsi32_si128(shift);
    all.zero = _mm256_set1_epi64x(norm->zp_y);
    all.least = _mm256_set1_epi64x(norm->qmin_y);
    all.most = _mm256_set1_epi64x(norm->qmax_y);
    return all;
}

INLINE void write_row(const pwl_norm *norm, const pwl_norm_row *row, int is_unsigned, const uint16_t *x, uint16_t *y)
{
    const lanes all = lanes_of(norm, row);
    size_t at = 0;
    /* R' may be 2^31, which 31 bits and a sign do not hold: plain C runs such a row. */
    for (; row->factor <= INT32_MAX && at + 8 <= norm->length; at += 8) {
        const __m128i codes = _mm_loadu_si128((const __m128i *)(const void *)(x + at));
        const __m128i rest = _mm_unpackhi_epi64(codes, codes);
        const __m128i first =
            four(norm, &all, is_unsigned ? _mm256_cvtepu16_epi64(codes) : _mm256_cvtepi16_epi64(codes), at);
        const __m128i second =
            four(norm, &all, is_unsigned ? _mm256_cvtepu16_epi64(rest) : _mm256_cvtepi16_epi64(rest), at + 4);
        _mm_storeu_si128((__m128i *)(void *)(y + at), _mm_unpacklo_epi64(first, second));
    }
    for (; at < norm->length; at++) {
        const int64_t q = is_unsigned ? x[at] : (int16_t)x[at];
        y[at] = (uint16_t)pwl_norm_place(norm, row, q - norm->zp_x, (uint32_t)at);
    }
}

void pwl_norm_avx2(const pwl_norm *norm, const void *x, void *y, size_t count)
{
    const int is_unsigned = norm->in == PWL_U16;
    const uint16_t *from = (const uint16_t *)x;
    uint16_t *to = (uint16_t *)y;
    for (; count; count--, from += norm->length, to += norm->length) {
        const pwl_norm_row row = sum_row(norm, from, is_unsigned ? 32768 : 0);
        if (is_unsigned)
            write_row(norm, &row, 1, from, to);
        else
            write_row(norm, &row, 0, from, to);
    }
}
