/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "narrow", 16 codes at a time, for up to 32 lines. The search halves the lines: an index of a pair of bytes
 * looks up the next word to compare with, of 8 in a vector. Of the lines' words each byte is looked up for itself, of
 * 16 in a vector. Where there are 32 lines, `upper` tells which codes belong to the upper 16, and tables hold the
 * lower half and what the upper one differs in.
 */
#include "../ways.h"
#include "line_avx2.h"

#define LEVELS 4

/* 16 or 32 entries: the lower 16, and what is to be added to them modulo 2. */
typedef struct table {
    __m256i lower, change;
} table;

typedef struct state {
    __m256i middle;                    /* last code of the lower 16 lines */
    table last[LEVELS];                /* words to compare with, by the index so far */
    table slope_n[4], pre[4], post[4]; /* by bytes, the lowest first */
    __m256i low, high, min_y, max_y, flip_x, flip_y;
} state;

INLINE table make_table(__m128i lower, __m128i upper)
{
    table of;
    of.lower = _mm256_broadcastsi128_si256(lower);
    of.change = _mm256_broadcastsi128_si256(_mm_xor_si128(lower, upper));
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

INLINE __m256i pick(const table *of, __m256i index, __m256i upper, int capacity)
{
    const __m256i lower = _mm256_shuffle_epi8(of->lower, index);
    if (capacity == 16)
        return lower;
    return _mm256_xor_si256(lower, _mm256_and_si256(upper, _mm256_shuffle_epi8(of->change, index)));
}

/* Where to find what belongs to a code: its line in the low byte of the word, or in the high byte, the other being one
 * that a lookup answers by 0. */
typedef struct place {
    __m256i in_low, in_high, upper;
} place;

INLINE place find(const state *of, __m256i s, int capacity)
{
    const __m256i pair = _mm256_set1_epi16(0x0100);
    __m256i index = pair, beyond;
    place at;
    int k;
    at.upper = capacity == 16 ? _mm256_setzero_si256() : _mm256_cmpgt_epi16(s, of->middle);
    for (k = 0; k < LEVELS - 1; k++) {
        beyond = _mm256_cmpgt_epi16(s, pick(&of->last[k], index, at.upper, capacity));
        index = _mm256_or_si256(index, _mm256_and_si256(beyond, _mm256_set1_epi8((char)(8 >> k))));
    }
    beyond = _mm256_cmpgt_epi16(s, pick(&of->last[k], index, at.upper, capacity));
    index = _mm256_sub_epi8(index, beyond);
    at.in_low = _mm256_add_epi8(index, _mm256_set1_epi16(0x7f00));
    at.in_high = _mm256_add_epi8(index, _mm256_set1_epi16((int16_t)0xff80));
    return at;
}

/* Words of 16 bits, of the two bytes. */
INLINE __m256i pick16(const table bytes[2], const place *at, int capacity)
{
    return _mm256_or_si256(pick(&bytes[0], at->in_low, at->upper, capacity),
                           pick(&bytes[1], at->in_high, at->upper, capacity));
}

/* Words of 32 bits for codes 0 to 3 and 8 to 11, and for the other eight. */
typedef struct wide {
    __m256i part[2];
} wide;

INLINE wide widen(__m256i low, __m256i high)
{
    wide of;
    of.part[0] = _mm256_unpacklo_epi16(low, high);
    of.part[1] = _mm256_unpackhi_epi16(low, high);
    return of;
}

/* Values before saturation. */
INLINE wide evaluate(const state *of, __m256i s, const place *at, int capacity, int rounding, int has_post)
{
    const __m256i slope = pick16(of->slope_n, at, capacity);
    const __m256i n16 = rounding == PWL_PLAIN_DOWN ? pick(&of->slope_n[2], at->in_low, at->upper, capacity)
                                                   : pick16(of->slope_n + 2, at, capacity);
    const wide product = widen(_mm256_mullo_epi16(s, slope), _mm256_mulhi_epi16(s, slope));
    const wide pre = widen(pick16(of->pre, at, capacity), pick16(of->pre + 2, at, capacity));
    const wide n = widen(n16, _mm256_setzero_si256());
    wide v;
    int k;
    for (k = 0; k < 2; k++) {
        const __m256i p = _mm256_add_epi32(product.part[k], pre.part[k]);
        v.part[k] = shift_words(p, n.part[k], rounding);
    }
    if (has_post) {
        const wide post = widen(pick16(of->post, at, capacity), pick16(of->post + 2, at, capacity));
        for (k = 0; k < 2; k++)
            v.part[k] = _mm256_add_epi32(v.part[k], post.part[k]);
    }
    return v;
}

INLINE void map(const state *of, const uint16_t *x, uint16_t *y, int capacity, int rounding, int has_post)
{
    const __m256i bits = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)x), of->flip_x);
    const __m256i s = _mm256_min_epi16(_mm256_max_epi16(bits, of->low), of->high);
    const place at = find(of, s, capacity);
    const wide v = evaluate(of, s, &at, capacity, rounding, has_post);
    const __m256i packed = _mm256_packs_epi32(v.part[0], v.part[1]);
    const __m256i clipped = _mm256_min_epi16(_mm256_max_epi16(packed, of->min_y), of->max_y);
    _mm256_storeu_si256((__m256i *)y, _mm256_xor_si256(clipped, of->flip_y));
}

