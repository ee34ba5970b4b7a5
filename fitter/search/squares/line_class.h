/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A class of lines: lines of the slope under trial that give the same codes so far but for the constant. The parabola
 * of what a constant costs gives the best one. */
#ifndef PWLC_LINE_CLASS_H
#define PWLC_LINE_CLASS_H

#include <math.h>

#include "base/numbers.h"
#include "slope_costs.h"

#define LINE_CLASS_NONE 0x1p40    /* beyond all constants */
#define LINE_CLASS_LEAST 0x1p-200 /* mass before the first point, lest there be none */

/* Lines of one slope that give the same codes so far; of biases with phases those in [low, high). */
struct line_class {
    int64_t low, high;
    double least, most; /* constants, relative to the reference */
    bool met;           /* a tie */
    int unit, rest;     /* unit 1: every constant; unit 2: constants, relative to the reference, that leave this rest */
    double before;      /* the code before, of constant 0 */
    double d, dd;       /* sums of mass * (target - code - reference)^(1, 2); dd is INFINITY when those are given up */
    double past, past_c; /* cost of the best line that has run into the far limit, and its constant */
};

/* The sums that all classes of a slope share. */
struct course {
    double reference;  /* of the constants */
    double w;          /* mass so far */
    double paid_ahead; /* cost of being at the far limit so far; INFINITY where lines cannot have been */
};

/* All constants, with nothing but what lines have paid before. */
static inline struct line_class line_class_of(const struct line_origin *lines)
{
    return (struct line_class){
        .least = -LINE_CLASS_NONE, .most = LINE_CLASS_NONE, .unit = 1, .dd = lines->paid, .past = INFINITY};
}

/* Leaves the constants whose lines are at or beyond the near limit at the point before, and not at a point, where the
 * codes of constant 0 are these. */
static inline void line_class_leave(const struct slope_scan *slopes, const struct course *course,
                                    struct line_class *class, double before, double at)
{
    const double near = (double)slopes->trial.near_y - course->reference;
    class->least = larger(class->least, slopes->trial.rise > 0 ? near + 1 - at : near - before);
    class->most = smaller(class->most, slopes->trial.rise > 0 ? near - before : near - 1 - at);
}

/* A real constant of the class costs at least this, less the sum of squares, times the mass: with the best there is. */
static inline double line_class_gain(const struct course *course, const struct line_class *class)
{
    const double q = larger(class->least * course->w, smaller(class->most * course->w, class->d));
    return q * (2 * class->d - q);
}

/* The best constant within [low, high], and what it costs: INFINITY where there is none. */
static inline double line_class_best(const struct course *course, const struct line_class *class, double low,
                                     double high, double *m)
{
    low = larger(low, class->least);
    high = smaller(high, class->most);
    *m = class->d / course->w;
    if (class->unit == 1) {
        *m = nearest(*m);
    } else {
        const double rest = class->rest;
        /* Halves of whole numbers, rounded up and down. */
        low = 2 * nearest((low - rest) / 2 + 0.25) + rest;
        high = 2 * nearest((high - rest) / 2 - 0.25) + rest;
        *m = 2 * nearest((*m - rest) / 2) + rest;
    }
    *m = larger(low, smaller(high, *m));
    const double cost = class->dd - 2 * *m * class->d + *m * *m * course->w;
    return low > high ? INFINITY : larger(0, cost);
}

/* The best lines whose next code, of constant 0, is the first at or beyond the far limit, when they cost less than
 * that limit from the start on. */
static inline void line_class_reach(const struct slope_scan *slopes, const struct course *course,
                                    struct line_class *class, double code)
{
    const double far = (double)slopes->trial.far_y - course->reference;
    const double low = slopes->trial.rise > 0 ? far - code : far - class->before + 1,
                 high = slopes->trial.rise > 0 ? far - class->before - 1 : far - code;
    double m;
    const double cost = line_class_best(course, class, low, high, &m);
    if (cost < course->paid_ahead && cost < class->past) {
        class->past = cost;
        class->past_c = m;
    }
}

/* Keeps a line that is the best of a range. */
static inline void line_class_record(struct slope_scan *slopes, const struct course *course,
                                     const struct line_class *class, int end, double m, double cost)
{
    const int64_t constant = (int64_t)(m + course->reference);
    if (cost < slopes->from.range[end].cost)
        keep_line(slopes, end,
                  phased(slopes) ? constant * pwl_shl64(1, slopes->trial.n) + class->low - slopes->trial.addend
                                 : constant,
                  cost);
}

/* Keeps the best line before the far limit at an end; returns its cost. */
static inline double line_class_find(struct slope_scan *slopes, const struct course *course,
                                     const struct line_class *class, int end)
{
    const double last = (double)slopes->trial.far_y - course->reference - class->before;
    double m;
    const double cost = line_class_best(course, class, slopes->trial.rise < 0 ? last + 1 : -LINE_CLASS_NONE,
                                        slopes->trial.rise > 0 ? last - 1 : LINE_CLASS_NONE, &m);
    line_class_record(slopes, course, class, end, m, cost);
    return cost;
}

#endif
