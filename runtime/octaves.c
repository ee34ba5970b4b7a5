/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "octaves": reduced tables (reduce.h) for arrays of 32 bits, in plain C. What depends on an octave alone is
 * worked out beforehand: with d = q_x - zp_x, and octave i being the bits of d, or r less the lowest r,
 *
 *   q_y = sat( zp_y + ((raw(m) + add[i]) >> n[i]) ),   m = d << up[i] >> down[i], or for an exponent the low bits of z
 *
 * with add = 2^(n - 1) - r * addend. raw(m) comes from the core's lines, which are those of kind "cells" for codes m.
 * BLOCK codes at a time, so that no code waits for another's search.
 */
#include <pwl/plain.h>
#include <pwl/reduce.h>

#include "cells.h"
#include "ways.h"

enum { BLOCK = 16, MOST_OCTAVES = 512 };

typedef struct octave {
    int64_t add;
    uint8_t n, up, down;
} octave;

typedef struct octaves {
    const pwl_reduced *reduced;
    int64_t middle; /* of the array's type */
    int64_t first;  /* r of octave 0, of an exponent */
    uint32_t core;  /* where the core's cells lie, so many bytes from here; in front of them, the octaves */
} octaves;

static inline const octave *octaves_of(const octaves *made)
{
    return (const octave *)(const void *)(made + 1);
}

/* The lowest and the highest r of an exponent. */
static void find_ends(const pwl_reduced *reduced, int64_t r[2])
{
    const pwl_reduction *const reduction = &reduced->reduction;
    const int word_bits = 8 << reduced->core.storage;
    const int64_t a = pwl_reduce(reduction, word_bits, reduction->qmin_x - reduction->zp_x).r;
    const int64_t b = pwl_reduce(reduction, word_bits, reduction->qmax_x - reduction->zp_x).r;
    r[0] = a < b ? a : b;
    r[1] = a < b ? b : a;
}

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

/* How many octaves there are; 0 where they are too many. */
static int count_of(const pwl_reduced *reduced)
{
    const pwl_reduction *const reduction = &reduced->reduction;
    const int64_t longest = reduction->qmax_x - reduction->zp_x;
    int64_t r[2];
    if (reduction->kind == PWL_LEADING_ZEROS)
        return 1 + (longest > 0 ? pwl_bit_length((uint64_t)longest) : 0);
    find_ends(reduced, r);
    return r[1] - r[0] < MOST_OCTAVES ? (int)(r[1] - r[0]) + 1 : 0;
}

static size_t core_at(const pwl_reduced *reduced)
{
    const size_t end = sizeof(octaves) + sizeof(octave) * (size_t)count_of(reduced);
    return (end + PWL_KIND_ALIGNMENT - 1) / PWL_KIND_ALIGNMENT * PWL_KIND_ALIGNMENT;
}

static size_t octaves_size(const pwl_job *job)
{
    const pwl_job core = core_of(job);
    const size_t bytes = count_of(job->reduced) ? pwl_kind_cells.size(&core) : 0;
    return bytes ? core_at(job->reduced) + bytes : 0;
}

static void make_octave(const pwl_reduction *reduction, int64_t r, octave *to)
{
    const int n = (int)pwl_sat(reduction->shift + reduction->direction * r, 0, 62);
    to->add = (int64_t)(((uint64_t)1 << n) >> 1) - r * reduction->addend;
    to->n = (uint8_t)n;
    to->up = to->down = 0;
}

static void prepare(const pwl_job *job, void *memory)
{
    octaves *const made = (octaves *)memory;
    const pwl_reduction *const reduction = &job->reduced->reduction;
    const pwl_job core = core_of(job);
    octave *const to = (octave *)(void *)(made + 1);
    const int count = count_of(job->reduced), word_bits = 8 << job->table->storage;
    int64_t r[2] = {0, 0};
    int i;
    made->reduced = job->reduced;
    made->middle = pwl_type_middle(job->in);
    made->core = (uint32_t)core_at(job->reduced);
    if (reduction->kind == PWL_EXPONENT)
        find_ends(job->reduced, r);
    made->first = r[0];
    for (i = 0; i < count; i++) {
        /* Octave 0 of leading zeros, of d <= 0, gives `below` whatever the rest is. */
        const int left = (word_bits - (i ? i : 1)) >> reduction->log2_step, shift = left * (1 << reduction->log2_step);
        make_octave(reduction, reduction->kind == PWL_EXPONENT ? r[0] + i : left, &to[i]);
        if (reduction->kind == PWL_LEADING_ZEROS) {
            to[i].up = (uint8_t)(shift > 0 ? shift : 0);
            to[i].down = (uint8_t)(shift < 0 ? -shift : 0);
        }
    }
    pwl_kind_cells.prepare(&core, (char *)memory + made->core);
}

