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

#include "function/samples.h"

#define MAX_THREADS 256

struct job {
    struct subject subject;
    const uint64_t *items; /* of wide_codes; null for every code */
    uint64_t count;
    uint64_t chunk_size;
    size_t chunk_count;
    struct chunk initial; /* what a chunk starts from */
    bool smooth;          /* chunk_add_run */
    struct chunk *chunks;
    atomic_size_t next_chunk;
    atomic_uint_fast64_t done;
};

struct point point_at(const struct subject *subject, int64_t q, bool averaged)
{
    return (struct point){q, packed_eval(subject->packed, q), averaged, subject_value(subject, q)};
}

/* Whether f between two defined codes, a below b, keeps to one direction, as far as samples of its slope can tell. */
static bool one_direction(const struct subject *subject, int64_t a, int64_t b, int direction)
{
    const struct function *function = subject->function;
    const struct tensor *in = &subject->table->in;
    if (code_domain_nearest(&subject->domain, a) != a || code_domain_nearest(&subject->domain, b) != b)
        return false;
    const long double x_a = tensor_real(in, a), x_b = tensor_real(in, b);
    if (function->samples) {
        const struct samples *samples = function->samples;
        size_t low = 0, high = samples->count; /* the first sample beyond x_a lies in [low, high] */
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (samples->x[middle] > x_a)
                high = middle;
            else
                low = middle + 1;
        }
        /* Both lie inside the samples, so the interval that holds x_a ends at low, or x_a is the last sample. */
        for (size_t i = low > 0 ? low : 1; i < samples->count && samples->x[i - 1] < x_b; i++) {
            if ((samples->y[i] - samples->y[i - 1]) * direction <= 0)
                return false;
        }
        return true;
    }
    const long double x_middle = tensor_real(in, a + (b - a) / 2);
    return function_derivative(function, x_a) * direction > 0 && function_derivative(function, x_b) * direction > 0 &&
           function_defined(function, x_middle) && function_derivative(function, x_middle) * direction > 0;
}

/* A difference within the function's own accuracy has no direction. */
static int direction_of(const struct function *function, long double from, long double to)
{
    const long double difference = to - from;
    const long double noise = function_noise(function) * fmaxl(fabsl(from), fabsl(to));
    if (difference > noise)
        return 1;
    return difference < -noise ? -1 : 0;
}

bool steps_backward(const struct subject *subject, const struct point *from, const struct point *to)
{
    if (to->y == from->y)
        return false;
    const int step = to->y > from->y ? 1 : -1;
    const int direction = direction_of(subject->function, from->value, to->value);
    if (direction != -step)
        return false;
    return to->q == from->q + 1 || one_direction(subject, from->q, to->q, direction);
}

static long double clip(const struct tensor *out, long double target)
{
    if (target < (long double)out->qmin)
        return (long double)out->qmin;
    return target > (long double)out->qmax ? (long double)out->qmax : target;
}

void chunk_add_point(struct chunk *chunk, const struct subject *subject, const struct point *point)
{
    const struct tensor *out = &subject->table->out;
    const long double target = subject_target(subject, point->value);
    if (isnan(target)) {
        if (!chunk->has_no_value)
            chunk->no_value_at = point->q;
        chunk->has_no_value = true;
        return;
    }
    const long double clipped = clip(out, target);
    const long double distance = fabsl((long double)point->y - clipped);
    const double err = (double)distance;
    if (err > chunk->max_err) {
        chunk->max_err = err;
        chunk->max_err_at = point->q;
    }
    if (distance > (long double)chunk->max_ulp + 0.5L) {
        /* From the nearest code; of two equally near, the one on q_y's side. At most 2^32. */
        chunk->max_ulp = (int64_t)ceill(distance - 0.5L);
        chunk->max_ulp_at = point->q;
    }
    chunk->saturated += clipped != target;
    if (point->averaged) {
        chunk->sum += distance;
        chunk->sum_of_squares += distance * distance;
        chunk->correct += distance <= 0.5L;
        chunk->averaged++;
    }
}

bool steps_backward_at(const struct subject *subject, int64_t q)
{
    if (q == subject->table->in.qmin)
        return false;
    const struct point from = point_at(subject, q - 1, true), to = point_at(subject, q, true);
    return steps_backward(subject, &from, &to);
}

struct chunk chunk_initial(const struct subject *subject)
{
    return (struct chunk){.max_err = -1, .max_ulp_at = subject->table->in.qmin};
}

void chunk_add_codes(struct chunk *chunk, const struct subject *subject, int64_t first, int64_t count, bool wide)
{
    if (wide) {
        chunk_add_run(chunk, subject, first, count);
        return;
    }
    struct point previous = point_at(subject, first > subject->table->in.qmin ? first - 1 : first, true);
    for (int64_t q = first; q < first + count; q++) {
        const struct point point = point_at(subject, q, true);
        chunk_add_point(chunk, subject, &point);
        if (!chunk->backward)
            chunk->backward = steps_backward(subject, &previous, &point);
        previous = point;
    }
}

