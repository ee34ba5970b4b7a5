/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact shifts of products that have more bits than a table's, as those of lines that no table may hold; and what types
 * allow of many lines. */
#ifndef PWLC_SHIFTED_H
#define PWLC_SHIFTED_H

#include "base/integers.h"
#include "search/line.h"

static inline wide floor_div(wide a, wide b)
{
    const wide q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static inline wide ceil_div(wide a, wide b)
{
    return -floor_div(-a, b);
}

static inline wide power(int n)
{
    return (wide)1 << n;
}

/* As pwl_shr64. */
static inline wide shifted(const struct line_rules *rules, wide p, int n)
{
    if (n <= 0)
        return p * power(-n);
    wide addend = rules->rounding == PWL_FLOOR ? 0 : power(n - 1);
    if (rules->rounding == PWL_HALF_AWAY)
        addend -= p < 0;
    else if (rules->rounding == PWL_HALF_EVEN)
        addend -= (p >> n) % 2 == 0;
    return (p + addend) >> n;
}

/* The offsets beside which no line of a shift and of slopes from `slopes.low` to `slopes.high` is provable at two
 * codes: each limit grows or falls with the slope, so that the wider of its values at both ends holds between. x: the
 * distances of the codes from the lines' origin. False where products do not fit, which tells nothing of the slopes
 * between. */
static inline bool offsets_over(const struct line_rules *rules, int n, struct integers slopes, const int64_t x[2],
                                struct integers *offsets)
{
    static const struct integers any = {INT64_MIN, INT64_MAX};
    *offsets = rules->offsets;
    for (int k = 0; k < 2; k++) {
        const struct integers a = line_offsets_at(rules, slopes.low, n, x[k], any),
                              b = line_offsets_at(rules, slopes.high, n, x[k], any);
        if (a.low > a.high || b.low > b.high)
            return false;
        offsets->low = larger_integer(offsets->low, smaller_integer(a.low, b.low));
        offsets->high = smaller_integer(offsets->high, larger_integer(a.high, b.high));
    }
    return true;
}

#endif
