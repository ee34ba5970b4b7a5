/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The comparison itself. The codes are cut into chunks whose size depends on their number alone; each chunk is summed
 * in order by one thread and the chunks are joined in order, so the result does not depend on the threads.
 */
#include "measure.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "comparison.h"
#include "sampled_codes.h"
#include "smooth.h"

#define MAX_THREADS 256

struct job {
    struct subject subject;
    struct chunk_codes codes;
    size_t chunk_count;
    struct chunk initial; /* what a chunk starts from */
    bool smooth;          /* chunk_add_run */
    struct chunk *chunks;
    atomic_size_t next_chunk;
    atomic_uint_fast64_t done;
};

static struct point item_point(const struct job *job, uint64_t index)
{
    return point_at(&job->subject, chunk_code(&job->subject, &job->codes, index), (job->codes.items[index] & 1) != 0);
}

static void add_items(const struct job *job, struct chunk *chunk, uint64_t begin, uint64_t end)
{
    struct point previous = item_point(job, begin > 0 ? begin - 1 : 0);
    for (uint64_t i = begin; i < end; i++) {
        const struct point point = item_point(job, i);
        chunk_add_point(chunk, &job->subject, &point);
        if (!chunk->backward)
            chunk->backward = steps_backward(&job->subject, &previous, &point);
        previous = point;
    }
}

static void run_chunk(struct job *job, size_t index)
{
    const struct chunk_codes *codes = &job->codes;
    const uint64_t begin = index * codes->chunk_size;
    const uint64_t end = codes->count - begin > codes->chunk_size ? begin + codes->chunk_size : codes->count;
    struct chunk chunk = job->initial;
    if (codes->items)
        add_items(job, &chunk, begin, end);
    else
        chunk_add_codes(&chunk, &job->subject, chunk_code(&job->subject, codes, begin), (int64_t)(end - begin),
                        job->smooth);
    job->chunks[index] = chunk;
    atomic_fetch_add(&job->done, end - begin);
}

static void *work(void *argument)
{
    struct job *job = argument;
    for (size_t index = atomic_fetch_add(&job->next_chunk, 1); index < job->chunk_count;
         index = atomic_fetch_add(&job->next_chunk, 1))
        run_chunk(job, index);
    return NULL;
}

