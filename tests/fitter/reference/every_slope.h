/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slopes that every_table() tries, and the arithmetic of their lines. */
#ifndef EVERY_SLOPE_H
#define EVERY_SLOPE_H

#include <stdlib.h>

#include "every_table.h"

/* A value before saturation is known by its place among low..high, which holds all that saturation leaves apart. */
struct values {
    int64_t low, high;
    int count;
};

/* What the offset is added to at a code, and whether all before that is legal. */
struct base {
    int64_t sum;
    bool legal;
};

struct slope {
    int64_t q_b;
    int n;
    const struct base *base; /* of each code; of the anchored form from the start on */
};

struct slopes {
    struct slope *slope;
    struct base *base;
    int count;
};

struct interval {
    int64_t low, high;
};

enum { SHIFTS = 32 }; /* to either side */

static inline void *allocate(size_t count, size_t size)
{
    void *memory = malloc(count * size);
    if (!memory)
        abort();
    return memory;
}

static inline int64_t power(int n)
{
    return INT64_C(1) << n;
}

static inline int64_t clip(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static inline int64_t floor_shift(int64_t p, int n)
{
    return p >= 0 ? p >> n : ~(~p >> n);
}

static inline int64_t shifted(enum every_rounding rounding, int64_t p, int n)
{
    if (n <= 0) /* what is not legal stays so */
        return n == 0 ? p : clip(p, -power(31), power(31)) * power(-n);
    const int64_t down = floor_shift(p, n), rest = 2 * (p - down * power(n));
    if (rounding == EVERY_FLOOR || rest < power(n))
        return down;
    if (rest > power(n) || rounding == EVERY_HALF_UP)
        return down + 1;
    return rounding == EVERY_HALF_AWAY ? down + (p > 0) : down + (down % 2 != 0);
}

/* The least sum with which a shift gives at least v. */
static inline int64_t least_sum(const struct every_spec *spec, int64_t v, int n)
{
    if (spec->form != EVERY_BIASED)
        return v;
    if (n <= 0)
        return -floor_shift(-v, -n);
    const int64_t sum = v * power(n) - (spec->rounding == EVERY_FLOOR ? 0 : power(n - 1));
    return shifted(spec->rounding, sum, n) < v ? sum + 1 : sum;
}

struct values values_of(const struct every_spec *spec);

/* The sums of base and offset that are legal: an interval around 0. */
struct interval legal_sums(const struct every_spec *spec, int n, bool mirrored);

/* Those of the shifts from first to last that add something. Constants come first, as what they cost gives up others.
 * The caller frees both arrays, which begin as null. */
void collect_slopes(const struct every_spec *spec, const struct values *values, int first, int last,
                    struct slopes *slopes);

#endif
