/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to bytes, as many at a time as eight registers hold, each loaded from where its code says. */
#include "../ways.h"
#include "vector.h"

void pwl_bytes_rvv(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const uint8_t *const values = (const uint8_t *)plan->memory, *from = (const uint8_t *)x;
    uint8_t *to = (uint8_t *)y;
    size_t vl;
    for (; count; count -= vl, from += vl, to += vl) {
        vl = RVV(vsetvl_e8m8)(count);
        RVV(vse8_v_u8m8)(to, RVV(vluxei8_v_u8m8)(values, RVV(vle8_v_u8m8)(from, vl), vl), vl);
    }
}
