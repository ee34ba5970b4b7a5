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

typedef struct pwl_packed_line {
    uint32_t slope_n; /* n << 16 | slope's 16 bits; n may hold PWL_PLAIN_NEGATED */
    uint32_t pre;
} pwl_packed_line;

/* The arrays lie behind the structure, so many bytes from its start; all but the cells have `capacity` elements. */
typedef struct pwl_packed {
    uint32_t cells, lines, posts, lasts;
    int16_t low, high, min_y, max_y;
    uint16_t flip_x, flip_y; /* 0x8000 for unsigned arrays */
    uint8_t cell_bits, steps, rounding, has_post;
} pwl_packed;

static inline const uint32_t *pwl_packed_array(const pwl_packed *made, uint32_t at)
{
    return (const uint32_t *)(const void *)((const char *)made + at);
}

#endif
