/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of a spec whose module or code is the cheapest. */
#ifndef PWLC_FIT_FOR_H
#define PWLC_FIT_FOR_H

#include "cost/cost.h"
#include "spec/spec.h"
#include "table/table.h"

#define FIT_FOR_STAGES 4 /* of the modules that are weighed */

/* Fits every combination of the choices that are not among the flags given, and takes the table of least cost: of a
 * module as it is estimated, of a processor's code as it is measured. Among equals it is that of the higher clock, then
 * of the smaller error. `spec` is resolved and has --max-err; it becomes that of the table. The choice and its
 * alternatives become a note. Exit 3 when no combination has a table, 77 when a tool that measures is missing. */
int fit_for(struct spec *spec, const struct given *given, int count, const struct cost_target *target,
            struct table *table, struct diag *diag);

#endif
