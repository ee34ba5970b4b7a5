/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shared_sweep.h"

#include <inttypes.h>
#include <stdio.h>

#include "jobs/share.h"

/* All but the codes, which take seconds; what fails here fails in each process alike. */
static int make(const struct shared_sweep *sweep, struct shared_table *of, struct diag *diag)
{
    if (table_prove(of->table, EXIT_USAGE, &of->packed, NULL, diag) ||
        table_function(of->table, of->table->samples_sha256[0] ? sweep->samples : NULL, &of->function, diag) ||
        (sweep->mpfr && reference_use_mpfr(&of->function, &of->info, diag)))
        return diag->code;
    return measure_parts(of->table, &of->packed, &of->function, &of->parts, diag);
}

/* The table of a job, made by the first who needs it. */
static struct shared_table *table_of(struct shared_sweep *sweep, int job)
{
    struct shared_table *of = sweep->tables;
    while (job >= of->first + of->count)
        of++;
    pthread_mutex_lock(&sweep->lock);
    if (!of->is_made)
        make(sweep, of, &of->diag);
    of->is_made = true;
    pthread_mutex_unlock(&sweep->lock);
    return of;
}

static void work(void *context, int job)
{
    struct shared_table *const of = table_of(context, job);
    if (!of->diag.code)
        parts_measure(&of->parts, job - of->first);
}

static bool save(void *context, int job, struct text *record)
{
    const struct shared_table *const of = table_of(context, job);
    record_add_diag(record, &of->diag);
    if (!of->diag.code)
        parts_save(&of->parts, job - of->first, record);
    return !of->diag.code;
}

static bool load(void *context, int job, struct record *record)
{
    struct shared_table *const of = table_of(context, job);
    struct diag found;
    record_diag(record, &found);
    if (found.code && !of->diag.code)
        of->diag = found;
    return found.code || of->diag.code || parts_load(&of->parts, job - of->first, record);
}

static void describe(void *context, int job, char name[SHARE_NAME_SIZE])
{
    const struct shared_table *const of = table_of(context, job);
    if (of->diag.code)
        snprintf(name, SHARE_NAME_SIZE, "%.100s", of->name);
    else
        snprintf(name, SHARE_NAME_SIZE, "codes %" PRId64 " to %" PRId64 " of %.100s",
                 parts_first(&of->parts, job - of->first), parts_last(&of->parts, job - of->first), of->name);
}

int shared_sweep_run(struct shared_sweep *sweep, bool *goes_on, struct diag *diag)
{
    struct shared_jobs jobs = {.workers = jobs_default(),
                               .unit = "runs of codes",
                               .context = sweep,
                               .work = work,
                               .save = save,
                               .load = load,
                               .describe = describe};
    for (int i = 0; i < sweep->count; i++) {
        sweep->tables[i].first = jobs.count;
        sweep->tables[i].count = measure_part_count(sweep->tables[i].table);
        jobs.count += sweep->tables[i].count;
    }
    pthread_mutex_init(&sweep->lock, NULL);
    if (jobs.count == 0)
        return share_nothing(SHARED_SWEEP_JOBS, goes_on, diag);
    return share_run(&jobs, goes_on, diag);
}

int shared_sweep_join(struct shared_sweep *sweep, int table, struct error_stats *stats, struct diag *diag)
{
    struct shared_table *const of = table_of(sweep, sweep->tables[table].first);
    if (of->diag.code) {
        *diag = of->diag;
        return diag->code;
    }
    return parts_join(&of->parts, stats, diag);
}

void shared_sweep_free(struct shared_sweep *sweep)
{
    for (int i = 0; i < sweep->count; i++) {
        struct shared_table *const of = &sweep->tables[i];
        parts_free(&of->parts);
        packed_table_free(&of->packed);
        function_free(&of->function);
    }
}
