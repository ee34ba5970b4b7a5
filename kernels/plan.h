/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table as the kernels evaluate it: prepared on the host, the same values bit for bit, and the function that
 * evaluates one code compiled for both sides.
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
 * is negated, which PWL_PLAN_NEGATED in n asks for.
 *
 * The segment comes from the top bits of u: each of at most PWL_PLAN_CELLS cells knows the line at its first code, and
 * the last code of that line. Where each cell holds at most one further line, one comparison settles it; else the
 * starts between the lines of two neighbouring cells are searched.
 *
 * The arrays of a plan lie in one piece of memory in this order: values[PWL_PLAN_BYTE_CODES] (int32_t); lines;
 * cells + 1 cells, of which the last ends a search; starts[lines] (uint32_t), the first u of each line; the image.
 *
 * The image is what each block of threads copies to its shared memory as it is, and starts at a multiple of 128 bytes:
 * across the lines of the cache, the copy takes a microsecond more. Where each cell is settled by one
 * comparison and all fits, it holds
 *
 *   heads[lines]   16 bytes   narrow: a pwl_plan32; wide: pwl_wide_head
 *   tails[lines]    4 bytes   wide: the high bits of post << 10 | n
 *   cells[cells]    4 bytes   narrow: line << 16 | 65535 - last, so that adding u carries into the line beyond last
 *                   8 bytes   wide: a pwl_cell
 *
 * each element in 2^copies copies side by side, of which a lane reads its own: neighbouring lanes then read different
 * banks, and random codes cost what equal ones do.
 */
#ifndef PWL_PLAN_H
#define PWL_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/cuda.h>
#include <pwl/fixed.h>
#include <pwl/pwl.h>

#define PWL_PLAN_CELLS 4096u
#define PWL_PLAN_IMAGE (32u << 10) /* bytes at most: with what a launch adds, what every device grants a block */
#define PWL_PLAN_LINES (2u * PWL_MAX_SEGMENTS) /* those of a folded table */

/* Values of all codes that an array of 8 bits can hold, signed or not: -128 to 255. */
#define PWL_PLAN_BYTE_CODES 384
#define PWL_PLAN_BYTE_FIRST (-128)

/* How a shifted value is rounded; floor and half_up are one, the addend being in `pre`. */
typedef enum pwl_plan_rounding { PWL_PLAN_DOWN = 0, PWL_PLAN_AWAY = 1, PWL_PLAN_EVEN = 2 } pwl_plan_rounding;

#define PWL_PLAN_NEGATED 256u

typedef struct pwl_plan32 {
    uint32_t slope, pre, post, n;
} pwl_plan32;

typedef struct pwl_plan64 {
    uint64_t slope, pre, post, n;
} pwl_plan64;

/* A cell: the line at its first code, and the last u of that line, cut to 32 bits. */
typedef struct pwl_cell {
    uint32_t last, line;
} pwl_cell;

typedef struct pwl_wide_head {
    uint32_t pre_low, pre_high, slope, post_low;
} pwl_wide_head;

/* Where copy `lane` of element k of an array of the image lies, from the array's start. A product, since
 * multiplications have units of their own on a device while shifts share those that are busiest. */
PWL_FN uint32_t pwl_image_at(uint32_t bytes, uint32_t copies, uint32_t k, uint32_t lane)
{
    return k * (bytes << copies) + (lane & ((1u << copies) - 1)) * bytes;
}

/* The line of u, by a cell of the image. */
PWL_FN uint32_t pwl_narrow_pick(uint32_t cell, uint32_t u)
{
    return (cell + u) >> 16;
}

PWL_FN uint32_t pwl_wide_pick(uint32_t last, uint32_t line, uint32_t u)
{
    return line + (u > last);
}

/* One line of the image. */
PWL_FN pwl_plan64 pwl_wide_line(pwl_wide_head head, uint32_t tail)
{
    const uint32_t post_high = (uint32_t)((int32_t)tail >> 10);
    pwl_plan64 line;
    line.slope = (uint64_t)(int64_t)(int32_t)head.slope;
    line.pre = (uint64_t)head.pre_high << 32 | head.pre_low;
    line.post = (uint64_t)post_high << 32 | head.post_low;
    line.n = tail & 1023;
    return line;
}

/* One line, before saturation. */
PWL_FN int32_t pwl_plan_eval32(const pwl_plan32 *line, uint32_t u, int rounding)
{
    const int32_t p = (int32_t)(line->slope * u + line->pre);
    if (rounding == PWL_PLAN_DOWN)
        return (int32_t)((uint32_t)(p >> line->n) + line->post);
    const uint32_t negated = 0 - line->n / PWL_PLAN_NEGATED; /* all ones, or 0 */
    const uint32_t shifted =
        (uint32_t)pwl_shr32(p, (int)(line->n & 31), rounding == PWL_PLAN_AWAY ? PWL_HALF_AWAY : PWL_HALF_EVEN);
    return (int32_t)((shifted ^ negated) - negated + line->post);
}

PWL_FN int64_t pwl_plan_eval64(const pwl_plan64 *line, uint32_t u, int rounding)
{
    const int64_t p = (int64_t)(line->slope * u + line->pre);
    if (rounding == PWL_PLAN_DOWN)
        return (int64_t)((uint64_t)(p >> line->n) + line->post);
    const uint64_t negated = 0 - line->n / PWL_PLAN_NEGATED;
    const uint64_t shifted =
        (uint64_t)pwl_shr64(p, (int)(line->n & 63), rounding == PWL_PLAN_AWAY ? PWL_HALF_AWAY : PWL_HALF_EVEN);
    return (int64_t)((shifted ^ negated) - negated + line->post);
}

/* The line of u in a plan that is not single: the last start at or below u, among those of its cell. */
PWL_FN uint32_t pwl_plan_search(const pwl_cell *cell, const uint32_t *start, uint32_t u)
{
    uint32_t low = cell[0].line, high = cell[1].line;
    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;
        if (start[middle] <= u)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Plans a checked table. */
void pwl_plan_init(pwl_plan *plan, const pwl_table *table);

/* Writes the arrays to plan->bytes of memory aligned to 16. */
void pwl_plan_fill(const pwl_plan *plan, const pwl_table *table, void *memory);

/* One code, by the plan: what the kernels compute. By the image, as lane `lane` reads it; or, where there is none or
 * lane is negative, from the other arrays. */
int64_t pwl_plan_eval(const pwl_plan *plan, const void *memory, int64_t q_x, int lane);

#endif
