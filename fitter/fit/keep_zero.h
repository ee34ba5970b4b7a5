/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table's value at x = 0, which networks count on: padding stays zero, gates stay centred. */
#ifndef PWLC_KEEP_ZERO_H
#define PWLC_KEEP_ZERO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "spec/spec.h"
#include "table/table.h"

#define KEEP_ZERO_COST 0.25 /* LSB that the default pays for it */

/* The code of x = 0 and the output code that f(0) is. */
struct zero {
    int64_t q_x, q_y;
    double value; /* f(0) */
};

/* False where f(0) is neither 0 nor 1/2, or one of them is no code exactly. */
bool zero_find(const struct function *function, const struct tensor *in, const struct tensor *out, struct zero *zero);

/* Whether a table gives that code. */
bool zero_is_kept(const struct table *table, const struct zero *zero);

/* Fits what a spec asks for. */
typedef int fit_table(const struct spec *spec, struct table *table, struct diag *diag);

/* Exchanges a table for one that gives it, unless that takes more segments, steps against the direction of the
 * function, or more than KEEP_ZERO_COST of the largest or of the RMS error: of up to 10 bits, and where segments depend
 * on each other, the one that `fit` finds with --fix 0:f(0), else the one with another line at 0. The spec in the table
 * stays the one given, and so does what is known of other tables. */
int keep_zero(const struct spec *spec, fit_table *fit, struct table *table, struct diag *diag);

#endif
