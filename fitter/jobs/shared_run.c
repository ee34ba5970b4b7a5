/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shared_run.h"

#include <pthread.h>
#include <stdlib.h>

int shared_shard_of(int job, int shards)
{
    return job % shards + 1;
}

int shared_run_load(struct shared_run *run, struct journal *journal, struct diag *diag)
{
    const struct shared_jobs *const jobs = run->jobs;
    struct journal_record record;
    char name[SHARE_NAME_SIZE];
    while (journal_next(journal, &record)) {
        const int k = (int)record.job;
        jobs->describe(jobs->context, k, name);
        if (run->done[k])
            return diag_set(diag, EXIT_USAGE, "%s: job %d (%s) is there twice", journal->path, k, name);
        struct record result = {record.bytes, record.size, false};
        if (!jobs->load(jobs->context, k, &result) || !record_is_read(&result))
            return diag_set(diag, EXIT_USAGE, "%s: what it has of job %d (%s) is no result of this pwlc", journal->path,
                            k, name);
        run->done[k] = true;
    }
    return EXIT_DONE;
}

int shared_run_begin(struct shared_run *run, const char *resume, const struct journal_head *head, struct diag *diag)
{
    if (resume && journal_open(resume, head, &run->journal, diag))
        return diag->code;
    run->has_journal = resume != NULL;
    if (resume && shared_run_load(run, &run->journal, diag))
        return diag->code;
    for (int k = 0; k < run->jobs->count; k++)
        if (!run->done[k] && shared_shard_of(k, run->shards) == run->shard)
            run->to_do[run->count++] = k;
    return EXIT_DONE;
}

int shared_run_keep(struct shared_run *run, int job, const void *bytes, size_t size, struct diag *diag)
{
    if (!run->has_journal)
        return EXIT_DONE;
    run->is_synced = false;
    return journal_add(&run->journal, job, bytes, size, diag);
}

int shared_run_sync(struct shared_run *run, struct diag *diag)
{
    if (!run->has_journal || run->is_synced)
        return EXIT_DONE;
    run->is_synced = true;
    return journal_sync(&run->journal, diag);
}

/* What the threads share. */
struct threads {
    struct shared_run *run;
    struct diag *diag; /* once it has failed, nothing more is begun */
    pthread_mutex_t lock;
};

static void work_and_keep(void *context, int place)
{
    struct threads *const threads = context;
    struct shared_run *const run = threads->run;
    const int k = run->to_do[place];
    struct text result = {0};
    pthread_mutex_lock(&threads->lock);
    const bool has_failed = threads->diag->code != EXIT_DONE;
    pthread_mutex_unlock(&threads->lock);
    if (has_failed)
        return;
    run->jobs->work(run->jobs->context, k);
    const bool is_kept = run->jobs->save(run->jobs->context, k, &result);
    pthread_mutex_lock(&threads->lock);
    if (threads->diag->code != EXIT_DONE)
        ; /* the first failure is the one that is told */
    else if (result.failed)
        diag_set(threads->diag, EXIT_IO, "out of memory for a result");
    else if (is_kept && !shared_run_keep(run, k, result.bytes, result.size, threads->diag))
        shared_run_sync(run, threads->diag);
    pthread_mutex_unlock(&threads->lock);
    text_free(&result);
}

int shared_run_here(struct shared_run *run, struct diag *diag)
{
    struct threads threads = {.run = run, .diag = diag};
    pthread_mutex_init(&threads.lock, NULL);
    jobs_run(run->count, run->jobs->workers, work_and_keep, &threads, run->jobs->unit);
    pthread_mutex_destroy(&threads.lock);
    return diag->code;
}

void shared_run_end(struct shared_run *run)
{
    journal_close(&run->journal);
    free(run->done);
    free(run->to_do);
}
