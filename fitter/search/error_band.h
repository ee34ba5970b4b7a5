/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Error bands: which codes one line can serve when every output code must lie within max_err of its target. */
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

/* Whether outputs lie within the bands of their points; null: any do. */
static inline bool bands_hold(const struct band *bands, const double *outputs, int count)
{
    for (int k = 0; bands && k < count; k++)
        if (outputs[k] < (double)bands[k].low || outputs[k] > (double)bands[k].high)
            return false;
    return true;
}

struct band band_at(const struct points *points, int64_t qmin_y, int64_t qmax_y, int k, double max_err);

/* The longest range from begin, at most to limit, for which a real line z meets low <= z <= high + 1 at every point
 * (high + 1 because a floor may follow). No segment of any integer table reaches further: the requirement is
 * hereditary and the integer one is stricter. slope_min and slope_max bound the lines that serve [begin, end). */
struct band_range {
    int end;                     /* begin when not even one point can be met */
    double slope_min, slope_max; /* +-INFINITY when nothing bounds them */
};

int band_reach(const struct points *points, int64_t qmin_y, int64_t qmax_y, int begin, int limit, double max_err,
               struct band_range *range, struct diag *diag);

#endif
