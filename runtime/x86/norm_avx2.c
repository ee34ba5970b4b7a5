/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm and RMSNorm of 16-bit codes to 16 bits: four places at once in 64-bit lanes, whose factors have 32 bits. */
#include <immintrin.h>

#include "../loop.h"
#include "../rows/norm_row.h"
#include "../rows/row_ways.h"

int pwl_norm_avx2_serves(const pwl_norm *norm)
{
    return pwl_norm_is_of_words(norm);
}

/* As norm_avx512.c has it. */
static pwl_norm_row sum_row(const pwl_norm *norm, const uint16_t *x)
{
    const pwl_type in = (pwl_type)norm->in;
    const __m256i flip = _mm256_set1_epi16((short)pwl_norm_base(in)), ones = _mm256_set1_epi16(1);
    const __m256i lower = _mm256_set1_epi64x(UINT32_MAX);
    __m256i sums = _mm256_setzero_si256(), squares = sums;
    int64_t sum = 0, square = 0, square_lanes[4];
    int32_t sum_lanes[8];
    size_t at, k;
    for (at = 0; at + 16 <= norm->length; at += 16) {
        const __m256i v = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(x + at)), flip);
        const __m256i pairs = _mm256_madd_epi16(v, v);
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
    return pwl_norm_row_from(norm, in, x, at, sum, square);
}

/* What all places of a row share, in each lane: n u - A = n v - taken. */
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
INLINE __m128i four(const pwl_norm *norm, const lanes *all, __m256i v, size_t at)
{
    const __m256i c = _mm256_sub_epi64(_mm256_mul_epi32(v, all->n), all->taken);
    const __m256i t =
        shift_down(_mm256_add_epi64(_mm256_mul_epi32(c, all->factor), all->t_half), all->t_shift, all->t_raised);
    const __m256i gamma = _mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)(const void *)(norm->gamma + at)));
    __m256i y = _mm256_add_epi64(_mm256_mul_epi32(t, gamma), all->half);
    if (norm->beta)
        y = _mm256_add_epi64(y, _mm256_loadu_si256((const __m256i *)(const void *)(norm->beta + at)));
    y = _mm256_add_epi64(shift_down(y, all->shift, all->raised), all->zero);
    y = _mm256_blendv_epi8(y, all->least, _mm256_cmpgt_epi64(all->least, y));
    y = _mm256_blendv_epi8(y, all->most, _mm256_cmpgt_epi64(y, all->most));
    y = _mm256_shuffle_epi8(y, _mm256_setr_epi8(0, 1, 8, 9, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                                -1, 0, 1, 8, 9, -1, -1, -1, -1, -1, -1, -1, -1));
    return _mm_or_si128(_mm256_castsi256_si128(y), _mm256_extracti128_si256(y, 1));
}

static lanes lanes_of(const pwl_norm *norm, const pwl_norm_row *row)
{
    const int shift = norm->gamma_shift + norm->fraction;
    const int64_t p = norm->zp_x - pwl_norm_base((pwl_type)norm->in);
    lanes all;
    all.n = _mm256_set1_epi64x(norm->length);
    all.taken = _mm256_set1_epi64x(norm->length * p + row->sum);
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

static void write_row(const pwl_norm *norm, const pwl_norm_row *row, const uint16_t *x, uint16_t *y)
{
    const __m128i flip = _mm_set1_epi16((short)pwl_norm_base((pwl_type)norm->in));
    const lanes all = lanes_of(norm, row);
    size_t at = 0;
    /* R' may be 2^31, which 31 bits and a sign do not hold: plain C runs such a row. */
    for (; row->factor <= INT32_MAX && at + 8 <= norm->length; at += 8) {
        const __m128i v = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(x + at)), flip);
        const __m128i first = four(norm, &all, _mm256_cvtepi16_epi64(v), at);
        const __m128i second = four(norm, &all, _mm256_cvtepi16_epi64(_mm_unpackhi_epi64(v, v)), at + 4);
        _mm_storeu_si128((__m128i *)(void *)(y + at), _mm_unpacklo_epi64(first, second));
    }
    pwl_norm_write_from(norm, row, (pwl_type)norm->in, x, (pwl_type)norm->out, y, at);
}

void pwl_norm_avx2(const pwl_norm *norm, const void *x, void *y, size_t count)
{
    const uint16_t *from = (const uint16_t *)x;
    uint16_t *to = (uint16_t *)y;
    for (; count; count--, from += norm->length, to += norm->length) {
        const pwl_norm_row row = sum_row(norm, from);
        write_row(norm, &row, from, to);
    }
}
