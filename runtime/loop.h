/* SPDX-License-Identifier: Apache-2.0 */
/* What ways in vectors share: the loop over an array, and its copies for tables of one rounding. */
#ifndef PWL_LOOP_H
#define PWL_LOOP_H

#include <stddef.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))
#define NOT_INLINE __attribute__((noinline))

/* map(of, x, y, ...) for each `vector` elements of x and y, and for the last ones, fewer, on arrays of their own, in
 * which codes 0 follow them. Changes x, y and count. */
#define PWL_MAP_VECTORS(element, vector, x, y, count, map, of, ...)                                                    \
    do {                                                                                                               \
        for (; count >= vector; count -= vector, x += vector, y += vector)                                             \
            map(of, x, y, __VA_ARGS__);                                                                                \
        if (count) {                                                                                                   \
            element codes[vector] = {0}, values[vector];                                                               \
            size_t k;                                                                                                  \
            for (k = 0; k < count; k++)                                                                                \
                codes[k] = x[k];                                                                                       \
            map(of, codes, values, __VA_ARGS__);                                                                       \
            for (k = 0; k < count; k++)                                                                                \
                y[k] = values[k];                                                                                      \
        }                                                                                                              \
    } while (0)

/* run(..., even, has_post) with both as constants. */
#define PWL_RUN_ROUNDED(even, has_post, run, ...)                                                                      \
    do {                                                                                                               \
        if (even)                                                                                                      \
            run(__VA_ARGS__, 1, 1);                                                                                    \
        else if (has_post)                                                                                             \
            run(__VA_ARGS__, 0, 1);                                                                                    \
        else                                                                                                           \
            run(__VA_ARGS__, 0, 0);                                                                                    \
    } while (0)

#endif
