/* SPDX-License-Identifier: Apache-2.0 */
/* Kind "cells16", BLOCK codes at a time, in words of 32 bits: the even codes of 16 in one vector, the odd ones in
 * another. */
#include "../cells16.h"
#include "../ways.h"
#include "line_avx2.h"

typedef struct state {
    const int *cells, *lines, *posts, *lasts;
    __m256i low, high, min_y, max_y, flip_x, flip_y;
    __m128i cell_bits;
} state;

enum { BLOCK = 32, VECTORS = BLOCK / 8 };

/* The lines of a block's codes: no search waits for another's. */
INLINE void find(const state *of, const __m256i *s, __m256i *i, int steps)
{
    int step = 1 << (steps - 1), k;
    for (k = 0; k < VECTORS; k++) {
        const __m256i cell = _mm256_srl_epi32(_mm256_add_epi32(s[k], _mm256_set1_epi32(-INT16_MIN)), of->cell_bits);
        const __m256i found = _mm256_i32gather_epi32(of->cells, cell, 4);
        const __m256i beyond = _mm256_cmpgt_epi32(_mm256_slli_epi32(s[k], 16), _mm256_slli_epi32(found, 16));
        i[k] = _mm256_add_epi32(_mm256_srli_epi32(found, 16), _mm256_and_si256(beyond, _mm256_set1_epi32(step)));
    }
    while (step >>= 1)
        for (k = 0; k < VECTORS; k++) {
            const __m256i beyond = _mm256_cmpgt_epi32(s[k], _mm256_i32gather_epi32(of->lasts + step - 1, i[k], 4));
            i[k] = _mm256_add_epi32(i[k], _mm256_and_si256(beyond, _mm256_set1_epi32(step)));
        }
}

/* Values before saturation. */
INLINE __m256i evaluate(const state *of, __m256i s, __m256i i, int even, int has_post)
{
    const __m256i slope_n = _mm256_i32gather_epi32(of->lines, i, 8);
    const __m256i product = _mm256_madd_epi16(_mm256_and_si256(s, _mm256_set1_epi32(UINT16_MAX)), slope_n);
    const __m256i p = _mm256_add_epi32(product, _mm256_i32gather_epi32(of->lines + 1, i, 8));
    const __m256i v = shift_words(p, _mm256_srli_epi32(slope_n, 16), even);
    return has_post ? _mm256_add_epi32(v, _mm256_i32gather_epi32(of->posts, i, 4)) : v;
}

INLINE void map(const state *of, const uint16_t *x, uint16_t *y, int steps, int even, int has_post)
{
    /* Words of 16 bits from e0 e1 e2 e3 o0 o1 o2 o3 to e0 o0 e1 o1 ... in each 128. */
    const __m256i interleave =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    __m256i s[VECTORS], i[VECTORS];
    int k;
    for (k = 0; k < VECTORS; k += 2) {
        const __m256i bits = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(x + 8 * k)), of->flip_x);
        const __m256i code = _mm256_min_epi16(_mm256_max_epi16(bits, of->low), of->high);
        s[k] = _mm256_srai_epi32(_mm256_slli_epi32(code, 16), 16);
        s[k + 1] = _mm256_srai_epi32(code, 16);
    }
    find(of, s, i, steps);
    for (k = 0; k < VECTORS; k += 2) {
        const __m256i first = evaluate(of, s[k], i[k], even, has_post);
        const __m256i second = evaluate(of, s[k + 1], i[k + 1], even, has_post);
        const __m256i v = _mm256_shuffle_epi8(_mm256_packs_epi32(first, second), interleave);
        const __m256i clipped = _mm256_min_epi16(_mm256_max_epi16(v, of->min_y), of->max_y);
        _mm256_storeu_si256((__m256i *)(y + 8 * k), _mm256_xor_si256(clipped, of->flip_y));
    }
}

INLINE void run(const pwl_packed *made, const uint16_t *x, uint16_t *y, size_t count, int steps, int even, int has_post)
{
    const pwl_packed_arrays arrays = pwl_packed_arrays_of(made);
    state of;
    of.cells = (const int *)arrays.cells;
    of.lines = (const int *)arrays.lines;
    of.posts = (const int *)arrays.posts;
    of.lasts = (const int *)arrays.lasts;
    of.low = _mm256_set1_epi16(made->low);
    of.high = _mm256_set1_epi16(made->high);
    of.min_y = _mm256_set1_epi16(made->min_y);
    of.max_y = _mm256_set1_epi16(made->max_y);
    of.flip_x = _mm256_set1_epi16((int16_t)made->flip_x);
    of.flip_y = _mm256_set1_epi16((int16_t)made->flip_y);
    of.cell_bits = _mm_cvtsi32_si128(made->cell_bits);
    PWL_MAP_VECTORS(uint16_t, BLOCK, x, y, count, map, &of, steps, even, has_post);
}

void pwl_cells16_avx2(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_packed *const made = (const pwl_packed *)plan->memory;
    const uint16_t *const codes = (const uint16_t *)x;
    uint16_t *const values = (uint16_t *)y;
    if (made->steps == 1)
        PWL_RUN_ROUNDED(made->even, made->has_post, run, made, codes, values, count, 1);
    else
        PWL_RUN_ROUNDED(made->even, made->has_post, run, made, codes, values, count, made->steps);
}
