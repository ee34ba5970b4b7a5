/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm and RMSNorm: sums of 32 codes at once, and eight places at once in 64-bit lanes, as plain C has them. */
#include <immintrin.h>

#include "../loop.h"
#include "../rows/norm_row.h"
#include "../rows/row_ways.h"

int pwl_norm_avx512_serves(const pwl_norm *norm)
{
    (void)norm;
    return 1;
}

/* 32 codes less their base. */
INLINE __m512i load_words(pwl_type type, const void *x, size_t at)
{
    switch (type) {
    case PWL_S8:
        return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)((const char *)x + at)));
    case PWL_U8:
        return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)((const char *)x + at)));
    case PWL_S16:
        return _mm512_loadu_si512((const char *)x + 2 * at);
    default:
        return _mm512_xor_si512(_mm512_loadu_si512((const char *)x + 2 * at), _mm512_set1_epi16(INT16_MIN));
    }
}

/* Eight codes in 64-bit lanes. */
INLINE __m512i load_eight(pwl_type type, const void *x, size_t at)
{
    switch (type) {
    case PWL_S8:
        return _mm512_cvtepi8_epi64(_mm_loadl_epi64((const __m128i *)((const char *)x + at)));
    case PWL_U8:
        return _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)((const char *)x + at)));
    case PWL_S16:
        return _mm512_cvtepi16_epi64(_mm_loadu_si128((const __m128i *)((const char *)x + 2 * at)));
    default:
        return _mm512_cvtepu16_epi64(_mm_loadu_si128((const __m128i *)((const char *)x + 2 * at)));
    }
}

INLINE pwl_norm_row sum_row(const pwl_norm *norm, pwl_type type, const void *x)
{
    const __m512i ones = _mm512_set1_epi16(1), lower = _mm512_set1_epi64(UINT32_MAX);
    __m512i sums = _mm512_setzero_si512(), squares = sums;
    int64_t sum = 0, square = 0;
    int64_t square_lanes[8];
    int32_t sum_lanes[16];
    size_t at = 0, k;
    for (; at + 32 <= norm->length; at += 32) {
        const __m512i v = load_words(type, x, at);
        /* Two squares of -2^15 are 2^31, which 32 bits without a sign hold; a lane of sums has 2^11 steps of 2^16. */
        const __m512i pairs = _mm512_madd_epi16(v, v);
        sums = _mm512_add_epi32(sums, _mm512_madd_epi16(v, ones));
        squares = _mm512_add_epi64(squares, _mm512_and_si512(pairs, lower));
        squares = _mm512_add_epi64(squares, _mm512_srli_epi64(pairs, 32));
    }
    _mm512_storeu_si512(sum_lanes, sums);
    _mm512_storeu_si512(square_lanes, squares);
    for (k = 0; k < 16; k++)
        sum += sum_lanes[k];
    for (k = 0; k < 8; k++)
        square += square_lanes[k];
    return pwl_norm_row_from(norm, type, x, at, sum, square);
}

INLINE void write_row(const pwl_norm *norm, const pwl_norm_row *row, pwl_type in, const void *x, int is_wide, void *y)
{
    const int shift = norm->gamma_shift + norm->fraction;
    const __m512i n = _mm512_set1_epi64(norm->length), factor = _mm512_set1_epi64(row->factor);
    /* n u - A = n q - (n o + A) */
    const __m512i taken = _mm512_set1_epi64(norm->length * norm->zp_x + row->sum);
    const __m512i t_half = _mm512_set1_epi64((int64_t)1 << (row->shift - 1)), t_shift = _mm512_set1_epi64(row->shift);
    const __m512i half = _mm512_set1_epi64((int64_t)1 << (shift - 1)), y_shift = _mm512_set1_epi64(shift);
    const __m512i zero = _mm512_set1_epi64(norm->zp_y);
    const __m512i least = _mm512_set1_epi64(norm->qmin_y), most = _mm512_set1_epi64(norm->qmax_y);
    size_t at;
    for (at = 0; at + 8 <= norm->length; at += 8) {
        /* A code and n have 17 bits, so that their lower halves give the product. */
        const __m512i c = _mm512_sub_epi64(_mm512_mul_epi32(load_eight(in, x, at), n), taken);
        const __m512i t = _mm512_srav_epi64(_mm512_add_epi64(_mm512_mullo_epi64(c, factor), t_half), t_shift);
        const __m512i gamma = _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)(norm->gamma + at)));
        __m512i v = _mm512_add_epi64(_mm512_mullo_epi64(t, gamma), half);
        if (norm->beta)
            v = _mm512_add_epi64(v, _mm512_loadu_si512(norm->beta + at));
        v = _mm512_add_epi64(_mm512_srav_epi64(v, y_shift), zero);
        v = _mm512_min_epi64(_mm512_max_epi64(v, least), most);
        if (is_wide)
            _mm_storeu_si128((__m128i *)((char *)y + 2 * at), _mm512_cvtepi64_epi16(v));
        else
            _mm_storel_epi64((__m128i *)((char *)y + at), _mm512_cvtepi64_epi8(v));
    }
    pwl_norm_write_from(norm, row, in, x, (pwl_type)norm->out, y, at);
}

INLINE void run_rows(const pwl_norm *norm, pwl_type in, const char *x, int is_wide, char *y, size_t count)
{
    for (; count; count--) {
        const pwl_norm_row row = sum_row(norm, in, x);
        write_row(norm, &row, in, x, is_wide, y);
        x += (size_t)norm->length << pwl_type_bytes_log2(in);
        y += (size_t)norm->length << is_wide;
    }
}

/* A copy for each type of input and width of output. */
void pwl_norm_avx512(const pwl_norm *norm, const void *x, void *y, size_t count)
{
    switch (norm->in * 2 + (norm->out >= PWL_S16)) {
#define CASE(in, is_wide)                                                                                              \
    case in * 2 + is_wide:                                                                                             \
        run_rows(norm, in, (const char *)x, is_wide, (char *)y, count);                                                \
        break;
        CASE(PWL_S8, 0)
        CASE(PWL_S8, 1)
        CASE(PWL_U8, 0)
        CASE(PWL_U8, 1)
        CASE(PWL_S16, 0)
        CASE(PWL_S16, 1)
        CASE(PWL_U16, 0)
        CASE(PWL_U16, 1)
    default:
        break;
    }
}
