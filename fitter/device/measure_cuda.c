/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every code on a CUDA device: the library (sweep.cu) measures runs of codes in double, and lists what it cannot
 * decide. Here its runs become the chunks that measure.c would have made:
 *
 * - the codes of a list are added by the host's reference;
 * - runs that may hold the largest error, or the first code of the largest distance in whole codes, and runs whose list
 *   is too short, are measured by the host alone;
 * - each run's first target, and all values of those that the host measures, are compared with the host's own: a
 *   device that computes something else is an error.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/jobs.h"
#include "cuda_library.h"
#include "measure_cuda.h"
#include "measure/comparison.h"
#include "measure/smooth.h"
#include "sweep_code.h"
#include "table/array_plan.h"

struct comparison {
    struct subject subject;
    struct sweep_task task;
    bool wide;
    size_t count; /* of runs, and of chunks */
    struct sweep_run *runs;
    struct chunk *chunks, initial;
    bool *whole;   /* runs that the host measures */
    size_t *again; /* their numbers */
    bool *differs; /* runs in which the device's values are not the host's */
};

static const struct double_error device_errors[] = {FUNCTIONS(DOUBLE_MARGIN)};

static int task_make(const struct subject *subject, struct sweep_task *task, struct diag *diag)
{
    const struct table *table = subject->table;
    const struct function *function = subject->function;
    const struct code_domain *domain = &subject->domain;
    int id = 0;
    /* By name: with MPFR's values, a function has an info of its own. */
    while (id < DOUBLE_FUNCTION_COUNT && strcmp(function_name(function), function_table[id].name) != 0)
        id++;
    if (id == DOUBLE_FUNCTION_COUNT)
        return diag_set(diag, EXIT_USAGE, "--device cuda: %s is no built-in function; must be --device cpu",
                        function_name(function));
    if (subject->packed->is_reduced)
        return diag_set(diag, EXIT_USAGE, "--device cuda: the table is reduced; must be --device cpu");
    *task = (struct sweep_task){
        .qmin_x = table->in.qmin,
        .count = table->in.qmax - table->in.qmin + 1,
        .first = domain->first,
        .last = domain->last,
        .hole = domain->has_hole ? domain->hole : domain->first,
        .hole_stands = domain->has_hole ? domain->hole_stands : domain->first,
        .zp_x = table->in.zero_point,
        .zp_y = table->out.zero_point,
        .qmin_y = table->out.qmin,
        .qmax_y = table->out.qmax,
        .scale_x = (double)table->in.scale.value, /* a double, as it was read */
        .inverse_scale_y = (double)(1 / table->out.scale.value),
        .function = (enum double_function)id,
        .parameter = function->parameters[0],
        .error = device_errors[id],
        .in = element_type(table->in.bits, table->in.is_signed),
        .out = element_type(table->out.bits, table->out.is_signed),
    };
    return EXIT_DONE;
}

static int64_t run_first(const struct comparison *all, size_t run)
{
    return all->task.qmin_x + (int64_t)run * SWEEP_RUN;
}

static int64_t run_count(const struct comparison *all, size_t run)
{
    const int64_t left = all->task.count - (int64_t)run * SWEEP_RUN;
    return left < SWEEP_RUN ? left : SWEEP_RUN;
}

/* Which runs the host measures. Of the largest error d at_least is known: the largest distance in whole codes is at
 * least M = ceil(d - 1/2), and the first code that far off is in the first run that surely has one, or in one before it
 * that may. Runs that may reach M + 1 are among those that may hold the largest error. */
static void choose_runs(struct comparison *all)
{
    double at_least = -1;
    for (size_t k = 0; k < all->count; k++)
        at_least = fmax(at_least, all->runs[k].at_least);
    const double ulp = ceil(at_least - 0.5);
    bool found = !(ulp > 0);
    for (size_t k = 0; k < all->count; k++) {
        const struct sweep_run *run = &all->runs[k];
        all->whole[k] =
            run->undecided > SWEEP_UNDECIDED || run->at_most >= max_err_tied(&all->subject.table->out, at_least);
        all->whole[k] |= !found && run->at_most > ulp - 0.5;
        found |= run->at_least > ulp - 0.5;
    }
    /* Just below what counts as the error of some code, as chunk_add_run needs it. */
    all->initial = chunk_initial(&all->subject);
    if (at_least >= 0) {
        all->initial.max_err = nextafter(max_err_tied(&all->subject.table->out, at_least), -1);
        all->initial.max_ulp = ulp > 1 ? (int64_t)ulp - 1 : 0;
    }
}

static int compare_places(const void *left, const void *right)
{
    return *(const uint16_t *)left - *(const uint16_t *)right;
}

/* The chunk of a run whose undecided codes are all listed, in any order, which sums must not depend on. */
static void settle_run(struct comparison *all, size_t k)
{
    struct sweep_run *run = &all->runs[k];
    struct chunk chunk = all->initial;
    qsort(run->code, run->undecided, sizeof *run->code, compare_places);
    chunk.backward = run->backward;
    for (uint32_t i = 0; i < run->undecided; i++) {
        const int64_t q = run_first(all, k) + run->code[i];
        const struct point point = point_at(&all->subject, q, true);
        chunk_add_point(&chunk, &all->subject, &point);
        if (!chunk.backward)
            chunk.backward = steps_backward_at(&all->subject, q);
    }
    chunk.sum = dd_plus(chunk.sum, run->sum);
    chunk.signed_sum = dd_plus(chunk.signed_sum, run->signed_sum);
    chunk.sum_of_squares = dd_plus(chunk.sum_of_squares, run->sum_of_squares);
    chunk.averaged += run->averaged;
    chunk.correct += run->correct;
    chunk.saturated += run->saturated;
    all->chunks[k] = chunk;
}

