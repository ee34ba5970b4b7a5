/* SPDX-License-Identifier: Apache-2.0 */
/* The results of exponentials of a row. Only files compiled for NEON may have it. */
#ifndef PWL_SOFTMAX_RESULTS_NEON_H
#define PWL_SOFTMAX_RESULTS_NEON_H

#include <arm_neon.h>

#include "../rows/softmax_bytes.h"

/* What the results of a row share, in each lane. */
typedef struct lanes {
    uint32x2_t factor;
    uint64x2_t half;
    int64x2_t shift; /* to the left: it is negative */
    int32x4_t zero, least, most;
} lanes;

static inline lanes lanes_of(const pwl_softmax *softmax, pwl_row_factor reciprocal)
{
    const pwl_softmax_scale scale = pwl_softmax_scale_of(softmax, reciprocal);
    lanes all;
    all.factor = vdup_n_u32((uint32_t)scale.factor);
    all.half = vdupq_n_u64((uint64_t)scale.half);
    all.shift = vdupq_n_s64(-scale.shift);
    all.zero = vdupq_n_s32(scale.zero);
    all.least = vdupq_n_s32(softmax->qmin_y);
    all.most = vdupq_n_s32(softmax->qmax_y);
    return all;
}

/* Those of four exponentials, which 22 bits hold before they saturate: their lower 16 bits. */
static inline uint16x4_t four(const lanes *all, const uint32_t *exp)
{
    const uint32x4_t e = vld1q_u32(exp);
    const uint64x2_t low = vaddq_u64(vmull_u32(vget_low_u32(e), all->factor), all->half);
    const uint64x2_t high = vaddq_u64(vmull_u32(vget_high_u32(e), all->factor), all->half);
    const uint32x4_t p = vcombine_u32(vmovn_u64(vshlq_u64(low, all->shift)), vmovn_u64(vshlq_u64(high, all->shift)));
    const int32x4_t y = vaddq_s32(vreinterpretq_s32_u32(p), all->zero);
    return vmovn_u32(vreinterpretq_u32_s32(vminq_s32(vmaxq_s32(y, all->least), all->most)));
}

/* The lower bytes of those of eight. */
static inline uint8x8_t eight_bytes(const lanes *all, const uint32_t *exp)
{
    return vmovn_u16(vcombine_u16(four(all, exp), four(all, exp + 4)));
}

#endif
