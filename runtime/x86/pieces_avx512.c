/* SPDX-License-Identifier: Apache-2.0 */
/* Kind "pieces", 32 codes at a time: every word of 16 bits stays in its place from the load to the store. */
#include <immintrin.h>

#include "../loop.h"
#include "../pieces.h"
#include "../ways.h"
#include "store_avx512.h"
#include "words_avx512.h"

INLINE __m512i find(const pwl_pieces *of, __m512i s, int capacity, int cell_bits, int steps)
{
    const __m512i cell = _mm512_srli_epi16(_mm512_xor_si512(s, _mm512_set1_epi16(INT16_MIN)), (unsigned)cell_bits);
    __m512i i = pick(of->cell, cell, bits_of(cell), 1 << (16 - cell_bits));
    while (steps--) {
        const __m512i last = _mm512_add_epi16(i, _mm512_set1_epi16((int16_t)((1 << steps) - 1)));
        const __mmask32 beyond = _mm512_cmpgt_epi16_mask(s, pick(of->last, last, bits_of(last), capacity));
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

INLINE __m512i map(const pwl_pieces *of, __m512i x, int capacity, int cell_bits, int steps, int even, int is_long)
{
    const __m512i s = _mm512_xor_si512(x, _mm512_set1_epi16((int16_t)of->flip_x)),
                  i = find(of, s, capacity, cell_bits, steps);
    const index_bits bits = bits_of(i);
    const __m512i slope = pick(of->slope, i, bits, capacity), n = pick(of->n, i, bits, capacity);
    pair p = {_mm512_mullo_epi16(slope, s), _mm512_mulhi_epi16(slope, s)};
    __m512i shifted;
    p = add(p, pick(of->pre_low, i, bits, capacity), pick(of->pre_high, i, bits, capacity));
    shifted = shift_right(p, n, is_long);
    if (even)
        shifted = to_even(shifted, p, n);
    return _mm512_xor_si512(_mm512_add_epi16(shifted, pick(of->post, i, bits, capacity)),
                            _mm512_set1_epi16((int16_t)of->flip_y));
}

/* Fewer than 32 codes. */
INLINE void map_some(const pwl_pieces *of, const uint16_t *x, uint16_t *y, size_t count, int capacity, int cell_bits,
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
    map_some(pieces, x, y, count < head ? count : head, capacity, cell_bits, steps, even, is_long);
    if (count <= head)
        return;
    x += head;
    y += head;
    for (count -= head; count >= 32; count -= 32, x += 32, y += 32)
        store_line(y, map(pieces, _mm512_loadu_si512(x), capacity, cell_bits, steps, even, is_long), streamed);
    end_stores(streamed);
    map_some(pieces, x, y, count, capacity, cell_bits, steps, even, is_long);
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
    else if (pieces->capacity == 128)
        run_steps(pieces, (const uint16_t *)x, (uint16_t *)y, count, 128);
    else
        run_steps(pieces, (const uint16_t *)x, (uint16_t *)y, count, PWL_PIECES);
}
