/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rounding_floor.h"

#include <math.h>
#include <stdlib.h>

double *rounding_floor_sums(const struct points *points)
{
    double *sum = malloc(((size_t)points->count + 1) * sizeof *sum);
    if (!sum)
        return NULL;
    sum[0] = 0;
    for (int k = 0; k < points->count; k++)
        sum[k + 1] = sum[k] + points_floor(points, k);
    return sum;
}

double integer_cost_bound(double real, double gain, double floor)
{
    const double root = sqrt(real) - sqrt(gain);
    return fmax(floor, root > 0 ? root * root : 0);
}
