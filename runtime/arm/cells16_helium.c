/* SPDX-License-Identifier: Apache-2.0 */
/* Kind "cells16", 4 codes at a time, in words of 32 bits. */
#include <arm_mve.h>

#include "../cells16.h"
#include "../loop.h"
#include "../ways.h"

/* The lower half of each word, signed. */
INLINE int32x4_t lower(uint32x4_t v)
{
    return vmovlbq_s16(vreinterpretq_s16_u32(v));
}

INLINE int32x4_t clip(int32x4_t v, int32_t min, int32_t max)
{
    return vminq_s32(vmaxq_s32(v, vdupq_n_s32(min)), vdupq_n_s32(max));
}

INLINE uint32x4_t find(const pwl_packed_arrays *of, int32x4_t s, int cell_bits, int steps)
{
    const uint32x4_t from_lowest = vreinterpretq_u32_s32(vaddq_n_s32(s, -INT16_MIN));
    const uint32x4_t cell = vldrwq_gather_shifted_offset_u32(of->cells, vshlq_r_u32(from_lowest, -cell_bits));
    uint32x4_t i = vshrq_n_u32(cell, 16);
    int32x4_t last = lower(cell);
    while (steps--) {
        /* 1 where s lies beyond; both have 16 bits. A mask would cost GCC a way through a register. */
        const uint32x4_t beyond = vshrq_n_u32(vreinterpretq_u32_s32(vsubq_s32(last, s)), 31);
        i = vaddq_u32(i, vshlq_r_u32(beyond, steps));
        if (steps)
            last = vldrwq_gather_shifted_offset_s32(of->lasts + (1 << (steps - 1)) - 1, i);
    }
    return i;
}

/* p >> n, ties to even values as span.h tells. */
INLINE int32x4_t shift(int32x4_t p, int32x4_t n, int even)
{
    const int32x4_t right = vnegq_s32(n), shifted = vshlq_s32(p, right);
    int32x4_t rest;
    if (!even)
        return shifted;
    rest = vshlq_s32(p, vandq_s32(right, vdupq_n_s32(31)));
    return vbicq_m_s32(shifted, shifted, vdupq_n_s32(1), vcmpeqq_n_s32(rest, 0));
}

/* Of four times so many codes. Where the table's codes are all that arrays can hold, they are not clipped. */
INLINE void run(const pwl_packed *made, const uint16_t *x, uint16_t *y, size_t fours, int steps, int is_whole, int even,
                int has_post)
{
    const pwl_packed_arrays of = pwl_packed_arrays_of(made);
    const int16_t low = made->low, high = made->high, min_y = made->min_y, max_y = made->max_y;
    const uint16_t flip_x = made->flip_x, flip_y = made->flip_y;
    const int cell_bits = made->cell_bits;
    for (; fours; fours--, x += 4, y += 4) {
        /* Modulo 2^16 adding the top bit flips it. */
        const int32x4_t code = lower(vaddq_n_u32(vldrhq_u32(x), flip_x)), s = is_whole ? code : clip(code, low, high);
        const uint32x4_t i = find(&of, s, cell_bits, steps), at = vshlq_n_u32(i, 1);
        const uint32x4_t slope_n = vldrwq_gather_shifted_offset_u32(&of.lines->slope_n, at);
        const int32x4_t pre = vreinterpretq_s32_u32(vldrwq_gather_shifted_offset_u32(&of.lines->pre, at));
        const int32x4_t p = vaddq_s32(vmulq_s32(s, lower(slope_n)), pre);
        int32x4_t v = shift(p, vreinterpretq_s32_u32(vshrq_n_u32(slope_n, 16)), even);
        if (has_post)
            v = vaddq_s32(v, vreinterpretq_s32_u32(vldrwq_gather_shifted_offset_u32(of.posts, i)));
        v = is_whole ? vreinterpretq_s32_s16(vqmovnbq_s32(vdupq_n_s16(0), v)) : clip(v, min_y, max_y);
        vstrhq_u32(y, vaddq_n_u32(vreinterpretq_u32_s32(v), flip_y));
    }
}

void pwl_cells16_helium(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_packed *const made = (const pwl_packed *)plan->memory;
    const uint16_t *const from = (const uint16_t *)x;
    uint16_t *const to = (uint16_t *)y;
    const size_t fours = count / 4;
    if (made->even)
        run(made, from, to, fours, made->steps, 0, 1, 1);
    else if (made->steps > 1 || !pwl_packed_is_whole(made))
        run(made, from, to, fours, made->steps, 0, 0, 1);
    else if (made->has_post)
        run(made, from, to, fours, 1, 1, 0, 1);
    else
        run(made, from, to, fours, 1, 1, 0, 0);
    pwl_cells16(plan, from + 4 * fours, to + 4 * fours, count % 4);
}
