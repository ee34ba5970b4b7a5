/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges of integers, and integers in bytes. */
#ifndef PWLC_INTEGERS_H
#define PWLC_INTEGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Products of two 64-bit integers. */
__extension__ typedef __int128 wide;

/* The integers from low to high, both included; none where low > high. */
struct integers {
    int64_t low, high;
};

/* A number without a sign of at most 8 bytes, the lowest first. */
static inline uint64_t little_endian(const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = count; i > 0; i--)
        value = value << 8 | bytes[i - 1];
    return value;
}

static inline int64_t smaller_integer(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t larger_integer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline wide smaller_wide(wide a, wide b)
{
    return a < b ? a : b;
}

static inline wide larger_wide(wide a, wide b)
{
    return a > b ? a : b;
}

/* Bits of a number without a sign that takes every value up to `high`, one at least. */
static inline int unsigned_bits(wide high)
{
    int bits = 1;
    while (bits < 127 && high >> bits != 0)
        bits++;
    return bits;
}

/* Bits of a two's complement number that takes every value of a range, one at least. */
static inline int signed_bits(wide low, wide high)
{
    int bits = 1;
    while (bits < 128 && (high >> (bits - 1) > 0 || low >> (bits - 1) < -1))
        bits++;
    return bits;
}

/* Bits of a stored field: with a sign where a value is negative, none where all are the same, a constant. */
static inline int field_bits(wide low, wide high)
{
    return low == high ? 0 : low < 0 ? signed_bits(low, high) : unsigned_bits(high);
}

static inline bool is_within(struct integers range, wide value)
{
    return range.low <= value && value <= range.high;
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
