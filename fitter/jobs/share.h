/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that are shared out: to threads, to the ranks of MPI, or to processes that know nothing of each other.
 *
 * A command numbers its jobs, does them in slots of its own, and goes on when all slots are filled, so that what it
 * writes does not depend on who filled them:
 *
 *                             work(k) in threads           --> slot k
 *   --resume FILE             work(k), save(k) --> FILE        load(k) of those that FILE has
 *   --shard I/N               the same, of every Nth job; the command does not go on
 *   pwlc merge FILE...        load(k) of all; the command goes on
 *   mpirun                    rank r: work(k), save(k) --> rank 0: FILE, load(k); rank 0 alone goes on
 */
#ifndef PWLC_SHARE_H
#define PWLC_SHARE_H

#include <stdbool.h>

#include "base/diag.h"
#include "journal.h"
#include "shared_jobs.h"

/* Rows of an option table, of the commands that share; share_take() takes them. */
#define SHARE_OPTIONS                                                                                                  \
    {"--resume", "FILE", "keep in FILE what is finished, and go on from what it has"},                                 \
    {                                                                                                                  \
        "--shard", "I/N", "do every Nth job alone, into the FILE of --resume; `pwlc merge` makes the output of all"    \
    }

/* Takes the flags above out of a command line whose argv[0] is the command's name, and notes what is left of it: with
 * the content of the inputs it says what the jobs are. To be called before anything is read. Exit 2 when a value is
 * unusable. */
int share_take(int *argc, char **argv, struct diag *diag);

/* Beforehand, for `pwlc merge`: the results come from these, which stay the caller's, and the flags are not looked at.
 */
void share_from(struct journal *journals, int count);

/* Whether any of this is asked for. */
bool share_is_on(void);

/* Fills the slots. *goes_on: all are filled, and it is this process that writes; else the command is done. Exit 1 when
 * a journal cannot be written or MPI fails, 2 when a journal is of other jobs, broken, twice there or has not all jobs,
 * 77 when MPI's library is missing. To be called once, before the command writes anything. */
int share_run(const struct shared_jobs *jobs, bool *goes_on, struct diag *diag);

/* Instead of share_run(), where a command line makes no jobs: under mpirun rank 0 alone goes on. Exit 2 with --shard or
 * --resume, naming what has jobs: "--exhaustive". */
int share_nothing(const char *what_has_jobs, bool *goes_on, struct diag *diag);

/* After a command that ended with a code: ranks that have not met do. Whether this rank says why it failed: what fails
 * in all is said by rank 0. */
bool share_end(int code);

/* When that is said: ends MPI for ranks that have met there. */
void share_leave(void);

#endif
