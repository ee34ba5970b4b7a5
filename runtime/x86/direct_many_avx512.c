/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of many segments in registers, in words of 16 bits, of which a register holds 32: what has 32 bits lies in two
 * of them, low halves and high ones. Segments are searched for by their starts, which 16 bits hold when counted from
 * the middle of the codes, 32 codes at a time; lines are put together in words of 32 bits.
 */
#include <pwl/eval.h>

#include "direct_avx512.h"
#include "words_avx512.h"

/* The table in memory, and whether some slopes or posts are not their low halves with the sign. */
typedef struct halves {
    _Alignas(64) uint16_t start[PWL_DIRECT_SEGMENTS], n[PWL_DIRECT_SEGMENTS];
    uint16_t slope[2][PWL_DIRECT_SEGMENTS], pre[2][PWL_DIRECT_SEGMENTS], post[2][PWL_DIRECT_SEGMENTS];
    int long_slopes, long_posts;
} halves;

typedef struct state {
    __m512i coarse;     /* the starts of 32 segments at equal distances */
    __m512i quarter[3]; /* of which these are the starts of the 8th, 16th and 24th */
    __m512i last;       /* segment */
    __m512i middle;     /* of the codes */
} state;

INLINE void write_low(uint16_t *to, __m512i v)
{
    _mm256_store_si256((__m256i *)(void *)to, _mm512_cvtepi32_epi16(v));
}

/* Whether some word has more than 16 bits. */
INLINE int write_both(uint16_t (*to)[PWL_DIRECT_SEGMENTS], size_t i, __m512i v)
{
    write_low(to[0] + i, v);
    write_low(to[1] + i, _mm512_srli_epi32(v, 16));
    return _mm512_cmpneq_epi32_mask(v, _mm512_cvtepi16_epi32(_mm512_cvtepi32_epi16(v))) != 0;
}

/* Beyond the last segment, its start goes on. */
INLINE void write_table(halves *made, const pwl_table *table, __m512i zero_point, __m512i middle, size_t capacity)
{
    const __m512i last = _mm512_set1_epi32((int32_t)pwl_element_start(table, table->segments - 1));
    size_t i;
    made->long_slopes = made->long_posts = 0;
    for (i = 0; i < table->segments; i += 16) {
        const __m512i start = load_starts(table, i, last);
        const lines of = load_lines(table, i, start, zero_point);
        write_low(made->start + i, _mm512_sub_epi32(start, middle));
        write_low(made->n + i, of.n);
        made->long_slopes |= write_both(made->slope, i, of.slope);
        (void)write_both(made->pre, i, of.pre);
        made->long_posts |= write_both(made->post, i, of.post);
    }
    for (; i < capacity; i += 16)
        write_low(made->start + i, _mm512_sub_epi32(last, middle));
}

