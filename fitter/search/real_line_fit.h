/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weighted least-squares lines, by GSL. */
#ifndef PWLC_REAL_LINE_FIT_H
#define PWLC_REAL_LINE_FIT_H

#include <stddef.h>

/* Turns GSL's error handler off, so that a status comes back instead of an abort. Called once by fit(). */
void lsq_begin(void);

/* y ~ slope * (x - x_mean) + y_mean, minimising the sum of w * residual^2. */
struct lsq_line {
    double slope, x_mean, y_mean;
    double sse; /* the minimum */
};

/* Points with weight 0 do not count. Centred on the means before the normal equations, so that a narrow range far
 * from zero keeps its digits. One distinct x gives slope 0. Returns 0, or -1 when no point counts or GSL fails. */
int lsq_fit(const double *x, const double *y, const double *w, size_t count, struct lsq_line *line);

#endif
