/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of 256 bytes, by four lookups of 64 values each. A lookup gives 0 where its index is 64 or more, or leaves
 * what was found before: part k has the index x - 64 k, which for the codes of all other parts is 64 or more. */
#ifndef PWL_LOOKUP_NEON_H
#define PWL_LOOKUP_NEON_H

#include <arm_neon.h>

typedef struct table_256 {
    uint8x16x4_t part[4];
} table_256;

static inline table_256 load_table(const uint8_t bytes[256])
{
    table_256 table;
    int k;
    for (k = 0; k < 16; k++)
        table.part[k / 4].val[k % 4] = vld1q_u8(bytes + 16 * k);
    return table;
}

static inline uint8x16_t look_up(const table_256 *values, uint8x16_t x)
{
    uint8x16_t y = vqtbl4q_u8(values->part[0], x);
    int k;
    for (k = 1; k < 4; k++)
        y = vqtbx4q_u8(y, values->part[k], vsubq_u8(x, vdupq_n_u8((uint8_t)(64 * k))));
    return y;
}

#endif
