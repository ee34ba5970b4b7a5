/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured tables as Markdown, CSV, JSON or JSON lines. */
#ifndef PWLC_SWEEP_REPORT_H
#define PWLC_SWEEP_REPORT_H

#include <stdbool.h>

#include "certify.h"
#include "file.h"
#include "table.h"

struct sweep_row {
    const char *label; /* the file, as it was named */
    struct table table;
    struct error_stats stats;
    double witness_err; /* at the certificate's max_err_at */
};

enum sweep_format { SWEEP_MD, SWEEP_CSV, SWEEP_JSON, SWEEP_JSONL };

bool sweep_format_parse(const char *name, enum sweep_format *format);

/* md: every metric of a single table on a line of its own, or one row a table with the metrics that fit; csv and json
 * (an array) and jsonl: every metric, one row or object a table. Values have 6 significant digits. */
void sweep_report(const struct sweep_row *rows, int count, enum sweep_format format, struct text *out);

#endif
