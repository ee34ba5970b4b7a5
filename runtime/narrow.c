/* SPDX-License-Identifier: Apache-2.0 */
#include "narrow.h"

static int fits_int32(int64_t v)
{
    return v == (int32_t)v;
}

/* Whether what is shifted, with `post` as part of it, is an int32. */
static int sum_fits(const pwl_span *span, int64_t post)
{
    const int64_t addend = post * ((int64_t)1 << span->n);
    return span->fits && fits_int32(span->least_sum + addend) && fits_int32(span->greatest_sum + addend);
}

/* Lines that have begun in the last line's cell, for each size of cells. */
typedef struct begun {
    int32_t cell[PWL_NARROW_CELL_SIZES];
    uint16_t lines[PWL_NARROW_CELL_SIZES];
} begun;

/* Tables of 16 bits at most have 18 for codes. */
static void begin_line(begun *in, int32_t first, pwl_narrow_facts *found)
{
    int k;
    for (k = 0; k < PWL_NARROW_CELL_SIZES; k++) {
        const int32_t cell = first >> (k + PWL_NARROW_LEAST_CELL_BITS);
        in->lines[k] = (uint16_t)((cell == in->cell[k] ? in->lines[k] : 0) +
                                  (first != cell * ((int32_t)1 << (k + PWL_NARROW_LEAST_CELL_BITS))));
        in->cell[k] = cell;
        found->begun[k] = in->lines[k] > found->begun[k] ? in->lines[k] : found->begun[k];
    }
}

void pwl_narrow_look(const pwl_job *job, pwl_narrow_facts *found)
{
    const int64_t middle = pwl_type_middle(job->out);
    pwl_span_walk walk;
    pwl_span span;
    begun in;
    int k;
    found->serves = job->table->storage != PWL_INT32 && pwl_span_overlaps(job);
    found->takes_post = !pwl_is_even(job->table);
    for (k = 0; k < PWL_NARROW_CELL_SIZES; k++) {
        in.cell[k] = INT32_MIN;
        in.lines[k] = found->begun[k] = 0;
    }
    if (!found->serves)
        return;
    pwl_span_begin(&walk, job);
    while (found->serves && pwl_span_next(&walk, &span)) {
        const int64_t slope = (int64_t)span.slope;
        found->serves = slope == (int16_t)slope && sum_fits(&span, 0) && fits_int32(span.least_value - middle) &&
                        fits_int32(span.greatest_value - middle);
        found->takes_post =
            found->takes_post && sum_fits(&span, (int32_t)(uint32_t)(span.post + (uint64_t)middle) - middle);
        begin_line(&in, (int32_t)span.first, found);
    }
}

static size_t narrow_size(const pwl_job *job)
{
    pwl_narrow_facts found;
    pwl_narrow_look(job, &found);
    return found.serves ? sizeof(pwl_narrow) : 0;
}

pwl_narrow_line pwl_narrow_line_of(const pwl_span *span, int has_post)
{
    pwl_narrow_line of;
    of.slope_n = (uint32_t)span->n << 16 | (uint32_t)(span->slope & UINT16_MAX);
    of.pre = (uint32_t)(span->pre + (has_post ? 0 : span->post << span->n));
    of.post = has_post ? (uint32_t)span->post : 0;
    return of;
}

static void fill(const pwl_job *job, int has_post, void *memory)
{
    pwl_narrow *const narrow = (pwl_narrow *)memory;
    const pwl_table *const table = job->table;
    const int64_t middle_x = pwl_type_middle(job->in), middle_y = pwl_type_middle(job->out);
    pwl_span_walk walk;
    pwl_span span;
    int32_t last[PWL_NARROW_LINES];
    int i, lines = 0;
    narrow->low = (int16_t)pwl_span_clip(job, table->qmin_x - middle_x);
    narrow->high = (int16_t)pwl_span_clip(job, table->qmax_x - middle_x);
    narrow->min_y = (int16_t)(table->qmin_y - middle_y);
    narrow->max_y = (int16_t)(table->qmax_y - middle_y);
    narrow->flip_x = (uint16_t)middle_x;
    narrow->flip_y = (uint16_t)middle_y;
    narrow->even = (uint8_t)pwl_is_even(table);
    narrow->has_post = (uint8_t)has_post;
    for (i = 0; i < PWL_NARROW_LINES; i++) {
        narrow->slope_n[i] = narrow->pre[i] = narrow->post[i] = 0;
        last[i] = INT16_MAX;
    }
    pwl_span_begin(&walk, job);
    while (pwl_span_next(&walk, &span)) {
        const pwl_narrow_line line = pwl_narrow_line_of(&span, narrow->has_post);
        narrow->slope_n[lines] = line.slope_n;
        narrow->pre[lines] = line.pre;
        narrow->post[lines] = line.post;
        last[lines++] = (int32_t)pwl_span_clip(job, span.last);
    }
    last[lines - 1] = INT16_MAX;
    narrow->capacity = lines <= 16 ? 16 : 32;
    narrow->steps = (uint8_t)pwl_span_cells(last, narrow->capacity, INT16_MIN, PWL_NARROW_CELL_BITS, PWL_NARROW_CELLS,
                                            PWL_S16, narrow->cell);
    for (i = 0; i < PWL_NARROW_LINES; i++)
        narrow->last[i] = (int16_t)last[i];
}

static void prepare(const pwl_job *job, void *memory)
{
    pwl_narrow_facts found;
    pwl_narrow_look(job, &found);
    fill(job, !found.takes_post, memory);
}

const pwl_kind pwl_kind_narrow = {PWL_TABLES, 2, 2, narrow_size, prepare, NULL};
