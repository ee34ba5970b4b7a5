/* SPDX-License-Identifier: Apache-2.0 */
/* What both layouts of tables in registers share (direct.h): codes, lines and values in words of 32 bits, 16 at a time.
 */
#ifndef PWL_DIRECT_AVX512_H
#define PWL_DIRECT_AVX512_H

#include <immintrin.h>

#include "../direct.h"
#include "../element.h"
#include "../loop.h"

/* Where codes are read and values are written, and how many of them. */
typedef struct arrays {
    const char *x;
    char *y;
    size_t count;
    pwl_type in, out;
} arrays;

/* What a table has beside its segments. */
typedef struct ends {
    __m512i min_x, max_x, min_y, max_y, zero, twice_zero, fold_sum;
} ends;

/* Lines, or the line of each of 16 codes. */
typedef struct lines {
    __m512i slope, pre, n, post;
} lines;

/* Codes, clamped and mirrored, and which of 16 there are. */
typedef struct codes {
    __m512i q;
    __mmask16 mirrored, lanes;
} codes;

/* Which of elements i to i + 15 there are. */
INLINE __mmask16 lanes_of(size_t count, size_t i)
{
    return count >= i + 16 ? 0xffff : count > i ? (__mmask16)((1u << (count - i)) - 1) : 0;
}

/* Elements of 2^log2_bytes bytes. */
INLINE __m512i load(const void *array, int log2_bytes, int is_unsigned, __mmask16 lanes)
{
    if (log2_bytes == 0) {
        const __m128i bytes = _mm512_castsi512_si128(_mm512_maskz_loadu_epi8(lanes, array));
        return is_unsigned ? _mm512_cvtepu8_epi32(bytes) : _mm512_cvtepi8_epi32(bytes);
    }
    if (log2_bytes == 1) {
        const __m256i halves = _mm512_castsi512_si256(_mm512_maskz_loadu_epi16(lanes, array));
        return is_unsigned ? _mm512_cvtepu16_epi32(halves) : _mm512_cvtepi16_epi32(halves);
    }
    return _mm512_maskz_loadu_epi32(lanes, array);
}

INLINE ends ends_of(const pwl_table *table)
{
    ends of;
    of.min_x = _mm512_set1_epi32((int32_t)table->qmin_x);
    of.max_x = _mm512_set1_epi32((int32_t)table->qmax_x);
    of.min_y = _mm512_set1_epi32((int32_t)table->qmin_y);
    of.max_y = _mm512_set1_epi32((int32_t)table->qmax_y);
    of.zero = _mm512_set1_epi32((int32_t)table->zp_x);
    of.twice_zero = _mm512_set1_epi32((int32_t)(2 * table->zp_x));
    of.fold_sum = _mm512_set1_epi32((int32_t)table->fold_sum);
    return of;
}

/* Where segments i to i + 15 start; beyond the table's last, `beyond`. */
INLINE __m512i load_starts(const pwl_table *table, size_t i, __m512i beyond)
{
    const int log2_bytes = table->storage;
    const __mmask16 lanes = lanes_of(table->segments, i);
    const __m512i start =
        load((const char *)table->start + (i << log2_bytes), log2_bytes, table->flags & PWL_FLAG_UNSIGNED_X, lanes);
    return _mm512_mask_blend_epi32(lanes, beyond, start);
}

