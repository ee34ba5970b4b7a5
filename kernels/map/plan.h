/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table as the kernels evaluate it: prepared on the host, the same values bit for bit, and the function that
 * evaluates one code compiled for both sides. It is made of the plain lines of pwl/plain.h, whose u and n are meant
 * here too, and, narrow (storage INT8 and INT16), of compact ones (compact.h).
 *
 * The segment comes from the top bits of u: each of at most PWL_PLAN_CELLS cells knows the line at its first code, and
 * the last code of that line. Where each cell holds at most one further line, one comparison settles it; else the
 * starts between the lines of two neighbouring cells are searched.
 *
 * The arrays of a plan lie in one piece of memory in this order: values[PWL_PLAN_BYTE_CODES] (int32_t); lines;
 * cells + 1 cells, of which the last ends a search; starts[lines] (uint32_t), the first u of each line; the image.
 *
 * The image is what each block of threads copies to its shared memory as it is, and starts at a multiple of 128 bytes:
 * across the lines of the cache, the copy takes a microsecond more. Where each cell is settled by one comparison, all
 * lines have such a form and all fits, it holds
 *
 *   heads           8 bytes   narrow: a pwl_compact of each part of a line
 *                  16 bytes   wide: a pwl_wide_head of each line
 *   tails           4 bytes   wide: the high bits of post << 10 | n
 *   cells[cells]    4 bytes   narrow: part << 16 | 65535 - last, so that adding u carries into the line beyond last
 *                   8 bytes   wide: a pwl_cell
 *
 * each element in 2^copies copies side by side, of which a lane reads its own: neighbouring lanes then read different
 * banks, and random codes cost what equal ones do. Fewer copies win nothing where more fit, and with one of each banks
 * collide (0.83 of the speed of a copy of the arrays, for 0.96). All 65536 values of 16-bit codes in shared memory
 * would be slower than lines (0.91).
 */
#ifndef PWL_CUDA_PLAN_H
#define PWL_CUDA_PLAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <pwl/cuda.h>
#include <pwl/fixed.h>
#include <pwl/plain.h>
#include <pwl/pwl.h>

#include "compact.h"

#define PWL_PLAN_CELLS 4096u
#define PWL_PLAN_IMAGE (32u << 10) /* bytes at most: with what a launch adds, what every device grants a block */
#define PWL_PLAN_LINES (2u * PWL_MAX_SEGMENTS) /* those of a folded table */

/* Values of all codes that an array of 8 bits can hold, signed or not: -128 to 255. */
#define PWL_PLAN_BYTE_CODES 384
#define PWL_PLAN_BYTE_FIRST (-128)

typedef struct pwl_cuda_plan {
    int64_t qmin_x, qmax_x, qmin_y, qmax_y;
    uint32_t cells, lines;
    uint32_t cell_shift; /* the cell of a code is (q_x - qmin_x) >> cell_shift */
    uint8_t wide;        /* lines of 64 bits */
    uint8_t rounding;
    uint8_t even;                                  /* of the image's compact lines; compact.h */
    uint8_t within;                                /* the image gives no value that needs to be saturated; narrow */
    uint8_t head_copies, tail_copies, cell_copies; /* in the image, as powers of two */
    uint32_t heads, fraction;                      /* lines of the image, and what shift they share */
    uint32_t line_offset, cell_offset, start_offset, image_offset, bytes; /* of the arrays in memory, and all of it */
    uint32_t image_tails, image_cells, image_bytes; /* offsets in the image, and all of it; 0 where there is none */
} pwl_cuda_plan;

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
PWL_FN pwl_plain64 pwl_wide_line(pwl_wide_head head, uint32_t tail)
{
    const uint32_t post_high = (uint32_t)((int32_t)tail >> 10);
    pwl_plain64 line;
    line.slope = (uint64_t)(int64_t)(int32_t)head.slope;
    line.pre = (uint64_t)head.pre_high << 32 | head.pre_low;
    line.post = (uint64_t)post_high << 32 | head.post_low;
    line.n = tail & 1023;
    return line;
}

/* The line of u in a plan that is not single: the last start at or below u, among those of its cell. */
PWL_FN uint32_t pwl_cuda_plan_search(const pwl_cell *cell, const uint32_t *start, uint32_t u)
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

/* A plan with its arrays, where those run who evaluate it. */
typedef struct pwl_planned {
    pwl_cuda_plan plan;
    const char *memory;
} pwl_planned;

/* To and from the place that an uploaded table has for it; the room is asserted in plan.c. */
PWL_FN void pwl_cuda_plan_put(pwl_cuda_table *uploaded, const pwl_cuda_plan *plan)
{
    memcpy(uploaded->plan, plan, sizeof *plan);
}

PWL_FN pwl_cuda_plan pwl_cuda_plan_of(const pwl_cuda_table *uploaded)
{
    pwl_cuda_plan plan;
    memcpy(&plan, uploaded->plan, sizeof plan);
    return plan;
}

/* Plans a checked table. */
void pwl_cuda_plan_init(pwl_cuda_plan *plan, const pwl_table *table);

/* Writes the arrays to plan->bytes of memory aligned to 16. */
void pwl_cuda_plan_fill(const pwl_cuda_plan *plan, const pwl_table *table, void *memory);

/* One code, by the plan: what the kernels compute. By the image, as lane `lane` reads it; or, where there is none or
 * lane is negative, from the other arrays. */
int64_t pwl_cuda_plan_eval(const pwl_cuda_plan *plan, const void *memory, int64_t q_x, int lane);

#endif
