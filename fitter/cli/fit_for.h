/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of a spec whose module is the cheapest. */
#ifndef PWLC_FIT_FOR_H
#define PWLC_FIT_FOR_H

#include "cost/cost.h"
#include "spec/spec.h"
#include "table/table.h"

#define FIT_FOR_STAGES 4 /* of the modules that are weighed */

/* Fits every combination of the choices of hardware that are not among the flags given, and takes the table of least
 * estimated cost; among equals that of the higher clock, then of the smaller error. `spec` is resolved and has
 * --max-err; it becomes that of the table. The choice and its alternatives become a note. Exit 3 when no combination
 * has a table. */
int fit_for(struct spec *spec, const struct given *given, int count, const struct cost_target *target,
            struct table *table, struct diag *diag);

#endif
