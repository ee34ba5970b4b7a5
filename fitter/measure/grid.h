/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors over a grid of real numbers, in real units, as papers report them. */
#ifndef PWLC_GRID_H
#define PWLC_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "function/function.h"
#include "table/table.h"

#define GRID_MAX_POINTS ((int64_t)1 << 24)

/* x_k = low + k * step for 0 <= k < count. */
struct grid {
    double low, high, step;
    bool closed; /* high is a point */
    int64_t count;
};

/* "lo:hi:step": the points below hi; "lo:hi:step:closed": hi too, which must then be a whole number of steps away.
 * Exit 2 naming --grid. */
int grid_parse(const char *text, struct grid *grid, struct diag *diag);

/* "[-4, 4) step 0.01" */
void grid_format(const struct grid *grid, char *text, size_t size);

/* Errors |y - f(x)| in real units; f is not clipped to the output range. */
struct grid_stats {
    double mse, rms, mean_abs, max_err;
    double max_err_x; /* lowest x that attains it */
};

/* Each x is quantised to the nearest input code, ties to even, the output is dequantised. Exit 2 where f has no
 * value. */
int grid_measure(const struct grid *grid, const struct table *table, const struct packed_table *packed,
                 const struct function *function, struct grid_stats *stats, struct diag *diag);

#endif
