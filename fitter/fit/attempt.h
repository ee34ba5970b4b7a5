/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables that are tried beside the one of the method asked for; fit.c has the list. */
#ifndef PWLC_ATTEMPT_H
#define PWLC_ATTEMPT_H

#include <stdbool.h>

#include "base/diag.h"
#include "spec/spec.h"
#include "table/table.h"

struct attempt {
    /* Whether it may be better than the best so far, for all that is known. */
    bool (*applies)(const struct spec *spec, const struct table *best);
    double effort; /* its share of the spec's */
    /* Makes it. No table, exit 3, is no failure. */
    int (*make)(const struct spec *spec, const struct table *best, struct table *table, struct diag *diag);
    bool (*is_taken)(const struct spec *spec, const struct table *table, const struct table *best);
};

/* The table of the spec's own method, exchanged for each of the attempts that is better, in their order; the list ends
 * with a null. Ends early where --time-limit is over. */
int fit_best_of(const struct spec *spec, const struct attempt *const attempts[], struct table *table,
                struct diag *diag);

#endif
