/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of few segments in registers, in words of 32 bits. */
#include "direct_avx512.h"

/* 16 or 32 words, one for each segment. */
typedef struct words {
    __m512i part[2];
} words;

typedef struct state {
    words start, slope, pre, n, post;
} state;

/* Word i of `capacity`. */
INLINE __m512i pick(const words *of, __m512i i, int capacity)
{
    if (capacity == 16)
        return _mm512_permutexvar_epi32(i, of->part[0]);
    return _mm512_permutex2var_epi32(of->part[0], i, of->part[1]);
}

INLINE void make_lines(state *of, const pwl_table *table, int part, __m512i zero_point)
{
    const __m512i start = load_starts(table, (size_t)part * 16, _mm512_set1_epi32(INT32_MAX));
    const lines made = load_lines(table, (size_t)part * 16, start, zero_point);
    of->start.part[part] = start;
    of->slope.part[part] = made.slope;
    of->pre.part[part] = made.pre;
    of->n.part[part] = made.n;
    of->post.part[part] = made.post;
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

INLINE void run(const pwl_table *table, const arrays *to, int capacity, int rounding, int fold)
{
    const ends at = ends_of(table);
    state of;
    size_t k;
    make_lines(&of, table, 0, at.zero);
    if (capacity > 16)
        make_lines(&of, table, 1, at.zero);
    for (k = 0; k < to->count; k += 16) {
        const codes x = load_codes(&at, to, k, fold);
        const __m512i i = find(&of, x.q, capacity);
        const lines line = {pick(&of.slope, i, capacity), pick(&of.pre, i, capacity), pick(&of.n, i, capacity),
                            pick(&of.post, i, capacity)};
        store_values(&at, to, k, x, line, rounding, fold);
    }
}

/* The variables of the loop above made constants. */
INLINE void run_rounded(const pwl_table *table, const arrays *to, int capacity)
{
    const int fold = table->flags & PWL_FLAG_FOLD;
    if (table->rounding >= PWL_HALF_AWAY)
        run(table, to, capacity, table->rounding, fold);
    else if (fold)
        run(table, to, capacity, PWL_FLOOR, 1);
    else
        run(table, to, capacity, PWL_FLOOR, 0);
}

void pwl_direct_avx512(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count)
{
    const arrays to = {(const char *)x, (char *)y, count, in, out};
    if (table->segments <= 16)
        run_rounded(table, &to, 16);
    else
        run_rounded(table, &to, PWL_DIRECT_FEW);
}
