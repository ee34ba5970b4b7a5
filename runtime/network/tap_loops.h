/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over taps, a vector of columns at once: a loop that each way compiles with its own instructions. */
#ifndef PWL_NETWORK_TAP_LOOPS_H
#define PWL_NETWORK_TAP_LOOPS_H

#include "../loop.h"
#include "sum_ways.h"

INLINE void add_taps_of(const pwl_network_taps *of, size_t columns, size_t stride)
{
    size_t j, k;
    for (j = 0; j < of->count; j++) {
        const int16_t weight = of->weights[j], *const codes = of->codes + j * of->apart;
        int32_t *const sums = of->sums;
        for (k = 0; k < columns; k++)
            sums[k] += weight * codes[k * stride];
    }
}

/* Compilers know the strides of most windows, and a number of columns that a way knows. */
INLINE void add_taps(const pwl_network_taps *of, size_t columns)
{
    if (of->stride == 1)
        add_taps_of(of, columns, 1);
    else if (of->stride == 2)
        add_taps_of(of, columns, 2);
    else
        add_taps_of(of, columns, of->stride);
}

#endif
