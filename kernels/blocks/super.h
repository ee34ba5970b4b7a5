/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of a super-block, on the host: codes, and the scales of its sub-blocks. pwl/blocks.h has the formats.
 */
#ifndef PWL_SUPER_H
#define PWL_SUPER_H

#include <string.h>

#include <pwl/blocks.h>
#include <pwl/half.h>

enum { PWL_SUB_BLOCK = 16 }; /* elements that have their scales in common, in every format */

/* Of 16 elements: value d * scale * (q - zero) - dmin * least. */
typedef struct pwl_sub_block {
    uint16_t d, dmin;     /* fp16 */
    int16_t scale, least; /* least and dmin are 0 in Q6_K */
    int16_t zero;
} pwl_sub_block;

static inline int pwl_is_super(pwl_format format)
{
    return format == PWL_Q4_K || format == PWL_Q5_K || format == PWL_Q6_K;
}

/* The code of element j, 0 to 15, 31 or 63. */
static inline int pwl_super_code(pwl_format format, const void *block, unsigned j)
{
    const unsigned low = j / 64 * 32 + j % 32, part = j / 32, r = j % 128;
    if (format == PWL_Q4_K)
        return ((const pwl_block_q4_k *)block)->qs[low] >> part % 2 * 4 & 15;
    if (format == PWL_Q5_K) {
        const pwl_block_q5_k *const of = block;
        return (of->qs[low] >> part % 2 * 4 & 15) | (of->qh[j % 32] >> part & 1) << 4;
    }
    const pwl_block_q6_k *const of = block;
    return (of->ql[j / 128 * 64 + r % 64] >> r / 64 * 4 & 15) | (of->qh[j / 128 * 32 + r % 32] >> r / 32 * 2 & 3) << 4;
}

/* Elements 16 i to 16 i + 15. */
static inline pwl_sub_block pwl_sub_block_of(pwl_format format, const void *block, unsigned i)
{
    const pwl_block_q4_k *const of = block; /* Q5_K begins alike */
    const unsigned pair = i / 2;
    pwl_sub_block sub = {0, 0, 0, 0, 0};
    if (format == PWL_Q6_K) {
        sub.d = ((const pwl_block_q6_k *)block)->d;
        sub.scale = ((const pwl_block_q6_k *)block)->scales[i];
        sub.zero = 32;
        return sub;
    }
    sub.d = of->d;
    sub.dmin = of->dmin;
    sub.scale = of->scales[pair] & 63;
    sub.least = of->scales[pair + 4] & 63;
    if (pair >= 4) {
        sub.scale = (int16_t)((of->scales[pair + 4] & 15) | of->scales[pair - 4] >> 6 << 4);
        sub.least = (int16_t)(of->scales[pair + 4] >> 4 | of->scales[pair] >> 6 << 4);
    }
    return sub;
}

/* Both products are exact, of at most 11, 8 and 6 bits. */
static inline float pwl_sub_block_value(const pwl_sub_block *sub, int code)
{
    const float of_code = pwl_f32_from_f16(sub->d) * (float)sub->scale * (float)(code - sub->zero);
    const float v = of_code - pwl_f32_from_f16(sub->dmin) * (float)sub->least;
    return v == v ? v : pwl_f32_of_bits(0x7fc00000);
}

#endif
