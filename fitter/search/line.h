/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best integer line of one segment: slope, shift and constant chosen together on the table's own arithmetic. */
#ifndef PWLC_LINE_H
#define PWLC_LINE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/integers.h"
#include "points.h"
#include "table/table.h"

struct band;

/* The lines that a table's format allows, as fit/problem.h takes it from a spec; see design of the storage cases in
 * pwl/pwl.h.
 */
struct line_rules {
    pwl_form form;
    pwl_rounding rounding;
    int64_t zp_x, qmin_y, qmax_y;
    struct integers slopes;   /* q_b is one of these; with shift_multiple one of line_slopes() */
    int shift_multiple;       /* slopes are stored with a multiple of it as shift; 0: with any shift */
    int stored_bits;          /* with shift_multiple: width of what is stored, sign included */
    int slope_terms;          /* q_b is a sum of at most so many +-2^k: 1 or 2; 0: any q_b */
    int accumulator_bits;     /* 32 or 64 */
    int shift_min, shift_max; /* shift_min <= n <= shift_max */
    bool one_shift;           /* n is the same in all segments: whoever fits them tries each of that range */
    struct integers offsets;  /* term_c, bias or y is one of these */
};

/* The shift that a slope of shift n is stored with: the least multiple, from the first one on, that is at least n. */
static inline int line_stored_shift(const struct line_rules *rules, int n)
{
    const int multiple = rules->shift_multiple;
    return multiple == 0 ? n : n <= multiple ? multiple : (n + multiple - 1) / multiple * multiple;
}

/*
 * The q_b of slopes q_b * 2^-n, for a shift n from shift_min on. With --shift-multiple what is stored is q_b * 2^(s -
 * n), s being the stored shift, and has to fit. Searches build on three things that follow. Where q_b is allowed, so is
 * each q_b nearer to 0; and, of an even one, q_b / 2 with n - 1, as s is not larger there. From n = 1 on q_b = 1 and -1
 * are allowed, as what is stored has more bits than the multiple. For multiples of 8 and 16 bits:
 *
 *     n                   -7     0     4      7      8     9    10     16
 *     stored shift         8     8     8      8      8    16    16     16
 *     largest q_b          0   127  2047  16383  32767   255   511  32767
 */
static inline struct integers line_slopes(const struct line_rules *rules, int n)
{
    if (rules->shift_multiple == 0)
        return rules->slopes;
    const int64_t most = (INT64_C(1) << (rules->stored_bits - 1)) >> (line_stored_shift(rules, n) - n);
    return integers_within(rules->slopes, -most, most - 1);
}

/* Slopes from low to high, in output codes per input code; none where low > high. */
struct window {
    double low, high;
};

/* The steepest slope of all shifts. */
double line_steepest_of_all(const struct line_rules *rules);

/* The longest shift with a q_b for a slope as steep, or else the shortest one. */
int line_finest_shift(const struct line_rules *rules, double steepest);

/* The code from which a segment's X is counted; start: its first code. */
static inline int64_t line_origin(const struct line_rules *rules, int64_t start)
{
    return rules->form == PWL_ANCHORED ? start : rules->zp_x;
}

/* A line as steep passes from one limit of the outputs to the other in half a code's width: beyond it all that is left
 * to choose is where. Searches that need not be complete end here. */
static inline double line_steepest(const struct line_rules *rules)
{
    return 2 * (double)(rules->qmax_y - rules->qmin_y + 1);
}

/* Whether each output is one that a flat line has: not with each --offset-type. */
static inline bool line_flat_gives_outputs(const struct line_rules *rules)
{
    return is_within(rules->offsets, rules->qmin_y) && is_within(rules->offsets, rules->qmax_y);
}

/*
 * The slope beyond which a complete search need not look: 8 R, R being a power of two beyond the number of output
 * codes. A line that rises by more from code to code has at most one code that does not saturate. Absolute and
 * anchored: the line of slope 4 R through that code's value, or else through qmin_y at the last code that saturates
 * there, gives the same outputs and lies between the other line and that value, so that it is provable too, as long as
 * a flat line with that value is; else every slope must be looked at. Biased: so
 * does a line with a shift to the left by at most the bits of R, since of multiples of more than each output only the
 * sign counts; its slope is the least multiple of the factor beyond 2 R. Where that factor is the only one, its first
 * multiple is looked at however large. Nor is a slope needed that no q_b gives.
 */
double line_steepest_needed(const struct line_rules *rules);

/*
 * Whether each line of slope q_b * 2^-n, n not being the shortest shift, is one of slope (q_b / 2) * 2^-(n - 1) too,
 * which is provable where the first is: q_b is even. Of the biased form only where sums are shifted to the right, under
 * floor and half_up: the last bit of an odd sum then decides nothing, but under the other roundings it keeps sums from
 * being ties.
 */
static inline bool line_is_reducible(const struct line_rules *rules, int64_t q_b, int n)
{
    if (q_b % 2 != 0 || n <= rules->shift_min)
        return false;
    return rules->form != PWL_BIASED || (n > 0 && (rules->rounding == PWL_FLOOR || rules->rounding == PWL_HALF_UP));
}

/* The shift of a line of slope 0: 0, or the nearest one allowed. */
int line_flat_shift(const struct line_rules *rules);

/* With --shift one each shift has rules of its own: those of trial 0, 1, ..., the likely shifts first; without it those
 * given are all there are. False after the last trial. */
