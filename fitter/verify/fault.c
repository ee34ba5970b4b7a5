/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/storage.h"

#define MOST_SEGMENTS 8 /* whose bits are tried */

enum field { START, SLOPE, SHIFT, OFFSET, FIELDS };

/* Flips the lowest bit; the same again restores it. */
static void flip(struct segment *segment, enum field field)
{
    if (field == START)
        segment->start ^= 1;
    else if (field == SLOPE)
        segment->q_b ^= 1;
    else if (field == SHIFT)
        segment->n ^= 1;
    else
        segment->offset ^= 1;
}

/* Codes with another value; counting ends at `most`. */
static int64_t count_changes(const struct packed_table *packed, const struct packed_table *damaged,
                             const struct runs *runs, int64_t most)
{
    int64_t changed = 0;
    for (size_t k = 0; k < runs->count; k++)
        for (int64_t i = 0; i < runs->list[k].count && changed < most; i++) {
            const int64_t q = runs->list[k].first + i;
            changed += packed_eval(packed, q) != packed_eval(damaged, q);
        }
    return changed;
}

/* Keeps the fault where it changes fewer codes than the one that is kept; *kept is its segment. */
static void try_fault(const struct packed_table *packed, const struct runs *runs, int i, enum field field,
                      struct fault *fault, int *kept, enum field *kept_field)
{
    struct packed_table damaged;
    struct diag ignored;
    pwl_proof proof;
    flip(&fault->table.segments[i], field);
    if (table_prove(&fault->table, EXIT_USAGE, &damaged, &proof, &ignored) == EXIT_DONE) {
        const int64_t changed = count_changes(packed, &damaged, runs, *kept < 0 ? INT64_MAX : fault->changed);
        if (changed > 0 && (*kept < 0 || changed < fault->changed)) {
            fault->changed = changed;
            *kept = i;
            *kept_field = field;
        }
        packed_table_free(&damaged);
    }
    flip(&fault->table.segments[i], field);
}

int fault_make(const struct table *table, const struct packed_table *packed, const struct runs *runs,
               struct fault *fault, struct diag *diag)
{
    static const char *const names[FIELDS] = {"start", "q_b", "n_BX_total", NULL};
    const size_t size = (size_t)table->segment_count * sizeof *table->segments;
    const int step = (table->segment_count + MOST_SEGMENTS - 1) / MOST_SEGMENTS;
    int kept = -1;
    enum field field = START;
    *fault = (struct fault){.table = *table};
    fault->table.segments = malloc(size);
    if (!fault->table.segments)
        return diag_set(diag, EXIT_IO, "out of memory");
    memcpy(fault->table.segments, table->segments, size);
    fault->table.has_unfused = false;
    fault->table.standing = CERTIFICATE_OTHER;
    for (int i = 0; i < table->segment_count; i += step)
        for (int f = START; f < FIELDS; f++)
            try_fault(packed, runs, i, (enum field)f, fault, &kept, &field);
    if (kept < 0)
        return diag_set(diag, EXIT_REQUIREMENT, "--inject: no lowest bit of a field changes a code that is compared");
    flip(&fault->table.segments[kept], field);
    snprintf(fault->what, sizeof fault->what, "bit 0 of %s in segment %d",
             field == OFFSET ? offset_name(table->form) : names[field], kept);
    return EXIT_DONE;
}

void fault_free(struct fault *fault)
{
    free(fault->table.segments);
    fault->table.segments = NULL;
}
