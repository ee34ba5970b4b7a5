/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to bytes, 16 at a time. */
#include "../ways.h"
#include "lookup_neon.h"

void pwl_bytes_neon(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const uint8_t *from = (const uint8_t *)x;
    const uint8_t *const all = (const uint8_t *)plan->memory;
    uint8_t *to = (uint8_t *)y;
    const table_256 values = load_table(all);
    for (; count >= 16; count -= 16, from += 16, to += 16)
        vst1q_u8(to, look_up(&values, vld1q_u8(from)));
    for (; count; count--)
        *to++ = all[*from++];
}
