/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In a page: lines for the worker that runs pwlc, which web/pwlc.js takes out of standard error. There is no thread
 * that could write them, so that they come when something is counted. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>

#define LINE_EVERY 0.25 /* seconds */

static double last;                    /* seconds; when a line was written */
static const struct progress *counted; /* the outermost that counts up to some number: it says more than those within */

void progress_name(const char *name)
{
    (void)name;
}

/* "\r", what is done, how many of them there are or 0, and what they are. */
static void tell(const char *what, uint64_t done, uint64_t total)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    const double now = (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
    if (now - last < LINE_EVERY)
        return;
    last = now;
    fprintf(stderr, "\r%" PRIu64 " %" PRIu64 " %s\n", done, total, what);
}

void progress_begin(struct progress *progress, const char *unit, uint64_t total)
{
    progress->unit = unit;
    atomic_init(&progress->total, total);
    atomic_init(&progress->done, 0);
    if (total > 1 && !counted)
        counted = progress;
}

/* Of one alone there is nothing to say, nor of jobs without a unit, for which none began. */
void progress_add(struct progress *progress, uint64_t count)
{
    if (progress->unit && atomic_load(&progress->total) != 1)
        progress_set(progress, atomic_load(&progress->done) + count, atomic_load(&progress->total));
}

void progress_set(void *context, uint64_t done, uint64_t total)
{
    struct progress *progress = context;
    atomic_store(&progress->total, total);
    atomic_store(&progress->done, done);
    if (!counted || counted == progress)
        tell(progress->unit, done, total);
}

void progress_step(const char *what, uint64_t done, uint64_t total)
{
    if (!counted)
        tell(what, done, total);
}

void progress_end(struct progress *progress)
{
    if (counted == progress)
        counted = NULL;
}
