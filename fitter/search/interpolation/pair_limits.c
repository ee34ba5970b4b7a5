/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pair_limits.h"

static void add(struct pair_limits *limits, wide p, wide q, wide low, wide high)
{
    limits->limit[limits->count++] = (struct pair_limit){p, q, low, high};
}

/* Each limit is linear, so the corners of what range and slopes allow decide. */
static bool slope_alone_binds(const struct pair_limits *limits, struct integers slopes, struct integers range)
{
    const int64_t low = range.low, high = range.high;
    slopes = integers_within(slopes, (wide)low - high, (wide)high - low);
    return pair_is_provable(limits, low, low) && pair_is_provable(limits, high, high) &&
           pair_is_provable(limits, low, low + slopes.high) && pair_is_provable(limits, high - slopes.high, high) &&
           pair_is_provable(limits, high, high + slopes.low) && pair_is_provable(limits, low - slopes.low, low);
}

void pair_limits_init(struct pair_limits *limits, const struct line_rules *rules, int shift, int64_t start,
                      struct integers range, int64_t addend)
{
    const wide width = (wide)1 << shift, limit = (wide)1 << (rules->accumulator_bits - 1);
    const wide from = (wide)start - (wide)line_origin(rules, start), to = from + width - 1;
    const wide half = rules->rounding == PWL_FLOOR ? 0 : width / 2;
    /* Sums that may be shifted: rounding adds `half` to them, half_away to the magnitude. */
    const wide low = rules->rounding == PWL_HALF_AWAY ? half - limit + 1 : -limit, high = limit - 1 - half;
    *limits = (struct pair_limits){.count = 0};
    add(limits, -1, 1, rules->slopes.low, rules->slopes.high);
    if (from < -limit || to >= limit) {
        add(limits, 0, 0, 1, 0); /* X leaves its type */
    } else if (rules->form == PWL_BIASED) {
        add(limits, -from, from, -limit, limit - 1);
        add(limits, -to, to, -limit, limit - 1);
        add(limits, width + from, -from, (wide)rules->offsets.low - addend, (wide)rules->offsets.high - addend);
        add(limits, width, 0, low - addend, high - addend);
        add(limits, 1, width - 1, low - addend, high - addend);
    } else {
        add(limits, -to, to, low, high);
    }
    limits->by_slope_alone = slope_alone_binds(limits, rules->slopes, range);
}

bool pair_is_provable(const struct pair_limits *limits, int64_t a, int64_t b)
{
    for (int k = 0; k < limits->count; k++) {
        const struct pair_limit *limit = &limits->limit[k];
        const wide sum = limit->p * a + limit->q * b;
        if (sum < limit->low || sum > limit->high)
            return false;
    }
    return true;
}

/* a / b, of which the quotient is mostly one of 64 bits, which takes a fifth of the time. */
static wide quotient_below(wide a, wide b)
{
    if (a == (int64_t)a && b == (int64_t)b && b != -1) {
        const int64_t n = (int64_t)a, d = (int64_t)b;
        return n / d - (n % d != 0 && (n < 0) != (d < 0));
    }
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static wide quotient_above(wide a, wide b)
{
    return -quotient_below(-a, b);
}

/* Beyond all values. */
#define BEYOND ((int64_t)1 << 62)

static int64_t cut(wide value)
{
    return (int64_t)larger_wide(-BEYOND, smaller_wide(value, BEYOND));
}

/* The x of some values with low <= factor x <= high. */
static struct integers solutions(wide factor, wide low, wide high, struct integers values)
{
    if (factor == 0)
        return low <= 0 && high >= 0 ? values : (struct integers){BEYOND, -BEYOND};
    const wide least = factor > 0 ? quotient_above(low, factor) : quotient_above(high, factor),
               most = factor > 0 ? quotient_below(high, factor) : quotient_below(low, factor);
    return (struct integers){larger_integer(values.low, cut(least)), smaller_integer(values.high, cut(most))};
}

struct integers pair_within(const struct pair_limit *limit, int64_t known, bool is_left, struct integers values)
{
    const wide given = (is_left ? limit->p : limit->q) * known;
    return solutions(is_left ? limit->q : limit->p, limit->low - given, limit->high - given, values);
}

struct integers pair_provable_beside(const struct pair_limits *limits, enum limits_taken taken, int64_t known,
                                     bool is_left, struct integers values)
{
    for (int k = 0; k < limits->count; k++) {
        const struct pair_limit *limit = &limits->limit[k];
        const bool rises = (limit->p > 0 && limit->q < 0) || (limit->p < 0 && limit->q > 0);
        if (taken & (rises ? LIMITS_RISING : LIMITS_FALLING))
            values = pair_within(limit, known, is_left, values);
    }
    return values;
}

struct integers pair_end_within(const struct pair_limits *limits, bool is_left, struct integers values)
{
    for (int k = 0; k < limits->count; k++) {
        const struct pair_limit *limit = &limits->limit[k];
        if ((is_left ? limit->q : limit->p) == 0)
            values = solutions(is_left ? limit->p : limit->q, limit->low, limit->high, values);
    }
    return values;
}
