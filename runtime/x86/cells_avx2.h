/* SPDX-License-Identifier: Apache-2.0 */
/* What ways of kinds "cells" and "octaves" share, BLOCK codes at a time: all lines are searched for first, and no
 * search waits for another's. The search loads words from 8 places; lines are loaded whole and turned, so that slopes,
 * pre, n and post of four codes, 0, 1, 4 and 5 or the others, are each in one vector of 64-bit words. */
#ifndef PWL_CELLS_AVX2_H
#define PWL_CELLS_AVX2_H

#include "../cells.h"
#include "long_avx2.h"

enum { BLOCK = 32 };

/* What is searched and evaluated, and the ends that codes and values are clipped to. */
typedef struct cells_state {
    pwl_cells_arrays arrays;
    __m256i low, high, min_y, max_y, flip_x, flip_y;
    __m128i cell_bits;
} cells_state;

/* The lines of a block's codes. */
INLINE void find(const cells_state *of, const __m256i *s, __m256i *i, int steps)
{
    int step = 1 << (steps - 1), k;
    for (k = 0; k < BLOCK / 8; k++) {
        const __m256i cell = _mm256_srl_epi32(_mm256_sub_epi32(s[k], of->low), of->cell_bits);
        const __m256i words = _mm256_i32gather_epi32((const int *)(const void *)of->arrays.cells, cell, 2);
        i[k] = _mm256_and_si256(words, _mm256_set1_epi32(UINT16_MAX));
    }
    for (; step; step >>= 1) {
        const int32_t *const lasts = of->arrays.lasts + step - 1;
        for (k = 0; k < BLOCK / 8; k++) {
            const __m256i beyond = _mm256_cmpgt_epi32(s[k], _mm256_i32gather_epi32(lasts, i[k], 4));
            i[k] = _mm256_add_epi32(i[k], _mm256_and_si256(beyond, _mm256_set1_epi32(step)));
        }
    }
}

INLINE __m256i load_line(const cells_state *of, uint32_t i)
{
    return _mm256_load_si256((const __m256i *)(const void *)&of->arrays.lines[i]);
}

/* Values, before saturation, of four codes s in the low halves of their words, on the lines i[0], i[1], i[4] and i[5].
 */
INLINE __m256i evaluate(const cells_state *of, __m256i s, const uint32_t *i, int even)
{
    const __m256i a = load_line(of, i[0]), b = load_line(of, i[1]), c = load_line(of, i[4]), d = load_line(of, i[5]);
    const __m256i slope_post_ab = _mm256_unpacklo_epi64(a, b), pre_n_ab = _mm256_unpackhi_epi64(a, b);
    const __m256i slope_post_cd = _mm256_unpacklo_epi64(c, d), pre_n_cd = _mm256_unpackhi_epi64(c, d);
    const __m256i slope = _mm256_permute2x128_si256(slope_post_ab, slope_post_cd, 0x20);
    const __m256i post = _mm256_permute2x128_si256(slope_post_ab, slope_post_cd, 0x31);
    const __m256i pre = _mm256_permute2x128_si256(pre_n_ab, pre_n_cd, 0x20);
    const __m256i n = _mm256_permute2x128_si256(pre_n_ab, pre_n_cd, 0x31);
    return _mm256_add_epi64(shift_long(_mm256_add_epi64(_mm256_mul_epi32(s, slope), pre), n, even), post);
}

INLINE cells_state load_cells(const pwl_cells_table *made)
{
    cells_state of;
    of.arrays = pwl_cells_arrays_of(made);
    of.low = _mm256_set1_epi32(made->low);
    of.high = _mm256_set1_epi32(made->high);
    of.min_y = _mm256_set1_epi32((int32_t)made->min_y);
    of.max_y = _mm256_set1_epi32((int32_t)made->max_y);
    of.flip_x = _mm256_set1_epi32((int32_t)made->flip_x);
    of.flip_y = _mm256_set1_epi32((int32_t)made->flip_y);
    of.cell_bits = _mm_cvtsi32_si128(made->cell_bits);
    return of;
}

#endif
