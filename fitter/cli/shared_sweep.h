/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every code of wide inputs, in jobs that are shared out (jobs/share.h): of sweep and certify. */
#ifndef PWLC_SHARED_SWEEP_H
#define PWLC_SHARED_SWEEP_H

#include <pthread.h>
#include <stdbool.h>

#include "function/reference.h"
#include "measure/measure.h"
#include "table/table.h"

/* What has jobs, for share_nothing(). */
#define SHARED_SWEEP_JOBS "--exhaustive of inputs of more than 2^20 codes"

struct shared_table {
    const struct table *table;
    const char *name; /* for messages */
    int first, count; /* of its jobs */

    bool is_made; /* what follows is there, or diag says why it is not */
    struct diag diag;
    struct packed_table packed;
    struct function function;
    struct function_info info; /* of MPFR's values */
    struct parts parts;
};

struct shared_sweep {
    struct shared_table *tables; /* the caller's, who sets table and name, and all else to 0 */
    int count;
    const char *samples; /* of tables made from samples */
    bool mpfr;
    pthread_mutex_t lock; /* where a table is made */
};

/* share_run() of all codes of all tables; of inputs whose codes measure() visits in any case there are no jobs. Exit 2
 * with --resume where no input has more. */
int shared_sweep_run(struct shared_sweep *sweep, bool *goes_on, struct diag *diag);

/* The statistics of a table that has jobs. */
int shared_sweep_join(struct shared_sweep *sweep, int table, struct error_stats *stats, struct diag *diag);

/* What the tables own. */
void shared_sweep_free(struct shared_sweep *sweep);

#endif
