/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One segment's points, and the best line of a slope over them. */
#ifndef PWLC_LINE_TRIAL_H
#define PWLC_LINE_TRIAL_H

#include "band.h"
#include "line.h"
#include "rounding.h"

/* The first and the last of some points, counted from the segment's first one; -1 where there are none. */
struct extent {
    int first, last;
};

/* Sums of mass, mass * X and mass * target, the latter two about the means, and of what the limits cost. */
struct sums {
    double w, x, y;
    double at_low, at_high;
};

/* Sums of mass * d and mass * d^2, where d is how far a target is from what the slope gives, beyond a reference. */
struct misses {
    double sum, squares;
};

/* One segment's points, and room for what one slope gives there. */
struct trial {
    const struct line_rules *rules;
    const struct points *points;
    int begin, count;
    int64_t first, last; /* codes of the segment */
    struct line_limits limits;
    double x_max;          /* largest |X| */
    double mass;           /* of all points */
    double weight;         /* of all points, 0 where all are clipped */
    double apart;          /* what the targets of points that are not clipped cost beyond their mean: points_apart */
    double x_mean, y_mean; /* X and target of the points that are not clipped; of the last one where all are */
    struct extent inside, below, above; /* points that are not clipped, and those clipped at either end */
    double least_cost;                  /* every target met by its nearest code: no line is better */
    bool clipped;                       /* some target was clipped */
    bool near_limits;                   /* saturation may serve: targets come close to the ends of the output range */
    const struct band *bands;           /* null without a limit or a fixed value */
    int64_t *x;
    struct sums *before;   /* of the points before one */
    struct misses *missed; /* likewise, of the slope in hand where lines saturate */
    double *shifted;
    bool quick; /* fewer biases for each slope */
    struct line best;
    bool refused; /* the last slope met a point's best constant, but no proof */
};

/* What a line must beat to be kept. */
static inline double to_beat(const struct trial *trial)
{
    return fmin(trial->best.cost, trial->limits.cost);
}

/* Keeps the best line of slope q_b * 2^-n if it is better. */
void try_slope(struct trial *trial, int64_t q_b, int n);

/* The same of the slope on its grid; of a shorter slope where the longer one has no provable constant. Returns the next
 * slope worth trying. */
double try_real_slope(struct trial *trial, double slope);

/* Keeps a line if it costs less than what is to beat and is provable. */
void keep_if_better(struct trial *trial, int64_t q_b, int n, int64_t offset, double cost);

/* line_bias.c: try_slope for the biased form, where the constant is added before the shift, in steps of 2^-n of an
 * output code. */
void try_biases(struct trial *trial, int64_t q_b, int n);

#endif
