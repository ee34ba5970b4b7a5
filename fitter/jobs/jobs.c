/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/progress.h"

#define MAX_WORKERS 64

struct pool {
    int count, next;
    job_work *work;
    void *context;
    struct progress progress;
    pthread_mutex_t lock;
};

static void *serve(void *argument)
{
    struct pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    while (pool->next < pool->count) {
        const int k = pool->next++;
        pthread_mutex_unlock(&pool->lock);
        pool->work(pool->context, k);
        progress_add(&pool->progress, 1);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

void jobs_run(int count, int workers, job_work *work, void *context, const char *unit)
{
    pthread_t threads[MAX_WORKERS];
    struct pool pool = {.count = count, .work = work, .context = context};
    int started = 0;
    workers = workers < count ? workers : count;
    workers = workers < MAX_WORKERS ? workers : MAX_WORKERS;
    pthread_mutex_init(&pool.lock, NULL);
    if (unit)
        progress_begin(&pool.progress, unit, (uint64_t)count);
    while (started < workers - 1 && pthread_create(&threads[started], NULL, serve, &pool) == 0)
        started++;
    serve(&pool);
    for (int k = 0; k < started; k++)
        pthread_join(threads[k], NULL);
    pthread_mutex_destroy(&pool.lock);
    if (unit)
        progress_end(&pool.progress);
}

int jobs_default(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > MAX_WORKERS ? MAX_WORKERS : (int)cores;
}

int jobs_parse(const char *value, int *workers, struct diag *diag)
{
    int64_t parsed;
    if (number_integer(value, strlen(value), &parsed) != NUMBER_OK || parsed < 1 || parsed > MAX_WORKERS)
        return diag_set(diag, EXIT_USAGE, "--jobs %s: must be an integer from 1 to %d", value, MAX_WORKERS);
    *workers = (int)parsed;
    return EXIT_DONE;
}
