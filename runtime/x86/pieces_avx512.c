/* SPDX-License-Identifier: Apache-2.0 */
/* Kind "pieces", 32 codes at a time: every word of 16 bits stays in its place from the load to the store. */
#include <immintrin.h>

#include "../loop.h"
#include "../pieces.h"
#include "../ways.h"
#include "store_avx512.h"

/* A table of up to 128 words. */
typedef struct words {
    __m512i part[4];
} words;

typedef struct state {
    words last, cell, slope, pre_low, pre_high, n, post;
    __m512i flip_x, flip_y;
} state;

INLINE words load_words(const void *array, int count)
{
    words of;
    int k;
    for (k = 0; k < count / 32; k++)
        of.part[k] = _mm512_load_si512((const char *)array + 64 * k);
    return of;
}

/* Element i of `count` words. */
INLINE __m512i pick(const words *of, __m512i i, int count)
{
    if (count == 32)
        return _mm512_permutexvar_epi16(i, of->part[0]);
    if (count == 64)
        return _mm512_permutex2var_epi16(of->part[0], i, of->part[1]);
    return _mm512_mask_blend_epi16(_mm512_movepi16_mask(_mm512_slli_epi16(i, 9)),
                                   _mm512_permutex2var_epi16(of->part[0], i, of->part[1]),
                                   _mm512_permutex2var_epi16(of->part[2], i, of->part[3]));
}

INLINE __m512i find(const state *of, __m512i s, int capacity, int cell_bits, int steps)
{
    const __m512i bits = _mm512_xor_si512(s, _mm512_set1_epi16(INT16_MIN));
    __m512i i = pick(&of->cell, _mm512_srli_epi16(bits, (unsigned)cell_bits), 1 << (16 - cell_bits));
    while (steps--) {
        const __m512i last = _mm512_add_epi16(i, _mm512_set1_epi16((int16_t)((1 << steps) - 1)));
        const __mmask32 beyond = _mm512_cmpgt_epi16_mask(s, pick(&of->last, last, capacity));
        i = _mm512_mask_add_epi16(i, beyond, i, _mm512_set1_epi16((int16_t)(1 << steps)));
    }
    return i;
}

/* The halves of 32 words of 32 bits. */
typedef struct pair {
    __m512i low, high;
} pair;

INLINE pair add(pair p, __m512i low, __m512i high)
{
    const __m512i one = _mm512_set1_epi16(1);
    p.low = _mm512_add_epi16(p.low, low);
    p.high = _mm512_add_epi16(p.high, high);
    p.high = _mm512_mask_add_epi16(p.high, _mm512_cmplt_epu16_mask(p.low, low), p.high, one);
    return p;
}

/* The low words of p >> n. Counts of 16 and more give 0, those below zero being such. */
INLINE __m512i shift_right(pair p, __m512i n, int is_long)
{
    const __m512i bits = _mm512_set1_epi16(16);
    const __m512i low = _mm512_srlv_epi16(p.low, n), high = _mm512_sllv_epi16(p.high, _mm512_sub_epi16(bits, n));
    if (!is_long)
        return _mm512_or_si512(low, high);
    return _mm512_ternarylogic_epi64(low, high, _mm512_srlv_epi16(p.high, _mm512_sub_epi16(n, bits)), 0xfe); /* or */
}

/* The shifted values, made even where p's n low bits are 0. What is lost of the low word for n < 16 is its n low bits,
 * or for n = 0 none: then bit 0 is looked at, and cleared where it is 0. For n >= 16 it is all of it, and n - 16 bits
 * of the high word. */
INLINE __m512i to_even(__m512i shifted, pair p, __m512i n)
{
    const __m512i to_low = _mm512_min_epu16(_mm512_subs_epu16(_mm512_set1_epi16(16), n), _mm512_set1_epi16(15));
    const __m512i low = _mm512_sllv_epi16(p.low, to_low);
    const __m512i high = _mm512_sllv_epi16(p.high, _mm512_sub_epi16(_mm512_set1_epi16(32), n));
    const __m512i rest = _mm512_or_si512(low, high), one = _mm512_set1_epi16(1);
    const __mmask32 ties = _mm512_testn_epi16_mask(rest, rest);
    return _mm512_mask_sub_epi16(shifted, ties, shifted, _mm512_and_si512(shifted, one));
}

