/* SPDX-License-Identifier: Apache-2.0 */
#include "cells16.h"

#include <pwl/plain.h>

#include "loop.h"
#include "narrow.h"
#include "span.h"
#include "ways.h"

/* How the lines of a job are laid out. */
typedef struct layout {
    int cell_bits, steps, has_post;
    uint32_t cells, lines, posts, lasts, end, capacity;
} layout;

/* As one walk over the lines found. */
static void lay_out(const pwl_job *job, const pwl_narrow_facts *found, layout *of)
{
    int cell = PWL_NARROW_CELL_SIZES - 1;
    while (cell > 0 && found->begun[cell] > 1)
        cell--;
    of->cell_bits = cell + PWL_NARROW_LEAST_CELL_BITS;
    of->steps = 1;
    while (found->begun[cell] >> of->steps)
        of->steps++;
    of->has_post = !found->takes_post;
    of->capacity = job->lines + (1u << of->steps);
    of->cells = ((uint32_t)sizeof(pwl_packed) + PWL_KIND_ALIGNMENT - 1) / PWL_KIND_ALIGNMENT * PWL_KIND_ALIGNMENT;
    of->lines = of->cells + (uint32_t)sizeof(uint32_t) * (65536u >> of->cell_bits);
    of->posts = of->lines + (uint32_t)sizeof(pwl_packed_line) * of->capacity;
    of->lasts = of->posts + (uint32_t)sizeof(uint32_t) * of->capacity;
    of->end = of->lasts + (uint32_t)sizeof(int32_t) * of->capacity;
}

NOT_INLINE static size_t end_of(const pwl_job *job, const pwl_narrow_facts *found)
{
    layout of;
    lay_out(job, found, &of);
    return of.end;
}

static size_t cells16_size(const pwl_job *job)
{
    pwl_narrow_facts found;
    pwl_narrow_look(job, &found);
    return found.serves ? end_of(job, &found) : 0;
}

/* Apart from the walk before it: the stack of two is not needed at once. */
NOT_INLINE static void fill(const pwl_job *job, const layout *at, void *memory)
{
    pwl_packed *const made = (pwl_packed *)memory;
    uint32_t *const cells = (uint32_t *)(void *)((char *)memory + at->cells);
    uint32_t *const posts = (uint32_t *)(void *)((char *)memory + at->posts);
    pwl_packed_line *const lines = (pwl_packed_line *)(void *)((char *)memory + at->lines);
    int32_t *const lasts = (int32_t *)(void *)((char *)memory + at->lasts);
    const pwl_table *const table = job->table;
    const int64_t middle_x = pwl_type_middle(job->in), middle_y = pwl_type_middle(job->out);
    const int cell_count = 65536 >> at->cell_bits;
    pwl_span_walk walk;
    pwl_span span;
    uint32_t i = 0;
    int k;
    made->cells = at->cells;
    made->lines = at->lines;
    made->posts = at->posts;
    made->lasts = at->lasts;
    made->low = (int16_t)pwl_span_clip(job, table->qmin_x - middle_x);
    made->high = (int16_t)pwl_span_clip(job, table->qmax_x - middle_x);
    made->min_y = (int16_t)(table->qmin_y - middle_y);
    made->max_y = (int16_t)(table->qmax_y - middle_y);
    made->flip_x = (uint16_t)middle_x;
    made->flip_y = (uint16_t)middle_y;
    made->cell_bits = (uint8_t)at->cell_bits;
    made->steps = (uint8_t)at->steps;
    made->even = (uint8_t)pwl_is_even(table);
    made->has_post = (uint8_t)at->has_post;
    pwl_span_begin(&walk, job);
    while (pwl_span_next(&walk, &span)) {
        const pwl_narrow_line line = pwl_narrow_line_of(&span, made->has_post);
        lines[i].slope_n = line.slope_n;
        lines[i].pre = line.pre;
        posts[i] = line.post;
        lasts[i++] = (int32_t)pwl_span_clip(job, span.last);
    }
    for (lasts[i - 1] = INT16_MAX; i < at->capacity; i++) {
        lines[i].slope_n = lines[i].pre = posts[i] = 0;
        lasts[i] = INT16_MAX;
    }
    (void)pwl_span_cells(lasts, at->capacity, INT16_MIN, at->cell_bits, (uint32_t)cell_count, PWL_U32, cells);
    for (k = 0; k < cell_count; k++)
        cells[k] = cells[k] << 16 | (uint16_t)lasts[cells[k] + (1u << (at->steps - 1)) - 1];
}

static void prepare(const pwl_job *job, void *memory)
{
    pwl_narrow_facts found;
    layout at;
    pwl_narrow_look(job, &found);
    lay_out(job, &found, &at);
    fill(job, &at, memory);
}

const pwl_kind pwl_kind_cells16 = {PWL_TABLES, 2, 2, cells16_size, prepare, NULL};

/* Codes at a time: no search waits for another's, where there is stack for many. */
#if UINTPTR_MAX > UINT32_MAX
enum { BLOCK = 16 };
#else
enum { BLOCK = 8 };
#endif

INLINE void map(const pwl_packed *made, const uint16_t *x, uint16_t *y, int count, int steps, int even, int has_post)
{
    const pwl_packed_arrays of = pwl_packed_arrays_of(made);
    const int32_t low = made->low, high = made->high, min_y = made->min_y, max_y = made->max_y;
    const uint32_t flip_x = made->flip_x, flip_y = made->flip_y;
    const int cell_bits = made->cell_bits;
    int32_t s[BLOCK];
    uint32_t i[BLOCK], step = 1u << (steps - 1);
    int k;
    for (k = 0; k < count; k++) {
        const int32_t code = (int16_t)(x[k] ^ flip_x), from_low = code < low ? low : code;
        uint32_t cell;
        s[k] = from_low > high ? high : from_low;
        cell = of.cells[(uint32_t)(s[k] - INT16_MIN) >> cell_bits];
        i[k] = (cell >> 16) + (s[k] > (int16_t)(cell & UINT16_MAX) ? step : 0);
    }
    while (step >>= 1)
        for (k = 0; k < count; k++)
            i[k] += s[k] > of.lasts[i[k] + step - 1] ? step : 0;
    for (k = 0; k < count; k++) {
        const int32_t v = pwl_packed_eval(&of, i[k], s[k], even, has_post), from_min = v < min_y ? min_y : v;
        y[k] = (uint16_t)((uint32_t)(from_min > max_y ? max_y : from_min) ^ flip_y);
    }
}

INLINE void run(const pwl_packed *made, const uint16_t *x, uint16_t *y, size_t count, int steps, int even, int has_post)
{
    for (; count >= BLOCK; count -= BLOCK, x += BLOCK, y += BLOCK)
        map(made, x, y, BLOCK, steps, even, has_post);
    map(made, x, y, (int)count, steps, even, has_post);
}

void pwl_cells16(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_packed *const made = (const pwl_packed *)plan->memory;
    const uint16_t *const codes = (const uint16_t *)x;
    uint16_t *const values = (uint16_t *)y;
#if PWL_MOST_BITS > 16
    if (made->steps == 1)
        PWL_RUN_ROUNDED(made->even, made->has_post, run, made, codes, values, count, 1);
    else
        PWL_RUN_ROUNDED(made->even, made->has_post, run, made, codes, values, count, made->steps);
#else /* small chips have less room than time */
    run(made, codes, values, count, made->steps, made->even, made->has_post);
#endif
}
