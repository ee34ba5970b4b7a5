/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to bytes, 16 at a time, each loaded from where its code says. Beyond the end nothing is read or written. */
#include <arm_mve.h>

#include "../ways.h"

void pwl_bytes_helium(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const uint8_t *const values = (const uint8_t *)plan->memory, *from = (const uint8_t *)x;
    uint8_t *to = (uint8_t *)y;
    int32_t left;
    for (left = (int32_t)count; left > 0; left -= 16, from += 16, to += 16) {
        const mve_pred16_t lanes = vctp8q((uint32_t)left);
        const uint8x16_t codes = vldrbq_z_u8(from, lanes);
        vstrbq_p_u8(to, vldrbq_gather_offset_z_u8(values, codes, lanes), lanes);
    }
}
