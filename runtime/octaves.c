/* SPDX-License-Identifier: Apache-2.0 */
#include "octaves.h"

#include <pwl/plain.h>

#include "ways.h"

enum { BLOCK = 16, MOST_OCTAVES = 512 };

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
    const size_t end = sizeof(pwl_octaves_table) + sizeof(pwl_octave) * (size_t)count_of(reduced);
    return (end + PWL_KIND_ALIGNMENT - 1) / PWL_KIND_ALIGNMENT * PWL_KIND_ALIGNMENT;
}

static size_t octaves_size(const pwl_job *job)
{
    const pwl_job core = core_of(job);
    const size_t bytes = count_of(job->reduced) ? pwl_kind_cells.size(&core) : 0;
    return bytes ? core_at(job->reduced) + bytes : 0;
}

static void make_octave(const pwl_reduction *reduction, int64_t r, pwl_octave *to)
{
    const int n = (int)pwl_sat(reduction->shift + reduction->direction * r, 0, 62);
    to->add = (int64_t)(((uint64_t)1 << n) >> 1) - r * reduction->addend;
    to->n = (uint8_t)n;
    to->up = to->down = 0;
}

static int is_short(int64_t v)
{
    return v >= INT32_MIN && v <= INT32_MAX;
}

/* Ends that no code of the array's type lies beyond are those of the type. */
static void find_short(pwl_octaves_table *made)
{
    const pwl_reduction *const reduction = &made->reduced->reduction;
    const int64_t low = reduction->qmin_x - made->middle_x, high = reduction->qmax_x - made->middle_x;
    const int64_t base = reduction->zp_x - made->middle_x;
    made->is_short = low <= INT32_MAX && high >= INT32_MIN && is_short(base) && !pwl_octaves_core(made)->is_long;
    made->low = (int32_t)(is_short(low) ? low : INT32_MIN);
    made->high = (int32_t)(is_short(high) ? high : INT32_MAX);
    made->base = (int32_t)(is_short(base) ? base : 0);
    if (reduction->kind == PWL_EXPONENT)
        made->is_short &= is_short((int64_t)made->low - made->base) && is_short((int64_t)made->high - made->base) &&
                          is_short(reduction->factor);
}

static void prepare(const pwl_job *job, void *memory)
{
    pwl_octaves_table *const made = (pwl_octaves_table *)memory;
    const pwl_reduction *const reduction = &job->reduced->reduction;
    const pwl_job core = core_of(job);
    pwl_octave *const to = (pwl_octave *)(void *)(made + 1);
    const int count = count_of(job->reduced), word_bits = 8 << job->table->storage;
    int64_t r[2] = {0, 0};
    int i;
    made->reduced = job->reduced;
    made->middle_x = pwl_type_middle(job->in);
    made->middle_y = pwl_type_middle(job->out);
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
    find_short(made);
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

INLINE void map(const pwl_octaves_table *made, const uint32_t *x, uint32_t *y, int count, int kind, int steps, int even)
{
    const pwl_cells_table *const core = pwl_octaves_core(made);
    const pwl_reduced *const reduced = made->reduced;
    const pwl_reduction *const reduction = &reduced->reduction;
    const int64_t qmin_x = reduction->qmin_x, qmax_x = reduction->qmax_x, zp_x = reduction->zp_x;
    const int64_t least_m = reduced->core.qmin_x, greatest_m = reduced->core.qmax_x;
    const int64_t qmin_y = reduced->core.qmin_y, qmax_y = reduced->core.qmax_y, zp_y = reduction->zp_y;
    const int64_t middle = made->middle_x, below = reduction->below;
    const int word_bits = 8 << reduced->core.storage;
    const pwl_octave *const all = pwl_octaves_of(made);
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
        const pwl_octave *const of = &all[at[k]];
        const int64_t raw = pwl_cells_value(core, i[k], s[k], even);
        const int64_t v = zp_y + ((raw + of->add) >> of->n), from_min = v < qmin_y ? qmin_y : v;
        const int64_t clipped = from_min > qmax_y ? qmax_y : from_min;
        y[k] = (uint32_t)(kind == PWL_LEADING_ZEROS && at[k] == 0 ? below : clipped);
    }
}

INLINE void run(const pwl_octaves_table *made, const uint32_t *x, uint32_t *y, size_t count, int kind, int steps,
                int even)
{
    for (; count >= BLOCK; count -= BLOCK, x += BLOCK, y += BLOCK)
        map(made, x, y, BLOCK, kind, steps, even);
    map(made, x, y, (int)count, kind, steps, even);
}

/* Of one law; the searches of most tables take one step. */
INLINE void run_kind(const pwl_octaves_table *made, const uint32_t *x, uint32_t *y, size_t count, int kind)
{
    const pwl_cells_table *const core = pwl_octaves_core(made);
    if (core->even)
        run(made, x, y, count, kind, core->steps, 1);
    else if (core->steps == 1)
        run(made, x, y, count, kind, 1, 0);
    else
        run(made, x, y, count, kind, core->steps, 0);
}

void pwl_octaves(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_octaves_table *const made = (const pwl_octaves_table *)plan->memory;
    if (made->reduced->reduction.kind == PWL_EXPONENT)
        run_kind(made, (const uint32_t *)x, (uint32_t *)y, count, PWL_EXPONENT);
    else
        run_kind(made, (const uint32_t *)x, (uint32_t *)y, count, PWL_LEADING_ZEROS);
}
