/* SPDX-License-Identifier: Apache-2.0 */
/* Kind "cells", BLOCK codes at a time: all lines are searched for first, and no search waits for another's. The search
 * loads words from 16 places; lines are loaded whole and turned, so that slopes, pre, n and post of eight codes, the
 * even or the odd ones, are each in one vector of 64-bit words. */
#include <immintrin.h>

#include "../cells.h"
#include "../loop.h"
#include "../ways.h"

enum { BLOCK = 32, VECTORS = BLOCK / 16 };

typedef struct state {
    pwl_cells_arrays arrays;
    __m512i low, high, min_y, max_y, flip_x, flip_y;
    __m128i cell_bits;
} state;

/* The lines of a block's codes. */
INLINE void find(const state *of, const __m512i *s, __m512i *i, int steps)
{
    int step = 1 << (steps - 1), k;
    for (k = 0; k < VECTORS; k++) {
        const __m512i cell = _mm512_srl_epi32(_mm512_sub_epi32(s[k], of->low), of->cell_bits);
        i[k] = _mm512_and_si512(_mm512_i32gather_epi32(cell, of->arrays.cells, 2), _mm512_set1_epi32(UINT16_MAX));
    }
    for (; step; step >>= 1) {
        for (k = 0; k < VECTORS; k++) {
            const __m512i last = _mm512_i32gather_epi32(i[k], of->arrays.lasts + step - 1, 4);
            i[k] = _mm512_mask_add_epi32(i[k], _mm512_cmpgt_epi32_mask(s[k], last), i[k], _mm512_set1_epi32(step));
        }
    }
}

/* Lines a and b. */
INLINE __m512i load_lines(const state *of, uint32_t a, uint32_t b)
{
    const __m256i lower = _mm256_load_si256((const __m256i *)(const void *)&of->arrays.lines[a]);
    return _mm512_inserti64x4(_mm512_castsi256_si512(lower),
                              _mm256_load_si256((const __m256i *)(const void *)&of->arrays.lines[b]), 1);
}

/* p >> n of p + 2^63, ties to even values as span.h tells; for n = 63 the only tie has the value 0, which stays. */
INLINE __m512i shift_right(__m512i p, __m512i n, int even)
{
    const __m512i shifted = _mm512_srlv_epi64(p, n), most = _mm512_set1_epi64(63);
    __m512i rest;
    if (!even)
        return shifted;
    rest = _mm512_sllv_epi64(p, _mm512_and_si512(_mm512_sub_epi64(_mm512_setzero_si512(), n), most));
    return _mm512_mask_andnot_epi64(shifted, _mm512_testn_epi64_mask(rest, rest) & _mm512_cmpneq_epi64_mask(n, most),
                                    _mm512_set1_epi64(1), shifted);
}

/* Saturated values of codes in the low halves of their words, on the lines i[0], i[2], ... i[14]. */
INLINE __m512i evaluate(const state *of, __m512i s, const uint32_t *i, int even)
{
    /* Words 0, 1 and 4, 5 of two vectors, and words 2, 3 and 6, 7. */
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    const __m512i a = load_lines(of, i[0], i[8]), b = load_lines(of, i[2], i[10]);
    const __m512i c = load_lines(of, i[4], i[12]), d = load_lines(of, i[6], i[14]);
    const __m512i slope_post_ab = _mm512_unpacklo_epi64(a, b), pre_n_ab = _mm512_unpackhi_epi64(a, b);
    const __m512i slope_post_cd = _mm512_unpacklo_epi64(c, d), pre_n_cd = _mm512_unpackhi_epi64(c, d);
    const __m512i slope = _mm512_permutex2var_epi64(slope_post_ab, first, slope_post_cd);
    const __m512i post = _mm512_permutex2var_epi64(slope_post_ab, second, slope_post_cd);
    const __m512i pre = _mm512_permutex2var_epi64(pre_n_ab, first, pre_n_cd);
    const __m512i n = _mm512_permutex2var_epi64(pre_n_ab, second, pre_n_cd);
    const __m512i p = _mm512_add_epi64(_mm512_mul_epi32(s, slope), pre);
    const __m512i v = _mm512_add_epi64(shift_right(p, n, even), post);
    return _mm512_min_epi64(_mm512_max_epi64(v, of->min_y), of->max_y);
}

INLINE void map(const state *of, const uint32_t *x, uint32_t *y, int steps, int even)
{
    __m512i s[VECTORS], found[VECTORS];
    uint32_t i[BLOCK];
    int k;
    for (k = 0; k < VECTORS; k++) {
        const __m512i bits = _mm512_xor_si512(_mm512_loadu_si512(x + 16 * k), of->flip_x);
        s[k] = _mm512_min_epi32(_mm512_max_epi32(bits, of->low), of->high);
    }
    find(of, s, found, steps);
    for (k = 0; k < VECTORS; k++)
        _mm512_storeu_si512(i + 16 * k, found[k]);
    for (k = 0; k < VECTORS; k++) {
        const __m512i first = evaluate(of, s[k], i + 16 * k, even);
        const __m512i second = evaluate(of, _mm512_srli_epi64(s[k], 32), i + 16 * k + 1, even);
        const __m512i v = _mm512_mask_blend_epi32(0xaaaa, first, _mm512_slli_epi64(second, 32));
        _mm512_storeu_si512(y + 16 * k, _mm512_xor_si512(v, of->flip_y));
    }
}

INLINE void run(const pwl_cells_table *made, const uint32_t *x, uint32_t *y, size_t count, int steps, int even)
{
    state of;
    of.arrays = pwl_cells_arrays_of(made);
    of.low = _mm512_set1_epi32(made->low);
    of.high = _mm512_set1_epi32(made->high);
    of.min_y = _mm512_set1_epi64(made->min_y);
    of.max_y = _mm512_set1_epi64(made->max_y);
    of.flip_x = _mm512_set1_epi32((int32_t)made->flip_x);
    of.flip_y = _mm512_set1_epi32((int32_t)made->flip_y);
    of.cell_bits = _mm_cvtsi32_si128(made->cell_bits);
    PWL_MAP_VECTORS(uint32_t, BLOCK, x, y, count, map, &of, steps, even);
}

#include "cells_run.h"

void pwl_cells_avx512(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    run_plan(plan, x, y, count);
}
