/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table with one wrong bit, by which a verification shows that it finds such. */
#ifndef PWLC_FAULT_H
#define PWLC_FAULT_H

#include "table/runs.h"
#include "table/table.h"

struct fault {
    struct table table; /* its segments are its own, all else is the original's */
    char what[80];      /* "bit 0 of q_b in segment 3" */
    int64_t changed;    /* codes of the runs that it changes, one or more */
};

/* Of the lowest bits of the fields of some segments, the one that changes the fewest codes of the runs, and leaves the
 * table safe to run. Exit 3 when no bit changes any. Free with fault_free, also after a failure. */
int fault_make(const struct table *table, const struct packed_table *packed, const struct runs *runs,
               struct fault *fault, struct diag *diag);
void fault_free(struct fault *fault);

#endif
