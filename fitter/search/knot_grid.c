/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where segments may start and end. */
#include <stdlib.h>

#include "points.h"

#include <pwl/fixed.h>

static int grid_start(struct points *points, bool whole, struct diag *diag)
{
    free(points->grid);
    points->grid = malloc(((size_t)points->count + 1) * sizeof *points->grid);
    points->grid_count = 0;
    points->grid_whole = whole;
    return points->grid ? EXIT_DONE : diag_set(diag, EXIT_IO, "out of memory for %d codes", points->count);
}

int points_grid_uniform(struct points *points, int count, struct diag *diag)
{
    const int64_t first = points->cell[0], codes = points->cell[points_starts(points)] - first;
    if (grid_start(points, true, diag))
        return diag->code;
    for (int k = 0, m = 0; m <= count; m++) {
        const int64_t start = first + codes * m / count; /* codes <= 2^32, m <= 4096 */
        while (points->cell[k] < start)
            k++;
        points->grid[m] = k;
    }
    points->grid[count] = points->count;
    points->grid_count = count;
    return EXIT_DONE;
}

int points_grid_steps(struct points *points, int shift, pwl_rounding rounding, struct diag *diag)
{
    if (grid_start(points, true, diag))
        return diag->code;
    points->grid[0] = 0;
    for (int k = 1; k < points->count; k++)
        if (pwl_shr64(k, shift, (int)rounding) != pwl_shr64(k - 1, shift, (int)rounding))
            points->grid[++points->grid_count] = k;
    points->grid[++points->grid_count] = points->count;
    return EXIT_DONE;
}

int points_next_of_powers(const struct points *points, int count)
{
    const int64_t codes = points->cell[points_starts(points)] - points->cell[0];
    int64_t next = codes;
    while (next % 2 == 0 && next / 2 > count)
        next /= 2;
    return next > count && next <= PWL_MAX_SEGMENTS ? (int)next : 0;
}

int points_grid_pow2(struct points *points, int shift, struct diag *diag)
{
    const int64_t below = ((int64_t)1 << shift) - 1;
    if (grid_start(points, false, diag))
        return diag->code;
    points->grid[0] = 0;
    for (int k = 1; k <= points->count; k++)
        if (k == points->count || (k < points_starts(points) && (points->cell[k] & below) == 0))
            points->grid[++points->grid_count] = k;
    return EXIT_DONE;
}

int points_place_before(const struct points *points, int point)
{
    if (!points->grid)
        return point < points_starts(points) ? point
               : point < points->count       ? points_starts(points) - 1
                                             : points_starts(points);
    int low = 0, high = points->grid_count; /* the place lies in [low, high] */
    while (low < high) {
        const int middle = high - (high - low) / 2;
        if (points->grid[middle] <= point)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
