/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The guard: a small process beside this one, in a session of its own, that outlives it by a moment. When this process
 * ends in whatever way, by SIGKILL too, the guard kills the programs that still run and removes the scratch folders. */
#ifndef PWLC_GUARD_H
#define PWLC_GUARD_H

#include <sys/types.h>

#define GUARD_MOST_GROUPS 128 /* more than jobs.h has threads */

/* Starts it, once, with all signals blocked, as they stay in it; the scratch folder must be there. errno, or 0. Not for
 * two threads at once. */
int guard_start(void);

/* A process group that runs, and one that has been killed and not yet waited for: its number is nobody else's. */
void guard_add(pid_t group);
void guard_remove(pid_t group);

#endif
