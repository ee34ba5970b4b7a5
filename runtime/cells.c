/* SPDX-License-Identifier: Apache-2.0 */
#include "cells.h"

#include <pwl/fixed.h>

#include "span.h"
#include "ways.h"

/* So many cells for each line, or more, and at most MOST_CELLS of them. */
enum { CELLS_OF_A_LINE = 8, MOST_CELLS = 4096 };

/* Where the arrays lie. */
typedef struct layout {
    uint32_t lines, lasts, cells, end;
    uint32_t capacity, cell_count; /* powers of two: of last[], more than lines, and of cells */
} layout;

static layout layout_of(const pwl_job *job)
{
    layout of;
    for (of.capacity = 2; of.capacity < job->lines; of.capacity *= 2)
        ;
    of.cell_count = CELLS_OF_A_LINE * of.capacity;
    if (of.cell_count > MOST_CELLS)
        of.cell_count = MOST_CELLS;
    of.lines = ((uint32_t)sizeof(pwl_cells_table) + PWL_KIND_ALIGNMENT - 1) / PWL_KIND_ALIGNMENT * PWL_KIND_ALIGNMENT;
    of.lasts = of.lines + (uint32_t)sizeof(pwl_cells_line) * job->lines;
    of.cells = of.lasts + (uint32_t)sizeof(int32_t) * of.capacity;
    of.end = of.cells + (uint32_t)sizeof(uint16_t) * (of.cell_count + 1);
    return of;
}

static size_t cells_size(const pwl_job *job)
{
    pwl_span_walk walk;
    pwl_span span;
    if (!pwl_span_overlaps(job))
        return 0;
    pwl_span_begin(&walk, job);
    while (pwl_span_next(&walk, &span))
        if (!pwl_span_is_wide(&walk, &span))
            return 0;
    return layout_of(job).end;
}

static void prepare(const pwl_job *job, void *memory)
{
    pwl_cells_table *const made = (pwl_cells_table *)memory;
    const layout at = layout_of(job);
    pwl_cells_line *const lines = (pwl_cells_line *)(void *)((char *)memory + at.lines);
    int32_t *const lasts = (int32_t *)(void *)((char *)memory + at.lasts);
    uint16_t *const cells = (uint16_t *)(void *)((char *)memory + at.cells);
    const pwl_table *const table = job->table;
    const int64_t middle_x = pwl_type_middle(job->in), middle_y = pwl_type_middle(job->out);
    pwl_span_walk walk;
    pwl_span span;
    uint32_t i = 0;
    int steps;
    made->lines = at.lines;
    made->lasts = at.lasts;
    made->cells = at.cells;
    made->low = (int32_t)pwl_span_clip(job, table->qmin_x - middle_x);
    made->high = (int32_t)pwl_span_clip(job, table->qmax_x - middle_x);
    made->min_y = table->qmin_y - middle_y;
    made->max_y = table->qmax_y - middle_y;
    made->flip_x = (uint32_t)middle_x;
    made->flip_y = (uint32_t)middle_y;
    made->even = (uint8_t)pwl_is_even(table);
    made->is_long = made->cell_bits = 0;
    while (((uint32_t)made->high - (uint32_t)made->low) >> made->cell_bits >= at.cell_count)
        made->cell_bits++;
    pwl_span_begin(&walk, job);
    while (pwl_span_next(&walk, &span)) {
        lines[i].slope = span.slope;
        lines[i].pre = span.pre + ((uint64_t)1 << 63);
        lines[i].post = span.post - ((uint64_t)1 << (63 - span.n));
        lines[i].n = (uint64_t)span.n;
        made->is_long |= (int64_t)span.slope != (int32_t)(uint32_t)span.slope;
        lasts[i++] = (int32_t)pwl_span_clip(job, span.last);
    }
    for (i--; i < at.capacity; i++)
        lasts[i] = INT32_MAX;
    steps = pwl_span_cells(lasts, at.capacity, made->low, made->cell_bits, at.cell_count, PWL_U16, cells);
    made->steps = (uint8_t)(steps > 0 ? steps : 1);
    cells[at.cell_count] = 0;
}

const pwl_kind pwl_kind_cells = {PWL_TABLES, 4, 4, cells_size, prepare, NULL};

enum { BLOCK = 16 };

INLINE void map(const pwl_cells_table *made, const uint32_t *x, uint32_t *y, int count, int steps, int even)
{
    uint32_t i[BLOCK];
    int32_t s[BLOCK];
    int k;
    for (k = 0; k < count; k++)
        s[k] = pwl_cells_code(made, x[k]);
    pwl_cells_find(made, s, i, count, steps);
    for (k = 0; k < count; k++)
        y[k] = (uint32_t)pwl_sat(pwl_cells_value(made, i[k], s[k], even), made->min_y, made->max_y) ^ made->flip_y;
}

INLINE void run(const pwl_cells_table *made, const uint32_t *x, uint32_t *y, size_t count, int steps, int even)
{
    for (; count >= BLOCK; count -= BLOCK, x += BLOCK, y += BLOCK)
        map(made, x, y, BLOCK, steps, even);
    map(made, x, y, (int)count, steps, even);
}

void pwl_cells(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_cells_table *const made = (const pwl_cells_table *)plan->memory;
    const uint32_t *const codes = (const uint32_t *)x;
    uint32_t *const values = (uint32_t *)y;
    if (made->even)
        run(made, codes, values, count, made->steps, 1);
    else if (made->steps == 1)
        run(made, codes, values, count, 1, 0);
    else
        run(made, codes, values, count, made->steps, 0);
}
