/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of values at evenly spaced points, between which hardware interpolates. */
#ifndef PWLC_INTERPOLATION_H
#define PWLC_INTERPOLATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/integers.h"
#include "pair_limits.h"
#include "search/line.h"
#include "search/points.h"

/*
 * Interval i holds the codes from start = qmin_x + i * 2^shift on, 2^shift of them. With values a and b at its two ends
 * the code start + f comes out as
 *
 *   sat(shr(a * (2^shift - f) + b * f, shift))        b |                .x
 *                                                       |          .x
 * that is, as a line of slope q_b = b - a; an addend    |    .x
 * less than a half before it is shifted rounds halves   |
 * down, and one of 2^shift - 1 lines that fall up.      |
 * The code that the last value belongs to lies one    a |x
 * beyond the last code of the input.                    +-------------------- f
 *                                                        0              2^shift
 *
 * A code's output does not decrease when a or b grows, and depends on no other value. So everything that a table must
 * be, or costs, is a sum, a maximum or a conjunction over the pairs of neighbouring values. That holds where lines that
 * fall have another addend than others, too: the line between equal values parts them, and no output of a line that
 * falls lies beyond its left value.
 */
enum slant { NOT_FALLING, FALLING, SLANTS }; /* of a line */

/* To every sum before it is shifted, beside what the rounding adds; 0 but under biased and floor. */
struct addends {
    int64_t of[SLANTS];
};

struct interpolation {
    const struct points *points;
    const struct line_rules *rules;
    const signed char *directions; /* of f, -1 to 1, from the code before; null where outputs may step anyhow */
    int shift;
    int64_t width; /* of an interval, 2^shift */
    struct addends addends;
    bool by_slant; /* they differ */
    int intervals;
    struct integers range;              /* of a value */
    int64_t *nearest;                   /* output to the target of each code */
    struct pair_limits *limits[SLANTS]; /* of the pairs of each interval, by the slant of their line */
    int64_t *value;                     /* of the present table, one more than there are intervals */
    int64_t steps, most_steps;          /* codes looked at so far, and what takes as long; where all searches end */
};

/* INTERPOLATION_STEPS of them take some three seconds. */
#define INTERPOLATION_STEPS ((int64_t)1 << 30)

/* For points that are all codes of the input. range: of a value, see interpolation_values() of fit/problem.h, and
 * addends: see interpolation_addends() there; directions: as above. interpolation_free drops what it owns. */
int interpolation_init(struct interpolation *table, const struct points *points, const struct line_rules *rules,
                       struct integers range, const signed char *directions, int shift, struct addends addends,
                       struct diag *diag);
void interpolation_free(struct interpolation *table);

/* The line of interval i between two values. */
struct line interpolation_line(const struct interpolation *table, int i, int64_t a, int64_t b);

/* The slant of the line between two values. */
static inline enum slant slant_between(int64_t a, int64_t b)
{
    return b < a ? FALLING : NOT_FALLING;
}

/* The output of a sum of such a line, which is 2^shift times as large. */
int64_t interpolation_output(const struct interpolation *table, enum slant slant, int64_t sum);

/* Whether within the range of the values nothing but the slope binds the pairs of interval i. */
bool interpolation_by_slope_alone(const struct interpolation *table, int i);

/* The value nearest to f at point i; behind the last code f is taken to go on as before. */
int64_t interpolation_wanted(const struct interpolation *table, int i);

/* Takes all of these. False where a pair of them is not allowed, or misses a fixed output. */
bool interpolation_nearest(struct interpolation *table);

/* Takes one for all, in the middle of the targets. False as above. */
bool interpolation_level(struct interpolation *table);

/* Largest error of the present table. */
double interpolation_max_err(struct interpolation *table);

/* Whether a pair is provable, steep by no more than allowed and without a step against f. Fixed outputs are not looked
 * at. */
bool interpolation_allows(struct interpolation *table, int i, int64_t a, int64_t b);

/* Whether this many steps more than at `from` were looked at, or all that there are; or --time-limit is over. */
bool interpolation_spent(const struct interpolation *table, int64_t from, int64_t steps);

/* The cost of the codes of interval i, INFINITY where one is off by more than max_err, misses what it is fixed to, or
 * the sum reaches `enough`. */
double interpolation_cost(struct interpolation *table, int i, int64_t a, int64_t b, double max_err, double enough);

/* No pair of values from these ranges costs less, by the nearest output that each code can have; INFINITY as above.
 * *exact: all pairs are allowed, and each code that counts has one output alone. */
double interpolation_cost_of_ranges(struct interpolation *table, int i, struct integers a, struct integers b,
                                    double max_err, double enough, bool *exact);

/* least_error.c: a table whose errors are at most max_err. False when there is none; *decided when that is certain. */
int interpolation_within(struct interpolation *table, double max_err, bool *found, bool *decided, struct diag *diag);

/* Some table: the nearest values, or the first that is found. Exit 3 when there is none. */
int interpolation_any(struct interpolation *table, struct diag *diag);

/* The table of least largest error, and what no table has less than. Exit 3 as above. */
int interpolation_least_error(struct interpolation *table, double *max_err, double *lower_bound, struct diag *diag);

/* least_squares.c: improves the present table, whose errors stay at most max_err, until no table around it, of values
 * that are all moved by a few steps, costs less. */
int interpolation_improve(struct interpolation *table, double max_err, struct diag *diag);

/* Begins with the present table, which had better be a good one; of those whose errors are at most max_err, which it is
 * one of, the one that costs least, and what none of them costs less than. The search ends when it has looked at
 * `steps` codes. */
int interpolation_least_squares(struct interpolation *table, double max_err, int64_t steps, double *cost,
                                double *lower_bound, struct diag *diag);

#endif
