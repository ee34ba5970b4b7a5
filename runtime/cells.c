/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "cells": any table, in plain C. The cell of a code, by its top bits, knows the line at its first code, and the
 * next cell the last line that a search has to consider.
 */
#include <pwl/plain.h>

#include "kind.h"
#include "ways.h"

#define MOST_CELLS 256u

typedef struct cells {
    uint32_t shift;
    uint32_t starts, lines;        /* where the arrays lie, in bytes from here */
    uint16_t line[MOST_CELLS + 1]; /* and one that ends a search */
} cells;

static uint32_t shift_of(const pwl_table *table)
{
    uint32_t shift = 0;
    while ((uint64_t)(table->qmax_x - table->qmin_x) >> shift >= MOST_CELLS)
        shift++;
    return shift;
}

static size_t line_bytes(const pwl_job *job)
{
    return job->table->storage == PWL_INT32 ? sizeof(pwl_plain64) : sizeof(pwl_plain32);
}

static size_t lines_at(void)
{
    return (sizeof(cells) + PWL_KIND_ALIGNMENT - 1) / PWL_KIND_ALIGNMENT * PWL_KIND_ALIGNMENT;
}

static size_t cells_size(const pwl_job *job)
{
    return lines_at() + job->lines * (line_bytes(job) + sizeof(uint32_t));
}

static void prepare(const pwl_job *job, void *memory)
{
    cells *const made = (cells *)memory;
    const pwl_table *const table = job->table;
    char *const base = (char *)memory;
    uint32_t *starts;
    pwl_plain_walk walk;
    pwl_plain_line next;
    uint32_t i, cell, line = 0;
    made->shift = shift_of(table);
    made->lines = (uint32_t)lines_at();
    made->starts = made->lines + job->lines * (uint32_t)line_bytes(job);
    starts = (uint32_t *)(base + made->starts);
    pwl_plain_begin(&walk, table);
    for (i = 0; pwl_plain_next(&walk, &next); i++) {
        starts[i] = (uint32_t)next.start;
        if (table->storage == PWL_INT32) {
            pwl_plain64 *const to = (pwl_plain64 *)(base + made->lines) + i;
            to->slope = next.of.slope;
            to->pre = next.of.pre;
            to->post = next.of.post;
            to->n = next.of.n;
        } else {
            ((pwl_plain32 *)(base + made->lines))[i] = pwl_plain_cut(&next.of);
        }
    }
    for (cell = 0; cell <= MOST_CELLS; cell++) {
        while (line + 1 < job->lines && starts[line + 1] <= (uint64_t)cell << made->shift)
            line++;
        made->line[cell] = (uint16_t)line;
    }
}

const pwl_kind pwl_kind_cells = {PWL_TABLES, 4, 4, cells_size, prepare};

static uint32_t find(const cells *made, const uint32_t *starts, uint32_t u)
{
    uint32_t low = made->line[u >> made->shift], high = made->line[(u >> made->shift) + 1];
    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;
        if (starts[middle] <= u)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

#define DEFINE_KERNEL(name, in_t, line_t, eval)                                                                        \
    static void name(const pwl_table *table, const cells *made, const void *x, void *y, size_t count)                  \
    {                                                                                                                  \
        const uint32_t *const starts = (const uint32_t *)((const char *)made + made->starts);                          \
        const line_t *const lines = (const line_t *)((const char *)made + made->lines);                                \
        const int rounding = pwl_plain_rounding_of(table);                                                             \
        size_t k;                                                                                                      \
        for (k = 0; k < count; k++) {                                                                                  \
            const int64_t q = pwl_sat(((const in_t *)x)[k], table->qmin_x, table->qmax_x);                             \
            const uint32_t u = (uint32_t)(q - table->qmin_x);                                                          \
            const int64_t raw = eval(&lines[find(made, starts, u)], u, rounding);                                      \
            ((uint32_t *)y)[k] = (uint32_t)pwl_sat(raw, table->qmin_y, table->qmax_y);                                 \
        }                                                                                                              \
    }
DEFINE_KERNEL(map_s32_narrow, int32_t, pwl_plain32, pwl_plain_eval32)
DEFINE_KERNEL(map_u32_narrow, uint32_t, pwl_plain32, pwl_plain_eval32)
DEFINE_KERNEL(map_s32_wide, int32_t, pwl_plain64, pwl_plain_eval64)
DEFINE_KERNEL(map_u32_wide, uint32_t, pwl_plain64, pwl_plain_eval64)

void pwl_cells(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    static void (*const map[2][2])(const pwl_table *table, const cells *made, const void *x, void *y,
                                   size_t count) = {{map_s32_narrow, map_u32_narrow}, {map_s32_wide, map_u32_wide}};
    map[plan->table->storage == PWL_INT32][plan->kernel_in & 1](plan->table, (const cells *)plan->memory, x, y, count);
}
