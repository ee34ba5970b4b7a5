/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which codes an implementation is asked for. */
#ifndef PWLC_RUNS_H
#define PWLC_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "table/table.h"

/* Neighbouring codes, ascending. */
struct run {
    int64_t first, count;
};

struct runs {
    struct run *list; /* malloc'd */
    size_t count, capacity;
    int64_t low, high; /* the codes that there are */
    int64_t codes;     /* in all runs */
    bool failed;       /* out of memory */
};

#define RUNS_ALWAYS_ALL_BITS 16
#define RUNS_DRAWN_CODES (1 << 20)

/* The codes of an input of `bits` bits, which may have more than the table's: those around knots, their mirror images,
 * octaves and ends of ranges. Free with runs_free, also after a failure. */
int runs_of_edges(const struct table *table, const struct packed_table *packed, int bits, struct runs *runs,
                  struct diag *diag);

/* All of them up to RUNS_ALWAYS_ALL_BITS, or where that is asked for; else the above and RUNS_DRAWN_CODES drawn ones,
 * the same at every call. Free as above. */
int runs_make(const struct table *table, const struct packed_table *packed, int bits, bool exhaustive,
              struct runs *runs, struct diag *diag);
void runs_free(struct runs *runs);

/* Leaves one of so many parts, which have as many codes each, to 1. */
void runs_take_part(struct runs *runs, int part, int parts);

/* A line for each run, "FIRST COUNT". */
void runs_write(const struct runs *runs, struct text *out);

#endif
