/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "wide" of up to 32 lines, 4 codes at a time, as narrow_neon.c in words twice as long: an index has the bytes
 * 4 i to 4 i + 3, below 128, and words of 64 bits are looked up by halves. A table is looked up in two parts; a second
 * lookup leaves what the first one found where its index, the first one's less 64, is 64 or more.
 */
#include "../ways.h"
#include "line_neon.h"

/* 32 words of 32 bits. */
typedef struct table {
    uint8x16x4_t part[2];
} table;

/* 32 words of 64 bits. */
typedef struct halves {
    table low, high;
} halves;

typedef struct state {
    uint8x16x2_t cell; /* bytes */
    table last, slope, n;
    halves pre, post;
    int32x4_t low, high, min_y, max_y;
    uint32x4_t flip_x, flip_y;
} state;

/* Words of 64 bits for the lower two codes and the upper two. */
typedef struct wide {
    int64x2_t part[2];
} wide;

INLINE table load_words(const int32_t *words)
{
    table of;
    int k;
    for (k = 0; k < 8; k++)
        of.part[k / 4].val[k % 4] = vreinterpretq_u8_s32(vld1q_s32(words + 4 * k));
    return of;
}

INLINE halves load_halves(const int64_t *words)
{
    halves of;
    int k;
    for (k = 0; k < 8; k++) {
        const int64x2_t first = vld1q_s64(words + 4 * k), second = vld1q_s64(words + 4 * k + 2);
        of.low.part[k / 4].val[k % 4] = vreinterpretq_u8_s32(vcombine_s32(vmovn_s64(first), vmovn_s64(second)));
        of.high.part[k / 4].val[k % 4] =
            vreinterpretq_u8_s32(vcombine_s32(vshrn_n_s64(first, 32), vshrn_n_s64(second, 32)));
    }
    return of;
}

INLINE uint8x16x2_t load_bytes(const int32_t *words)
{
    uint8_t bytes[32];
    uint8x16x2_t of;
    int k;
    for (k = 0; k < 32; k++)
        bytes[k] = (uint8_t)words[k];
    for (k = 0; k < 2; k++)
        of.val[k] = vld1q_u8(bytes + 16 * k);
    return of;
}

/* Bytes 4 i to 4 i + 3. */
INLINE uint8x16_t place_of(uint32x4_t i)
{
    return vreinterpretq_u8_u32(vmlaq_n_u32(vdupq_n_u32(0x03020100), i, 0x04040404));
}

/* The words, of `capacity`, at a place. */
INLINE int32x4_t pick(const table *of, uint8x16_t place, int capacity)
{
    uint8x16_t picked = vqtbl4q_u8(load(&of->part[0]), place);
    if (capacity > 16)
        picked = vqtbx4q_u8(picked, load(&of->part[1]), vsubq_u8(place, vdupq_n_u8(64)));
    return vreinterpretq_s32_u8(picked);
}

INLINE wide pick_wide(const halves *of, uint8x16_t place, int capacity)
{
    const int32x4_t low = pick(&of->low, place, capacity), high = pick(&of->high, place, capacity);
    wide picked;
    picked.part[0] = vreinterpretq_s64_s32(vzip1q_s32(low, high));
    picked.part[1] = vreinterpretq_s64_s32(vzip2q_s32(low, high));
    return picked;
}

/* The lines of 4 codes. */
INLINE uint32x4_t find(const state *of, int32x4_t s, int steps, int capacity)
{
    const uint32x4_t bits = veorq_u32(vreinterpretq_u32_s32(s), vdupq_n_u32(0x80000000));
    /* The upper bytes of each word are looked up beyond the table, and so are 0. */
    const uint32x4_t cell = vorrq_u32(vshrq_n_u32(bits, PWL_WIDE_CELL_BITS), vdupq_n_u32(0xffffff00));
    uint32x4_t i = vreinterpretq_u32_u8(vqtbl2q_u8(of->cell, vreinterpretq_u8_u32(cell)));
    while (steps--) {
        const uint32x4_t to_last = vdupq_n_u32((1u << steps) - 1);
        const uint32x4_t beyond = vcgtq_s32(s, pick(&of->last, place_of(vaddq_u32(i, to_last)), capacity));
        i = vaddq_u32(i, vandq_u32(beyond, vdupq_n_u32(1u << steps)));
    }
    return i;
}