bool line_rules_of_trial(const struct line_rules *given, const struct points *points, int trial,
                         struct line_rules *rules);

/* The shift of a trial, from 0 to shift_max - shift_min. */
int line_one_shift(const struct line_rules *rules, const struct points *points, int trial);

/* Whether lines of this shift may be twice as steep as the targets ever are, and are provable. Each line of a shorter
 * shift is then one of this shift too. */
bool line_shift_suffices(const struct line_rules *rules, const struct points *points, int n);

/* The least slope above q_b that is a sum of slope_terms powers of two, and the one nearest to a real number, cut
 * to 2^60; whether they are within the limit is not looked at. */
int64_t slope_above(const struct line_rules *rules, int64_t q_b);
int64_t slope_nearest(const struct line_rules *rules, double q_b);

/* Largest useful right shift for a slope: q_b and the product fit, and the grid is not finer than 2^-6 of an output
 * code over x_max, the segment's largest distance from the line's origin. */
int line_shift(const struct line_rules *rules, double slope, double x_max);

/* q_b * X shifted by n, and an offset that is added after the shift, or before it (biased). */
struct line {
    int64_t q_b;
    int n;
    int64_t offset;
    double cost; /* sum over points of mass * (q_y - target)^2, in LSB^2 */
};

/* As the segment of a table. */
static inline struct segment line_segment(const struct line *line, int64_t start)
{
    return (struct segment){.start = start, .q_b = line->q_b, .n = line->n, .offset = line->offset};
}

static inline bool line_same(const struct line *a, const struct line *b)
{
    return a->q_b == b->q_b && a->n == b->n && a->offset == b->offset;
}

/* How many slopes are tried for one segment. */
enum line_effort {
    LINE_QUICK = 24,    /* inside searches over many segments */
    LINE_THOROUGH = 256 /* once the knots are known */
};

/* Limits that a line must meet; INFINITY where it need not. */
struct line_limits {
    double max_err; /* |q_y - target| <= max_err at every point */
    double cost;    /* cost < this */
};

#define LINE_UNLIMITED ((struct line_limits){INFINITY, INFINITY})

/* Looks for the line of least cost over the points [begin, end) among the lines that are provable over the segment's
 * codes and meet the limits. Slopes are sampled, so that a better line may exist. Returns false, with cost INFINITY,
 * when no line was found; without limits one of slope 0 always exists unless no offset fits. */
bool line_fit(const struct line_rules *rules, const struct points *points, int begin, int end,
              struct line_limits limits, enum line_effort effort, struct line *line);

/* The output code at point k of a provable line whose segment starts at point `begin`. */
int64_t line_output(const struct line_rules *rules, const struct points *points, int begin, int k,
                    const struct line *line);

/* The line's value at a code of a segment for which it is provable, before saturation; origin: line_origin. */
int64_t line_value(const struct line_rules *rules, const struct line *line, int64_t origin, int64_t code);

/* The output code there. */
int64_t line_code(const struct line_rules *rules, const struct line *line, int64_t origin, int64_t code);

/* Where the sum of a line lies half way between two outputs before it is shifted: at the codes origin + first + k *
 * period, for all integers k; nowhere if the period, a power of two, is 0. */
struct line_halfway {
    uint64_t first, period;
};

struct line_halfway line_halfway(const struct line_rules *rules, const struct line *line);

/* The output codes at the points [from, to) of a provable line whose segment starts at point `begin`. */
void line_outputs(const struct line_rules *rules, const struct points *points, int begin, int from, int to,
                  const struct line *line, double *q);

/* Points that are best looked at together: their outputs stay in the nearest cache. */
#define LINE_BLOCK 512

/* Sum over points [from, to) of mass * (q_y - target)^2, of output codes within the output range. */
double points_squares(const struct points *points, int from, int to, const double *q);

/* The largest points_error of the same. */
double points_worst(const struct points *points, int from, int to, const double *q);

/* Largest |q_y - target| over points [begin, end) of a provable line. */
double line_max_err(const struct line_rules *rules, const struct points *points, int begin, int end,
                    const struct line *line);

/* Sum over points [begin, end) of mass * (q_y - target)^2 of a provable line; INFINITY when a fixed point is missed, an
 * output lies outside its band, or the sum reaches `enough`. bands: those of the points from begin on; may be null. */
double line_cost_below(const struct line_rules *rules, const struct points *points, int begin, int end,
                       const struct line *line, const struct band *bands, double enough);

/* No offset is larger than this, nor its complement, -1 - offset. */
static inline int64_t line_offset_limit(const struct line_rules *rules)
{
    return larger_integer(rules->offsets.high, -1 - rules->offsets.low);
}

/* The offsets, of some, with which a line of slope q_b * 2^-n is provable at X, the distance of a code from the origin:
 * its product, what rounding adds, the shifted value and the sum stay in their types. */
struct integers line_offsets_at(const struct line_rules *rules, int64_t q_b, int n, int64_t x, struct integers offsets);

/* The offsets with which it is provable over all codes of a segment [first, last]. */
struct integers line_offsets(const struct line_rules *rules, int64_t q_b, int n, int64_t first, int64_t last);

/* Whether a line is provable over the codes of a segment [first, last]. */
bool line_provable(const struct line_rules *rules, const struct line *line, int64_t first, int64_t last);

#endif
