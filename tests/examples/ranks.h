/* SPDX-License-Identifier: Apache-2.0 */
/* A thread for each rank, all of which meet where they are told to. */
#ifndef RANKS_H
#define RANKS_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_RANKS = 8 };

struct ranks;

/* What a rank does; null, or in words what went wrong. */
typedef const char *rank_work(const struct ranks *all, int rank);

struct ranks {
    int count;
    rank_work *work;
    void *of; /* the caller's */
    pthread_barrier_t *meeting;
};

struct rank_thread {
    const struct ranks *all;
    int rank;
};

static inline void meet(const struct ranks *all)
{
    (void)pthread_barrier_wait(all->meeting);
}

/* A rank that fails ends the program, since the others would wait for it. */
static inline void *rank_main(void *of)
{
    struct rank_thread *const thread = of;
    const char *const failed = thread->all->work(thread->all, thread->rank);
    if (failed) {
        fprintf(stderr, "Bail out! rank %d of %d: %s\n", thread->rank, thread->all->count, failed);
        exit(1);
    }
    return NULL;
}

static inline void run_ranks(int count, rank_work *work, void *of)
{
    pthread_barrier_t meeting;
    struct ranks all = {count, work, of, &meeting};
    struct rank_thread threads[MOST_RANKS];
    pthread_t handles[MOST_RANKS];
    if (pthread_barrier_init(&meeting, NULL, (unsigned)count))
        abort();
    for (int i = 0; i < count; i++) {
        threads[i] = (struct rank_thread){&all, i};
        if (pthread_create(&handles[i], NULL, rank_main, &threads[i]))
            abort();
    }
    for (int i = 0; i < count; i++)
        (void)pthread_join(handles[i], NULL);
    (void)pthread_barrier_destroy(&meeting);
}

#endif
