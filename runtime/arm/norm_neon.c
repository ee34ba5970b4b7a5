/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm and RMSNorm of 16-bit codes to 16 bits: two places at once in 64-bit lanes, whose factors have 32 bits. */
#include <arm_neon.h>

#include "../element.h"
#include "../loop.h"
#include "../rows/row_ways.h"

/* n u - A and t within 31 bits and a sign. */
int pwl_norm_neon_serves(const pwl_norm *norm)
{
    const int64_t limit = (int64_t)1 << 31;
    return norm->in >= PWL_S16 && norm->out >= PWL_S16 && (int64_t)norm->length * UINT16_MAX < limit &&
           pwl_norm_most(norm) < (uint64_t)limit;
}

/* Sums of u = q - o: of codes v = q - base first, sum u = sum v - n p and sum u^2 = sum v^2 - 2 p sum v + n p^2 with p
 * = o - base. */
static pwl_norm_row sum_row(const pwl_norm *norm, const uint16_t *x, int64_t base)
{
    const int64_t p = norm->zp_x - base, n = norm->length;
    const uint16x8_t flip = vdupq_n_u16((uint16_t)base);
    int32x4_t sums = vdupq_n_s32(0);
    int64x2_t squares = vdupq_n_s64(0);
    int64_t sum, square;
    size_t at;
    for (at = 0; at + 8 <= norm->length; at += 8) {
        const int16x8_t v = vreinterpretq_s16_u16(veorq_u16(vld1q_u16(x + at), flip));
        const int16x4_t low = vget_low_s16(v), high = vget_high_s16(v);
        sums = vpadalq_s16(sums, v);
        squares = vpadalq_s32(vpadalq_s32(squares, vmull_s16(low, low)), vmull_s16(high, high));
    }
    sum = vaddlvq_s32(sums);
    square = vaddvq_s64(squares);
    for (; at < norm->length; at++) {
        const int64_t v = (int16_t)(x[at] ^ (uint16_t)base);
        sum += v;
        square += v * v;
    }
    return pwl_norm_row_of(norm, sum - n * p, square - 2 * p * sum + n * p * p);
}

/* What all places of a row share, in each lane. Shifts are to the left: they are negative. */
typedef struct lanes {
    int32x2_t n, factor;
    int64x2_t taken, t_half, t_shift, half, shift, zero;
    int32x4_t least, most;
} lanes;

static lanes lanes_of(const pwl_norm *norm, const pwl_norm_row *row)
{
    const int shift = norm->gamma_shift + norm->fraction;
    lanes all;
    all.n = vdup_n_s32((int32_t)norm->length);
    all.factor = vdup_n_s32((int32_t)row->factor);
    all.taken = vdupq_n_s64(norm->length * norm->zp_x + row->sum);
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
INLINE int32x2_t two(const pwl_norm *norm, const lanes *all, int32x2_t codes, size_t at)
{
    const int32x2_t c = vmovn_s64(vsubq_s64(vmull_s32(codes, all->n), all->taken));
    const int32x2_t t = vmovn_s64(vshlq_s64(vaddq_s64(vmull_s32(c, all->factor), all->t_half), all->t_shift));
    int64x2_t v = vaddq_s64(vmull_s32(t, vld1_s32(norm->gamma + at)), all->half);
    if (norm->beta)
        v = vaddq_s64(v, vld1q_s64(norm->beta + at));
    return vqmovn_s64(vaddq_s64(vshlq_s64(v, all->shift), all->zero));
}

INLINE uint16x4_t four(const pwl_norm *norm, const lanes *all, int32x4_t codes, size_t at)
{
    const int32x4_t y =
        vcombine_s32(two(norm, all, vget_low_s32(codes), at), two(norm, all, vget_high_s32(codes), at + 2));
    return vmovn_u32(vreinterpretq_u32_s32(vminq_s32(vmaxq_s32(y, all->least), all->most)));
}

INLINE int32x4_t widened(uint16x4_t codes, int is_unsigned)
{
    return is_unsigned ? vreinterpretq_s32_u32(vmovl_u16(codes)) : vmovl_s16(vreinterpret_s16_u16(codes));
}

INLINE void write_row(const pwl_norm *norm, const pwl_norm_row *row, int is_unsigned, const uint16_t *x, uint16_t *y)
{
    const lanes all = lanes_of(norm, row);
    size_t at = 0;
    /* R' may be 2^31, which 31 bits and a sign do not hold: plain C runs such a row. */
    for (; row->factor <= INT32_MAX && at + 8 <= norm->length; at += 8) {
        const uint16x8_t codes = vld1q_u16(x + at);
        const uint16x4_t low = four(norm, &all, widened(vget_low_u16(codes), is_unsigned), at);
        const uint16x4_t high = four(norm, &all, widened(vget_high_u16(codes), is_unsigned), at + 4);
        vst1q_u16(y + at, vcombine_u16(low, high));
    }
    for (; at < norm->length; at++) {
        const int64_t q = is_unsigned ? x[at] : (int16_t)x[at];
        y[at] = (uint16_t)pwl_norm_place(norm, row, q - norm->zp_x, (uint32_t)at);
    }
}

void pwl_norm_neon(const pwl_norm *norm, const void *x, void *y, size_t count)
{
    const int is_unsigned = norm->in == PWL_U16;
    const uint16_t *from = (const uint16_t *)x;
    uint16_t *to = (uint16_t *)y;
    for (; count; count--, from += norm->length, to += norm->length) {
        const pwl_norm_row row = sum_row(norm, from, is_unsigned ? 32768 : 0);
        if (is_unsigned)
            write_row(norm, &row, 1, from, to);
        else
            write_row(norm, &row, 0, from, to);
    }
}
