/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "comparison.h"

#include <inttypes.h>
#include <math.h>

#include "function/samples.h"

/* By how much errors differ that are equal by the formula: some of the last bits of f, of targets as large as the
 * outputs' range, and no less than the doubles that they become. */
#define TARGET_NOISE 0x1p-59 /* of that range */
#define LEAST_TIE 1e-12      /* LSB */

struct dd subject_value(const struct subject *subject, int64_t q)
{
    return function_at(subject->function, tensor_at(&subject->table->in, code_domain_nearest(&subject->domain, q)));
}

struct dd subject_target(const struct subject *subject, struct dd value)
{
    return target_of_value(&subject->table->out, value);
}

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
    const struct dd x_a = tensor_at(in, a), x_b = tensor_at(in, b);
    if (function->samples) {
        const struct samples *samples = function->samples;
        size_t low = 0, high = samples->count; /* the first sample beyond x_a lies in [low, high] */
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (dd_less(x_a, dd_of(samples->x[middle])))
                high = middle;
            else
                low = middle + 1;
        }
        /* Both lie inside the samples, so the interval that holds x_a ends at low, or x_a is the last sample. */
        for (size_t i = low > 0 ? low : 1; i < samples->count && dd_less(dd_of(samples->x[i - 1]), x_b); i++) {
            if ((samples->y[i] - samples->y[i - 1]) * direction <= 0)
                return false;
        }
        return true;
    }
    const struct dd x_middle = tensor_at(in, a + (b - a) / 2);
    return function_derivative_at(function, x_a).hi * direction > 0 &&
           function_derivative_at(function, x_b).hi * direction > 0 && function_defined_at(function, x_middle) &&
           function_derivative_at(function, x_middle).hi * direction > 0;
}

static double noise_at(const struct subject *subject, const struct point *point)
{
    const struct dd x = tensor_at(&subject->table->in, code_domain_nearest(&subject->domain, point->q));
    return function_noise(subject->function, x, point->value);
}

bool steps_backward(const struct subject *subject, const struct point *from, const struct point *to)
{
    if (to->y == from->y)
        return false;
    /* How far f goes against the step; within its own accuracy it has no direction. */
    const int step = to->y > from->y ? 1 : -1;
    const double against = -step * dd_sub(to->value, from->value).hi;
    if (!(against > 0) || !(against > noise_at(subject, from) + noise_at(subject, to)))
        return false;
    return to->q == from->q + 1 || one_direction(subject, from->q, to->q, -step);
}

void chunk_add_point(struct chunk *chunk, const struct subject *subject, const struct point *point)
{
    const struct tensor *out = &subject->table->out;
    const struct dd target = subject_target(subject, point->value);
    if (isnan(target.hi) || (subject->function->expression && isinf(target.hi))) {
        if (!chunk->has_no_value)
            chunk->no_value_at = point->q;
        chunk->has_no_value = true;
        return;
    }
    const struct dd clipped = target_clipped(out, target), difference = target_missed(clipped, point->y),
                    distance = dd_abs(difference);
    const double err = distance.hi;
    if (err > chunk->max_err)
        chunk->max_err = err;
    if (dd_less(dd_of((double)chunk->max_ulp + 0.5), distance)) {
        /* From the nearest code; of two equally near, the one on q_y's side. At most 2^32. */
        const struct dd beyond = dd_plus(distance, -0.5);
        chunk->max_ulp = (int64_t)ceil(beyond.hi) + (beyond.lo > 0 && beyond.hi == ceil(beyond.hi));
        chunk->max_ulp_at = point->q;
    }
    chunk->saturated += clipped.hi != target.hi || clipped.lo != target.lo;
    if (point->averaged) {
        chunk->sum = dd_plus(chunk->sum, err);
        chunk->signed_sum = dd_plus(chunk->signed_sum, difference.hi);
        chunk->sum_of_squares = dd_plus(chunk->sum_of_squares, err * err);
        chunk->correct += !dd_less(dd_of(0.5), distance);
        chunk->averaged++;
    }
}