const pwl_kind pwl_kind_octaves = {PWL_REDUCED, 4, 4, octaves_size, prepare, NULL};

/* pwl_bit_length() of v > 0. */
INLINE int bit_length(uint64_t v)
{
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__))
    return 64 - __builtin_clzll(v);
#else
    return pwl_bit_length(v);
#endif
}

/* z of an exponent, as pwl_reduce() has it. */
INLINE int64_t exponent_of(const pwl_reduction *reduction, int word_bits, int64_t d)
{
    const int dropped = reduction->fraction - word_bits;
    return (d * reduction->factor + (int64_t)(((uint64_t)1 << dropped) >> 1)) >> dropped;
}

INLINE void map(const octaves *made, const uint32_t *x, uint32_t *y, int count, int kind, int steps, int even)
{
    const pwl_cells_table *const core = (const pwl_cells_table *)(const void *)((const char *)made + made->core);
    const pwl_reduced *const reduced = made->reduced;
    const pwl_reduction *const reduction = &reduced->reduction;
    const int64_t qmin_x = reduction->qmin_x, qmax_x = reduction->qmax_x, zp_x = reduction->zp_x;
    const int64_t least_m = reduced->core.qmin_x, greatest_m = reduced->core.qmax_x;
    const int64_t qmin_y = reduced->core.qmin_y, qmax_y = reduced->core.qmax_y, zp_y = reduction->zp_y;
    const int64_t middle = made->middle, below = reduction->below;
    const int word_bits = 8 << reduced->core.storage;
    const octave *const all = octaves_of(made);
    int32_t s[BLOCK];
    uint32_t i[BLOCK];
    uint16_t at[BLOCK];
    int k;
    for (k = 0; k < count; k++) {
        const int64_t q = (int64_t)(int32_t)(x[k] ^ (uint32_t)middle) + middle;
        const int64_t from_min = q < qmin_x ? qmin_x : q, d = (from_min > qmax_x ? qmax_x : from_min) - zp_x;
        int64_t m;
        if (kind == PWL_EXPONENT) {
            const int64_t z = exponent_of(reduction, word_bits, d);
            at[k] = (uint16_t)((z >> word_bits) - made->first);
            m = z & (((int64_t)1 << word_bits) - 1);
        } else {
            const int bits = d > 0 ? bit_length((uint64_t)d | 1) : 0;
            at[k] = (uint16_t)bits;
            m = (int64_t)((uint64_t)d << all[bits].up >> all[bits].down);
        }
        m = m < least_m ? least_m : m;
        s[k] = (int32_t)((m > greatest_m ? greatest_m : m) - core->flip_x);
    }
    pwl_cells_find(core, s, i, count, steps);
    for (k = 0; k < count; k++) {
        const octave *const of = &all[at[k]];
        const int64_t raw = pwl_cells_value(core, i[k], s[k], even);
        const int64_t v = zp_y + ((raw + of->add) >> of->n), from_min = v < qmin_y ? qmin_y : v;
        const int64_t clipped = from_min > qmax_y ? qmax_y : from_min;
        y[k] = (uint32_t)(kind == PWL_LEADING_ZEROS && at[k] == 0 ? below : clipped);
    }
}

INLINE void run(const octaves *made, const uint32_t *x, uint32_t *y, size_t count, int kind, int steps, int even)
{
    for (; count >= BLOCK; count -= BLOCK, x += BLOCK, y += BLOCK)
        map(made, x, y, BLOCK, kind, steps, even);
    map(made, x, y, (int)count, kind, steps, even);
}

/* Of one law; the searches of most tables take one step. */
INLINE void run_kind(const octaves *made, const uint32_t *x, uint32_t *y, size_t count, int kind)
{
    const pwl_cells_table *const core = (const pwl_cells_table *)(const void *)((const char *)made + made->core);
    if (core->even)
        run(made, x, y, count, kind, core->steps, 1);
    else if (core->steps == 1)
        run(made, x, y, count, kind, 1, 0);
    else
        run(made, x, y, count, kind, core->steps, 0);
}

void pwl_octaves(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const octaves *const made = (const octaves *)plan->memory;
    if (made->reduced->reduction.kind == PWL_EXPONENT)
        run_kind(made, (const uint32_t *)x, (uint32_t *)y, count, PWL_EXPONENT);
    else
        run_kind(made, (const uint32_t *)x, (uint32_t *)y, count, PWL_LEADING_ZEROS);
}
