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
    walk->from_s = pwl_type_middle(job->in) - job->table->qmin_x;
}

int pwl_span_next(pwl_span_walk *walk, pwl_span *next)
{
    const pwl_table *const table = walk->job->table;
    while (walk->more) {
        const pwl_plain_line *const line = &walk->line[walk->turn];
        pwl_plain_line *const after = &walk->line[walk->turn ^= 1];
        walk->more = pwl_plain_next(&walk->lines, after);
        next->first = (int64_t)line->start - walk->from_s;
        next->last = (walk->more ? (int64_t)after->start - 1 : table->qmax_x - table->qmin_x) - walk->from_s;
        next->of = &line->of;
        if (next->last >= type_lowest(walk->job) && next->first <= -1 - type_lowest(walk->job))
            return 1;
    }
    return 0;
}

pwl_bounds pwl_span_bounds(const pwl_span_walk *walk, const pwl_span *span)
{
    return pwl_bounds_of(walk->job->table, span->of, (uint32_t)(span->first + walk->from_s),
                         (uint32_t)(span->last + walk->from_s));
}

int pwl_span_cells(const pwl_job *job, const int32_t *last, int capacity, int cell_bits, int cells, int32_t *cell)
{
    int k, steps = 0, line = 0, most = 0;
    for (k = 0; k < cells; k++) {
        const int64_t first = type_lowest(job) + ((int64_t)k << cell_bits), end = first + ((int64_t)1 << cell_bits) - 1;
        int beyond;
        while (first > last[line])
            line++;
        for (beyond = line; end > last[beyond]; beyond++)
            ;
        cell[k] = line;
        most = beyond - line > most ? beyond - line : most;
    }
    while (most >> steps)
        steps++;
    for (k = 0; k < cells; k++) {
        const int highest = capacity + 1 - (1 << steps);
        cell[k] = cell[k] < highest ? cell[k] : highest;
    }
    return steps;
}
