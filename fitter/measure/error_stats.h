/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison of a table with its function finds. */
#ifndef PWLC_ERROR_STATS_H
#define PWLC_ERROR_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dd.h"

#define BIAS_RESOLUTION                                                                                                \
    1e-12 /* of the mean absolute error: what sums of errors of both signs leave is given as 0 below */

/* Statistics of |q_y - t|, the bias of q_y - t; all in output LSB. When not exhaustive: rms, mean_abs, bias and
 * correctly_rounded are of the evenly spaced codes alone, the rest is of every code compared. */
struct error_stats {
    int64_t checked;
    bool exhaustive;
    double max_err;
    int64_t max_err_at; /* lowest code that attains it */
    double rms, mean_abs;
    double bias;     /* the mean error with its sign: above 0 where the table is too high */
    int64_t max_ulp; /* largest |q_y - nearest code| */
    int64_t max_ulp_at;
    double correctly_rounded;
    int64_t saturated_codes;
    bool monotone;
};

/* No less than the mean, which it is where the squares of errors below 1e-160 are 0. */
static inline double root_mean_square(struct dd mean_square, double mean_abs)
{
    return fmax(dd_sqrt(mean_square).hi, mean_abs);
}

/* The averages, each code counting by its weight; the weights are those of the table's input type. Every code that has
 * a weight is compared, however wide the input. */
struct weighted_stats {
    double rms, mean_abs, bias;
    double correctly_rounded;
};

#endif
