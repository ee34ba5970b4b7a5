/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "cells16", two codes at a time in the halves of a word, by the parallel halfword instructions that the DSP
 * extension of Cortex-M has. ssub16 sets a flag for each half whose difference is not negative, and sel picks halves by
 * these flags: clipping and the search's comparison are made for both codes at once. Each code is then multiplied,
 * shifted and saturated for itself. Plain C does what is seldom asked for: a search of more steps, and ties to
 * even values.
 */
#include <arm_acle.h>

#include "../cells16.h"
#include "../loop.h"
#include "../ways.h"

/* Two codes, at any place where one may lie. */
typedef struct __attribute__((packed, may_alias)) pair {
    uint32_t codes;
} pair;

/* (a & 0xffff) | b << 16 */
INLINE uint32_t join_lower(uint32_t a, uint32_t b)
{
    uint32_t joined;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(joined) : "r"(a), "r"(b));
    return joined;
}

/* a >> 16 | (b & 0xffff0000) */
INLINE uint32_t join_upper(uint32_t a, uint32_t b)
{
    uint32_t joined;
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(joined) : "r"(b), "r"(a));
    return joined;
}

/* For each half, signed: a >= b ? then : otherwise. */
INLINE uint32_t select(uint32_t a, uint32_t b, uint32_t then, uint32_t otherwise)
{
    (void)__ssub16((int16x2_t)a, (int16x2_t)b);
    return __sel(then, otherwise);
}

/* Each half clipped to [min, max]. */
INLINE uint32_t clip(uint32_t v, int16_t min, int16_t max)
{
    const uint32_t mins = join_lower((uint32_t)min, (uint32_t)min), maxs = join_lower((uint32_t)max, (uint32_t)max);
    v = select(v, mins, v, mins);
    return select(maxs, v, v, maxs);
}

/* Of an even number of codes. Where the table's codes are all that arrays can hold, nothing is clipped. */
INLINE void run(const pwl_packed *made, const uint16_t *x, uint16_t *y, size_t count, int is_whole, int has_post)
{
    const pwl_packed_arrays of = pwl_packed_arrays_of(made);
    const int16_t low = made->low, high = made->high, min_y = made->min_y, max_y = made->max_y;
    const uint32_t flip_x = made->flip_x * 0x00010001u, flip_y = made->flip_y * 0x00010001u;
    const int cell_bits = made->cell_bits;
    const uint16_t *const end = x + count;
    for (; x != end; x += 2, y += 2) {
        const uint32_t codes = ((const pair *)x)->codes ^ flip_x, s = is_whole ? codes : clip(codes, low, high);
        const uint32_t bits = s ^ 0x80008000u;
        const uint32_t cell[2] = {of.cells[(bits & UINT16_MAX) >> cell_bits], of.cells[bits >> 16 >> cell_bits]};
        const uint32_t last = join_lower(cell[0], cell[1]);
        const uint32_t i = join_upper(cell[0], cell[1]) + select(last, s, 0, 0x00010001);
        const uint32_t line[2] = {i & UINT16_MAX, i >> 16};
        const uint32_t slope_n[2] = {of.lines[line[0]].slope_n, of.lines[line[1]].slope_n};
        int32_t v[2];
        uint32_t values;
        v[0] = __smlabb((int32_t)s, (int32_t)slope_n[0], (int32_t)of.lines[line[0]].pre) >> (slope_n[0] >> 16);
        v[1] = __smlatb((int32_t)s, (int32_t)slope_n[1], (int32_t)of.lines[line[1]].pre) >> (slope_n[1] >> 16);
        if (has_post) {
            v[0] += (int32_t)of.posts[line[0]];
            v[1] += (int32_t)of.posts[line[1]];
        }
        values = join_lower((uint32_t)__ssat(v[0], 16), (uint32_t)__ssat(v[1], 16));
        ((pair *)y)->codes = (is_whole ? values : clip(values, min_y, max_y)) ^ flip_y;
    }
}

void pwl_cells16_dsp(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_packed *const made = (const pwl_packed *)plan->memory;
    const uint16_t *from = (const uint16_t *)x;
    uint16_t *to = (uint16_t *)y;
    if (made->steps == 1 && !made->even) {
        const size_t even = count & ~(size_t)1;
        if (!pwl_packed_is_whole(made))
            run(made, from, to, even, 0, 1);
        else if (made->has_post)
            run(made, from, to, even, 1, 1);
        else
            run(made, from, to, even, 1, 0);
        from += even;
        to += even;
        count -= even;
    }
    pwl_cells16(plan, from, to, count);
}