/* The lines of segments i to i + 15, which start there. */
INLINE lines load_lines(const pwl_table *table, size_t i, __m512i start, __m512i zero_point)
{
    const int log2_bytes = table->storage, biased = table->form == PWL_BIASED;
    const int offset_log2 = log2_bytes == 1 || biased ? 2 : 1;
    const __mmask16 lanes = lanes_of(table->segments, i);
    const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
    const __m512i n = load(table->n + i, 0, 0, lanes), left = _mm512_max_epi32(_mm512_sub_epi32(zero, n), zero);
    const __m512i offset = load((const char *)table->offset + (i << offset_log2), offset_log2, 0, lanes);
    const __m512i q_b = load((const char *)table->q_b + (i << log2_bytes), log2_bytes, 0, lanes);
    const __m512i origin = table->form == PWL_ANCHORED ? start : zero_point;
    lines of;
    of.slope = _mm512_sllv_epi32(q_b, left);
    of.n = _mm512_max_epi32(n, zero);
    of.pre = _mm512_sub_epi32(biased ? _mm512_sllv_epi32(offset, left) : zero, _mm512_mullo_epi32(of.slope, origin));
    if (table->rounding == PWL_HALF_UP) /* a count of -1 gives 0 */
        of.pre = _mm512_add_epi32(of.pre, _mm512_sllv_epi32(one, _mm512_sub_epi32(of.n, one)));
    of.post = biased ? zero : offset;
    return of;
}

/* Codes i to i + 15; what an int32 does not hold is beyond the codes of every table served. */
INLINE codes load_codes(const ends *of, const arrays *to, size_t i, int fold)
{
    const int log2_bytes = pwl_type_bytes_log2(to->in);
    codes made;
    made.lanes = lanes_of(to->count, i);
    made.q = load(to->x + (i << log2_bytes), log2_bytes, pwl_type_is_unsigned(to->in), made.lanes);
    if (to->in == PWL_U32)
        made.q = _mm512_min_epu32(made.q, _mm512_set1_epi32(INT32_MAX));
    made.q = _mm512_max_epi32(_mm512_min_epi32(made.q, of->max_x), of->min_x);
    made.mirrored = fold ? _mm512_cmpgt_epi32_mask(of->zero, made.q) : 0;
    if (fold)
        made.q = _mm512_mask_sub_epi32(made.q, made.mirrored, of->twice_zero, made.q);
    return made;
}

/* shr(p, n), n at least 0; floor and half_up are alike by now. */
INLINE __m512i shift_right(__m512i p, __m512i n, int rounding)
{
    const __m512i one = _mm512_set1_epi32(1), zero = _mm512_setzero_si512();
    const __mmask16 shifts = _mm512_cmpgt_epi32_mask(n, zero);
    const __m512i half = _mm512_sllv_epi32(one, _mm512_sub_epi32(n, one));
    if (rounding == PWL_HALF_AWAY) {
        const __mmask16 down = shifts & _mm512_cmpgt_epi32_mask(zero, p);
        p = _mm512_add_epi32(p, half);
        p = _mm512_mask_sub_epi32(p, down, p, one);
    } else if (rounding == PWL_HALF_EVEN) {
        const __m512i even = _mm512_and_si512(_mm512_xor_si512(_mm512_srav_epi32(p, n), one), one);
        p = _mm512_add_epi32(p, half);
        p = _mm512_mask_sub_epi32(p, shifts, p, even);
    }
    return _mm512_srav_epi32(p, n);
}

/* The values of codes i to i + 15, each on its line. */
INLINE void store_values(const ends *of, const arrays *to, size_t i, codes at, lines line, int rounding, int fold)
{
    const __m512i p = _mm512_add_epi32(_mm512_mullo_epi32(line.slope, at.q), line.pre);
    const __m512i raw = _mm512_add_epi32(shift_right(p, line.n, rounding), line.post);
    const __m512i unfolded = fold ? _mm512_mask_sub_epi32(raw, at.mirrored, of->fold_sum, raw) : raw;
    const __m512i value = _mm512_max_epi32(_mm512_min_epi32(unfolded, of->max_y), of->min_y);
    void *const y = to->y + (i << pwl_type_bytes_log2(to->out));
    if (to->out <= PWL_U8)
        _mm512_mask_storeu_epi8(y, at.lanes, _mm512_castsi128_si512(_mm512_cvtepi32_epi8(value)));
    else if (to->out <= PWL_U16)
        _mm512_mask_storeu_epi16(y, at.lanes, _mm512_castsi256_si512(_mm512_cvtepi32_epi16(value)));
    else
        _mm512_mask_storeu_epi32(y, at.lanes, value);
}

#endif
