/* SPDX-License-Identifier: Apache-2.0 */
/* Tables in registers as they are, 16 codes at a time. */
#include <immintrin.h>

#include "../direct.h"
#include "../element.h"
#include "../loop.h"

/* Up to 64 words of 32 bits, one for each segment. */
typedef struct words {
    __m512i part[4];
} words;

typedef struct state {
    words start, slope, pre, n, post;
    __m512i min_x, max_x, min_y, max_y, zero, twice_zero, fold_sum;
} state;

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

/* Codes: what an int32 does not hold is beyond the codes of every table served. */
INLINE __m512i load_codes(pwl_type in, const void *x, __mmask16 lanes)
{
    const __m512i codes = load(x, pwl_type_bytes_log2(in), pwl_type_is_unsigned(in), lanes);
    return in == PWL_U32 ? _mm512_min_epu32(codes, _mm512_set1_epi32(INT32_MAX)) : codes;
}

INLINE void store(pwl_type out, void *y, __m512i values, __mmask16 lanes)
{
    if (out <= PWL_U8)
        _mm512_mask_storeu_epi8(y, lanes, _mm512_castsi128_si512(_mm512_cvtepi32_epi8(values)));
    else if (out <= PWL_U16)
        _mm512_mask_storeu_epi16(y, lanes, _mm512_castsi256_si512(_mm512_cvtepi32_epi16(values)));
    else
        _mm512_mask_storeu_epi32(y, lanes, values);
}

/* Word i of `capacity`. */
INLINE __m512i pick(const words *of, __m512i i, int capacity)
{
    if (capacity == 16)
        return _mm512_permutexvar_epi32(i, of->part[0]);
    if (capacity == 32)
        return _mm512_permutex2var_epi32(of->part[0], i, of->part[1]);
    return _mm512_mask_blend_epi32(_mm512_cmpgt_epi32_mask(i, _mm512_set1_epi32(31)),
                                   _mm512_permutex2var_epi32(of->part[0], i, of->part[1]),
                                   _mm512_permutex2var_epi32(of->part[2], i, of->part[3]));
}

/* The lines of segments i to i + 15. */
INLINE void make_lines(state *of, const pwl_table *table, size_t i)
{
    const int log2_bytes = table->storage, biased = table->form == PWL_BIASED;
    const int offset_log2 = log2_bytes == 1 || biased ? 2 : 1;
    const __mmask16 lanes = lanes_of(table->segments, i);
    const __m512i zero = _mm512_setzero_si512();
    const __m512i start =
        load((const char *)table->start + (i << log2_bytes), log2_bytes, table->flags & PWL_FLAG_UNSIGNED_X, lanes);
    const __m512i n = load(table->n + i, 0, 0, lanes), left = _mm512_max_epi32(_mm512_sub_epi32(zero, n), zero);
    const __m512i right = _mm512_max_epi32(n, zero);
    const __m512i offset = load((const char *)table->offset + (i << offset_log2), offset_log2, 0, lanes);
    const __m512i q_b = load((const char *)table->q_b + (i << log2_bytes), log2_bytes, 0, lanes);
    const __m512i slope = _mm512_sllv_epi32(q_b, left);
    const __m512i origin = table->form == PWL_ANCHORED ? start : _mm512_set1_epi32((int32_t)table->zp_x);
    __m512i pre = _mm512_sub_epi32(biased ? _mm512_sllv_epi32(offset, left) : zero, _mm512_mullo_epi32(slope, origin));
    if (table->rounding == PWL_HALF_UP) /* a count of -1 gives 0 */
        pre = _mm512_add_epi32(pre,
                               _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_sub_epi32(right, _mm512_set1_epi32(1))));
    of->start.part[i / 16] = _mm512_mask_blend_epi32(lanes, _mm512_set1_epi32(INT32_MAX), start);
    of->slope.part[i / 16] = slope;
    of->pre.part[i / 16] = pre;
    of->n.part[i / 16] = right;
    of->post.part[i / 16] = biased ? zero : offset;
}

/* The last segment that starts at q or before it. */
INLINE __m512i find(const state *of, __m512i q, int capacity)
{
    __m512i i = _mm512_setzero_si512();
    int step;
    for (step = capacity / 2; step; step /= 2) {
        const __m512i beyond = _mm512_or_si512(i, _mm512_set1_epi32(step));
        i = _mm512_mask_mov_epi32(beyond, _mm512_cmpgt_epi32_mask(pick(&of->start, beyond, capacity), q), i);
    }
    return i;
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

INLINE __m512i map(const state *of, __m512i x, int capacity, int rounding, int fold)
{
    __m512i q = _mm512_max_epi32(_mm512_min_epi32(x, of->max_x), of->min_x), i, p, raw;
    const __mmask16 mirrored = fold ? _mm512_cmpgt_epi32_mask(of->zero, q) : 0;
    if (fold)
        q = _mm512_mask_sub_epi32(q, mirrored, of->twice_zero, q);
    i = find(of, q, capacity);
    p = _mm512_add_epi32(_mm512_mullo_epi32(pick(&of->slope, i, capacity), q), pick(&of->pre, i, capacity));
    raw = _mm512_add_epi32(shift_right(p, pick(&of->n, i, capacity), rounding), pick(&of->post, i, capacity));
    if (fold)
        raw = _mm512_mask_sub_epi32(raw, mirrored, of->fold_sum, raw);
    return _mm512_max_epi32(_mm512_min_epi32(raw, of->max_y), of->min_y);
}

INLINE void run(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count, int capacity,
                int rounding, int fold)
{
    const size_t in_bytes = (size_t)1 << pwl_type_bytes_log2(in), out_bytes = (size_t)1 << pwl_type_bytes_log2(out);
    state of;
    size_t i;
    for (i = 0; i < (size_t)capacity; i += 16)
        make_lines(&of, table, i);
    of.min_x = _mm512_set1_epi32((int32_t)table->qmin_x);
    of.max_x = _mm512_set1_epi32((int32_t)table->qmax_x);
    of.min_y = _mm512_set1_epi32((int32_t)table->qmin_y);
    of.max_y = _mm512_set1_epi32((int32_t)table->qmax_y);
    of.zero = _mm512_set1_epi32((int32_t)table->zp_x);
    of.twice_zero = _mm512_set1_epi32((int32_t)(2 * table->zp_x));
    of.fold_sum = _mm512_set1_epi32((int32_t)table->fold_sum);
    for (i = 0; i < count; i += 16) {
        const __mmask16 lanes = lanes_of(count, i);
        const __m512i codes = load_codes(in, (const char *)x + i * in_bytes, lanes);
        store(out, (char *)y + i * out_bytes, map(&of, codes, capacity, rounding, fold), lanes);
    }
}

/* The variables of the loop above made constants. */
INLINE void run_rounded(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count,
                        int capacity)
{
    const int fold = table->flags & PWL_FLAG_FOLD;
    if (table->rounding >= PWL_HALF_AWAY)
        run(table, in, x, out, y, count, capacity, table->rounding, fold);
    else if (fold)
        run(table, in, x, out, y, count, capacity, PWL_FLOOR, 1);
    else
        run(table, in, x, out, y, count, capacity, PWL_FLOOR, 0);
}

void pwl_direct_avx512(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count)
{
    if (table->segments <= 16)
        run_rounded(table, in, x, out, y, count, 16);
    else if (table->segments <= 32)
        run_rounded(table, in, x, out, y, count, 32);
    else
        run_rounded(table, in, x, out, y, count, 64);
}
