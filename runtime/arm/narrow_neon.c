/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "narrow" of up to 32 lines, 8 codes at a time. A lookup of bytes finds words of 16 bits by both their bytes: in
 * the lane of line i the index has the bytes 2 i and 2 i + 1, below 64. Words of 32 bits are looked up by halves, and
 * lines are evaluated in two vectors, of the lower four codes and of the upper four.
 */
#include "../ways.h"
#include "line_neon.h"

/* 32 words of 16 bits, or 64 bytes. */
typedef uint8x16x4_t table;

/* 32 words of 32 bits. */
typedef struct halves {
    table low, high;
} halves;

typedef struct state {
    table cell; /* bytes */
    table last;
    halves slope_n, pre, post;
    int16x8_t low, high, min_y, max_y;
    uint16x8_t flip_x, flip_y;
} state;

/* Words of 32 bits for the lower four codes and the upper four. */
typedef struct wide {
    int32x4_t part[2];
} wide;

INLINE table load_words(const int16_t *words)
{
    table of;
    int k;
    for (k = 0; k < 4; k++)
        of.val[k] = vreinterpretq_u8_s16(vld1q_s16(words + 8 * k));
    return of;
}

INLINE table load_bytes(const int16_t *words)
{
    uint8_t bytes[64];
    table of;
    int k;
    for (k = 0; k < 64; k++)
        bytes[k] = (uint8_t)words[k];
    for (k = 0; k < 4; k++)
        of.val[k] = vld1q_u8(bytes + 16 * k);
    return of;
}

INLINE halves load_halves(const uint32_t *words)
{
    halves of;
    int k;
    for (k = 0; k < 4; k++) {
        const uint32x4_t first = vld1q_u32(words + 8 * k), second = vld1q_u32(words + 8 * k + 4);
        of.low.val[k] = vreinterpretq_u8_u16(vcombine_u16(vmovn_u32(first), vmovn_u32(second)));
        of.high.val[k] = vreinterpretq_u8_u16(vcombine_u16(vshrn_n_u32(first, 16), vshrn_n_u32(second, 16)));
    }
    return of;
}

/* Bytes 2 i and 2 i + 1. */
INLINE uint8x16_t place_of(uint16x8_t i)
{
    return vreinterpretq_u8_u16(vmlaq_n_u16(vdupq_n_u16(0x0100), i, 0x0202));
}

/* The words, of `capacity`, at a place. */
INLINE int16x8_t pick(const table *of, uint8x16_t place, int capacity)
{
    const uint8x16x2_t lower = {{of->val[0], of->val[1]}};
    return vreinterpretq_s16_u8(capacity == 16 ? vqtbl2q_u8(lower, place) : vqtbl4q_u8(load(of), place));
}

INLINE wide pick_wide(const halves *of, uint8x16_t place, int capacity)
{
    const int16x8_t low = pick(&of->low, place, capacity), high = pick(&of->high, place, capacity);
    wide picked;
    picked.part[0] = vreinterpretq_s32_s16(vzip1q_s16(low, high));
    picked.part[1] = vreinterpretq_s32_s16(vzip2q_s16(low, high));
    return picked;
}

/* The lines of 8 codes. */
INLINE uint16x8_t find(const state *of, int16x8_t s, int steps, int capacity)
{
    const uint16x8_t bits = veorq_u16(vreinterpretq_u16_s16(s), vdupq_n_u16(0x8000));
    /* The high byte of each word is looked up beyond the table, and so is 0. */
    const uint16x8_t cell = vorrq_u16(vshrq_n_u16(bits, PWL_NARROW_CELL_BITS), vdupq_n_u16(0xff00));
    uint16x8_t i = vreinterpretq_u16_u8(vqtbl4q_u8(of->cell, vreinterpretq_u8_u16(cell)));
    while (steps--) {
        const uint16x8_t to_last = vdupq_n_u16((uint16_t)((1 << steps) - 1));
        const uint16x8_t beyond = vcgtq_s16(s, pick(&of->last, place_of(vaddq_u16(i, to_last)), capacity));
        i = vaddq_u16(i, vandq_u16(beyond, vdupq_n_u16((uint16_t)(1 << steps))));
    }
    return i;
}