/* p >> n, ties to even values as span.h tells. A shift to the left by -n is one to the right by n, rounding down. */
INLINE int64x2_t shift_right(int64x2_t p, int64x2_t n, int even)
{
    const int64x2_t right = vnegq_s64(n), shifted = vshlq_s64(p, right);
    uint64x2_t tie;
    if (!even)
        return shifted;
    tie = vceqzq_s64(vshlq_s64(p, vandq_s64(right, vdupq_n_s64(63))));
    return vbicq_s64(shifted, vreinterpretq_s64_u64(vshrq_n_u64(tie, 63)));
}

/* Values before saturation. */
INLINE wide evaluate(const state *of, int32x4_t s, uint8x16_t place, int capacity, int even)
{
    const int32x4_t slope = pick(&of->slope, place, capacity), n32 = pick(&of->n, place, capacity);
    const wide pre = pick_wide(&of->pre, place, capacity), post = pick_wide(&of->post, place, capacity);
    const int64x2_t p[2] = {vmlal_s32(pre.part[0], vget_low_s32(s), vget_low_s32(slope)),
                            vmlal_high_s32(pre.part[1], s, slope)};
    const int64x2_t n[2] = {vmovl_s32(vget_low_s32(n32)), vmovl_high_s32(n32)};
    wide v;
    int k;
    for (k = 0; k < 2; k++)
        v.part[k] = vaddq_s64(shift_right(p[k], n[k], even), post.part[k]);
    return v;
}

INLINE void map(const state *of, const uint32_t *x, uint32_t *y, int capacity, int steps, int even)
{
    const int32x4_t bits = vreinterpretq_s32_u32(veorq_u32(vld1q_u32(x), of->flip_x));
    const int32x4_t s = vminq_s32(vmaxq_s32(bits, of->low), of->high);
    const wide v = evaluate(of, s, place_of(find(of, s, steps, capacity)), capacity, even);
    const int32x4_t packed = vqmovn_high_s64(vqmovn_s64(v.part[0]), v.part[1]);
    const int32x4_t clipped = vminq_s32(vmaxq_s32(packed, of->min_y), of->max_y);
    vst1q_u32(y, veorq_u32(vreinterpretq_u32_s32(clipped), of->flip_y));
}

INLINE void run(const pwl_wide *wide, const uint32_t *x, uint32_t *y, size_t count, int capacity, int even)
{
    const int steps = wide->steps;
    state of;
    of.cell = load_bytes(wide->cell);
    of.last = load_words(wide->last);
    of.slope = load_words(wide->slope);
    of.n = load_words(wide->n);
    of.pre = load_halves(wide->pre);
    of.post = load_halves(wide->post);
    of.low = vdupq_n_s32(wide->low);
    of.high = vdupq_n_s32(wide->high);
    of.min_y = vdupq_n_s32((int32_t)wide->min_y);
    of.max_y = vdupq_n_s32((int32_t)wide->max_y);
    of.flip_x = vdupq_n_u32(wide->flip_x);
    of.flip_y = vdupq_n_u32(wide->flip_y);
    PWL_MAP_VECTORS(uint32_t, 4, x, y, count, map, &of, capacity, steps, even);
}

/* The variable of the loop above made a constant. */
INLINE void run_rounded(const pwl_wide *wide, const uint32_t *x, uint32_t *y, size_t count, int capacity)
{
    if (wide->even)
        run(wide, x, y, count, capacity, 1);
    else
        run(wide, x, y, count, capacity, 0);
}

void pwl_wide_neon(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_wide *const wide = (const pwl_wide *)plan->memory;
    if (wide->capacity == 16)
        run_rounded(wide, (const uint32_t *)x, (uint32_t *)y, count, 16);
    else
        run_rounded(wide, (const uint32_t *)x, (uint32_t *)y, count, 32);
}
