/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured tables as Markdown, CSV, JSON or JSON lines. */
#ifndef PWLC_SWEEP_REPORT_H
#define PWLC_SWEEP_REPORT_H

#include <stdbool.h>

#include "base/file.h"
#include "io/rows.h"
#include "measure/curve.h"
#include "measure/distribution.h"
#include "measure/grid.h"
#include "measure/histogram.h"
#include "measure/measure.h"
#include "table/table.h"

struct sweep_row {
    const char *label; /* the file, as it was named */
    const char *ref;   /* what the function's values came from */
    struct table table;
    struct error_stats stats;
    bool has_bound; /* of inputs too wide for every code, where there is a proof (error_bound.h) */
    double bound;
    bool has_weighted;
    struct weighted_stats weighted;
    double witness_err; /* at the certificate's max_err_at */
    struct distribution distribution;
    struct curve_point worst[DISTRIBUTION_WORST]; /* its worst codes */
    const struct grid *grid;                      /* null without --grid */
    struct grid_stats grid_stats;
    bool has_histogram;
    struct histogram histogram;
};

/* md: every metric of a single table on a line of its own and its worst codes, or one row a table with the metrics that
 * matter most, in lines of line_width characters where that is above 0; and histograms below; csv and json (an array)
 * and jsonl: every metric, one row or object a table. Values have 6 significant digits. */
void sweep_report(const struct sweep_row *rows, int count, enum cells_format format, int line_width, struct text *out);

#endif
