/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "cells16": the tables of kind "narrow" (narrow.h) with any number of lines, in memory.
 *
 * The search for the line of s starts from cell (s + 2^15) >> cell_bits, line << 16 | last's 16 bits, which holds the
 * first code to compare with: for step = steps - 1 ... 0, if s > last[i + 2^step - 1] then i += 2^step, the first
 * last[...] being the cell's own. Cells are as small as makes one step enough, down to 2^4 codes.
 */
#ifndef PWL_CELLS16_H
#define PWL_CELLS16_H

#include <stdint.h>

#include "loop.h"
#include "span.h"

typedef struct pwl_packed_line {
    uint32_t slope_n; /* n << 16 | slope's 16 bits */
    uint32_t pre;
} pwl_packed_line;

/* The arrays lie behind the structure, so many bytes from its start; all but the cells have `capacity` elements. */
typedef struct pwl_packed {
    uint32_t cells, lines, posts, lasts;
    int16_t low, high, min_y, max_y;
    uint16_t flip_x, flip_y; /* 0x8000 for unsigned arrays */
    uint8_t cell_bits, steps, even, has_post;
} pwl_packed;

/* The arrays. */
typedef struct pwl_packed_arrays {
    const uint32_t *cells, *posts;
    const pwl_packed_line *lines;
    const int32_t *lasts;
} pwl_packed_arrays;

static inline pwl_packed_arrays pwl_packed_arrays_of(const pwl_packed *made)
{
    const char *const base = (const char *)made;
    pwl_packed_arrays of;
    of.cells = (const uint32_t *)(const void *)(base + made->cells);
    of.posts = (const uint32_t *)(const void *)(base + made->posts);
    of.lines = (const pwl_packed_line *)(const void *)(base + made->lines);
    of.lasts = (const int32_t *)(const void *)(base + made->lasts);
    return of;
}

/* Value of s on line i, before saturation. */
INLINE int32_t pwl_packed_eval(const pwl_packed_arrays *of, uint32_t i, int32_t s, int even, int has_post)
{
    const uint32_t slope_n = of->lines[i].slope_n;
    const int32_t slope = (int16_t)(slope_n & UINT16_MAX);
    const int32_t sum = (int32_t)((uint32_t)(slope * s) + of->lines[i].pre);
    const int32_t v = pwl_span_shift32(sum, (int)(slope_n >> 16), even);
    return has_post ? (int32_t)((uint32_t)v + of->posts[i]) : v;
}

/* Whether the table's codes are all that arrays can hold, so that none is clipped. */
static inline int pwl_packed_is_whole(const pwl_packed *made)
{
    return made->low == INT16_MIN && made->high == INT16_MAX && made->min_y == INT16_MIN && made->max_y == INT16_MAX;
}

#endif