void chunk_save(const struct chunk *chunk, struct text *record)
{
    record_add_dd(record, chunk->sum);
    record_add_dd(record, chunk->sum_of_squares);
    record_add_dd(record, chunk->signed_sum);
    record_add_integer(record, chunk->averaged);
    record_add_integer(record, chunk->correct);
    record_add_integer(record, chunk->saturated);
    record_add_real(record, chunk->max_err);
    record_add_integer(record, chunk->max_ulp);
    record_add_integer(record, chunk->max_ulp_at);
    record_add_integer(record, chunk->backward);
    record_add_integer(record, chunk->has_no_value);
    record_add_integer(record, chunk->no_value_at);
}

struct chunk chunk_load(struct record *record)
{
    struct chunk chunk;
    chunk.sum = record_dd(record);
    chunk.sum_of_squares = record_dd(record);
    chunk.signed_sum = record_dd(record);
    chunk.averaged = record_integer(record);
    chunk.correct = record_integer(record);
    chunk.saturated = record_integer(record);
    chunk.max_err = record_real(record);
    chunk.max_ulp = record_integer(record);
    chunk.max_ulp_at = record_integer(record);
    chunk.backward = record_integer(record) != 0;
    chunk.has_no_value = record_integer(record) != 0;
    chunk.no_value_at = record_integer(record);
    return chunk;
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

double max_err_tied(const struct tensor *out, double max_err)
{
    return max_err - fmax(LEAST_TIE, TARGET_NOISE * (double)(out->qmax - out->qmin));
}

int64_t chunk_code(const struct subject *subject, const struct chunk_codes *codes, uint64_t place)
{
    return subject->table->in.qmin + (int64_t)(codes->items ? codes->items[place] / 2 : place);
}

static double error_at(const struct subject *subject, int64_t q)
{
    const struct dd target = subject_target(subject, subject_value(subject, q));
    return fabs(target_missed(target_clipped(&subject->table->out, target), packed_eval(subject->packed, q)).hi);
}

static int64_t lowest_of_largest(const struct subject *subject, const struct chunk *chunks,
                                 const struct chunk_codes *codes, double max_err)
{
    const double least = max_err_tied(&subject->table->out, max_err);
    size_t k = 0;
    while (chunks[k].max_err < least)
        k++;
    uint64_t place = k * codes->chunk_size;
    while (place + 1 < codes->count && error_at(subject, chunk_code(subject, codes, place)) < least)
        place++;
    return chunk_code(subject, codes, place);
}

int chunks_join(const struct subject *subject, const struct chunk *chunks, size_t count,
                const struct chunk_codes *codes, struct error_stats *stats, struct diag *diag)
{
    struct chunk all = chunks[0];
    for (size_t i = 1; i < count; i++) {
        const struct chunk *chunk = &chunks[i];
        all.sum = dd_add(all.sum, chunk->sum);
        all.signed_sum = dd_add(all.signed_sum, chunk->signed_sum);
        all.sum_of_squares = dd_add(all.sum_of_squares, chunk->sum_of_squares);
        all.averaged += chunk->averaged;
        all.correct += chunk->correct;
        all.saturated += chunk->saturated;
        if (chunk->max_err > all.max_err)
            all.max_err = chunk->max_err;
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
    const struct dd averaged = dd_of((double)all.averaged);
    const double mean_abs = dd_div(all.sum, averaged).hi;
    const bool balanced = fabs(all.signed_sum.hi) <= BIAS_RESOLUTION * all.sum.hi;
    *stats = (struct error_stats){
        .checked = (int64_t)codes->count,
        .exhaustive = !codes->items,
        .max_err = all.max_err,
        .max_err_at = lowest_of_largest(subject, chunks, codes, all.max_err),
        .rms = root_mean_square(dd_div(all.sum_of_squares, averaged), mean_abs),
        .mean_abs = mean_abs,
        .bias = balanced ? 0 : dd_div(all.signed_sum, averaged).hi,
        .max_ulp = all.max_ulp,
        .max_ulp_at = all.max_ulp_at,
        .correctly_rounded = (double)all.correct / averaged.hi,
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
