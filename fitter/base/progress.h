/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line on a terminal's standard error that says how far a run is, how fast, and how long it still takes. Runs of less
 * than a second show nothing, and neither does one whose standard error is no terminal. In a page: progress_page.c. */
#ifndef PWLC_PROGRESS_H
#define PWLC_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct progress {
    const char *unit;           /* "codes" */
    atomic_uint_fast64_t total; /* 0 when not known: then the line says how much is done */
    atomic_uint_fast64_t done;

    bool shown; /* the one that has the terminal; the rest is valid with it */
    bool drawn; /* a line stands there */
    bool ended;
    struct timespec start;
    pthread_t drawer;
    pthread_mutex_t lock;
    pthread_cond_t end;
};

/* What lines begin with, "pwlc fit"; to be called before the first progress. */
void progress_name(const char *name);

/* Starts it. One that starts while another runs counts, and is not shown: the outer one says more. */
void progress_begin(struct progress *progress, const char *unit, uint64_t total);

/* From any thread. */
void progress_add(struct progress *progress, uint64_t count);

/* The same for what counts itself, a measure_progress: the context is the progress. */
void progress_set(void *progress, uint64_t done, uint64_t total);

/* A step of a search: what it does, and how much of that is done, of 0 where nobody knows. From any thread; the words
 * stay. A progress that is shown and has no counts of its own shows the last one. */
void progress_step(const char *what, uint64_t done, uint64_t total);

/* Ends it, and wipes its line away. */
void progress_end(struct progress *progress);

#endif
