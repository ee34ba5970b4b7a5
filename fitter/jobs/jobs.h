/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Independent jobs on a few threads. */
#ifndef PWLC_JOBS_H
#define PWLC_JOBS_H

#include "base/diag.h"

/* Does job k of [0, count). Called at the same time for different jobs: it writes only what belongs to its own. */
typedef void job_work(void *context, int k);

/* Does every job, on up to `workers` threads of which the caller's is one; jobs are handed out in order. Unless
 * the unit is null, "tables", they are a progress. Fewer threads than asked for change nothing but the time. */
void jobs_run(int count, int workers, job_work *work, void *context, const char *unit);

/* One a core. */
int jobs_default(void);

/* The value of --jobs: exit 2 unless from 1 to 64. */
int jobs_parse(const char *value, int *workers, struct diag *diag);

#endif