INLINE void run(const pwl_narrow *narrow, const uint16_t *x, uint16_t *y, size_t count, int capacity, int rounding,
                int has_post)
{
    state of;
    size_t k;
    for (k = 0; k < LEVELS; k++)
        of.last[k] = make_table(words_of_level(narrow->last, (int)k), words_of_level(narrow->last + 16, (int)k));
    of.middle = _mm256_set1_epi16(narrow->last[15]);
    load_words(narrow->slope_n, of.slope_n);
    load_words(narrow->pre, of.pre);
    load_words(narrow->post, of.post);
    of.low = _mm256_set1_epi16(narrow->low);
    of.high = _mm256_set1_epi16(narrow->high);
    of.min_y = _mm256_set1_epi16(narrow->min_y);
    of.max_y = _mm256_set1_epi16(narrow->max_y);
    of.flip_x = _mm256_set1_epi16((int16_t)narrow->flip_x);
    of.flip_y = _mm256_set1_epi16((int16_t)narrow->flip_y);
    for (; count >= 16; count -= 16, x += 16, y += 16)
        map(&of, x, y, capacity, rounding, has_post);
    if (count) {
        uint16_t codes[16] = {0}, values[16];
        for (k = 0; k < count; k++)
            codes[k] = x[k];
        map(&of, codes, values, capacity, rounding, has_post);
        for (k = 0; k < count; k++)
            y[k] = values[k];
    }
}

/* The variables of the loop above made constants. */
INLINE void run_rounding(const pwl_narrow *narrow, const uint16_t *x, uint16_t *y, size_t count, int capacity)
{
    if (narrow->rounding == PWL_PLAIN_AWAY)
        run(narrow, x, y, count, capacity, PWL_PLAIN_AWAY, 1);
    else if (narrow->rounding == PWL_PLAIN_EVEN)
        run(narrow, x, y, count, capacity, PWL_PLAIN_EVEN, 1);
    else if (narrow->has_post)
        run(narrow, x, y, count, capacity, PWL_PLAIN_DOWN, 1);
    else
        run(narrow, x, y, count, capacity, PWL_PLAIN_DOWN, 0);
}

void pwl_narrow_avx2(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_narrow *const narrow = (const pwl_narrow *)plan->memory;
    if (narrow->capacity == 16)
        run_rounding(narrow, (const uint16_t *)x, (uint16_t *)y, count, 16);
    else
        run_rounding(narrow, (const uint16_t *)x, (uint16_t *)y, count, 32);
}
