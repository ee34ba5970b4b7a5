/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a proof says of all other tables: none that is allowed, of at most so many segments, has a largest error of at
 * most so much. docs/proofs.md tells what a proof holds and why it proves; the words here are those of that page. */
#ifndef PWLC_STATEMENT_H
#define PWLC_STATEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "search/error_band.h"
#include "search/line.h"
#include "search/points.h"
#include "spec/spec.h"
#include "table/table.h"

enum places { PLACES_ANY, PLACES_SHIFT, PLACES_EQUAL };

struct fixed_code {
    int64_t q_x, q_y;
};

struct statement {
    const struct table *table;
    int segments;
    char error[48]; /* a decimal */
    struct line_rules rules;
    struct fixed_code fixed[SPEC_MAX_FIXES];
    int fixed_count;
    enum places places;
    int shift;  /* of PLACES_SHIFT */
    int *equal; /* of PLACES_EQUAL: numbers of segments; malloc'd */
    int equal_count;
    struct points points; /* the stored codes, of which the searches see the bands alone */
    struct band *bands;   /* malloc'd */
    bool is_refuted;      /* by chains_write: some table of so many segments keeps to the error */
};

/* The statement that bears out what a table's certificate claims of other tables. The spec is the one that the table
 * was fitted by; largest is the table's own largest error. Exit 3, naming it, where the claim has no proof yet. */
int statement_make(const struct spec *spec, const struct table *table, const struct function *function,
                   long double largest, struct statement *statement, struct diag *diag);
void statement_free(struct statement *statement);

#endif
