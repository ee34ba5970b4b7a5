/* SPDX-License-Identifier: Apache-2.0 */
/* Where arrays lie to each other. */
#ifndef PWL_ARRAYS_H
#define PWL_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

/* 1 when `later`, at or above `earlier`, lies within the count elements of `bytes` there. */
static inline int pwl_reaches(uintptr_t earlier, size_t count, size_t bytes, uintptr_t later)
{
    /* distance < count * bytes, by a division that cannot overflow */
    return (later - earlier) / bytes < count;
}

/* Whether two arrays of `count` elements overlap, and are not one array of elements of one size. */
static inline int pwl_overlap(const void *x_at, size_t x_bytes, const void *y_at, size_t y_bytes, size_t count)
{
    const uintptr_t x = (uintptr_t)x_at, y = (uintptr_t)y_at;
    if (x == y && x_bytes == y_bytes)
        return 0;
    return x <= y ? pwl_reaches(x, count, x_bytes, y) : pwl_reaches(y, count, y_bytes, x);
}

#endif
