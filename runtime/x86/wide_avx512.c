/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "wide", 16 codes at a time. The search runs in words of 32 bits; lines are evaluated in words of 64, those of
 * the even codes in one vector and of the odd codes in another, as in narrow_avx512.c.
 */
#include <immintrin.h>

#include "../loop.h"
#include "../ways.h"
#include "store_avx512.h"

/* A table of up to 32 words of 32 or 64 bits. */
typedef struct words {
    __m512i part[4];
} words;

typedef struct state {
    words last, cell, slope, n, pre, post;
    __m512i low, high, min_y, max_y, flip_x, flip_y;
} state;

INLINE words load_words(const void *array, int bytes)
{
    words of;
    int k;
    for (k = 0; k < bytes / 64; k++)
        of.part[k] = _mm512_load_si512((const char *)array + 64 * k);
    return of;
}

/* Element i of `capacity` words of 32 bits. */
INLINE __m512i pick32(const words *of, __m512i i, int capacity)
{
    if (capacity == 16)
        return _mm512_permutexvar_epi32(i, of->part[0]);
    return _mm512_permutex2var_epi32(of->part[0], i, of->part[1]);
}

/* Element i of `capacity` words of 64 bits; bits of i beyond the capacity are passed over. */
INLINE __m512i pick64(const words *of, __m512i i, int capacity)
{
    const __m512i lower = _mm512_permutex2var_epi64(of->part[0], i, of->part[1]);
    if (capacity == 16)
        return lower;
    return _mm512_mask_blend_epi64(_mm512_test_epi64_mask(i, _mm512_set1_epi64(16)), lower,
                                   _mm512_permutex2var_epi64(of->part[2], i, of->part[3]));
}

INLINE __m512i find(const state *of, __m512i s, int capacity, int steps)
{
    const __m512i bits = _mm512_xor_si512(s, _mm512_set1_epi32(INT32_MIN));
    __m512i i = pick32(&of->cell, _mm512_srli_epi32(bits, PWL_WIDE_CELL_BITS), PWL_WIDE_CELLS);
    while (steps--) {
        const __m512i last = _mm512_add_epi32(i, _mm512_set1_epi32((1 << steps) - 1));
        const __mmask16 beyond = _mm512_cmpgt_epi32_mask(s, pick32(&of->last, last, capacity));
        i = _mm512_mask_add_epi32(i, beyond, i, _mm512_set1_epi32(1 << steps));
    }
    return i;
}

/* p >> n, ties to even values as span.h tells. */
INLINE __m512i shift_right(__m512i p, __m512i n, int even)
{
    const __m512i shifted = _mm512_srav_epi64(p, n), one = _mm512_set1_epi64(1);
    __m512i rest;
    if (!even)
        return shifted;
    rest = _mm512_sllv_epi64(p, _mm512_and_si512(_mm512_sub_epi64(_mm512_setzero_si512(), n), _mm512_set1_epi64(63)));
    return _mm512_mask_andnot_epi64(shifted, _mm512_testn_epi64_mask(rest, rest), one, shifted);
}

/* Saturated values of codes, slopes and n in the low halves of their words; the high halves may hold anything. */
INLINE __m512i evaluate(const state *of, __m512i s, __m512i i, __m512i slope, __m512i n, int capacity, int even)
{
    const __m512i p = _mm512_add_epi64(_mm512_mul_epi32(s, slope), pick64(&of->pre, i, capacity));
    const __m512i count = _mm512_and_si512(n, _mm512_set1_epi64(63));
    const __m512i v = _mm512_add_epi64(shift_right(p, count, even), pick64(&of->post, i, capacity));
    return _mm512_min_epi64(_mm512_max_epi64(v, of->min_y), of->max_y);
}

INLINE __m512i map(const state *of, __m512i x, int capacity, int steps, int even)
{
    const __m512i s = _mm512_min_epi32(_mm512_max_epi32(_mm512_xor_si512(x, of->flip_x), of->low), of->high);
    const __m512i i = find(of, s, capacity, steps);
    const __m512i slope = pick32(&of->slope, i, capacity), n = pick32(&of->n, i, capacity);
    const __m512i first = evaluate(of, s, i, slope, n, capacity, even);
    const __m512i second = evaluate(of, _mm512_srli_epi64(s, 32), _mm512_srli_epi64(i, 32),
                                    _mm512_srli_epi64(slope, 32), _mm512_srli_epi64(n, 32), capacity, even);
    return _mm512_xor_si512(_mm512_mask_blend_epi32(0xaaaa, first, _mm512_slli_epi64(second, 32)), of->flip_y);
}

/* Fewer than 16 codes. */
INLINE void map_some(const state *of, const uint32_t *x, uint32_t *y, size_t count, int capacity, int steps, int even)
{
    const __mmask16 lanes = (__mmask16)((1u << count) - 1);
    if (count)
        _mm512_mask_storeu_epi32(y, lanes, map(of, _mm512_maskz_loadu_epi32(lanes, x), capacity, steps, even));
}

INLINE void run(const pwl_wide *wide, const uint32_t *x, uint32_t *y, size_t count, int capacity, int steps, int even)
{
    const size_t head = elements_before_line(y, sizeof *y);
    const int streamed = is_streamed(x, y, count * sizeof *y);
    state of;
    of.last = load_words(wide->last, 4 * capacity);
    of.cell = load_words(wide->cell, 128);
    of.slope = load_words(wide->slope, 4 * capacity);
    of.n = load_words(wide->n, 4 * capacity);
    of.pre = load_words(wide->pre, 8 * capacity);
    of.post = load_words(wide->post, 8 * capacity);
    of.low = _mm512_set1_epi32(wide->low);
    of.high = _mm512_set1_epi32(wide->high);
    of.min_y = _mm512_set1_epi64(wide->min_y);
    of.max_y = _mm512_set1_epi64(wide->max_y);
    of.flip_x = _mm512_set1_epi32((int32_t)wide->flip_x);
    of.flip_y = _mm512_set1_epi32((int32_t)wide->flip_y);
    map_some(&of, x, y, count < head ? count : head, capacity, steps, even);
    if (count <= head)
        return;
    x += head;
    y += head;
    for (count -= head; count >= 16; count -= 16, x += 16, y += 16)
        store_line(y, map(&of, _mm512_loadu_si512(x), capacity, steps, even), streamed);
    end_stores(streamed);
    map_some(&of, x, y, count, capacity, steps, even);
}

/* The variables of the loop above made constants. */
INLINE void run_rounded(const pwl_wide *wide, const uint32_t *x, uint32_t *y, size_t count, int capacity, int steps)
{
    if (wide->even)
        run(wide, x, y, count, capacity, steps, 1);
    else
        run(wide, x, y, count, capacity, steps, 0);
}

INLINE void run_steps(const pwl_wide *wide, const uint32_t *x, uint32_t *y, size_t count, int capacity)
{
    if (wide->steps <= 1)
        run_rounded(wide, x, y, count, capacity, 1);
    else
        run_rounded(wide, x, y, count, capacity, wide->steps);
}

void pwl_wide_avx512(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_wide *const wide = (const pwl_wide *)plan->memory;
    if (wide->capacity == 16)
        run_steps(wide, (const uint32_t *)x, (uint32_t *)y, count, 16);
    else
        run_steps(wide, (const uint32_t *)x, (uint32_t *)y, count, 32);
}