/* The chunk of a run that the host measures, and whether the device's values are the host's. */
static void measure_run(void *context, int index)
{
    struct comparison *all = context;
    const size_t k = all->again[index];
    const int64_t first = run_first(all, k), count = run_count(all, k);
    uint64_t hash = 0;
    all->chunks[k] = all->initial;
    chunk_add_codes(&all->chunks[k], &all->subject, first, count, all->wide);
    for (int64_t q = first; q < first + count; q++)
        hash += sweep_hash(q, packed_eval(all->subject.packed, q));
    all->differs[k] = hash != all->runs[k].hash;
}

/* Whether the device's target of a run's first code is within its margin of the host's. */
static bool probe_holds(const struct comparison *all, size_t k)
{
    const int64_t q = run_first(all, k);
    const struct dd target = subject_target(&all->subject, subject_value(&all->subject, q));
    const double probe = all->runs[k].probe;
    if (isnan(target.hi) || isnan(probe))
        return isnan(target.hi) && isnan(probe);
    return isinf(probe) ? fabs(target.hi) > 0x1p900 && (target.hi > 0) == (probe > 0)
                        : fabs(dd_plus(target, -probe).hi) <= sweep_target_at(&all->task, q).margin;
}

/* Every code is counted once: nothing was lost on the way. */
static bool run_is_whole(const struct comparison *all, size_t k)
{
    const struct sweep_run *run = &all->runs[k];
    return (int64_t)run->averaged + run->undecided == run_count(all, k);
}

static int settle(struct comparison *all, struct error_stats *stats, struct diag *diag)
{
    size_t again = 0;
    for (size_t k = 0; k < all->count; k++) {
        if (!run_is_whole(all, k) || !probe_holds(all, k))
            return diag_set(diag, EXIT_IO,
                            "--device cuda: the device's targets from code %" PRId64 " (%.17g) are not the host's; "
                            "must be --device cpu",
                            run_first(all, k), all->runs[k].probe);
    }
    choose_runs(all);
    for (size_t k = 0; k < all->count; k++) {
        if (all->whole[k])
            all->again[again++] = k;
        else
            settle_run(all, k);
    }
    jobs_run((int)again, jobs_default(), measure_run, all, "runs of codes");
    for (size_t i = 0; i < again; i++) {
        if (all->differs[all->again[i]])
            return diag_set(diag, EXIT_IO,
                            "--device cuda: the device's values of codes %" PRId64 " to %" PRId64
                            " are not the runtime's; must be --device cpu",
                            run_first(all, all->again[i]),
                            run_first(all, all->again[i]) + run_count(all, all->again[i]) - 1);
    }
    const struct chunk_codes codes = {NULL, (uint64_t)all->task.count, SWEEP_RUN};
    return chunks_join(&all->subject, all->chunks, all->count, &codes, stats, diag);
}

static int compare_all(struct comparison *all, const struct library *library, measure_progress *progress,
                       void *context, struct error_stats *stats, struct diag *diag)
{
    library_entry *function;
    char message[400] = "";
    if (library_function(library, "pwlc_cuda_sweep", &function, diag) != EXIT_DONE)
        return diag->code;
    all->runs = calloc(all->count, sizeof *all->runs);
    all->chunks = calloc(all->count, sizeof *all->chunks);
    all->whole = calloc(all->count, sizeof *all->whole);
    all->again = calloc(all->count, sizeof *all->again);
    all->differs = calloc(all->count, sizeof *all->differs);
    if (!all->runs || !all->chunks || !all->whole || !all->again || !all->differs)
        return diag_set(diag, EXIT_IO, "out of memory while comparing codes");
    const int code = ((pwlc_cuda_sweep_function *)function)(&all->subject.packed->table, &all->task, all->runs,
                                                            progress, context, message, sizeof message);
    if (code != EXIT_DONE)
        return diag_set(diag, code, "--device cuda: %s", message);
    return settle(all, stats, diag);
}

int measure_on_cuda(const struct table *table, const struct packed_table *packed, const struct function *function,
                    const struct library *library, measure_progress *progress, void *context,
                    struct error_stats *stats, struct diag *diag)
{
    struct comparison all = {.wide = table->in.qmax - table->in.qmin >= MEASURE_EVERY_CODE};
    int code = subject_make(table, packed, function, &all.subject, diag);
    if (code == EXIT_DONE)
        code = task_make(&all.subject, &all.task, diag);
    if (code != EXIT_DONE)
        return code;
    all.count = (size_t)((all.task.count + SWEEP_RUN - 1) / SWEEP_RUN);
    code = compare_all(&all, library, progress, context, stats, diag);
    free(all.runs);
    free(all.chunks);
    free(all.whole);
    free(all.again);
    free(all.differs);
    return code;
}
