/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "real_line_fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <stdlib.h>

void lsq_begin(void)
{
    gsl_set_error_handler_off();
}

int lsq_fit(const double *x, const double *y, const double *w, size_t count, struct lsq_line *line)
{
    double weight = 0, x_sum = 0, y_sum = 0;
    /* Sums start at the first counted point: the means are then exact to the range's width, not to |x|. */
    size_t first = 0;
    while (first < count && w[first] <= 0)
        first++;
    if (first == count)
        return -1;
    for (size_t k = first; k < count; k++) {
        weight += w[k];
        x_sum += w[k] * (x[k] - x[first]);
        y_sum += w[k] * (y[k] - y[first]);
    }
    line->x_mean = x[first] + x_sum / weight;
    line->y_mean = y[first] + y_sum / weight;
    line->slope = 0;

    double *centred = malloc(2 * count * sizeof *centred);
    if (!centred)
        return -1;
    double spread = 0;
    for (size_t k = 0; k < count; k++) {
        centred[k] = x[k] - line->x_mean;
        centred[count + k] = y[k] - line->y_mean;
        spread += w[k] * centred[k] * centred[k];
    }
    int status = 0;
    if (spread > 0) {
        double constant, cov00, cov01, cov11;
        status = gsl_fit_wlinear(centred, 1, w, 1, centred + count, 1, count, &constant, &line->slope, &cov00, &cov01,
                                 &cov11, &line->sse);
        line->y_mean += constant; /* what rounding of the means left over */
    } else {
        line->sse = 0;
        for (size_t k = 0; k < count; k++)
            line->sse += w[k] * centred[count + k] * centred[count + k];
    }
    free(centred);
    return status == GSL_SUCCESS ? 0 : -1;
}
