/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#define WHOLE 1e-6 /* of a step: how near to a whole number of steps counts as one */

int grid_parse(const char *text, struct grid *grid, struct diag *diag)
{
    double number[3];
    const char *from = text;
    for (int i = 0; i < 3; i++) {
        const size_t length = strcspn(from, ":");
        if (number_real(from, length, &number[i]) != NUMBER_OK || (i < 2 && !from[length]))
            return diag_set(diag, EXIT_USAGE, "--grid is lo:hi:step, for example -4:4:0.01, not \"%.60s\"", text);
        from += length + (from[length] != 0);
    }
    const bool closed = strcmp(from, "closed") == 0;
    if (from[-1] == ':' && !closed)
        return diag_set(diag, EXIT_USAGE, "--grid %.60s: after lo:hi:step there may be only :closed", text);
    *grid = (struct grid){.low = number[0], .high = number[1], .step = number[2], .closed = closed};
    if (!(grid->step > 0) || !(grid->high > grid->low))
        return diag_set(diag, EXIT_USAGE, "--grid %.60s: step must be above 0 and lo below hi", text);
    const double steps = (grid->high - grid->low) / grid->step;
    if (!(steps < (double)GRID_MAX_POINTS))
        return diag_set(diag, EXIT_USAGE, "--grid %.60s: has %.3g points, at most %lld are allowed", text, steps,
                        (long long)GRID_MAX_POINTS);
    const double nearest = floor(steps + 0.5);
    const bool whole = fabs(steps - nearest) <= WHOLE && nearest >= 1;
    if (closed && !whole)
        return diag_set(diag, EXIT_USAGE, "--grid %.60s: hi must be a whole number of steps from lo, is %.6g", text,
                        steps);
    grid->count = (int64_t)(whole ? nearest : ceil(steps)) + closed;
    return EXIT_DONE;
}

void grid_format(const struct grid *grid, char *text, size_t size)
{
    char low[NUMBER_TEXT_SIZE], high[NUMBER_TEXT_SIZE], step[NUMBER_TEXT_SIZE];
    number_format(grid->low, low);
    number_format(grid->high, high);
    number_format(grid->step, step);
    snprintf(text, size, "[%s, %s%c step %s", low, high, grid->closed ? ']' : ')', step);
}

static int64_t quantise(const struct tensor *in, long double x)
{
    const long double q = rintl(x / in->scale.value + (long double)in->zero_point); /* the default: ties to even */
    if (q <= (long double)in->qmin)
        return in->qmin;
    return q >= (long double)in->qmax ? in->qmax : (int64_t)q;
}

int grid_measure(const struct grid *grid, const struct table *table, const struct packed_table *packed,
                 const struct function *function, struct grid_stats *stats, struct diag *diag)
{
    long double sum = 0, sum_of_squares = 0, max_err = -1, max_err_x = 0;
    for (int64_t k = 0; k < grid->count; k++) {
        /* In long double, so that 0.01 * k is as near to the decimal as 0.01 is. */
        const long double x = (long double)grid->low + (long double)k * (long double)grid->step;
        const long double f = function_defined(function, x) ? function_value(function, x) : (long double)NAN;
        if (isnan(f))
            return diag_set(diag, EXIT_USAGE, "--grid: %s has no value at x = %.10Lg", function_name(function), x);
        const int64_t q_y = packed_eval(packed, quantise(&table->in, x));
        const long double err = fabsl(tensor_real(&table->out, q_y) - f);
        sum += err;
        sum_of_squares += err * err;
        if (err > max_err) {
            max_err = err;
            max_err_x = x;
        }
    }
    const long double count = (long double)grid->count;
    *stats = (struct grid_stats){
        .mse = (double)(sum_of_squares / count),
        .rms = (double)sqrtl(sum_of_squares / count),
        .mean_abs = (double)(sum / count),
        .max_err = (double)max_err,
        .max_err_x = (double)max_err_x,
    };
    return EXIT_DONE;
}
