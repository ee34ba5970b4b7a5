/* SPDX-License-Identifier: Apache-2.0 */
#include "span.h"

static int64_t type_lowest(const pwl_job *job)
{
    return -((int64_t)1 << ((8 << pwl_type_bytes_log2(job->in)) - 1));
}

int64_t pwl_span_clip(const pwl_job *job, int64_t v)
{
    return pwl_sat(v, type_lowest(job), -1 - type_lowest(job));
}

int pwl_span_overlaps(const pwl_job *job)
{
    const int64_t low = job->table->qmin_x - pwl_type_middle(job->in);
    const int64_t high = job->table->qmax_x - pwl_type_middle(job->in);
    return low <= -1 - type_lowest(job) && high >= type_lowest(job);
}

void pwl_span_begin(pwl_span_walk *walk, const pwl_job *job)
{
    walk->job = job;
    pwl_plain_begin(&walk->lines, job->table);
    walk->turn = 0;
    walk->more = pwl_plain_next(&walk->lines, &walk->line[0]);
    walk->follows = walk->more && pwl_plain_next(&walk->lines, &walk->line[1]);
    walk->next = 0;
    walk->from_s = pwl_type_middle(job->in) - job->table->qmin_x;
}

/* What a plain line shifts at u. */
static int64_t sum_of(const pwl_plain64 *line, uint64_t u)
{
    return (int64_t)(line->slope * u + line->pre);
}

/* The last u of [first, last] at which p has the sign that it has at first. */
static uint64_t last_of_sign(const pwl_plain64 *line, uint64_t first, uint64_t last)
{
    const int negative = sum_of(line, first) < 0;
    while (first < last) {
        const uint64_t middle = last - (last - first) / 2;
        if ((sum_of(line, middle) < 0) == negative)
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

/* The span of a plain line from u = first to last, along which p keeps its sign where that counts. */
static void make_span(const pwl_span_walk *walk, const pwl_plain64 *line, uint64_t first, uint64_t last, pwl_span *span)
{
    const int rounding = pwl_plain_rounding_of(walk->job->table), even = rounding == PWL_PLAIN_EVEN;
    const int n = (int)(line->n & 63), negated = line->n / PWL_PLAIN_NEGATED != 0;
    const int64_t half = n > 0 ? (int64_t)1 << (n - 1) : 0, end[2] = {sum_of(line, first), sum_of(line, last)};
    const int64_t addend = rounding == PWL_PLAIN_DOWN || n == 0 ? 0 : half - (!even && end[0] < 0);
    int64_t sum[2], value[2];
    int k;
    span->first = (int64_t)first - walk->from_s;
    span->last = (int64_t)last - walk->from_s;
    span->slope = negated ? 0 - line->slope : line->slope;
    span->pre = line->pre + (uint64_t)addend;
    span->post = line->post;
    span->n = n;
    span->fits = 1;
    if (negated && even) {
        span->pre = (uint64_t)addend - line->pre;
        span->fits = end[0] >= half - INT64_MAX && end[1] >= half - INT64_MAX;
    } else if (negated) {
        span->pre = ~span->pre;
        span->post++;
    }
    for (k = 0; k < 2; k++) {
        sum[k] = (int64_t)(span->slope * (k ? last : first) + span->pre);
        value[k] = (int64_t)((uint64_t)pwl_span_shift(sum[k], n, even) + span->post);
    }
    k = sum[1] < sum[0];
    span->least_sum = sum[k];
    span->greatest_sum = sum[!k];
    k = value[1] < value[0];
    span->least_value = value[k];
    span->greatest_value = value[!k];
    span->pre += span->slope * (uint64_t)walk->from_s;
    span->post -= (uint64_t)pwl_type_middle(walk->job->out);
}

int pwl_span_next(pwl_span_walk *walk, pwl_span *next)
{
    const pwl_table *const table = walk->job->table;
    while (walk->more) {
        const pwl_plain64 *const line = &walk->line[walk->turn].of;
        pwl_plain_line *const after = &walk->line[walk->turn ^ 1];
        const uint64_t end = (walk->follows ? after->start : (uint64_t)(table->qmax_x - table->qmin_x) + 1) - 1;
        const int is_cut = pwl_plain_rounding_of(table) == PWL_PLAIN_AWAY && (line->n & 63) != 0;
        const uint64_t last = is_cut ? last_of_sign(line, walk->next, end) : end;
        make_span(walk, line, walk->next, last, next);
        walk->next = last + 1;
        if (last == end) {
            walk->turn ^= 1;
            walk->more = walk->follows;
            walk->follows = walk->follows && pwl_plain_next(&walk->lines, &walk->line[walk->turn ^ 1]);
        }
        if (next->last >= type_lowest(walk->job) && next->first <= -1 - type_lowest(walk->job))
            return 1;
    }
    return 0;
}

int pwl_span_is_wide(const pwl_span_walk *walk, const pwl_span *span)
{
    return span->fits && span->least_value >= INT64_MIN + pwl_type_middle(walk->job->out);
}

uint32_t pwl_span_count(const pwl_table *table)
{
    pwl_job job;
    pwl_span_walk walk;
    pwl_span span;
    uint32_t count = 0;
    if (pwl_plain_rounding_of(table) != PWL_PLAIN_AWAY)
        return pwl_plain_count(table);
    job.table = table;
    job.in = table->qmin_x < 0 ? PWL_S32 : PWL_U32;
    job.out = PWL_S32;
    pwl_span_begin(&walk, &job);
    while (pwl_span_next(&walk, &span))
        count++;
    return count;
}

int pwl_span_cells(const int32_t *last, uint32_t capacity, int64_t lowest, int cell_bits, uint32_t cells, pwl_type type,
                   void *cell)
{
    const int64_t highest_code = last[capacity - 1];
    uint32_t k, line = 0, most = 0;
    int64_t highest;
    int steps = 0;
    for (k = 0; k < cells; k++) {
        const int64_t first = lowest + ((int64_t)k << cell_bits), beyond_cell = first + ((int64_t)1 << cell_bits);
        const int64_t end = beyond_cell <= highest_code ? beyond_cell - 1 : highest_code;
        uint32_t beyond;
        while (first > last[line] && first <= highest_code)
            line++;
        for (beyond = line; end > last[beyond]; beyond++)
            ;
        pwl_set_element_of(type, cell, k, line);
        most = beyond - line > most ? beyond - line : most;
    }
    while (most >> steps)
        steps++;
    highest = (int64_t)capacity + 1 - ((int64_t)1 << steps);
    for (k = cells; k > 0 && pwl_element_of(type, cell, k - 1) > highest; k--)
        pwl_set_element_of(type, cell, k - 1, highest);
    return steps;
}
