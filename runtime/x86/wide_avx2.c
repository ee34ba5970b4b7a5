/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "wide", 8 codes at a time, for up to 16 lines. The search runs in words of 32 bits, and what belongs to a line
 * is looked up in such words, of 8 in a vector: `upper` tells which codes belong to the upper 8 lines, and tables hold
 * those of the lower ones and what the upper ones differ in. Lines are evaluated in words of 64 bits, codes 0, 1, 4 and
 * 5 in one vector.
 *
 * There is no arithmetic shift of 64 bits: pre has 2^63 added and post 2^(63 - n) taken away, so that no
 * sign is shifted in.
 */
#include "../ways.h"
#include "long_avx2.h"

#define LEVELS 4

/* 16 words: the lower 8, and what is to be added to them modulo 2. */
typedef struct table {
    __m256i lower, change;
} table;

/* 16 words of 64 bits, by halves. */
typedef struct long_table {
    table low, high;
} long_table;

typedef struct state {
    __m256i last[LEVELS]; /* words to compare with, by the index so far */
    table slope, n;
    long_table pre, post;
    __m256i low, high, min_y, max_y, flip_x, flip_y;
} state;

INLINE table make_table(__m256i lower, __m256i upper)
{
    table of;
    of.lower = lower;
    of.change = _mm256_xor_si256(lower, upper);
    return of;
}

INLINE table load_table(const int32_t *words)
{
    return make_table(_mm256_load_si256((const __m256i *)words), _mm256_load_si256((const __m256i *)(words + 8)));
}

/* One half, the words of 32 bits at 0 or 1, of 8 words of 64 bits. */
INLINE __m256i half_of(__m256i a, __m256i b, int at)
{
    const __m256i pairs = at == 0 ? _mm256_unpacklo_epi32(_mm256_shuffle_epi32(a, 0xd8), _mm256_shuffle_epi32(b, 0xd8))
                                  : _mm256_unpackhi_epi32(_mm256_shuffle_epi32(a, 0xd8), _mm256_shuffle_epi32(b, 0xd8));
    return _mm256_permutevar8x32_epi32(pairs, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
}

INLINE long_table load_long(const __m256i words[4])
{
    long_table of;
    of.low = make_table(half_of(words[0], words[1], 0), half_of(words[2], words[3], 0));
    of.high = make_table(half_of(words[0], words[1], 1), half_of(words[2], words[3], 1));
    return of;
}

INLINE void load_lines(state *of, const pwl_wide *wide)
{
    const __m256i top = _mm256_set1_epi64x(INT64_MIN);
    __m256i pre[4], post[4], n;
    int k;
    for (k = 0; k < 4; k++) {
        pre[k] = _mm256_load_si256((const __m256i *)(wide->pre + 4 * k));
        post[k] = _mm256_load_si256((const __m256i *)(wide->post + 4 * k));
        n = _mm256_cvtepu32_epi64(_mm_load_si128((const __m128i *)(wide->n + 4 * k)));
        pre[k] = _mm256_xor_si256(pre[k], top);
        post[k] = _mm256_sub_epi64(post[k], _mm256_srlv_epi64(top, n));
    }
    of->slope = load_table(wide->slope);
    of->n = load_table(wide->n);
    of->pre = load_long(pre);
    of->post = load_long(post);
}

/* After level k the index of a line is known but for 8 >> k and less. */
INLINE __m256i words_of_level(const int32_t *last, int k)
{
    const int step = 8 >> k;
    int32_t words[8];
    int w;
    for (w = 0; w < 8; w++)
        words[w] = last[(2 * w & -2 * step) + step - 1];
    return _mm256_loadu_si256((const __m256i *)words);
}

/* Where to find what belongs to a code: its line, of which the low three bits count, and whether it is an upper one. */
typedef struct place {
    __m256i line, upper;
} place;

INLINE place find(const state *of, __m256i s)
{
    place at;
    __m256i index;
    int k;
    at.upper = _mm256_cmpgt_epi32(s, of->last[0]);
    index = _mm256_and_si256(at.upper, _mm256_set1_epi32(4));
    for (k = 1; k < LEVELS - 1; k++) {
        const __m256i beyond = _mm256_cmpgt_epi32(s, _mm256_permutevar8x32_epi32(of->last[k], index));
        index = _mm256_or_si256(index, _mm256_and_si256(beyond, _mm256_set1_epi32(4 >> k)));
    }
    at.line = _mm256_sub_epi32(_mm256_add_epi32(index, index),
                               _mm256_cmpgt_epi32(s, _mm256_permutevar8x32_epi32(of->last[k], index)));
    return at;
}

INLINE __m256i pick(const table *of, const place *at)
{
    const __m256i change = _mm256_permutevar8x32_epi32(of->change, at->line);
    return _mm256_xor_si256(_mm256_permutevar8x32_epi32(of->lower, at->line), _mm256_and_si256(at->upper, change));
}

INLINE wide pick_long(const long_table *of, const place *at)
{
    return widen(pick(&of->low, at), pick(&of->high, at));
}

INLINE __m256i map(const state *of, __m256i x, int even)
{
    const __m256i s = _mm256_min_epi32(_mm256_max_epi32(_mm256_xor_si256(x, of->flip_x), of->low), of->high);
    const place at = find(of, s);
    const __m256i slope = pick(&of->slope, &at);
    const wide codes = widen(s, s), slopes = widen(slope, slope), n = widen(pick(&of->n, &at), _mm256_setzero_si256());
    const wide pre = pick_long(&of->pre, &at), post = pick_long(&of->post, &at);
    wide v;
    int k;
    for (k = 0; k < 2; k++) {
        const __m256i p = _mm256_add_epi64(_mm256_mul_epi32(codes.part[k], slopes.part[k]), pre.part[k]);
        v.part[k] = _mm256_add_epi64(shift_long(p, n.part[k], even), post.part[k]);
    }
    return _mm256_xor_si256(_mm256_min_epi32(_mm256_max_epi32(saturate(&v), of->min_y), of->max_y), of->flip_y);
}

INLINE void run(const pwl_wide *wide, const uint32_t *x, uint32_t *y, size_t count, int even)
{
    state of;
    int k;
    for (k = 0; k < LEVELS; k++)
        of.last[k] = words_of_level(wide->last, k);
    load_lines(&of, wide);
    of.low = _mm256_set1_epi32(wide->low);
    of.high = _mm256_set1_epi32(wide->high);
    of.min_y = _mm256_set1_epi32((int32_t)wide->min_y);
    of.max_y = _mm256_set1_epi32((int32_t)wide->max_y);
    of.flip_x = _mm256_set1_epi32((int32_t)wide->flip_x);
    of.flip_y = _mm256_set1_epi32((int32_t)wide->flip_y);
    for (; count >= 8; count -= 8, x += 8, y += 8)
        _mm256_storeu_si256((__m256i *)y, map(&of, _mm256_loadu_si256((const __m256i *)x), even));
    if (count) {
        const __m256i lanes =
            _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        _mm256_maskstore_epi32((int *)y, lanes, map(&of, _mm256_maskload_epi32((const int *)x, lanes), even));
    }
}

void pwl_wide_avx2(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_wide *const wide = (const pwl_wide *)plan->memory;
    if (wide->even)
        run(wide, (const uint32_t *)x, (uint32_t *)y, count, 1);
    else
        run(wide, (const uint32_t *)x, (uint32_t *)y, count, 0);
}
