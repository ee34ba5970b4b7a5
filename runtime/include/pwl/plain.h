/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plain lines of a table: what is left when forms, left shifts, half_up and the fold are gone. The library's own
 * ways to map arrays and its kernels for devices start from them, and so can other code that evaluates arrays at speed.
 * Every function assumes a table that passed pwl_table_check(), its arrays readable where it runs.
 *
 * Codes are counted from the lowest: u = q_x - qmin_x after clamping, at most 32 bits. All forms become one,
 *
 *   q_y = sat( shr(slope * u + pre, n) + post )
 *
 * in arithmetic modulo 2^32 (storage INT8 and INT16) or 2^64. The proof of the table bounds every true product and sum
 * to the accumulator, so the wrapped ones are equal to them. With q = u + qmin_x and o = zp_x or start:
 *
 *   absolute, anchored   slope = q_b, pre = q_b * (qmin_x - o), post = term_c or y
 *   biased               slope = q_b, pre = q_b * (qmin_x - zp_x) + bias, post = 0
 *   n < 0                slope and pre are multiplied by 2^-n, and n is 0
 *   half_up              pre holds the addend 2^(n-1) too
 *
 * Folded tables are unfolded: below zp_x, S - shr(A, n) - post has the slope -q_b. For floor and half_up, A then being
 * the sum with the addend, -(A >> n) = (~A >> n) + 1, and ~A always fits; for half_away and half_even the shifted value
 * is negated, which PWL_PLAIN_NEGATED in n asks for.
 */
#ifndef PWL_PLAIN_H
#define PWL_PLAIN_H

#include <stdint.h>

#include "fixed.h"
#include "pwl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a shifted value is rounded; floor and half_up are one, the addend being in `pre`. */
typedef enum pwl_plain_rounding { PWL_PLAIN_DOWN = 0, PWL_PLAIN_AWAY = 1, PWL_PLAIN_EVEN = 2 } pwl_plain_rounding;

#define PWL_PLAIN_NEGATED 256u

/* A line; all fields are as above, n is the shift, 0 to 31 or 0 to 63, plus PWL_PLAIN_NEGATED where that is asked for.
 */
typedef struct pwl_plain32 {
    uint32_t slope, pre, post, n;
} pwl_plain32;

typedef struct pwl_plain64 {
    uint64_t slope, pre, post, n;
} pwl_plain64;

/* The line modulo 2^32. */
PWL_FN pwl_plain32 pwl_plain_cut(const pwl_plain64 *line)
{
    pwl_plain32 cut;
    cut.slope = (uint32_t)line->slope;
    cut.pre = (uint32_t)line->pre;
    cut.post = (uint32_t)line->post;
    cut.n = (uint32_t)line->n;
    return cut;
}

/* The value at u, a code of the line's, before saturation; `rounding` is a pwl_plain_rounding. */
PWL_FN int32_t pwl_plain_eval32(const pwl_plain32 *line, uint32_t u, int rounding)
{
    const int32_t p = (int32_t)(line->slope * u + line->pre);
    if (rounding == PWL_PLAIN_DOWN)
        return (int32_t)((uint32_t)(p >> line->n) + line->post);
    const uint32_t negated = 0 - line->n / PWL_PLAIN_NEGATED; /* all ones, or 0 */
    const uint32_t shifted =
        (uint32_t)pwl_shr32(p, (int)(line->n & 31), rounding == PWL_PLAIN_AWAY ? PWL_HALF_AWAY : PWL_HALF_EVEN);
    return (int32_t)((shifted ^ negated) - negated + line->post);
}

PWL_FN int64_t pwl_plain_eval64(const pwl_plain64 *line, uint32_t u, int rounding)
{
    const int64_t p = (int64_t)(line->slope * u + line->pre);
    if (rounding == PWL_PLAIN_DOWN)
        return (int64_t)((uint64_t)(p >> line->n) + line->post);
    const uint64_t negated = 0 - line->n / PWL_PLAIN_NEGATED;
    const uint64_t shifted =
        (uint64_t)pwl_shr64(p, (int)(line->n & 63), rounding == PWL_PLAIN_AWAY ? PWL_HALF_AWAY : PWL_HALF_EVEN);
    return (int64_t)((shifted ^ negated) - negated + line->post);
}

/* The rounding that all lines of a table share. */
PWL_API pwl_plain_rounding pwl_plain_rounding_of(const pwl_table *table);

/* A line before it is cut to its width. */
typedef struct pwl_plain_line {
    uint64_t start; /* u of its first code */
    pwl_plain64 of; /* modulo 2^64, of which modulo 2^32 is a part */
} pwl_plain_line;

/* Walks the lines of a table from the lowest code up: the mirrored segments, then the segments. The fields are the
 * library's own. */
typedef struct pwl_plain_walk {
    const pwl_table *table;
    int32_t segment;
    int mirrored;
    uint64_t next; /* u that the next line must start at or beyond */
} pwl_plain_walk;

/* Sets *walk before the first line; the table is read until the walk ends. */
PWL_API void pwl_plain_begin(pwl_plain_walk *walk, const pwl_table *table);

/* *next = the next line, and 1; 0 after the last. At most 2 * PWL_MAX_SEGMENTS lines, in ascending order, the first at
 * u = 0. */
PWL_API int pwl_plain_next(pwl_plain_walk *walk, pwl_plain_line *next);

/* How many there are. */
PWL_API uint32_t pwl_plain_count(const pwl_table *table);

#ifdef __cplusplus
}
#endif
#endif
