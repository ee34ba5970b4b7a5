/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions per element of emitted headers' map functions on a Cortex-M, beside a table of all values of 8-bit
 * codes. Fails where they give other codes than pwl_eval(). */
#include <pwl/pwl.h>

#include "../../luts/standalone/pwl_sigmoid_s16.h"
#include "../../luts/standalone/pwl_sigmoid_s32.h"
#include "../../luts/standalone/pwl_sigmoid_s8.h"
#include "counted_tables.h"
#include "ticks.h"

enum { COUNT = 512 }; /* a Cortex-M0 of 16 KiB has room for */

/* Called, as from another file, so that nothing is known of an array. */
#define CALLED static __attribute__((noinline))

static int8_t values[256]; /* of code q at q + 128 */

CALLED void map_bytes(const int8_t *x, int8_t *y, size_t n)
{
    for (size_t k = 0; k < n; k++)
        y[k] = values[x[k] + 128];
}

/* One map's instructions, and whether a code is wrong. */
#define DEFINE_COUNT(name, type, map, table)                                                                           \
    CALLED void run_##name(const type *x, type *y)                                                                     \
    {                                                                                                                  \
        map(x, y, COUNT);                                                                                              \
    }                                                                                                                  \
    static int count_##name(const char *codes, const char *by, uint32_t calibration)                                   \
    {                                                                                                                  \
        static type x[COUNT], y[COUNT];                                                                                \
        uint32_t then;                                                                                                 \
        int failed = 0;                                                                                                \
        for (uint32_t k = 0; k < COUNT; k++)                                                                           \
            x[k] = (type)(k * 2654435761u >> (32 - 8 * sizeof(type)));                                                 \
        then = SYST_CVR;                                                                                               \
        run_##name(x, y);                                                                                              \
        print_instructions(codes, by, ticks_per_element(then, calibration, COUNT));                                    \
        for (uint32_t k = 0; k < COUNT; k++)                                                                           \
            failed |= y[k] != pwl_eval(table, x[k]);                                                                   \
        return failed;                                                                                                 \
    }
DEFINE_COUNT(bytes, int8_t, map_bytes, counted_s8)
DEFINE_COUNT(s8, int8_t, pwl_sigmoid_s8_map, counted_s8)
DEFINE_COUNT(s16, int16_t, pwl_sigmoid_s16_map, counted_s16)
DEFINE_COUNT(s32, int32_t, pwl_sigmoid_s32_map, counted_s32)

int main(void)
{
    const uint32_t calibration = ticks_begin();
    for (int q = -128; q < 128; q++)
        values[q + 128] = (int8_t)pwl_eval(counted_s8, q);
    return count_bytes("s8", "256-byte table", calibration) | count_s8("s8", "header", calibration) |
           count_s16("s16", "header", calibration) | count_s32("s32", "header", calibration);
}
