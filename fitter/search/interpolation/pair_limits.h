/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pairs of values at the ends of an interval that the types of a table allow. */
#ifndef PWLC_PAIR_LIMITS_H
#define PWLC_PAIR_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/integers.h"
#include "search/line.h"

/* low <= p a + q b <= high */
struct pair_limit {
    wide p, q, low, high;
};

enum { PAIR_LIMITS = 6 };

/*
 * A pair (a, b) is provable where it meets all of these: the slope, the product at both ends of the interval, the
 * offset, and the sum at both ends. (Under the anchored form y is a, and what is added to it leads no farther than
 * to b, so that the range of the values is all that binds the sum.) They are linear, so the pairs are the integer
 * points of a convex polygon:
 *
 *      b |      ____        rising limits, p q < 0: the slopes, the products, mostly the offset
 *        |    .'    |
 *        |  .'     .'       falling ones: the sum at the last code, the offset where X = 0 lies in the interval
 *        | |____.-'
 *        +------------- a
 */
struct pair_limits {
    struct pair_limit limit[PAIR_LIMITS];
    int count;
    bool by_slope_alone; /* within the range of the values nothing but the slope binds */
};

/* For the interval of 2^shift codes from `start` on, and values of a range; addend: to every sum, of the biased form.
 */
void pair_limits_init(struct pair_limits *limits, const struct line_rules *rules, int shift, int64_t start,
                      struct integers range, int64_t addend);

bool pair_is_provable(const struct pair_limits *limits, int64_t a, int64_t b);

/* The values, of some, that a limit allows beside a known one, which is at the left end or at the right one; or that
 * are provable there, by the limits that rise, those that do not, or both. Where there are none, low > high; and low >
 * high + 1 only where no real number is allowed either. */
struct integers pair_within(const struct pair_limit *limit, int64_t known, bool is_left, struct integers values);
enum limits_taken { LIMITS_RISING = 1, LIMITS_FALLING = 2, LIMITS_ALL = 3 };
struct integers pair_provable_beside(const struct pair_limits *limits, enum limits_taken taken, int64_t known,
                                     bool is_left, struct integers values);

/* The values, of some, that some value may be provable beside, by the limits of that end alone. */
struct integers pair_end_within(const struct pair_limits *limits, bool is_left, struct integers values);

#endif
