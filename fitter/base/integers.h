/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges of integers. */
#ifndef PWLC_INTEGERS_H
#define PWLC_INTEGERS_H

#include <stdint.h>

/* Products of two 64-bit integers. */
__extension__ typedef __int128 wide;

/* The integers from low to high, both included; none where low > high. */
struct integers {
    int64_t low, high;
};

static inline int64_t smaller_integer(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t larger_integer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The integers of a range that are also at least `low` and at most `high`. */
static inline struct integers integers_within(struct integers range, wide low, wide high)
{
    if (low > range.high || high < range.low)
        return (struct integers){0, -1};
    return (struct integers){low > range.low ? (int64_t)low : range.low,
                             high < range.high ? (int64_t)high : range.high};
}

#endif