/* p >> n, ties to even values as span.h tells. A shift to the left by -n is one to the right by n, rounding down. */
INLINE int32x4_t shift_right(int32x4_t p, int32x4_t n, int even)
{
    const int32x4_t right = vnegq_s32(n), shifted = vshlq_s32(p, right);
    uint32x4_t tie;
    if (!even)
        return shifted;
    tie = vceqzq_s32(vshlq_s32(p, vandq_s32(right, vdupq_n_s32(31))));
    return vbicq_s32(shifted, vreinterpretq_s32_u32(vshrq_n_u32(tie, 31)));
}

/* Values before saturation. */
INLINE wide evaluate(const state *of, int16x8_t s, uint8x16_t place, int capacity, int even, int has_post)
{
    const int16x8_t slope = pick(&of->slope_n.low, place, capacity), n16 = pick(&of->slope_n.high, place, capacity);
    const wide pre = pick_wide(&of->pre, place, capacity);
    const int32x4_t p[2] = {vmlal_s16(pre.part[0], vget_low_s16(s), vget_low_s16(slope)),
                            vmlal_high_s16(pre.part[1], s, slope)};
    const int32x4_t n[2] = {vmovl_s16(vget_low_s16(n16)), vmovl_high_s16(n16)};
    wide v;
    int k;
    for (k = 0; k < 2; k++)
        v.part[k] = shift_right(p[k], n[k], even);
    if (has_post) {
        const wide post = pick_wide(&of->post, place, capacity);
        for (k = 0; k < 2; k++)
            v.part[k] = vaddq_s32(v.part[k], post.part[k]);
    }
    return v;
}

INLINE void map(const state *of, const uint16_t *x, uint16_t *y, int capacity, int steps, int even, int has_post)
{
    const int16x8_t bits = vreinterpretq_s16_u16(veorq_u16(vld1q_u16(x), of->flip_x));
    const int16x8_t s = vminq_s16(vmaxq_s16(bits, of->low), of->high);
    const wide v = evaluate(of, s, place_of(find(of, s, steps, capacity)), capacity, even, has_post);
    const int16x8_t packed = vqmovn_high_s32(vqmovn_s32(v.part[0]), v.part[1]);
    const int16x8_t clipped = vminq_s16(vmaxq_s16(packed, of->min_y), of->max_y);
    vst1q_u16(y, veorq_u16(vreinterpretq_u16_s16(clipped), of->flip_y));
}

INLINE void run(const pwl_narrow *narrow, const uint16_t *x, uint16_t *y, size_t count, int capacity, int even,
                int has_post)
{
    const int steps = narrow->steps;
    state of;
    of.cell = load_bytes(narrow->cell);
    of.last = load_words(narrow->last);
    of.slope_n = load_halves(narrow->slope_n);
    of.pre = load_halves(narrow->pre);
    of.post = load_halves(narrow->post);
    of.low = vdupq_n_s16(narrow->low);
    of.high = vdupq_n_s16(narrow->high);
    of.min_y = vdupq_n_s16(narrow->min_y);
    of.max_y = vdupq_n_s16(narrow->max_y);
    of.flip_x = vdupq_n_u16(narrow->flip_x);
    of.flip_y = vdupq_n_u16(narrow->flip_y);
    PWL_MAP_VECTORS(uint16_t, 8, x, y, count, map, &of, capacity, steps, even, has_post);
}

void pwl_narrow_neon(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_narrow *const narrow = (const pwl_narrow *)plan->memory;
    const uint16_t *const codes = (const uint16_t *)x;
    uint16_t *const values = (uint16_t *)y;
    if (narrow->capacity == 16)
        PWL_RUN_ROUNDED(narrow->even, narrow->has_post, run, narrow, codes, values, count, 16);
    else
        PWL_RUN_ROUNDED(narrow->even, narrow->has_post, run, narrow, codes, values, count, 32);
}
