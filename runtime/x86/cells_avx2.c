/* SPDX-License-Identifier: Apache-2.0 */
/* Kind "cells". */
#include "cells_avx2.h"

#include "../ways.h"

INLINE void map(const cells_state *of, const uint32_t *x, uint32_t *y, int steps, int even)
{
    __m256i s[BLOCK / 8], found[BLOCK / 8];
    uint32_t i[BLOCK];
    int k;
    for (k = 0; k < BLOCK / 8; k++) {
        const __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)x + k);
        s[k] = _mm256_min_epi32(_mm256_max_epi32(_mm256_xor_si256(bits, of->flip_x), of->low), of->high);
    }
    find(of, s, found, steps);
    for (k = 0; k < BLOCK / 8; k++)
        _mm256_storeu_si256((__m256i *)(void *)i + k, found[k]);
    for (k = 0; k < BLOCK / 8; k++) {
        const wide codes = widen(s[k], s[k]);
        __m256i clipped;
        wide v;
        v.part[0] = evaluate(of, codes.part[0], i + 8 * k, even);
        v.part[1] = evaluate(of, codes.part[1], i + 8 * k + 2, even);
        clipped = _mm256_min_epi32(_mm256_max_epi32(saturate(&v), of->min_y), of->max_y);
        _mm256_storeu_si256((__m256i *)(void *)y + k, _mm256_xor_si256(clipped, of->flip_y));
    }
}

INLINE void run(const pwl_cells_table *made, const uint32_t *x, uint32_t *y, size_t count, int steps, int even)
{
    const cells_state of = load_cells(made);
    PWL_MAP_VECTORS(uint32_t, BLOCK, x, y, count, map, &of, steps, even);
}

#include "cells_run.h"

void pwl_cells_avx2(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    run_plan(plan, x, y, count);
}
