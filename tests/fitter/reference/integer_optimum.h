/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best table there is, by enumeration of every integer line. No header of the project. */
#ifndef INTEGER_OPTIMUM_H
#define INTEGER_OPTIMUM_H

#include <stdint.h>

/* A fit of the absolute form under floor: q_y = sat(floor(q_b * (q_x - zp_x) / 2^n) + term_c). */
struct integer_problem {
    int count;            /* codes */
    const double *target; /* clipped to [qmin_y, qmax_y] */
    const double *weight; /* of each code, > 0; null: all 1 */
    int64_t qmin_x, zp_x, qmin_y, qmax_y;
    int slope_bits, term_c_bits; /* widths, sign included; the slope's is at most 8 */
    int segments;
};

/*
 * Least weighted sum of squared errors of any table with at most problem->segments segments. The search leaves out
 * what cannot be part of a table that costs at most `most`; INFINITY when there is none, which, with the cost of a
 * known table, cannot be.
 *
 * Every slope of the width is tried with every shift that makes a different line, and with every constant; ranges
 * are then joined by dynamic programming over all codes. Nothing is fitted and nothing is rounded.
 */
double integer_optimum(const struct integer_problem *problem, double most);

#endif
