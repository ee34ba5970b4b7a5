/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "wide": tables with few lines for arrays of 32 bits, in registers. As kind "narrow" (narrow.h) in words twice as
 * long: s has 32 bits, and
 *
 *   y = sat( shr(slope[i] * s + pre[i], n[i]) + post[i] )
 *
 * is computed modulo 2^64, of slopes of 32 bits; no value leaves int64. Cells have 2^27 codes.
 */
#ifndef PWL_WIDE_H
#define PWL_WIDE_H

#include <stdint.h>

#define PWL_WIDE_LINES 32
#define PWL_WIDE_CELLS 32
#define PWL_WIDE_CELL_BITS 27

typedef struct pwl_wide {
    int64_t pre[PWL_WIDE_LINES], post[PWL_WIDE_LINES];
    int32_t last[PWL_WIDE_LINES]; /* INT32_MAX from the last line on */
    int32_t cell[PWL_WIDE_CELLS];
    int32_t slope[PWL_WIDE_LINES], n[PWL_WIDE_LINES];
    int64_t min_y, max_y;
    int32_t low, high;
    uint32_t flip_x, flip_y;       /* 2^31 for unsigned arrays */
    uint8_t capacity, steps, even; /* capacity is 16 or 32 */
} pwl_wide;

#endif
