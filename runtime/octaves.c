/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "octaves": reduced tables (reduce.h) for arrays of 32 bits, in plain C. The core's lines are those of kind
 * "cells" for codes m, and what happens before and after them is done for BLOCK codes at a time, so that no code waits
 * for another's search.
 */
#include <pwl/plain.h>
#include <pwl/reduce.h>

#include "cells.h"
#include "ways.h"

enum { BLOCK = 16 };

typedef struct octaves {
    const pwl_reduced *reduced;
    int64_t middle; /* of the array's type */
    uint32_t core;  /* where the core's cells lie, so many bytes from here */
} octaves;

/* Of the core: codes m of 32 bits, and raw values. */
static pwl_job core_of(const pwl_job *job)
{
    pwl_job core;
    core.table = job->table;
    core.reduced = NULL;
    core.lines = job->lines;
    core.in = job->table->qmin_x < 0 ? PWL_S32 : PWL_U32;
    core.out = PWL_S32;
    return core;
}

static size_t core_at(void)
{
    return (sizeof(octaves) + PWL_KIND_ALIGNMENT - 1) / PWL_KIND_ALIGNMENT * PWL_KIND_ALIGNMENT;
}

static size_t octaves_size(const pwl_job *job)
{
    const pwl_job core = core_of(job);
    const size_t bytes = pwl_kind_cells.size(&core);
    return bytes ? core_at() + bytes : 0;
}

static void prepare(const pwl_job *job, void *memory)
{
    octaves *const made = (octaves *)memory;
    const pwl_job core = core_of(job);
    made->reduced = job->reduced;
    made->middle = pwl_type_middle(job->in);
    made->core = (uint32_t)core_at();
    pwl_kind_cells.prepare(&core, (char *)memory + made->core);
}

const pwl_kind pwl_kind_octaves = {PWL_REDUCED, 4, 4, octaves_size, prepare};

/* As pwl_bit_length(), for v > 0. */
static inline int bit_length(uint64_t v)
{
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__))
    return 64 - __builtin_clzll(v);
#else
    return pwl_bit_length(v);
#endif
}

/* pwl_reduce(), with d <= 0 as if it were 1. */
static inline pwl_reduced_code reduce(const pwl_reduction *reduction, int kind, int word_bits, int64_t d)
{
    pwl_reduced_code code;
    if (kind == PWL_EXPONENT)
        return pwl_reduce(reduction, word_bits, d);
    d = d < 1 ? 1 : d;
    const int left = word_bits - bit_length((uint64_t)d);
    const int shift = (left >> reduction->log2_step) * (1 << reduction->log2_step);
    code.r = left >> reduction->log2_step;
    code.m = (int64_t)(shift < 0 ? (uint64_t)d >> -shift : (uint64_t)d << (shift & 63));
    return code;
}

static inline void map(const octaves *made, const uint32_t *x, uint32_t *y, int count, int kind, int even)
{
    const pwl_reduced *const reduced = made->reduced;
    const pwl_cells_table *const core = (const pwl_cells_table *)(const void *)((const char *)made + made->core);
    const pwl_reduction *const reduction = &reduced->reduction;
    const pwl_table *const table = &reduced->core;
    const int64_t qmin_x = reduction->qmin_x, qmax_x = reduction->qmax_x, zp_x = reduction->zp_x;
    const int64_t qmin_y = table->qmin_y, qmax_y = table->qmax_y, middle = made->middle;
    const int word_bits = 8 << table->storage;
    int64_t d[BLOCK], r[BLOCK];
    int32_t s[BLOCK];
    uint32_t i[BLOCK];
    int k;
    for (k = 0; k < count; k++) {
        const int64_t q = (int64_t)(int32_t)(x[k] ^ (uint32_t)middle) + middle;
        pwl_reduced_code code;
        d[k] = pwl_sat(q, qmin_x, qmax_x) - zp_x;
        code = reduce(reduction, kind, word_bits, d[k]);
        r[k] = code.r;
        s[k] = (int32_t)(pwl_sat(code.m, table->qmin_x, table->qmax_x) - core->flip_x);
    }
    pwl_cells_find(core, s, i, count, core->steps);
    for (k = 0; k < count; k++) {
        const int64_t raw = pwl_cells_value(core, i[k], s[k], even);
        const int64_t v = pwl_sat(pwl_restore(reduction, raw, r[k]), qmin_y, qmax_y);
        y[k] = (uint32_t)(kind == PWL_LEADING_ZEROS && d[k] <= 0 ? reduction->below : v);
    }
}

static inline void run(const octaves *made, const uint32_t *x, uint32_t *y, size_t count, int kind, int even)
{
    for (; count >= BLOCK; count -= BLOCK, x += BLOCK, y += BLOCK)
        map(made, x, y, BLOCK, kind, even);
    map(made, x, y, (int)count, kind, even);
}

void pwl_octaves(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const octaves *const made = (const octaves *)plan->memory;
    const uint32_t *const codes = (const uint32_t *)x;
    uint32_t *const values = (uint32_t *)y;
    const int even = pwl_plain_rounding_of(&made->reduced->core) == PWL_PLAIN_EVEN;
    if (made->reduced->reduction.kind == PWL_EXPONENT)
        run(made, codes, values, count, PWL_EXPONENT, even);
    else
        run(made, codes, values, count, PWL_LEADING_ZEROS, even);
}
