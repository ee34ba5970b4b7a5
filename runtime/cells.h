/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "cells": tables of any storage with any number of lines, in memory, for arrays of 32 bits.
 *
 * With s clamped to [low, high] and line i the last with s > last[i - 1] (span.h),
 *
 *   y = sat( shr(slope[i] * s + pre[i], n[i]) + post[i] )        sat clips to [min_y, max_y]
 *
 * in arithmetic modulo 2^64. What is shifted is unsigned: pre has 2^63 added, and post 2^(63 - n) taken away. The
 * search for the line starts from cell (s - low) >> cell_bits, which holds the line of its first code or an earlier
 * one, and takes `steps` steps, at least one: for step = steps - 1 ... 0, if s > last[i + 2^step - 1] then i += 2^step.
 */
#ifndef PWL_CELLS_H
#define PWL_CELLS_H

#include <stdint.h>

#include "loop.h"

/* 32 bytes: a vector loads it whole. */
typedef struct pwl_cells_line {
    uint64_t slope, pre, post, n;
} pwl_cells_line;

/* The arrays lie behind the structure, so many bytes from its start. Behind the cells lie 2 bytes more, since words of
 * 32 bits may be loaded from each. */
typedef struct pwl_cells_table {
    uint32_t lines, lasts, cells;
    int32_t low, high;
    uint32_t flip_x, flip_y; /* 2^31 for unsigned arrays */
    int64_t min_y, max_y;
    uint8_t cell_bits, steps, even, is_long; /* is_long: some slope has more than 32 bits */
} pwl_cells_table;

typedef struct pwl_cells_arrays {
    const pwl_cells_line *lines;
    const int32_t *lasts;
    const uint16_t *cells;
} pwl_cells_arrays;

static inline pwl_cells_arrays pwl_cells_arrays_of(const pwl_cells_table *made)
{
    const char *const base = (const char *)made;
    pwl_cells_arrays of;
    of.lines = (const pwl_cells_line *)(const void *)(base + made->lines);
    of.lasts = (const int32_t *)(const void *)(base + made->lasts);
    of.cells = (const uint16_t *)(const void *)(base + made->cells);
    return of;
}

/* s of a code's bits. */
INLINE int32_t pwl_cells_code(const pwl_cells_table *made, uint32_t bits)
{
    const int32_t code = (int32_t)(bits ^ made->flip_x), from_low = code < made->low ? made->low : code;
    return from_low > made->high ? made->high : from_low;
}

/* i[k] = the line of s[k]: no search waits for another's. */
INLINE void pwl_cells_find(const pwl_cells_table *made, const int32_t *s, uint32_t *i, int count, int steps)
{
    const pwl_cells_arrays of = pwl_cells_arrays_of(made);
    uint32_t step;
    int k;
    for (k = 0; k < count; k++)
        i[k] = of.cells[((uint32_t)s[k] - (uint32_t)made->low) >> made->cell_bits];
    for (step = 1u << (steps - 1); step; step >>= 1)
        for (k = 0; k < count; k++)
            i[k] += s[k] > of.lasts[i[k] + step - 1] ? step : 0;
}

/* The value of s on line i before saturation. Ties go to even values as span.h tells; for n = 63 the only tie has the
 * value 0, which stays. */
INLINE int64_t pwl_cells_value(const pwl_cells_table *made, uint32_t i, int32_t s, int even)
{
    const pwl_cells_line *const line = &pwl_cells_arrays_of(made).lines[i];
    const uint64_t p = line->slope * (uint64_t)(int64_t)s + line->pre;
    const int n = (int)line->n;
    uint64_t shifted = p >> n;
    if (even && n != 63 && p << (-n & 63) == 0)
        shifted &= ~(uint64_t)1;
    return (int64_t)(shifted + line->post);
}

#endif
