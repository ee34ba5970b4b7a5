/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run over shared jobs: which are done, which this run does, and where their results go. */
#ifndef PWLC_SHARED_RUN_H
#define PWLC_SHARED_RUN_H

#include <stdbool.h>

#include "journal.h"
#include "ranks.h"
#include "shared_jobs.h"

struct shared_run {
    const struct shared_jobs *jobs;
    int shard, shards;

    bool *done; /* of each job: its slot is filled */
    int *to_do; /* the jobs of this run, in order */
    int count;  /* of them */

    struct journal journal; /* where has_journal */
    bool has_journal, is_synced;
};

/* Whose job a job is, from 1 on. */
int shared_shard_of(int job, int shards);

/* Opens the journal, unless resume is null, takes what it has, and lists what is to be done. */
int shared_run_begin(struct shared_run *run, const char *resume, const struct journal_head *head, struct diag *diag);

/* Fills the slots of a journal's jobs. Exit 2 where one is done already, or its record none of this pwlc. */
int shared_run_load(struct shared_run *run, struct journal *journal, struct diag *diag);

/* Adds a result to the journal, if there is one; shared_run_sync() makes all added results last. */
int shared_run_keep(struct shared_run *run, int job, const void *bytes, size_t size, struct diag *diag);
int shared_run_sync(struct shared_run *run, struct diag *diag);

/* Does what is to be done, in threads of this process. */
int shared_run_here(struct shared_run *run, struct diag *diag);

/* ranks_run.c: does it in all ranks. Rank 0 hands out jobs as ranks become free, does jobs too, and keeps the results;
 * the others take jobs until there are none. A rank that dies ends all, and rank 0 says with which job. A journal that
 * cannot be written ends this process, and so the run, at once. */
int ranks_lead(struct shared_run *run, struct ranks *ranks, struct diag *diag);
int ranks_follow(const struct shared_jobs *jobs, struct ranks *ranks, struct diag *diag);

void shared_run_end(struct shared_run *run);

#endif
