/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "narrow", two vectors of codes at a time, of the width that line_*.h gives. The search halves the lines: an
 * index of a pair of bytes looks up the next word to compare with, of 8 in 16 bytes. Of the lines' words each byte is
 * looked up for itself, of 16. Where there are 32 lines, `upper` tells which codes belong to the upper 16, and tables
 * hold the lower half and what the upper one differs in.
 */
#ifndef PWL_NARROW_SHUFFLE_H
#define PWL_NARROW_SHUFFLE_H

#include "../ways.h"

/* Halvings of 16 lines, and codes in a vector. */
enum { LEVELS = 4, CODES = sizeof(vector) / 2 };

/* 16 or 32 entries: the lower 16, and what is to be added to them modulo 2. */
typedef struct table {
    vector lower, change;
} table;

typedef struct state {
    vector middle;                     /* last code of the lower 16 lines */
    table last[LEVELS];                /* words to compare with, by the index so far */
    table slope_n[4], pre[4], post[4]; /* by bytes, the lowest first */
    vector low, high, min_y, max_y, flip_x, flip_y;
} state;

INLINE table make_table(__m128i lower, __m128i upper)
{
    table of;
    of.lower = in_each_16(lower);
    of.change = in_each_16(_mm_xor_si128(lower, upper));
    return of;
}

/* After level k the index of a line is known but for 8 >> k and less. */
INLINE __m128i words_of_level(const int16_t *last, int k)
{
    const int step = 8 >> k;
    int16_t words[8];
    int w;
    for (w = 0; w < 8; w++)
        words[w] = last[(2 * w & -2 * step) + step - 1];
    return _mm_loadu_si128((const __m128i *)words);
}

/* The bytes of 16 words, the lowest first. */
INLINE void split(const uint32_t *words, __m128i bytes[4])
{
    const __m128i regroup = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m128i part[4], low01, low23, high01, high23;
    int k;
    for (k = 0; k < 4; k++)
        part[k] = _mm_shuffle_epi8(_mm_load_si128((const __m128i *)(words + 4 * k)), regroup);
    low01 = _mm_unpacklo_epi32(part[0], part[1]);
    low23 = _mm_unpacklo_epi32(part[2], part[3]);
    high01 = _mm_unpackhi_epi32(part[0], part[1]);
    high23 = _mm_unpackhi_epi32(part[2], part[3]);
    bytes[0] = _mm_unpacklo_epi64(low01, low23);
    bytes[1] = _mm_unpackhi_epi64(low01, low23);
    bytes[2] = _mm_unpacklo_epi64(high01, high23);
    bytes[3] = _mm_unpackhi_epi64(high01, high23);
}

INLINE void load_words(const uint32_t *words, table of[4])
{
    __m128i lower[4], upper[4];
    int k;
    split(words, lower);
    split(words + 16, upper);
    for (k = 0; k < 4; k++)
        of[k] = make_table(lower[k], upper[k]);
}

INLINE vector pick(const table *of, vector index, vector upper, int capacity)
{
    const vector lower = OP(shuffle_epi8)(of->lower, index);
    if (capacity == 16)
        return lower;
    return BITS(xor)(lower, BITS(and)(upper, OP(shuffle_epi8)(of->change, index)));
}

/* Words of 16 bits for two vectors of codes, or of 32 bits for one, of which part 0 has codes 0 to 3 of each 8. */
typedef struct words {
    vector part[2];
} words;

/* Where to find what belongs to a code, by bytes: its line, of which the low four bits count, and whether it is an
 * upper one. */
typedef struct place {
    vector line, upper;
} place;

/* The line in the low byte of each word. */
INLINE vector find(const state *of, vector s, vector upper, int capacity)
{
    vector index = OP(set1_epi16)(0x0100);
    vector beyond = OP(cmpgt_epi16)(s, pick(&of->last[0], index, upper, capacity));
    int k;
    for (k = 1; k < LEVELS; k++) {
        index = BITS(or)(index, BITS(and)(beyond, OP(set1_epi8)((char)(16 >> k))));
        beyond = OP(cmpgt_epi16)(s, pick(&of->last[k], index, upper, capacity));
    }
    return BITS(and)(OP(sub_epi8)(index, beyond), OP(set1_epi16)(UINT8_MAX));
}

INLINE place find_all(const state *of, const words *s, int capacity)
{
    vector line[2], upper[2];
    place at;
    int k;
    for (k = 0; k < 2; k++) {
        upper[k] = capacity == 16 ? BITS(setzero)() : OP(cmpgt_epi16)(s->part[k], of->middle);
        line[k] = find(of, s->part[k], upper[k], capacity);
    }
    at.line = OP(packus_epi16)(line[0], line[1]);
    at.upper = OP(packs_epi16)(upper[0], upper[1]);
    return at;
}