INLINE __m512i map(const state *of, __m512i x, int capacity, int cell_bits, int steps, int even, int is_long)
{
    const __m512i s = _mm512_xor_si512(x, of->flip_x), i = find(of, s, capacity, cell_bits, steps);
    const __m512i slope = pick(&of->slope, i, capacity), n = pick(&of->n, i, capacity);
    pair p = {_mm512_mullo_epi16(slope, s), _mm512_mulhi_epi16(slope, s)};
    __m512i shifted;
    p = add(p, pick(&of->pre_low, i, capacity), pick(&of->pre_high, i, capacity));
    shifted = shift_right(p, n, is_long);
    if (even)
        shifted = to_even(shifted, p, n);
    return _mm512_xor_si512(_mm512_add_epi16(shifted, pick(&of->post, i, capacity)), of->flip_y);
}

/* Fewer than 32 codes. */
INLINE void map_some(const state *of, const uint16_t *x, uint16_t *y, size_t count, int capacity, int cell_bits,
                     int steps, int even, int is_long)
{
    const __mmask32 lanes = ((__mmask32)1 << count) - 1;
    if (count)
        _mm512_mask_storeu_epi16(
            y, lanes, map(of, _mm512_maskz_loadu_epi16(lanes, x), capacity, cell_bits, steps, even, is_long));
}

INLINE void run(const pwl_pieces *pieces, const uint16_t *x, uint16_t *y, size_t count, int capacity, int cell_bits,
                int steps, int even, int is_long)
{
    const size_t head = elements_before_line(y, sizeof *y);
    const int streamed = is_streamed(x, y, count * sizeof *y);
    state of;
    of.last = load_words(pieces->last, capacity);
    of.cell = load_words(pieces->cell, 1 << (16 - cell_bits));
    of.slope = load_words(pieces->slope, capacity);
    of.pre_low = load_words(pieces->pre_low, capacity);
    of.pre_high = load_words(pieces->pre_high, capacity);
    of.n = load_words(pieces->n, capacity);
    of.post = load_words(pieces->post, capacity);
    of.flip_x = _mm512_set1_epi16((int16_t)pieces->flip_x);
    of.flip_y = _mm512_set1_epi16((int16_t)pieces->flip_y);
    map_some(&of, x, y, count < head ? count : head, capacity, cell_bits, steps, even, is_long);
    if (count <= head)
        return;
    x += head;
    y += head;
    for (count -= head; count >= 32; count -= 32, x += 32, y += 32)
        store_line(y, map(&of, _mm512_loadu_si512(x), capacity, cell_bits, steps, even, is_long), streamed);
    end_stores(streamed);
    map_some(&of, x, y, count, capacity, cell_bits, steps, even, is_long);
}

/* The variables of the loop above made constants. */
INLINE void run_shift(const pwl_pieces *pieces, const uint16_t *x, uint16_t *y, size_t count, int capacity,
                      int cell_bits, int steps)
{
    if (pieces->even)
        run(pieces, x, y, count, capacity, cell_bits, steps, 1, 1);
    else if (pieces->is_long)
        run(pieces, x, y, count, capacity, cell_bits, steps, 0, 1);
    else
        run(pieces, x, y, count, capacity, cell_bits, steps, 0, 0);
}

INLINE void run_steps(const pwl_pieces *pieces, const uint16_t *x, uint16_t *y, size_t count, int capacity)
{
    if (pieces->cell_bits == 11 && pieces->steps <= 1)
        run_shift(pieces, x, y, count, capacity, 11, 1);
    else if (pieces->steps <= 1)
        run_shift(pieces, x, y, count, capacity, 10, 1);
    else if (pieces->cell_bits == 11)
        run_shift(pieces, x, y, count, capacity, 11, pieces->steps);
    else
        run_shift(pieces, x, y, count, capacity, 10, pieces->steps);
}

void pwl_pieces_avx512(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_pieces *const pieces = (const pwl_pieces *)plan->memory;
    if (pieces->capacity == 32)
        run_steps(pieces, (const uint16_t *)x, (uint16_t *)y, count, 32);
    else if (pieces->capacity == 64)
        run_steps(pieces, (const uint16_t *)x, (uint16_t *)y, count, 64);
    else
        run_steps(pieces, (const uint16_t *)x, (uint16_t *)y, count, 128);
}
