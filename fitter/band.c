/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "band.h"

#include <math.h>
#include <stdlib.h>

/* Each code that the point serves narrows the band, but for an end that its saturation opens. */
static struct band served_band(const struct served *served, int64_t qmin_y, int64_t qmax_y, double max_err)
{
    struct band band = {.low = qmin_y, .high = qmax_y};
    for (int i = 0; i < 2; i++) {
        const double low = ceil(served[i].target - max_err), high = floor(served[i].target + max_err);
        if (low > served[i].low && low > (double)band.low)
            band.low = (int64_t)low;
        if (high < served[i].high && high < (double)band.high)
            band.high = (int64_t)high;
    }
    return band;
}

struct band band_at(const struct points *points, int64_t qmin_y, int64_t qmax_y, int k, double max_err)
{
    const double t = points->target[k];
    /* |target| <= 2^32; a max_err beyond 2^33 opens both ends. */
    const double e = fmin(max_err * points_units(points, k), 0x1p33);
    struct band band = points->served ? served_band(points->served[k], qmin_y, qmax_y, e)
                                      : (struct band){.low = (int64_t)ceil(t - e), .high = (int64_t)floor(t + e)};
    if (points->fixed && points->fixed[k] != POINT_FREE) {
        band.low = points->fixed[k] > band.low ? points->fixed[k] : band.low;
        band.high = points->fixed[k] < band.high ? points->fixed[k] : band.high;
    }
    band.open_low = band.low <= qmin_y;
    band.open_high = band.high >= qmax_y;
    return band;
}

/* A chain of points that is convex seen from one side; the tangent from a later point touches it. */
struct hull {
    double *x, *y;
    int count, first; /* entries before `first` can no longer be touched */
};

/* side +1: upper hull (of lower limits); -1: lower hull (of upper limits). */
static void hull_add(struct hull *hull, int side, double x, double y)
{
    while (hull->count - hull->first >= 2) {
        const double x1 = hull->x[hull->count - 2], y1 = hull->y[hull->count - 2];
        const double x2 = hull->x[hull->count - 1], y2 = hull->y[hull->count - 1];
        if (side * ((y2 - y1) * (x - x1) - (y - y1) * (x2 - x1)) > 0)
            break;
        hull->count--;
    }
    hull->x[hull->count] = x;
    hull->y[hull->count] = y;
    hull->count++;
}

/* Tightens *limit to the extreme slope from a hull point to (x, y): the smallest seen from an upper hull, the largest
 * from a lower one. Once a limit binds, the tangents that bind later touch at or after this point. */
static void hull_tangent(struct hull *hull, int side, double x, double y, double *limit)
{
    if (hull->count == hull->first)
        return;
    int best = hull->first;
    double slope = (y - hull->y[best]) / (x - hull->x[best]);
    for (int k = best + 1; k < hull->count; k++) {
        const double next = (y - hull->y[k]) / (x - hull->x[k]);
        if (side * (next - slope) > 0)
            break;
        slope = next;
        best = k;
    }
    if (side * (slope - *limit) < 0) {
        *limit = slope;
        hull->first = best;
    }
}

int band_reach(const struct points *points, int64_t qmin_y, int64_t qmax_y, int begin, int limit, double max_err,
               struct band_range *range, struct diag *diag)
{
    const size_t length = (size_t)(limit - begin);
    double *memory = malloc(4 * length * sizeof *memory);
    if (!memory)
        return diag_set(diag, EXIT_IO, "out of memory for a segment of %zu codes", length);
    struct hull lows = {.x = memory, .y = memory + length};
    struct hull highs = {.x = memory + 2 * length, .y = memory + 3 * length};
    const double origin = points->code[begin];

    range->slope_min = -INFINITY;
    range->slope_max = INFINITY;
    int k;
    for (k = begin; k < limit; k++) {
        const struct band band = band_at(points, qmin_y, qmax_y, k, max_err);
        const double x = points->code[k] - origin, low = (double)band.low, high = (double)band.high + 1;
        if (band.low > band.high)
            break;
        double slope_min = range->slope_min, slope_max = range->slope_max;
        if (!band.open_high)
            hull_tangent(&lows, +1, x, high, &slope_max);
        if (!band.open_low)
            hull_tangent(&highs, -1, x, low, &slope_min);
        if (slope_min > slope_max)
            break;
        range->slope_min = slope_min;
        range->slope_max = slope_max;
        if (!band.open_low)
            hull_add(&lows, +1, x, low);
        if (!band.open_high)
            hull_add(&highs, -1, x, high);
    }
    range->end = k;
    free(memory);
    return EXIT_DONE;
}
