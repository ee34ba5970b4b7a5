/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of 8-bit codes to 8 bits: exponentials are added one by one, a row's 256 results are computed once, and
 * looked up by their differences. */
#include "../rows/row_ways.h"
#include "../rows/softmax_bytes.h"
#include "lookup_neon.h"

int pwl_softmax_neon_serves(const pwl_softmax *softmax)
{
    return pwl_softmax_is_of_bytes(softmax);
}

/* Codes from the lowest of the type on are x ^ flip. */
static uint8_t largest_of(const uint8_t *x, size_t length, uint8_t flip)
{
    const uint8x16_t flips = vdupq_n_u8(flip);
    uint8x16_t lanes = vdupq_n_u8(0);
    uint8_t largest;
    size_t k;
    for (k = 0; k + 16 <= length; k += 16)
        lanes = vmaxq_u8(lanes, veorq_u8(vld1q_u8(x + k), flips));
    largest = vmaxvq_u8(lanes);
    for (; k < length; k++)
        largest = (x[k] ^ flip) > largest ? x[k] ^ flip : largest;
    return largest;
}

/* What the results of a row share, in each lane. */
typedef struct lanes {
    uint32x2_t factor;
    uint64x2_t half;
    int64x2_t shift; /* to the left: it is negative */
    int32x4_t zero, least, most;
} lanes;

/* The results of four differences from d on, which 22 bits hold before they saturate. */
static inline uint16x4_t four(const lanes *all, const uint32_t *exp)
{
    const uint32x4_t e = vld1q_u32(exp);
    const uint64x2_t low = vaddq_u64(vmull_u32(vget_low_u32(e), all->factor), all->half);
    const uint64x2_t high = vaddq_u64(vmull_u32(vget_high_u32(e), all->factor), all->half);
    const uint32x4_t p = vcombine_u32(vmovn_u64(vshlq_u64(low, all->shift)), vmovn_u64(vshlq_u64(high, all->shift)));
    const int32x4_t y = vaddq_s32(vreinterpretq_s32_u32(p), all->zero);
    return vmovn_u32(vreinterpretq_u32_s32(vminq_s32(vmaxq_s32(y, all->least), all->most)));
}

/* The result of each difference. */
static table_256 make_results(const pwl_softmax *softmax, pwl_row_factor reciprocal)
{
    const pwl_softmax_scale scale = pwl_softmax_scale_of(softmax, reciprocal);
    lanes all;
    table_256 results;
    int k;
    all.factor = vdup_n_u32((uint32_t)scale.factor);
    all.half = vdupq_n_u64((uint64_t)scale.half);
    all.shift = vdupq_n_s64(-scale.shift);
    all.zero = vdupq_n_s32(scale.zero);
    all.least = vdupq_n_s32(softmax->qmin_y);
    all.most = vdupq_n_s32(softmax->qmax_y);
    for (k = 0; k < 16; k++) {
        const uint32_t *const exp = softmax->exp + 16 * k;
        const uint16x8_t low = vcombine_u16(four(&all, exp), four(&all, exp + 4));
        const uint16x8_t high = vcombine_u16(four(&all, exp + 8), four(&all, exp + 12));
        results.part[k / 4].val[k % 4] = vcombine_u8(vmovn_u16(low), vmovn_u16(high));
    }
    return results;
}

static void write_row(const table_256 *results, const uint8_t *x, uint8_t *y, size_t length, uint8_t largest)
{
    const uint8x16_t from = vdupq_n_u8(largest);
    uint8_t rest[16] = {0};
    size_t at, k;
    for (at = 0; at + 16 <= length; at += 16)
        vst1q_u8(y + at, look_up(results, vsubq_u8(from, vld1q_u8(x + at))));
    for (k = 0; at + k < length; k++)
        rest[k] = x[at + k];
    vst1q_u8(rest, look_up(results, vsubq_u8(from, vld1q_u8(rest))));
    for (k = 0; at + k < length; k++)
        y[at + k] = rest[k];
}

void pwl_softmax_neon(const pwl_softmax *softmax, const void *x, void *y, size_t count, size_t length)
{
    const uint8_t flip = pwl_type_is_unsigned((pwl_type)softmax->in) ? 0 : 0x80;
    const uint8_t *from = (const uint8_t *)x;
    uint8_t *to = (uint8_t *)y;
    for (; count; count--, from += length, to += length) {
        /* As the array has it; differences are the same modulo 256. */
        const uint8_t largest = (uint8_t)(largest_of(from, length, flip) ^ flip);
        const uint64_t sum = pwl_exp_sum(softmax->exp, from, length, largest);
        const table_256 results = make_results(softmax, pwl_row_reciprocal(softmax->reciprocal, sum));
        write_row(&results, from, to, length, largest);
    }
}
