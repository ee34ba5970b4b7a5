/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Error bands: the outputs that keep within a largest error, and how far one real line keeps within them. */
#ifndef PWLC_ERROR_BAND_H
#define PWLC_ERROR_BAND_H

#include <stdbool.h>
#include <stdint.h>

#include "points.h"

/* Output codes allowed at a point: ceil(target - max_err) to floor(target + max_err), or the one it is fixed to. An end
 * at or beyond the output range is open, since saturation brings the value back. */
struct band {
    int64_t low, high;
    int open_low, open_high;
};

/* Whether `count` outputs lie within the bands of their points; where bands is null, any do. */
static inline bool bands_hold(const struct band *bands, const double *outputs, int count)
{
    for (int k = 0; bands && k < count; k++)
        if (outputs[k] < (double)bands[k].low || outputs[k] > (double)bands[k].high)
            return false;
    return true;
}

/* The band of point k. */
struct band band_at(const struct points *points, int64_t qmin_y, int64_t qmax_y, int k, double max_err);

/* The longest range [begin, end), with end <= limit, over which a real line z keeps low <= z <= high + 1 at every point
 * (high + 1 because a floor may follow), and bounds on the slopes of all such lines. No segment of any integer table is
 * longer: its line keeps within the bands too, rounded. */
struct real_reach {
    int end;                     /* begin where no line does so at that point alone */
    double slope_min, slope_max; /* +-INFINITY where nothing bounds them */
};

int real_reach(const struct points *points, int64_t qmin_y, int64_t qmax_y, int begin, int limit, double max_err,
               struct real_reach *range, struct diag *diag);

#endif
