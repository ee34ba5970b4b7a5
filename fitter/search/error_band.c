/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "error_band.h"

/* floor and ceil of values within 2^62, without a call. */
static int64_t whole_below(double v)
{
    const int64_t whole = (int64_t)v;
    return whole - ((double)whole > v);
}

static int64_t whole_above(double v)
{
    return -whole_below(-v);
}

/* The band of a point of a folded table, which serves two codes: each narrows it, but for an end where the code
 * saturates. */
static struct band served_band(const struct served *served, int64_t qmin_y, int64_t qmax_y, double max_err)
{
    struct band band = {.low = qmin_y, .high = qmax_y};
    for (int i = 0; i < 2; i++) {
        const int64_t low = whole_above(served[i].target - max_err), high = whole_below(served[i].target + max_err);
        if ((double)low > served[i].low && low > band.low)
            band.low = low;
        if ((double)high < served[i].high && high < band.high)
            band.high = high;
    }
    return band;
}

struct band band_at(const struct points *points, int64_t qmin_y, int64_t qmax_y, int k, double max_err)
{
    if (points->bands)
        return points->bands[k];
    const double t = points->target[k];
    /* |target| <= 2^32; a max_err beyond 2^33 opens both ends. */
    const double wide = max_err * points_units(points, k), e = wide < 0x1p33 ? wide : 0x1p33;
    struct band band = points->served ? served_band(points->served[k], qmin_y, qmax_y, e)
                                      : (struct band){.low = whole_above(t - e), .high = whole_below(t + e)};
    if (points->fixed && points->fixed[k] != POINT_FREE) {
        band.low = points->fixed[k] > band.low ? points->fixed[k] : band.low;
        band.high = points->fixed[k] < band.high ? points->fixed[k] : band.high;
    }
    for (int i = 0; points->held && !points->between && i < POINTS_HELD; i++) {
        const struct held *held = &points->held[i];
        if (held->point != k)
            continue;
        band.low = held->low > band.low ? held->low : band.low;
        band.high = held->high < band.high ? held->high : band.high;
    }
    band.open_low = band.low <= qmin_y;
    band.open_high = band.high >= qmax_y;
    return band;
}
