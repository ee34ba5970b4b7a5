/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What measured tables are held against: each fails with exit 3 and a message that names the table and by how much. */
#ifndef PWLC_SWEEP_GATES_H
#define PWLC_SWEEP_GATES_H

#include "base/diag.h"
#include "sweep_report.h"

/* What the file claims of itself, against what was measured. Two codes whose errors differ by less than libm's own
 * accuracy may change places as the worst one, so the witness is judged by its error. */
int sweep_check_certificate(const struct sweep_row *row, struct diag *diag);

/* Limits that every row is to keep; NAN: none. */
struct sweep_limits {
    double max_err;     /* the largest error, the proven one where not every code was visited, in LSB */
    double max_rms;     /* averages, weighted where weights are given: RMS error, LSB, */
    double max_bias;    /* the size of the mean error, LSB, */
    double min_correct; /* share of correctly rounded codes */
};

int sweep_check_limits(const struct sweep_row *rows, int count, const struct sweep_limits *limits, struct diag *diag);

/* No larger max or RMS error, weighted where weights are given, than the old table's. */
int sweep_check_baseline(const struct sweep_row *new, const struct sweep_row *old, struct diag *diag);

/* Errors in LSB of different outputs, or of different functions, do not compare: exit 2. */
int sweep_check_comparable(const struct sweep_row *new, const struct sweep_row *old, struct diag *diag);

#endif
