/* SPDX-License-Identifier: Apache-2.0 */
#include "wide.h"

#include "span.h"

static size_t wide_size(const pwl_job *job)
{
    pwl_span_walk walk;
    pwl_span span;
    if (job->table->storage != PWL_INT32 || !pwl_span_overlaps(job))
        return 0;
    pwl_span_begin(&walk, job);
    while (pwl_span_next(&walk, &span)) {
        const int64_t slope = (int64_t)span.slope;
        if (slope != (int32_t)slope || !pwl_span_is_wide(&walk, &span))
            return 0;
    }
    return sizeof(pwl_wide);
}

static void prepare(const pwl_job *job, void *memory)
{
    pwl_wide *const wide = (pwl_wide *)memory;
    const pwl_table *const table = job->table;
    const int64_t middle_x = pwl_type_middle(job->in), middle_y = pwl_type_middle(job->out);
    pwl_span_walk walk;
    pwl_span span;
    int i, lines = 0;
    wide->low = (int32_t)pwl_span_clip(job, table->qmin_x - middle_x);
    wide->high = (int32_t)pwl_span_clip(job, table->qmax_x - middle_x);
    wide->min_y = table->qmin_y - middle_y;
    wide->max_y = table->qmax_y - middle_y;
    wide->flip_x = (uint32_t)middle_x;
    wide->flip_y = (uint32_t)middle_y;
    wide->even = (uint8_t)pwl_is_even(table);
    for (i = 0; i < PWL_WIDE_LINES; i++) {
        wide->slope[i] = wide->n[i] = 0;
        wide->pre[i] = wide->post[i] = 0;
        wide->last[i] = INT32_MAX;
    }
    pwl_span_begin(&walk, job);
    while (pwl_span_next(&walk, &span)) {
        wide->slope[lines] = (int32_t)(uint32_t)span.slope;
        wide->n[lines] = (int32_t)span.n;
        wide->pre[lines] = (int64_t)span.pre;
        wide->post[lines] = (int64_t)span.post;
        wide->last[lines++] = (int32_t)pwl_span_clip(job, span.last);
    }
    wide->last[lines - 1] = INT32_MAX;
    wide->capacity = lines <= 16 ? 16 : 32;
    wide->steps = (uint8_t)pwl_span_cells(wide->last, wide->capacity, INT32_MIN, PWL_WIDE_CELL_BITS, PWL_WIDE_CELLS,
                                          PWL_S32, wide->cell);
}

const pwl_kind pwl_kind_wide = {PWL_TABLES, 4, 4, wide_size, prepare, NULL};
