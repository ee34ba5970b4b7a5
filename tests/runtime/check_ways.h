/* SPDX-License-Identifier: Apache-2.0 */
/* Every way that this machine can run against pwl_eval(): reads and writes nothing outside [0, count), works in place.
 * Whoever includes this defines _GNU_SOURCE first, for MAP_ANONYMOUS. */
#ifndef CHECK_WAYS_H
#define CHECK_WAYS_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pwl/eval.h>
#include <pwl/plan.h>

#include "../../runtime/ways.h"
#include "../support/random.h"
#include "../support/suite.h"
#include "../support/typed_array.h"

/* Pages that may be touched between pages that may not. */
#define PAGES 16
static inline unsigned char *fenced(size_t *bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *const all = mmap(NULL, (PAGES + 2) * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(all != MAP_FAILED && !mprotect(all + page, PAGES * page, PROT_READ | PROT_WRITE));
    *bytes = PAGES * page;
    return all + page;
}

struct arena {
    unsigned char *x, *y, *memory;
    size_t bytes;
};

static inline struct arena arena(void)
{
    static struct arena of;
    if (!of.x) {
        of.x = fenced(&of.bytes);
        of.y = fenced(&of.bytes);
        of.memory = malloc((size_t)512 << 10);
        ck_assert_ptr_nonnull(of.memory);
    }
    return of;
}

/* `count` codes, which end where the pages end, or start where they start `shift` elements later; expected: what
 * pwl_eval makes of each. */
static inline void check_run(const pwl_plan *plan, const pwl_table *table, size_t count, int at_end, size_t shift,
                             const int64_t *codes, const int64_t *expected)
{
    const struct arena of = arena();
    const pwl_type in = (pwl_type)plan->in, out = (pwl_type)plan->out;
    const size_t x_bytes = count * BYTES(in), y_bytes = count * BYTES(out);
    unsigned char *const x = at_end ? of.x + of.bytes - x_bytes : of.x + shift * BYTES(in);
    unsigned char *const y = at_end ? of.y + of.bytes - y_bytes : of.y + shift * BYTES(out);
    unsigned char before[64], after[64];
    const size_t left = shift * BYTES(out) < 64 && !at_end ? shift * BYTES(out) : 64, right = at_end ? 0 : 64;
    memset(y - left, 0x5a, left + y_bytes + right);
    memset(before, 0x5a, 64);
    memset(after, 0x5a, 64);
    for (size_t k = 0; k < count; k++)
        pwl_set_element_of(in, x, k, codes[k]);
    pwl_run(plan, x, y, count);
    ck_assert(!memcmp(before, y - left, left) && !memcmp(after, y + y_bytes, right));
    for (size_t k = 0; k < count; k++)
        if (pwl_element_of(out, y, k) != expected[k])
            ck_abort_msg("%s, storage %d form %d rounding %d flags %d, %d segments, types %d to %d: code %lld of %zu "
                         "gives %lld, not %lld",
                         plan->way, table->storage, table->form, table->rounding, table->flags, table->segments, in,
                         out, (long long)codes[k], count, (long long)pwl_element_of(out, y, k), (long long)expected[k]);
    if (BYTES(in) == BYTES(out)) {
        pwl_run(plan, x, x, count);
        ck_assert(!memcmp(x, y, y_bytes));
    }
}

enum { SAMPLE = 512, CODES = 4096, SHORT = 3 * 128 + 1 };

static inline int64_t random_code(uint64_t *state, const pwl_table *table, pwl_type in)
{
    const uint64_t choice = random_bits(state) % 8;
    const int segment = (int)(random_bits(state) % table->segments);
    const int64_t start = pwl_element_start(table, segment);
    int64_t q = choice == 0   ? limits[in].min
                : choice == 1 ? limits[in].max
                              : random_in(state, limits[in].min, limits[in].max);
    if (choice == 2 || choice == 3)
        q = random_in(state, table->qmin_x - 2, table->qmax_x + 2);
    else if (choice >= 4)
        q = random_in(state, start - 2, start + 2);
    if (choice == 7)
        q = (int64_t)(2 * (uint64_t)table->zp_x - (uint64_t)q); /* modulo 2^64: a zero point may lie far away */
    return q < limits[in].min || q > limits[in].max ? limits[in].max : q;
}

/* How much of a table check_ways() visits. */
enum extent {
    A_SAMPLE,    /* random codes and starts */
    EVERY_CODE,  /* all codes of 8- and 16-bit arrays, else a sample */
    EVERY_LENGTH /* every code, and every short length of arrays */
};

/* Codes of a reduced table: of any octave, where octaves begin, and beyond its ends. */
static inline int64_t random_reduced_code(uint64_t *state, const pwl_reduced *reduced, pwl_type in)
{
    const pwl_reduction *const reduction = &reduced->reduction;
    const uint64_t choice = random_bits(state) % 4;
    int64_t q = random_in(state, limits[in].min, limits[in].max);
    if (choice == 0)
        q = (random_bits(state) % 2 ? reduction->qmin_x : reduction->qmax_x) + random_in(state, -2, 2);
    else if (choice == 1)
        q = reduction->zp_x + (int64_t)(random_bits(state) >> (31 + random_bits(state) % 33)) - 2;
    else if (choice == 2)
        q = reduction->zp_x + ((int64_t)1 << random_bits(state) % 33) + random_in(state, -2, 2);
    return q < limits[in].min || q > limits[in].max ? limits[in].max : q;
}

/* Each way that serves a table or a reduced one; short arrays at shifts by single elements too. */
static inline void check_source(const pwl_source *source, uint64_t *state, pwl_type in, pwl_type out,
                                enum extent extent)
{
    const pwl_table *const table = source->table;
    static int64_t codes[65536], expected[65536];
    const struct arena of = arena();
    const int sampled = BYTES(in) == 4 || extent == A_SAMPLE;
    const size_t distinct = extent == A_SAMPLE ? SAMPLE : sampled ? CODES : (size_t)1 << 8 * BYTES(in);
    const size_t all = distinct < SAMPLE ? SAMPLE : distinct;
    for (size_t k = 0; k < all; k++) {
        codes[k] = !sampled          ? limits[in].min + (int64_t)(k % distinct)
                   : source->reduced ? random_reduced_code(state, source->reduced, in)
                                     : random_code(state, table, in);
        expected[k] = source->reduced ? pwl_reduced_eval(source->reduced, codes[k]) : pwl_eval(table, codes[k]);
    }
    for (size_t w = 0; w < pwl_way_count; w++) {
        const pwl_way *const way = &pwl_ways[w];
        const size_t bytes = pwl_way_bytes(way, source, in, out), unaligned = random_bits(state) % 64;
        pwl_plan plan;
        if (!bytes || (way->level & pwl_levels()) != way->level)
            continue;
        ck_assert_uint_le(bytes, (size_t)300 << 10);
        memset(of.memory + unaligned, 0xa5, bytes + 64);
        pwl_way_prepare(way, &plan, of.memory + unaligned, source, in, out);
        for (size_t k = unaligned + bytes; k < unaligned + bytes + 64; k++)
            ck_assert_uint_eq(of.memory[k], 0xa5);
        for (size_t k = 0; k < all; k += 8192)
            check_run(&plan, table, all - k < 8192 ? all - k : 8192, 0, 0, codes + k, expected + k);
        for (size_t count = 0; count <= SHORT;
             count += extent == EVERY_LENGTH ? 1 : 1 + count / (extent == A_SAMPLE ? 4 : 16)) {
            const size_t first = random_bits(state) % (all - SHORT);
            check_run(&plan, table, count, (int)(count % 2), random_bits(state) % 65, codes + first, expected + first);
        }
    }
}

static inline void check_ways(const pwl_table *table, uint64_t *state, pwl_type in, pwl_type out, enum extent extent)
{
    const pwl_source source = pwl_source_of(table);
    check_source(&source, state, in, out, extent);
}

#endif
