/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one function of GSL that the fitter calls, by formulas of its own: strides are 1, and covariances are left 0. */
#include <stddef.h>

/* y = constant + slope x with the least sum of w (y - constant - slope x)^2 */
static inline int gsl_fit_wlinear(const double *x, size_t x_stride, const double *w, size_t w_stride, const double *y,
                                  size_t y_stride, size_t count, double *constant, double *slope, double *cov00,
                                  double *cov01, double *cov11, double *squares)
{
    double weight = 0, x_mean = 0, y_mean = 0, spread = 0, product = 0;
    (void)x_stride, (void)w_stride, (void)y_stride;
    for (size_t k = 0; k < count; k++) {
        weight += w[k];
        x_mean += w[k] * x[k];
        y_mean += w[k] * y[k];
    }
    x_mean /= weight;
    y_mean /= weight;
    for (size_t k = 0; k < count; k++) {
        spread += w[k] * (x[k] - x_mean) * (x[k] - x_mean);
        product += w[k] * (x[k] - x_mean) * (y[k] - y_mean);
    }
    *slope = product / spread;
    *constant = y_mean - *slope * x_mean;
    *cov00 = *cov01 = *cov11 = *squares = 0;
    for (size_t k = 0; k < count; k++) {
        const double rest = y[k] - *constant - *slope * x[k];
        *squares += w[k] * rest * rest;
    }
    return 0;
}
