/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of products that a benchmark measures, and those of its arguments. */
#ifndef PWL_BENCH_SHAPES_H
#define PWL_BENCH_SHAPES_H

#include <string.h>

#include "bench.h"

enum { MOST_M = 4096, MOST_ROWS = 32 };

/* What is measured: M of rows, one after the other. */
struct shape {
    size_t n, k, m[MOST_ROWS];
};

/* N,K and M of an argument; without M, those that `shape` has. */
static struct shape shape_of(const char *argument, struct shape shape)
{
    size_t numbers[2 + MOST_ROWS], count = 0;
    char *end;
    for (const char *at = argument; count < sizeof numbers / sizeof numbers[0]; at = end + 1) {
        numbers[count++] = strtoull(at, &end, 10);
        if (*end != ',')
            break;
    }
    for (size_t i = 0; i < count; i++) {
        if (!numbers[i] || *end || count < 2 || (i > 1 && numbers[i] > MOST_M))
            bench_need("a shape is N,K or N,K,M..., M up to 4096");
    }
    if (count > 2)
        memset(shape.m, 0, sizeof shape.m);
    memcpy(shape.m, numbers + 2, (count - 2) * sizeof *numbers);
    shape.n = numbers[0];
    shape.k = numbers[1];
    return shape;
}

#endif