INLINE void begin_search(state *of, const halves *made, int capacity)
{
    static const uint16_t each[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    const __m512i i = _mm512_mullo_epi16(_mm512_loadu_si512(each), _mm512_set1_epi16((int16_t)(capacity / 32)));
    int k;
    of->coarse = pick(made->start, i, bits_of(i), capacity);
    for (k = 0; k < 3; k++)
        of->quarter[k] = _mm512_set1_epi16((int16_t)made->start[capacity / 4 * (k + 1)]);
}

/* i + step where the segment so far beyond i, whose start is given, starts at s or before it. */
INLINE __m512i advance(__m512i i, int step, __m512i start, __m512i s)
{
    return _mm512_mask_add_epi16(i, _mm512_cmpge_epi16_mask(s, start), i, _mm512_set1_epi16((int16_t)step));
}

INLINE __m512i beyond(__m512i i, int step)
{
    return _mm512_or_si512(i, _mm512_set1_epi16((int16_t)step));
}

/* The last segment that starts at s or before it: sought among 32 at equal distances, then between two of them. From
 * where the last starts, an index beyond it is found. */
INLINE __m512i find(const state *of, const halves *made, __m512i s, int capacity)
{
    const int distance = capacity / 32;
    __m512i i = _mm512_setzero_si512();
    index_bits bits;
    int k, step;
    for (k = 0; k < 3; k++)
        i = advance(i, 8, of->quarter[k], s);
    for (step = 4; step; step /= 2)
        i = advance(i, step, _mm512_permutexvar_epi16(beyond(i, step), of->coarse), s);
    i = _mm512_min_epu16(_mm512_mullo_epi16(i, _mm512_set1_epi16((int16_t)distance)), of->last);
    bits = bits_of(i);
    for (step = distance / 2; step; step /= 2)
        i = advance(i, step, pick(made->start, beyond(i, step), bits, capacity), s);
    return _mm512_min_epu16(i, of->last);
}

/* The segments of 32 codes. Packing takes words of both vectors in turn, 4 from each. Codes beyond the highest s, which
 * mirroring can give, are above all starts, and so is that. */
INLINE __m512i find_codes(const state *of, const halves *made, const codes *x, int capacity)
{
    const __m512i first = _mm512_sub_epi32(x[0].q, of->middle), second = _mm512_sub_epi32(x[1].q, of->middle);
    return find(of, made, _mm512_packs_epi32(first, second), capacity);
}

/* The lines of 32 codes; unpacking puts words back to where they were before packing. */
INLINE void pick_lines(const halves *made, __m512i i, lines *to, int capacity)
{
    const index_bits bits = bits_of(i);
    const __m512i zero = _mm512_setzero_si512(), n = pick(made->n, i, bits, capacity);
    const __m512i slope = pick(made->slope[0], i, bits, capacity), post = pick(made->post[0], i, bits, capacity);
    const __m512i pre = pick(made->pre[0], i, bits, capacity), pre_high = pick(made->pre[1], i, bits, capacity);
    __m512i slope_high = _mm512_srai_epi16(slope, 15), post_high = _mm512_srai_epi16(post, 15);
    if (made->long_slopes)
        slope_high = pick(made->slope[1], i, bits, capacity);
    if (made->long_posts)
        post_high = pick(made->post[1], i, bits, capacity);
    to[0].slope = _mm512_unpacklo_epi16(slope, slope_high);
    to[0].pre = _mm512_unpacklo_epi16(pre, pre_high);
    to[0].n = _mm512_unpacklo_epi16(n, zero);
    to[0].post = _mm512_unpacklo_epi16(post, post_high);
    to[1].slope = _mm512_unpackhi_epi16(slope, slope_high);
    to[1].pre = _mm512_unpackhi_epi16(pre, pre_high);
    to[1].n = _mm512_unpackhi_epi16(n, zero);
    to[1].post = _mm512_unpackhi_epi16(post, post_high);
}

/* Times 32 codes that are searched for before they are evaluated: no search waits for another's. */
enum { TOGETHER = 8 };

INLINE void run(const pwl_table *table, const arrays *to, int capacity)
{
    const int is_high = table->storage == PWL_INT16 && table->flags & PWL_FLAG_UNSIGNED_X;
    const int rounding = table->rounding, fold = table->flags & PWL_FLAG_FOLD;
    const ends at = ends_of(table);
    halves made;
    state of;
    size_t from, k;
    of.last = _mm512_set1_epi16((int16_t)(table->segments - 1));
    of.middle = _mm512_set1_epi32(is_high ? 1 << 15 : 0);
    write_table(&made, table, at.zero, of.middle, (size_t)capacity);
    begin_search(&of, &made, capacity);
    for (from = 0; from < to->count; from += 32 * TOGETHER) {
        codes x[2 * TOGETHER];
        __m512i i[TOGETHER];
        for (k = 0; k < TOGETHER && from + 32 * k < to->count; k++) {
            x[2 * k] = load_codes(&at, to, from + 32 * k, fold);
            x[2 * k + 1] = load_codes(&at, to, from + 32 * k + 16, fold);
            i[k] = find_codes(&of, &made, x + 2 * k, capacity);
        }
        for (k = 0; k < TOGETHER && from + 32 * k < to->count; k++) {
            lines line[2];
            pick_lines(&made, i[k], line, capacity);
            store_values(&at, to, from + 32 * k, x[2 * k], line[0], rounding, fold);
            store_values(&at, to, from + 32 * k + 16, x[2 * k + 1], line[1], rounding, fold);
        }
    }
}

void pwl_direct_many_avx512(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count)
{
    const arrays to = {(const char *)x, (char *)y, count, in, out};
    if (table->segments <= 64)
        run(table, &to, 64);
    else if (table->segments <= 128)
        run(table, &to, 128);
    else
        run(table, &to, PWL_DIRECT_SEGMENTS);
}
