/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/integers.h"

#define WINDOW 4                       /* codes before and behind what is of interest */
#define SCAN_POINTS ((int64_t)1 << 12) /* between which a reduced table's segments are looked for */

static void add(struct runs *runs, int64_t first, int64_t last)
{
    first = first < runs->low ? runs->low : first;
    last = last > runs->high ? runs->high : last;
    if (first > last || runs->failed)
        return;
    if (runs->count == runs->capacity) {
        const size_t capacity = runs->capacity ? 2 * runs->capacity : 1024;
        struct run *const list = realloc(runs->list, capacity * sizeof *list);
        if (!list) {
            runs->failed = true;
            return;
        }
        runs->list = list;
        runs->capacity = capacity;
    }
    runs->list[runs->count++] = (struct run){first, last - first + 1};
    runs->codes += last - first + 1;
}

static void add_around(struct runs *runs, int64_t q)
{
    add(runs, q - WINDOW, q + WINDOW);
}

static void add_knots(struct runs *runs, const struct table *table)
{
    const int64_t twice_zp = 2 * table->in.zero_point;
    for (int i = 0; i < table->segment_count; i++) {
        add_around(runs, table->segments[i].start);
        if (table->has_fold)
            add_around(runs, twice_zp - table->segments[i].start);
    }
}

/* Where the segment of a reduced table changes: by halving, between points that have different ones. */
static void add_changes(struct runs *runs, const struct packed_table *packed, int64_t low, int64_t high)
{
    const int before = packed_segment(packed, low);
    if (before == packed_segment(packed, high))
        return;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (packed_segment(packed, middle) == before)
            low = middle;
        else
            high = middle;
    }
    add_around(runs, high);
}

static void add_octaves(struct runs *runs, const struct table *table, const struct packed_table *packed)
{
    const int64_t qmin = table->in.qmin, range = table->in.qmax - qmin; /* below 2^32 */
    for (int bit = 0; bit < 33; bit++) {
        add_around(runs, table->in.zero_point + ((int64_t)1 << bit));
        add_around(runs, table->in.zero_point - ((int64_t)1 << bit));
    }
    for (int64_t k = 0; k < SCAN_POINTS; k++)
        add_changes(runs, packed, qmin + k * range / SCAN_POINTS, qmin + (k + 1) * range / SCAN_POINTS);
}

/* xorshift64*. Source: S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016. */
static void add_drawn(struct runs *runs)
{
    const uint64_t codes = (uint64_t)(runs->high - runs->low) + 1; /* at most 2^32 */
    uint64_t state = 1;
    for (int64_t k = 0; k < RUNS_DRAWN_CODES; k++) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        const uint64_t drawn = state * UINT64_C(2685821657736338717) >> 32;
        const int64_t q = runs->low + (int64_t)(drawn * codes >> 32);
        add(runs, q, q);
    }
}

static int check_memory(const struct runs *runs, struct diag *diag)
{
    return runs->failed ? diag_set(diag, EXIT_IO, "out of memory while choosing the codes to compare") : EXIT_DONE;
}

int runs_of_edges(const struct table *table, const struct packed_table *packed, int bits, struct runs *runs,
                  struct diag *diag)
{
    const struct tensor *const in = &table->in;
    *runs = (struct runs){.low = code_min(bits, in->is_signed), .high = code_max(bits, in->is_signed)};
    add_around(runs, runs->low);
    add_around(runs, runs->high);
    add_around(runs, in->qmin);
    add_around(runs, in->qmax);
    add_around(runs, in->zero_point);
    if (table->has_reduction)
        add_octaves(runs, table, packed);
    else
        add_knots(runs, table);
    return check_memory(runs, diag);
}

int runs_make(const struct table *table, const struct packed_table *packed, int bits, bool exhaustive,
              struct runs *runs, struct diag *diag)
{
    const bool is_signed = table->in.is_signed;
    *runs = (struct runs){.low = code_min(bits, is_signed), .high = code_max(bits, is_signed)};
    if (exhaustive || bits <= RUNS_ALWAYS_ALL_BITS)
        add(runs, runs->low, runs->high);
    else if (runs_of_edges(table, packed, bits, runs, diag) == EXIT_DONE)
        add_drawn(runs);
    return check_memory(runs, diag);
}

void runs_free(struct runs *runs)
{
    free(runs->list);
    *runs = (struct runs){0};
}

void runs_take_part(struct runs *runs, int part, int parts)
{
    /* At most 2^34 codes and 2^31 parts. */
    const uint64_t codes = (uint64_t)runs->codes;
    const int64_t begin = (int64_t)((wide)codes * part / parts), end = (int64_t)((wide)codes * (part + 1) / parts);
    int64_t at = 0; /* of the run's first code, among all */
    size_t kept = 0;
    for (size_t k = 0; k < runs->count; k++) {
        const struct run run = runs->list[k];
        const int64_t low = begin > at ? begin - at : 0, high = end - at < run.count ? end - at : run.count;
        at += run.count;
        if (low < high)
            runs->list[kept++] = (struct run){run.first + low, high - low};
    }
    runs->count = kept;
    runs->codes = end - begin;
}

void runs_write(const struct runs *runs, struct text *out)
{
    for (size_t k = 0; k < runs->count; k++)
        text_add(out, "%" PRId64 " %" PRId64 "\n", runs->list[k].first, runs->list[k].count);
}
