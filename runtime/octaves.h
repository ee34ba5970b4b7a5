/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "octaves": reduced tables (reduce.h) for arrays of 32 bits. What depends on an octave alone is worked out
 * beforehand: with d = q_x - zp_x, and octave i being the bits of d, or r less the lowest r,
 *
 *   q_y = sat( zp_y + ((raw(m) + add[i]) >> n[i]) ),   m = d << up[i] >> down[i], or for an exponent the low bits of z
 *
 * with add = 2^(n - 1) - r * addend. raw(m) comes from the core's lines, which are those of kind "cells" for codes m.
 * A block of codes at a time, so that no code waits for another's search.
 */
#ifndef PWL_OCTAVES_H
#define PWL_OCTAVES_H

#include <pwl/reduce.h>

#include "cells.h"

/* 16 bytes: a vector loads it whole. */
typedef struct pwl_octave {
    int64_t add;
    uint8_t n, up, down;
} pwl_octave;

/*
 * The octaves lie behind the structure, and the core's cells so many bytes from its start.
 *
 * is_short: words of 32 bits will do before the core. Codes x - middle_x are clipped to [low, high], base is
 * zp_x - middle_x, and with an exponent every d and the factor are within 32 bits. Products of the core, too.
 */
typedef struct pwl_octaves_table {
    const pwl_reduced *reduced;
    int64_t middle_x, middle_y; /* of the arrays' types */
    int64_t first;              /* r of octave 0, of an exponent */
    uint32_t core;
    int32_t low, high, base;
    int is_short;
} pwl_octaves_table;

static inline const pwl_octave *pwl_octaves_of(const pwl_octaves_table *made)
{
    return (const pwl_octave *)(const void *)(made + 1);
}

static inline const pwl_cells_table *pwl_octaves_core(const pwl_octaves_table *made)
{
    return (const pwl_cells_table *)(const void *)((const char *)made + made->core);
}

#endif
