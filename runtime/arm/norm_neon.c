/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm and RMSNorm of 16-bit codes to 16 bits: two places at once in 64-bit lanes, whose factors have 32 bits. */
#include <arm_neon.h>

#include "../loop.h"
#include "../rows/norm_row.h"
#include "../rows/row_ways.h"

int pwl_norm_neon_serves(const pwl_norm *norm)
{
    return pwl_norm_is_of_words(norm);
}

/* Codes less their base. */
INLINE int16x8_t words_of(const uint16_t *x, uint16x8_t flip)
{
    return vreinterpretq_s16_u16(veorq_u16(vld1q_u16(x), flip));
}

static pwl_norm_row sum_row(const pwl_norm *norm, const uint16_t *x)
{
    const pwl_type in = (pwl_type)norm->in;
    const uint16x8_t flip = vdupq_n_u16((uint16_t)pwl_norm_base(in));
    int32x4_t sums = vdupq_n_s32(0);
    int64x2_t squares = vdupq_n_s64(0);
    size_t at;
    for (at = 0; at + 8 <= norm->length; at += 8) {
        const int16x8_t v = words_of(x + at, flip);
        const int16x4_t low = vget_low_s16(v), high = vget_high_s16(v);
        sums = vpadalq_s16(sums, v);
        squares = vpadalq_s32(vpadalq_s32(squares, vmull_s16(low, low)), vmull_s16(high, high));
    }
    return pwl_norm_row_from(norm, in, x, at, vaddlvq_s32(sums), vaddvq_s64(squares));
}

/* What all places of a row share, in each lane: n u - A = n v - taken. Shifts are to the left: they are negative. */
typedef struct lanes {
    int32x2_t n, factor;
    int64x2_t taken, t_half, t_shift, half, shift, zero;
    int32x4_t least, most;
} lanes;

static lanes lanes_of(const pwl_norm *norm, const pwl_norm_row *row)
{
    const int shift = norm->gamma_shift + norm->fraction;
    const int64_t p = norm->zp_x - pwl_norm_base((pwl_type)norm->in);
    lanes all;
    all.n = vdup_n_s32((int32_t)norm->length);
    all.factor = vdup_n_s32((int32_t)row->factor);
    all.taken = vdupq_n_s64(norm->length * p + row->sum);
    all.t_half = vdupq_n_s64((int64_t)1 << (row->shift - 1));
    all.t_shift = vdupq_n_s64(-row->shift);
    all.half = vdupq_n_s64((int64_t)1 << (shift - 1));
    all.shift = vdupq_n_s64(-shift);
    all.zero = vdupq_n_s64(norm->zp_y);
    all.least = vdupq_n_s32(norm->qmin_y);
    all.most = vdupq_n_s32(norm->qmax_y);
    return all;
}

/* Two codes, from place `at` on. What 32 bits do not hold is beyond every output. */
INLINE int32x2_t two(const pwl_norm *norm, const lanes *all, int32x2_t v, size_t at)
{
    const int32x2_t c = vmovn_s64(vsubq_s64(vmull_s32(v, all->n), all->taken));
    const int32x2_t t = vmovn_s64(vshlq_s64(vaddq_s64(vmull_s32(c, all->factor), all->t_half), all->t_shift));
    int64x2_t y = vaddq_s64(vmull_s32(t, vld1_s32(norm->gamma + at)), all->half);
    if (norm->beta)
        y = vaddq_s64(y, vld1q_s64(norm->beta + at));
    return vqmovn_s64(vaddq_s64(vshlq_s64(y, all->shift), all->zero));
}

INLINE uint16x4_t four(const pwl_norm *norm, const lanes *all, int16x4_t words, size_t at)
{
    const int32x4_t v = vmovl_s16(words);
    const int32x4_t y = vcombine_s32(two(norm, all, vget_low_s32(v), at), two(norm, all, vget_high_s32(v), at + 2));
    return vmovn_u32(vreinterpretq_u32_s32(vminq_s32(vmaxq_s32(y, all->least), all->most)));
}

static void write_row(const pwl_norm *norm, const pwl_norm_row *row, const uint16_t *x, uint16_t *y)
{
    const uint16x8_t flip = vdupq_n_u16((uint16_t)pwl_norm_base((pwl_type)norm->in));
    const lanes all = lanes_of(norm, row);
    size_t at = 0;
    /* R' may be 2^31, which 31 bits and a sign do not hold: plain C runs such a row. */
    for (; row->factor <= INT32_MAX && at + 8 <= norm->length; at += 8) {
        const int16x8_t v = words_of(x + at, flip);
        const uint16x4_t low = four(norm, &all, vget_low_s16(v), at);
        const uint16x4_t high = four(norm, &all, vget_high_s16(v), at + 4);
        vst1q_u16(y + at, vcombine_u16(low, high));
    }
    pwl_norm_write_from(norm, row, (pwl_type)norm->in, x, (pwl_type)norm->out, y, at);
}

void pwl_norm_neon(const pwl_norm *norm, const void *x, void *y, size_t count)
{
    const uint16_t *from = (const uint16_t *)x;
    uint16_t *to = (uint16_t *)y;
    for (; count; count--, from += norm->length, to += norm->length) {
        const pwl_norm_row row = sum_row(norm, from);
        write_row(norm, &row, from, to);
    }
}
