/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for the best line of one segment, slope by slope (line_fit.c): for each slope the best offset over the
 * segment's points. */
#ifndef PWLC_LINE_TRIAL_H
#define PWLC_LINE_TRIAL_H

#include "error_band.h"
#include "line.h"
#include "search/rounding.h"

/* The first and the last of some points, counted from the segment's first one; -1 where there are none. */
struct extent {
    int first, last;
};

/* Sums of mass, of mass * X and mass * target, X and target counted from their means, and of what being at the least
 * and at the largest output code costs. */
struct sums {
    double w, x, y;
    double at_low, at_high;
};

/* Sums of mass * d and mass * d^2, where d is how far a target is from what the slope gives, beyond a reference. */
struct misses {
    double sum, squares;
};

/* One segment's points, what all slopes have in common there, and the best line so far. */
struct trial {
    const struct line_rules *rules;
    const struct points *points;
    int begin, count;    /* the points [begin, begin + count) */
    int64_t first, last; /* codes of the segment */
    struct line_limits limits;
    double x_max;                       /* largest |X| */
    double mass;                        /* of all points */
    double weight;                      /* of the points that are not clipped */
    double apart;                       /* points_apart of the points that are not clipped, summed */
    double x_mean, y_mean;              /* X and target of these; of the last point where all are clipped */
    struct extent inside, below, above; /* points that are not clipped, and points clipped at either limit */
    double least_cost;                  /* every target met by its nearest code: no line is better */
    bool clipped;                       /* some target was clipped */
    bool near_limits;                   /* a line that saturates may be good: targets come close to the limits */
    const struct band *bands;           /* by point; null without a largest error and fixed values */
    double *low, *high;                 /* of the same, set with them; infinite where a band is open */
    int64_t *x;                         /* X by point */
    struct sums *before;                /* by point, of the points before it */
    double *shifted;                    /* by point, what the slope under trial gives there with offset 0 */
    struct misses *missed;              /* by point, of the points before it; set where that slope saturates */
    bool quick;                         /* fewer biases are tried for each slope */
    struct line best;
    bool refused; /* the last slope had a best offset that is not provable */
};

/* The cost that a line must beat to be kept. */
static inline double to_beat(const struct trial *trial)
{
    return fmin(trial->best.cost, trial->limits.cost);
}

/* Keeps the best line of slope q_b * 2^-n if it is better. */
void try_slope(struct trial *trial, int64_t q_b, int n);

/* Tries the nearest slope of the grid, and a shorter one where that has no provable constant. Returns the next slope
 * worth trying. */
double try_real_slope(struct trial *trial, double slope);

/* Keeps a line if it costs less than what is to beat and is provable. */
void keep_if_better(struct trial *trial, int64_t q_b, int n, int64_t offset, double cost);

/* line_bias.c: try_slope for the biased form, where the constant is added before the shift, in steps of 2^-n of an
 * output code. */
void try_biases(struct trial *trial, int64_t q_b, int n);

#endif
