/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a proof says of all other tables: none that is allowed, of at most so many segments, has a largest error of at
 * most so much, or a sum of squared errors of less than so much. docs/proofs.md tells what a proof holds and why it
 * proves; the words here are those of that page. */
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

/* A table's own errors, over all codes. */
struct own_errors {
    long double largest, squares; /* the sum of squares */
    long double least_squares;    /* that of outputs next to their targets */
};

/* A code that a stored code serves: itself, or its image, which has the output fold_sum - value. */
struct served_code {
    double target, spread; /* the target is off by at most the spread */
    bool is_image, is_fixed;
    int64_t q_y; /* is_fixed: its output */
};

struct stored_code {
    struct served_code serves[2];
    int count;
};

struct statement {
    const struct table *table;
    int segments;
    bool of_squares; /* else of the largest error */
    char error[48];  /* a decimal */
    int64_t squares; /* in units of 2^-unit */
    int unit;
    struct line_rules rules;
    struct fixed_code fixed[SPEC_MAX_FIXES];
    int fixed_count;
    enum places places;
    int shift;  /* of PLACES_SHIFT */
    int *equal; /* of PLACES_EQUAL: numbers of segments; malloc'd */
    int equal_count;
    struct points points;      /* the stored codes, of which the searches see the bands alone */
    struct band *bands;        /* malloc'd; null of squares */
    struct stored_code *codes; /* malloc'd; of squares alone */
    bool is_refuted;           /* by chains_write: some table of so many segments is as good */
};

/* By how much a sum of squares may be above what is proven of all others, and a table count as optimal. */
long double squares_slack(const struct table *table, long double squares);

/* The statement that bears out what a table's certificate claims of other tables. The spec is the one that the table
 * was fitted by. Exit 3, naming it, where the claim has no proof yet. */
int statement_make(const struct spec *spec, const struct table *table, const struct function *function,
                   const struct own_errors *own, struct statement *statement, struct diag *diag);
void statement_free(struct statement *statement);

#endif
