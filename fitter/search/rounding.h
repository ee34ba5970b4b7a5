/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one tolerance of the searches for least squared error. */
#ifndef PWLC_ROUNDING_H
#define PWLC_ROUNDING_H

#include <math.h>
#include <stdbool.h>

/*
 * What a table costs is summed up in different orders: from code to code, from the last code on, by the parabola of a
 * constant. With u = 2^-53 a term mass * e * e has three roundings and a sum of n of them at most n - 1 more, and all
 * terms have one sign, so a sum is off by at most (n + 2) u of its own value, and two sums of the same terms, or one
 * and a bound that is compared with it, by 2 (n + 2) u = (n + 2) 2^-52 of it. The parabola and the moments of a real
 * line take the difference of two such sums, each at most the total that the share is taken of. A dynamic program adds
 * up ranges, which is another order of the same terms; a bound is rounded once more when it is lowered by the share.
 * Four times the first figure holds them all: (n + 8) 2^-50, which is 9e-13 for 1,025 points and 6e-11 for 65,536.
 */
#define ROUNDING_SHARE(points) (((double)(points) + 8) * 0x1p-50)

/* The cost of a real line is what moments about the means leave of each other, mostly the thousandth part or more; and
 * bounds of these costs need six digits. */
#define MOMENTS_ROUNDING 1e-9

/* In codes: constants so little outside an interval are looked at, too, which is no loss. */
#define CODE_SLACK 1e-6

/* The most points of the searches of squares/complete_search.h, and their tolerance. */
#define EXACT_POINTS 1025 /* 10 bits, or halves of 11 */
#define EXACT_ROUNDING ROUNDING_SHARE(EXACT_POINTS)

/* The most that a cost may come out as in another order. (One of 0 as a share of the squares of one code, which is what
 * constants are moved by.) */
static inline double just_above(double cost)
{
    return cost + EXACT_ROUNDING * (1 + cost);
}

/* A lower bound without what rounding may have raised it by. */
static inline double just_below(double bound)
{
    return bound * (1 - EXACT_ROUNDING);
}

/* The least cost of codes whose real table, `gain` = sum mass * (code - real)^2 at most away from them, costs `real`;
 * at least `floor`. */
static inline double integer_cost_bound(double real, double gain, double floor)
{
    const double root = sqrt(real) - sqrt(gain);
    return fmax(floor, root > 0 ? root * root : 0);
}

/* Whether a cost is the other one but for rounding, or less. */
static inline bool no_more_than(double cost, double other)
{
    return cost <= just_above(other);
}

#endif