static struct point item_point(const struct job *job, uint64_t index)
{
    const int64_t q = job->subject.table->in.qmin + (int64_t)(job->items[index] / 2);
    return point_at(&job->subject, q, (job->items[index] & 1) != 0);
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
    const uint64_t begin = index * job->chunk_size;
    const uint64_t end = job->count - begin > job->chunk_size ? begin + job->chunk_size : job->count;
    struct chunk chunk = job->initial;
    if (job->items)
        add_items(job, &chunk, begin, end);
    else
        chunk_add_codes(&chunk, &job->subject, job->subject.table->in.qmin + (int64_t)begin, (int64_t)(end - begin),
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
            progress(context, atomic_load(&job->done), job->count);
    }
    for (int i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    if (progress)
        progress(context, job->count, job->count);
}

int chunks_join(const struct subject *subject, const struct chunk *chunks, size_t count, int64_t checked,
                bool exhaustive, struct error_stats *stats, struct diag *diag)
{
    struct chunk all = chunks[0];
    for (size_t i = 1; i < count; i++) {
        const struct chunk *chunk = &chunks[i];
        all.sum += chunk->sum;
        all.sum_of_squares += chunk->sum_of_squares;
        all.averaged += chunk->averaged;
        all.correct += chunk->correct;
        all.saturated += chunk->saturated;
        if (chunk->max_err > all.max_err) {
            all.max_err = chunk->max_err;
            all.max_err_at = chunk->max_err_at;
        }
        if (chunk->max_ulp > all.max_ulp) {
            all.max_ulp = chunk->max_ulp;
            all.max_ulp_at = chunk->max_ulp_at;
        }
        all.backward |= chunk->backward;
        if (chunk->has_no_value && !all.has_no_value) {
            all.has_no_value = true;
            all.no_value_at = chunk->no_value_at;
        }
    }
    if (all.has_no_value)
        return diag_set(diag, subject->function->expression ? EXIT_USAGE : EXIT_IO,
                        "%s has no value at code %" PRId64 " (x = %Lg)", function_name(subject->function),
                        all.no_value_at, tensor_real(&subject->table->in, all.no_value_at));
    const long double averaged = (long double)all.averaged;
    *stats = (struct error_stats){
        .checked = checked,
        .exhaustive = exhaustive,
        .max_err = all.max_err,
        .max_err_at = all.max_err_at,
        .rms = (double)sqrtl(all.sum_of_squares / averaged),
        .mean_abs = (double)(all.sum / averaged),
        .max_ulp = all.max_ulp,
        .max_ulp_at = all.max_ulp_at,
        .correctly_rounded = (double)((long double)all.correct / averaged),
        .saturated_codes = all.saturated,
        .monotone = !all.backward,
    };
    return EXIT_DONE;
}

static int check_domain(const struct subject *subject, struct diag *diag)
{
    const struct tensor *in = &subject->table->in;
    const struct code_domain *domain = &subject->domain;
    const bool empty = domain->first > domain->last;
    const bool whole = domain->first <= in->qmin && domain->last >= in->qmax && !domain->has_hole;
    if (whole && !empty)
        return EXIT_DONE;
    char text[80];
    function_domain_text(subject->function, text, sizeof text);
    if (empty)
        return diag_set(diag, EXIT_USAGE, "in: no code from %" PRId64 " to %" PRId64 " lies in the domain %s of %s",
                        in->qmin, in->qmax, text, function_name(subject->function));
    if (subject->table->outside == OUTSIDE_CLAMP)
        return EXIT_DONE;
    const int64_t code = domain->first > in->qmin ? in->qmin : domain->last < in->qmax ? in->qmax : domain->hole;
    return diag_set(diag, EXIT_USAGE,
                    "in: code %" PRId64 " (x = %Lg) lies outside the domain %s of %s; narrow the range or say "
                    "outside: clamp",
                    code, tensor_real(in, code), text, function_name(subject->function));
}

int subject_make(const struct table *table, const struct packed_table *packed, const struct function *function,
                 struct subject *subject, struct diag *diag)
{
    *subject = (struct subject){table, packed, function, code_domain_find(function, &table->in)};
    return check_domain(subject, diag);
}

/* Runs the comparison over the given codes, all when items is null. */
static int compare_codes(struct job *job, int threads, measure_progress *progress, void *context,
                         struct error_stats *stats, struct diag *diag)
{
    job->chunk_size = job->count > (1 << 24) ? 1 << 16 : 1 << 12;
    job->chunk_count = (size_t)((job->count + job->chunk_size - 1) / job->chunk_size);
    job->chunks = calloc(job->chunk_count, sizeof *job->chunks);
    if (!job->chunks)
        return diag_set(diag, EXIT_IO, "out of memory while comparing codes");
    run_job(job, threads, progress, context);
    const int code =
        chunks_join(&job->subject, job->chunks, job->chunk_count, (int64_t)job->count, !job->items, stats, diag);
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
        struct job job = {.subject = subject, .items = items, .count = count, .initial = initial};
        code = compare_codes(&job, threads, all_codes ? NULL : progress, context, stats, diag);
        free(items);
    }
    if (code == EXIT_DONE && (all_codes || !wide)) {
        struct job job = {.subject = subject, .count = (uint64_t)codes, .initial = initial, .smooth = wide};
        if (wide) {
            /* Just below what some code attains, so that only codes near the maximum are candidates for it. */
            job.initial.max_err = nextafter(stats->max_err, -1);
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
    const long double target = target_unclipped(function, &table->in, &table->out, table->outside, q_x);
    return (double)fabsl((long double)packed_eval(packed, q_x) - clip(&table->out, target));
}
