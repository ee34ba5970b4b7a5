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

#endif
