/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a program says of codes, held against what the table gives. */
#ifndef PWLC_ANSWERS_H
#define PWLC_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/runs.h"
#include "table/table.h"

#define ANSWERS_MOST 2 /* values for each code */

struct answers {
    const struct packed_table *packed;
    const struct runs *runs;
    const char *const *names; /* of what gives each value, "pwl_eval"; ends with null */

    int64_t compared;              /* codes */
    int64_t mismatches;            /* codes for which some value is not the table's */
    int64_t code, expected, found; /* the first of them; valid with mismatches */
    const char *name;              /* and what gave it */
    bool has_surplus;              /* more values than were asked for */

    size_t run; /* where the next code stands in runs */
    int64_t at;
    size_t pending_size;
    unsigned char pending[ANSWERS_MOST * sizeof(int64_t)]; /* bytes of a code whose values are not all there */
};

/* A process_take: the context is a struct answers, the bytes are int64_t of this machine, for each code of the runs one
 * of each name. */
bool answers_take(void *context, const unsigned char *bytes, size_t size);

#endif
