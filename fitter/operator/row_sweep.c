/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "row_sweep.h"

#include <math.h>
#include <string.h>

#include "hard_rows.h"

static void keep_worst(struct row_sweep *sweep, double error, const struct measured_row *row)
{
    int place = sweep->kept;
    while (place > 0 && error > sweep->worst[place - 1].error)
        place--;
    if (place == ROW_SWEEP_WORST)
        return;
    for (int k = sweep->kept < ROW_SWEEP_WORST ? sweep->kept++ : ROW_SWEEP_WORST - 1; k > place; k--)
        sweep->worst[k] = sweep->worst[k - 1];
    sweep->worst[place].error = error;
    measured_row_text(row, sweep->worst[place].words, sizeof sweep->worst[place].words);
}

static void take(void *context, const struct measured_row *row)
{
    struct row_sweep *const sweep = context;
    sweep->rows++;
    sweep->places += row->results;
    for (uint32_t k = 0; k < row->results; k++) {
        const double error = row->errors[k], size = fabs(error);
        const int bin = (int)(size / sweep->top * ROW_SWEEP_BINS);
        sweep->squares += error * error;
        sweep->sum += size;
        sweep->correct += size <= 0.5;
        sweep->bins[bin < ROW_SWEEP_BINS ? bin : ROW_SWEEP_BINS - 1]++;
    }
    keep_worst(sweep, fabs(row->errors[row->worst]), row);
}

int row_sweep(const struct row_operator *of, int64_t drawn, double bound, struct row_sweep *sweep, struct diag *diag)
{
    memset(sweep, 0, sizeof *sweep);
    sweep->top = bound;
    return hard_rows_measure(of, drawn, take, sweep, diag);
}