/* The calling thread works too, and reports; a thread that cannot be started only makes it slower. */
static void run_job(struct job *job, int threads, measure_progress *progress, void *context)
{
    pthread_t others[MAX_THREADS];
    int started = 0;
    while (started + 1 < threads && started < MAX_THREADS && (size_t)started + 1 < job->chunk_count &&
           pthread_create(&others[started], NULL, work, job) == 0)
        started++;
    for (size_t index = atomic_fetch_add(&job->next_chunk, 1); index < job->chunk_count;
         index = atomic_fetch_add(&job->next_chunk, 1)) {
        run_chunk(job, index);
        if (progress)
            progress(context, atomic_load(&job->done), job->codes.count);
    }
    for (int i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    if (progress)
        progress(context, job->codes.count, job->codes.count);
}

/* Runs the comparison over the given codes, all when items is null. */
static int compare_codes(struct job *job, int threads, measure_progress *progress, void *context,
                         struct error_stats *stats, struct diag *diag)
{
    struct chunk_codes *codes = &job->codes;
    codes->chunk_size = codes->count > (1 << 24) ? 1 << 16 : 1 << 12;
    job->chunk_count = (size_t)((codes->count + codes->chunk_size - 1) / codes->chunk_size);
    job->chunks = calloc(job->chunk_count, sizeof *job->chunks);
    if (!job->chunks)
        return diag_set(diag, EXIT_IO, "out of memory while comparing codes");
    run_job(job, threads, progress, context);
    const int code = chunks_join(&job->subject, job->chunks, job->chunk_count, codes, stats, diag);
    free(job->chunks);
    return code;
}

int measure_on_threads(const struct table *table, const struct packed_table *packed, const struct function *function,
                       bool all_codes, int threads, measure_progress *progress, void *context,
                       struct error_stats *stats, struct diag *diag)
{
    struct subject subject;
    int code = subject_make(table, packed, function, &subject, diag);
    if (code != EXIT_DONE)
        return code;
    const int64_t codes = table->in.qmax - table->in.qmin + 1;
    const bool wide = codes > MEASURE_EVERY_CODE;
    const struct chunk initial = chunk_initial(&subject);
    if (wide) {
        uint64_t *items;
        size_t count;
        code = wide_codes(&subject, &items, &count, diag);
        if (code != EXIT_DONE)
            return code;
        struct job job = {.subject = subject, .codes = {items, count, 0}, .initial = initial};
        code = compare_codes(&job, threads, all_codes ? NULL : progress, context, stats, diag);
        free(items);
    }
    if (code == EXIT_DONE && (all_codes || !wide)) {
        struct job job = {.subject = subject, .codes = {NULL, (uint64_t)codes, 0}, .initial = initial, .smooth = wide};
        if (wide) {
            /* Just below what counts as the error of some code, so that only codes near it are candidates. */
            job.initial.max_err = nextafter(max_err_tied(&table->out, stats->max_err), -1);
            job.initial.max_ulp = stats->max_ulp > 0 ? stats->max_ulp - 1 : 0;
        }
        code = compare_codes(&job, threads, progress, context, stats, diag);
    }
    return code;
}

int measure(const struct table *table, const struct packed_table *packed, const struct function *function,
            bool all_codes, measure_progress *progress, void *context, struct error_stats *stats, struct diag *diag)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const int threads = cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : (int)cores;
    return measure_on_threads(table, packed, function, all_codes, threads, progress, context, stats, diag);
}

double measure_code(const struct table *table, const struct packed_table *packed, const struct function *function,
                    int64_t q_x)
{
    const struct dd target = target_unclipped(function, &table->in, &table->out, table->outside, q_x);
    return fabs(target_missed(target_clipped(&table->out, target), packed_eval(packed, q_x)).hi);
}

int measure_weighted(const struct table *table, const struct packed_table *packed, const struct function *function,
                     const struct weights *weights, struct weighted_stats *stats, struct diag *diag)
{
    const struct subject subject = {table, packed, function, code_domain_find(function, &table->in)};
    struct dd sum = {0, 0}, signed_sum = sum, sum_of_squares = sum, correct = sum, total = sum;
    if (weights_check(weights, &table->in, diag) != EXIT_DONE)
        return diag->code;
    for (size_t k = 0; k < weights->count; k++) {
        const double weight = weights->value[k];
        if (weight <= 0)
            continue;
        const int64_t q = weights_code(weights, &table->in, k);
        const struct dd target = subject_target(&subject, subject_value(&subject, q));
        const struct dd difference = target_missed(target_clipped(&table->out, target), packed_eval(packed, q)),
                        distance = dd_abs(difference), error = dd_times(distance, weight);
        if (isnan(distance.hi))
            return diag_set(diag, EXIT_USAGE, "%s has no value at code %" PRId64 " (x = %Lg)", function_name(function),
                            q, tensor_real(&table->in, q));
        sum = dd_add(sum, error);
        signed_sum = dd_add(signed_sum, dd_times(difference, weight));
        sum_of_squares = dd_add(sum_of_squares, dd_mul(error, distance));
        correct = dd_plus(correct, dd_less(dd_of(0.5), distance) ? 0 : weight);
        total = dd_plus(total, weight);
    }
    *stats = (struct weighted_stats){
        .rms = dd_sqrt(dd_div(sum_of_squares, total)).hi,
        .mean_abs = dd_div(sum, total).hi,
        .bias = dd_div(signed_sum, total).hi,
        .correctly_rounded = dd_div(correct, total).hi,
    };
    return EXIT_DONE;
}