/* Words of 16 bits, of their two bytes. What is packed is interleaved as it was. */
INLINE words join(vector low, vector high)
{
    words of;
    of.part[0] = OP(unpacklo_epi8)(low, high);
    of.part[1] = OP(unpackhi_epi8)(low, high);
    return of;
}

INLINE words pick16(const table bytes[2], const place *at, int capacity)
{
    return join(pick(&bytes[0], at->line, at->upper, capacity), pick(&bytes[1], at->line, at->upper, capacity));
}

INLINE words widen(vector low, vector high)
{
    words of;
    of.part[0] = OP(unpacklo_epi16)(low, high);
    of.part[1] = OP(unpackhi_epi16)(low, high);
    return of;
}

/* What lines have for two vectors of codes, in words of 16 bits. */
typedef struct lines {
    words slope, n, pre_low, pre_high, post_low, post_high;
} lines;

INLINE lines pick_lines(const state *of, const place *at, int capacity, int has_post)
{
    const vector zero = BITS(setzero)();
    lines found;
    found.slope = pick16(of->slope_n, at, capacity);
    found.n = join(pick(&of->slope_n[2], at->line, at->upper, capacity), zero);
    found.pre_low = pick16(of->pre, at, capacity);
    found.pre_high = pick16(of->pre + 2, at, capacity);
    if (has_post) {
        found.post_low = pick16(of->post, at, capacity);
        found.post_high = pick16(of->post + 2, at, capacity);
    }
    return found;
}

/* Values of one vector, which has one part of the lines, saturated to int16. */
INLINE vector evaluate(vector s, const lines *of, int part, int even, int has_post)
{
    const vector slope = of->slope.part[part];
    const words product = widen(OP(mullo_epi16)(s, slope), OP(mulhi_epi16)(s, slope));
    const words pre = widen(of->pre_low.part[part], of->pre_high.part[part]);
    const words n = widen(of->n.part[part], BITS(setzero)());
    words v;
    int k;
    for (k = 0; k < 2; k++)
        v.part[k] = shift_words(OP(add_epi32)(product.part[k], pre.part[k]), n.part[k], even);
    if (has_post) {
        const words post = widen(of->post_low.part[part], of->post_high.part[part]);
        for (k = 0; k < 2; k++)
            v.part[k] = OP(add_epi32)(v.part[k], post.part[k]);
    }
    return OP(packs_epi32)(v.part[0], v.part[1]);
}

INLINE void map(const state *of, const uint16_t *x, uint16_t *y, int capacity, int even, int has_post)
{
    words s;
    place at;
    lines found;
    int k;
    for (k = 0; k < 2; k++) {
        const vector bits = BITS(loadu)((const vector *)(x + CODES * k));
        s.part[k] = OP(min_epi16)(OP(max_epi16)(BITS(xor)(bits, of->flip_x), of->low), of->high);
    }
    at = find_all(of, &s, capacity);
    found = pick_lines(of, &at, capacity, has_post);
    for (k = 0; k < 2; k++) {
        const vector v = evaluate(s.part[k], &found, k, even, has_post);
        const vector clipped = OP(min_epi16)(OP(max_epi16)(v, of->min_y), of->max_y);
        BITS(storeu)((vector *)(y + CODES * k), BITS(xor)(clipped, of->flip_y));
    }
}

INLINE void run(const pwl_narrow *narrow, const uint16_t *x, uint16_t *y, size_t count, int capacity, int even,
                int has_post)
{
    state of;
    int k;
    for (k = 0; k < LEVELS; k++)
        of.last[k] = make_table(words_of_level(narrow->last, k), words_of_level(narrow->last + 16, k));
    of.middle = OP(set1_epi16)(narrow->last[15]);
    load_words(narrow->slope_n, of.slope_n);
    load_words(narrow->pre, of.pre);
    load_words(narrow->post, of.post);
    of.low = OP(set1_epi16)(narrow->low);
    of.high = OP(set1_epi16)(narrow->high);
    of.min_y = OP(set1_epi16)(narrow->min_y);
    of.max_y = OP(set1_epi16)(narrow->max_y);
    of.flip_x = OP(set1_epi16)((int16_t)narrow->flip_x);
    of.flip_y = OP(set1_epi16)((int16_t)narrow->flip_y);
    PWL_MAP_VECTORS(uint16_t, 2 * CODES, x, y, count, map, &of, capacity, even, has_post);
}

INLINE void run_all(const pwl_narrow *narrow, const uint16_t *x, uint16_t *y, size_t count)
{
    if (narrow->capacity == 16)
        PWL_RUN_ROUNDED(narrow->even, narrow->has_post, run, narrow, x, y, count, 16);
    else
        PWL_RUN_ROUNDED(narrow->even, narrow->has_post, run, narrow, x, y, count, 32);
}

#endif
