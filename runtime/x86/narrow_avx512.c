/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "narrow" of up to 32 lines, 32 codes at a time. The search runs in words of 16 bits; lines are evaluated in
 * words of 32, those of the even codes in one vector and of the odd codes in another, so that no word has to change its
 * place: the index of an even code, and the code itself, are the low halves of their word, those of an odd code the
 * high halves.
 */
#include <immintrin.h>

#include "../loop.h"
#include "../ways.h"
#include "store_avx512.h"

/* A table of up to 64 words of 16 bits, or 32 of 32. */
typedef struct words {
    __m512i part[2];
} words;

typedef struct state {
    words last, cell, slope_n, pre, post;
    __m512i low, high, min_y, max_y, flip_x, flip_y;
} state;

INLINE words load_words(const void *array, int bytes)
{
    words of;
    of.part[0] = _mm512_load_si512(array);
    of.part[1] = bytes > 64 ? _mm512_load_si512((const char *)array + 64) : of.part[0];
    return of;
}

/* Element i of `capacity` words of 32 bits; bits of i beyond the capacity are passed over. */
INLINE __m512i pick(const words *of, __m512i i, int capacity)
{
    if (capacity == 16)
        return _mm512_permutexvar_epi32(i, of->part[0]);
    return _mm512_permutex2var_epi32(of->part[0], i, of->part[1]);
}

INLINE __m512i find(const state *of, __m512i s, int steps)
{
    const __m512i bits = _mm512_xor_si512(s, _mm512_set1_epi16(INT16_MIN));
    __m512i i =
        _mm512_permutex2var_epi16(of->cell.part[0], _mm512_srli_epi16(bits, PWL_NARROW_CELL_BITS), of->cell.part[1]);
    while (steps--) {
        const __m512i last = _mm512_add_epi16(i, _mm512_set1_epi16((int16_t)((1 << steps) - 1)));
        const __mmask32 beyond = _mm512_cmpgt_epi16_mask(s, _mm512_permutexvar_epi16(last, of->last.part[0]));
        i = _mm512_mask_add_epi16(i, beyond, i, _mm512_set1_epi16((int16_t)(1 << steps)));
    }
    return i;
}

/* p >> n, ties to even values as span.h tells. */
INLINE __m512i shift_right(__m512i p, __m512i n, int even)
{
    const __m512i shifted = _mm512_srav_epi32(p, n), one = _mm512_set1_epi32(1);
    __m512i rest;
    if (!even)
        return shifted;
    rest = _mm512_sllv_epi32(p, _mm512_and_si512(_mm512_sub_epi32(_mm512_setzero_si512(), n), _mm512_set1_epi32(31)));
    return _mm512_mask_andnot_epi32(shifted, _mm512_testn_epi32_mask(rest, rest), one, shifted);
}

/* Values before saturation, of words with a code in the low half and anything else 0. */
INLINE __m512i evaluate(const state *of, __m512i s, __m512i i, int capacity, int even, int has_post)
{
    const __m512i slope_n = pick(&of->slope_n, i, capacity), n = _mm512_srli_epi32(slope_n, 16);
    const __m512i p = _mm512_add_epi32(_mm512_madd_epi16(s, slope_n), pick(&of->pre, i, capacity));
    const __m512i v = shift_right(p, n, even);
    return has_post ? _mm512_add_epi32(v, pick(&of->post, i, capacity)) : v;
}

INLINE __m512i map(const state *of, __m512i x, int capacity, int steps, int even, int has_post)
{
    const __m512i low_half = _mm512_set1_epi32(UINT16_MAX);
    /* Words of 16 bits from e0 e1 e2 e3 o0 o1 o2 o3 to e0 o0 e1 o1 ... in each 128. */
    const __m512i interleave =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    const __m512i s = _mm512_min_epi16(_mm512_max_epi16(_mm512_xor_si512(x, of->flip_x), of->low), of->high);
    const __m512i i = find(of, s, steps);
    const __m512i first = evaluate(of, _mm512_and_si512(s, low_half), i, capacity, even, has_post);
    const __m512i second = evaluate(of, _mm512_srli_epi32(s, 16), _mm512_srli_epi32(i, 16), capacity, even, has_post);
    const __m512i v = _mm512_shuffle_epi8(_mm512_packs_epi32(first, second), interleave);
    return _mm512_xor_si512(_mm512_min_epi16(_mm512_max_epi16(v, of->min_y), of->max_y), of->flip_y);
}

/* Fewer than 32 codes. */
INLINE void map_some(const state *of, const uint16_t *x, uint16_t *y, size_t count, int capacity, int steps, int even,
                     int has_post)
{
    const __mmask32 lanes = ((__mmask32)1 << count) - 1;
    if (count)
        _mm512_mask_storeu_epi16(y, lanes,
                                 map(of, _mm512_maskz_loadu_epi16(lanes, x), capacity, steps, even, has_post));
}

INLINE void run(const pwl_narrow *narrow, const uint16_t *x, uint16_t *y, size_t count, int capacity, int steps,
                int even, int has_post)
{
    const size_t head = elements_before_line(y, sizeof *y);
    const int streamed = is_streamed(x, y, count * sizeof *y);
    state of;
    of.last = load_words(narrow->last, 64);
    of.cell = load_words(narrow->cell, 128);
    of.slope_n = load_words(narrow->slope_n, 4 * capacity);
    of.pre = load_words(narrow->pre, 4 * capacity);
    of.post = load_words(narrow->post, has_post ? 4 * capacity : 0);
    of.low = _mm512_set1_epi16(narrow->low);
    of.high = _mm512_set1_epi16(narrow->high);
    of.min_y = _mm512_set1_epi16(narrow->min_y);
    of.max_y = _mm512_set1_epi16(narrow->max_y);
    of.flip_x = _mm512_set1_epi16((int16_t)narrow->flip_x);
    of.flip_y = _mm512_set1_epi16((int16_t)narrow->flip_y);
    map_some(&of, x, y, count < head ? count : head, capacity, steps, even, has_post);
    if (count <= head)
        return;
    x += head;
    y += head;
    for (count -= head; count >= 32; count -= 32, x += 32, y += 32)
        store_line(y, map(&of, _mm512_loadu_si512(x), capacity, steps, even, has_post), streamed);
    end_stores(streamed);
    map_some(&of, x, y, count, capacity, steps, even, has_post);
}

/* The variables of the loop above made constants. */
INLINE void run_rounded(const pwl_narrow *narrow, const uint16_t *x, uint16_t *y, size_t count, int capacity, int steps)
{
    PWL_RUN_ROUNDED(narrow->even, narrow->has_post, run, narrow, x, y, count, capacity, steps);
}

INLINE void run_steps(const pwl_narrow *narrow, const uint16_t *x, uint16_t *y, size_t count, int capacity)
{
    if (narrow->steps <= 1)
        run_rounded(narrow, x, y, count, capacity, 1);
    else if (narrow->steps == 2)
        run_rounded(narrow, x, y, count, capacity, 2);
    else
        run_rounded(narrow, x, y, count, capacity, narrow->steps);
}

void pwl_narrow_avx512(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_narrow *const narrow = (const pwl_narrow *)plan->memory;
    if (narrow->capacity == 16)
        run_steps(narrow, (const uint16_t *)x, (uint16_t *)y, count, 16);
    else
        run_steps(narrow, (const uint16_t *)x, (uint16_t *)y, count, 32);
}
