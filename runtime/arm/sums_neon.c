/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products, eight at once. */
#include <arm_neon.h>

#include "../network/step.h"

typedef int16x8_t vector;
typedef int32x4_t sums;

enum { LANES = 8, MOST = 4 };

static inline vector load(const int16_t *p)
{
    return vld1q_s16(p);
}

static inline void store(int16_t *p, vector v)
{
    vst1q_s16(p, v);
}

static inline vector widen(const int8_t *p)
{
    return vmovl_s8(vld1_s8(p));
}

static inline sums none(void)
{
    return vdupq_n_s32(0);
}

static inline sums dot(sums s, vector a, vector b)
{
    return vmlal_high_s16(vmlal_s16(s, vget_low_s16(a), vget_low_s16(b)), a, b);
}

static inline void add_up(const sums *s, int32_t *to)
{
    vst1q_s32(to, vpaddq_s32(vpaddq_s32(s[0], s[1]), vpaddq_s32(s[2], s[3])));
}

#include "../network/sum_loops.h"
#include "../network/tap_loops.h"

void pwl_sum_neon(const pwl_network_sums *of)
{
    sum_halves(of);
}

void pwl_taps_neon(const pwl_network_taps *of)
{
    add_taps(of, PWL_NETWORK_COLUMNS);
}
