/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to bytes, 16 at a time, by four lookups of 64 values each. A lookup gives 0 where its index is 64 or more, or
 * leaves what was found before: part k has the index x - 64 k, which for the codes of all other parts is 64 or more. */
#include <arm_neon.h>

#include "../ways.h"

typedef struct table_256 {
    uint8x16x4_t part[4];
} table_256;

static inline uint8x16_t look_up(const table_256 *values, uint8x16_t x)
{
    uint8x16_t y = vqtbl4q_u8(values->part[0], x);
    int k;
    for (k = 1; k < 4; k++)
        y = vqtbx4q_u8(y, values->part[k], vsubq_u8(x, vdupq_n_u8((uint8_t)(64 * k))));
    return y;
}

void pwl_bytes_neon(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const uint8_t *from = (const uint8_t *)x;
    const uint8_t *const all = (const uint8_t *)plan->memory;
    uint8_t *to = (uint8_t *)y;
    table_256 values;
    int k;
    for (k = 0; k < 16; k++)
        values.part[k / 4].val[k % 4] = vld1q_u8(all + 16 * k);
    for (; count >= 16; count -= 16, from += 16, to += 16)
        vst1q_u8(to, look_up(&values, vld1q_u8(from)));
    for (; count; count--)
        *to++ = all[*from++];
}
