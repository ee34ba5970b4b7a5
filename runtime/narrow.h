/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "narrow": tables of storage INT8 and INT16 with few lines, for arrays of 16 bits, in registers.
 *
 * Of the lines (span.h), those are served whose slope has 16 bits. With s clamped to [low, high] and line i the last
 * with s > last[i - 1]:
 *
 *   y = sat( shr(slope[i] * s + pre[i], n[i]) + post[i] )        sat clips to [min_y, max_y]
 *
 * modulo 2^32; neither side of the last sum, nor the sum, leaves int32. shr rounds down, or `even` says that it takes
 * ties to even values as span.h tells. The search starts from the line of the first code of a cell of 2^10 codes, or an
 * earlier one, and takes `steps` steps: for step = steps - 1 ... 0, if s > last[i + 2^step - 1] then i += 2^step. No
 * index reaches `capacity`, which is 16 or 32.
 *
 * Where every post can be made part of pre, so that slope * s + pre still fits int32 and rounding is down, it is, and
 * post is 0.
 */
#ifndef PWL_NARROW_H
#define PWL_NARROW_H

#include <stdint.h>

#include "kind.h"
#include "span.h"

#define PWL_NARROW_LINES 32
#define PWL_NARROW_CELLS 64
#define PWL_NARROW_CELL_BITS 10
#define PWL_NARROW_LEAST_CELL_BITS 4
#define PWL_NARROW_CELL_SIZES (PWL_NARROW_CELL_BITS - PWL_NARROW_LEAST_CELL_BITS + 1)

typedef struct pwl_narrow {
    int16_t last[PWL_NARROW_LINES];     /* INT16_MAX from the last line on: no code lies beyond it */
    int16_t cell[PWL_NARROW_CELLS];     /* line of the first code of cell (s + 2^15) >> 10 */
    uint32_t slope_n[PWL_NARROW_LINES]; /* n << 16 | slope's 16 bits */
    uint32_t pre[PWL_NARROW_LINES], post[PWL_NARROW_LINES];
    int16_t low, high, min_y, max_y;
    uint16_t flip_x, flip_y; /* 0x8000 for unsigned arrays */
    uint8_t capacity, steps, even, has_post;
} pwl_narrow;

/* What one walk over the lines of a job's table, of any number of lines, finds. */
typedef struct pwl_narrow_facts {
    uint8_t serves;     /* whether it is one of those told of above */
    uint8_t takes_post; /* whether every post can be made part of pre */
    /* How many lines begin in one cell of 2^(k + PWL_NARROW_LEAST_CELL_BITS) codes, other than with its first, at most.
     */
    uint16_t begun[PWL_NARROW_CELL_SIZES];
} pwl_narrow_facts;

void pwl_narrow_look(const pwl_job *job, pwl_narrow_facts *found);

/* A line in these words; without has_post, post is part of pre. */
typedef struct pwl_narrow_line {
    uint32_t slope_n, pre, post;
} pwl_narrow_line;

pwl_narrow_line pwl_narrow_line_of(const pwl_span *span, int has_post);

#endif
