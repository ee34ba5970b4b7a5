/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The comparison itself, on threads. The codes are cut into chunks whose size depends on their number alone (parts.h);
 * each chunk is summed in order by one thread and the chunks are joined in order, so the result does not depend on the
 * threads.
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

#define MAX_THREADS 256

struct job {
    struct parts *parts;
    atomic_size_t next_chunk;
    atomic_uint_fast64_t done; /* codes */
};

/* The calling thread works too, and reports; a thread that cannot be started only makes it slower. */
static void work(struct job *job, measure_progress *progress, void *context)
{
    struct parts *const parts = job->parts;
    for (size_t index = atomic_fetch_add(&job->next_chunk, 1); index < parts->chunk_count;
         index = atomic_fetch_add(&job->next_chunk, 1)) {
        atomic_fetch_add(&job->done, parts_run_chunk(parts, index));
        if (progress)
            progress(context, atomic_load(&job->done), parts->codes.count);
    }
}

static void *help(void *job)
{
    work(job, NULL, NULL);
    return NULL;
}

static void run_job(struct job *job, int threads, measure_progress *progress, void *context)
{
    pthread_t others[MAX_THREADS];
    const struct parts *const parts = job->parts;
    int started = 0;
    while (started + 1 < threads && started < MAX_THREADS && (size_t)started + 1 < parts->chunk_count &&
           pthread_create(&others[started], NULL, help, job) == 0)
        started++;
    work(job, progress, context);
    for (int i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    if (progress)
        progress(context, parts->codes.count, parts->codes.count);
}

/* Measures all parts and frees them. */
static int compare_parts(struct parts *parts, int threads, measure_progress *progress, void *context,
                         struct error_stats *stats, struct diag *diag)
{
    struct job job = {.parts = parts};
    run_job(&job, threads, progress, context);
    return parts_join(parts, stats, diag);
}

/* The codes of a wide input that are always compared. */
static int compare_sampled(const struct subject *subject, int threads, measure_progress *progress, void *context,
                           struct error_stats *stats, struct diag *diag)
{
    struct parts parts = {.chunks = NULL};
    uint64_t *items;
    size_t count;
    if (wide_codes(subject, &items, &count, diag))
        return diag->code;
    int code = parts_cut(subject, items, count, &parts, diag);
    if (code == EXIT_DONE)
        code = compare_parts(&parts, threads, progress, context, stats, diag);
    parts_free(&parts);
    free(items);
    return code;
}

static bool is_wide(const struct table *table)
{
    return table->in.qmax - table->in.qmin >= MEASURE_EVERY_CODE;
}

int measure_on_threads(const struct table *table, const struct packed_table *packed, const struct function *function,
                       bool all_codes, int threads, measure_progress *progress, void *context,
                       struct error_stats *stats, struct diag *diag)
{
    struct subject subject;
    struct parts parts = {.chunks = NULL};
    const bool wide = is_wide(table);
    int code = subject_make(table, packed, function, &subject, diag);
    if (code == EXIT_DONE && wide)
        code = compare_sampled(&subject, threads, all_codes ? NULL : progress, context, stats, diag);
    if (code != EXIT_DONE || (wide && !all_codes))
        return code;
    code = parts_cut(&subject, NULL, (uint64_t)(table->in.qmax - table->in.qmin) + 1, &parts, diag);
    if (code == EXIT_DONE && wide)
        parts_expect(&parts, stats);
    if (code == EXIT_DONE)
        code = compare_parts(&parts, threads, progress, context, stats, diag);
    parts_free(&parts);
    return code;
}

int measure_parts(const struct table *table, const struct packed_table *packed, const struct function *function,
                  struct parts *parts, struct diag *diag)
{
    struct subject subject;
    struct error_stats stats;
    *parts = (struct parts){.chunks = NULL};
    if (subject_make(table, packed, function, &subject, diag) ||
        compare_sampled(&subject, 1, NULL, NULL, &stats, diag) ||
        parts_cut(&subject, NULL, (uint64_t)(table->in.qmax - table->in.qmin) + 1, parts, diag))
        return diag->code;
    parts_expect(parts, &stats);
    return EXIT_DONE;
}

int measure_part_count(const struct table *table)
{
    return is_wide(table) ? parts_count(table->in.qmax - table->in.qmin + 1) : 0;
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
    const double mean_abs = dd_div(sum, total).hi;
    *stats = (struct weighted_stats){
        .rms = root_mean_square(dd_div(sum_of_squares, total), mean_abs),
        .mean_abs = mean_abs,
        .bias = dd_div(signed_sum, total).hi,
        .correctly_rounded = dd_div(correct, total).hi,
    };
    return EXIT_DONE;
}
