/* SPDX-License-Identifier: Apache-2.0 */
/* Kind "values", as many codes at a time as a register holds words of 32 bits, each value loaded from where its code
 * says. Beyond the end nothing is read or written. */
#include <arm_sve.h>

#include "../ways.h"

#define DEFINE_LOOK_UP(name, load, gather, store, in_t, out_t)                                                         \
    static void name(const void *values, const void *x, void *y, size_t count)                                         \
    {                                                                                                                  \
        const in_t *const from = (const in_t *)x;                                                                      \
        out_t *const to = (out_t *)y;                                                                                  \
        svbool_t lanes;                                                                                                \
        size_t k;                                                                                                      \
        for (k = 0; svptest_first(svptrue_b32(), lanes = svwhilelt_b32_u64(k, count)); k += svcntw())                  \
            store(lanes, to + k, gather(lanes, (const out_t *)values, load(lanes, from + k)));                         \
    }
DEFINE_LOOK_UP(look_up_8_8, svld1ub_u32, svld1ub_gather_u32offset_u32, svst1b_u32, uint8_t, uint8_t)
DEFINE_LOOK_UP(look_up_8_16, svld1ub_u32, svld1uh_gather_u32index_u32, svst1h_u32, uint8_t, uint16_t)
DEFINE_LOOK_UP(look_up_8_32, svld1ub_u32, svld1_gather_u32index_u32, svst1_u32, uint8_t, uint32_t)
DEFINE_LOOK_UP(look_up_16_8, svld1uh_u32, svld1ub_gather_u32offset_u32, svst1b_u32, uint16_t, uint8_t)
DEFINE_LOOK_UP(look_up_16_16, svld1uh_u32, svld1uh_gather_u32index_u32, svst1h_u32, uint16_t, uint16_t)
DEFINE_LOOK_UP(look_up_16_32, svld1uh_u32, svld1_gather_u32index_u32, svst1_u32, uint16_t, uint32_t)

void pwl_values_sve2(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    static void (*const look_up[2][3])(const void *values, const void *x, void *y, size_t count) = {
        {look_up_8_8, look_up_8_16, look_up_8_32}, {look_up_16_8, look_up_16_16, look_up_16_32}};
    look_up[plan->kernel_in >> 1][plan->kernel_out >> 1](plan->memory, x, y, count);
}
