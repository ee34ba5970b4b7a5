/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many tables of one function compared: what their size buys in error. */
#ifndef PWLC_EXPLORE_REPORT_H
#define PWLC_EXPLORE_REPORT_H

#include <stdbool.h>

#include "base/diag.h"
#include "io/rows.h"
#include "svg.h"
#include "table/table.h"

/* The choices whose values are combined, in the order in which they are written. */
enum explore_axis {
    AXIS_METHOD,
    AXIS_FORM,
    AXIS_ROUNDING,
    AXIS_SLOPE_BITS,
    AXIS_SLOPE_TERMS,
    AXIS_SHIFT,
    AXIS_KNOTS,
    AXIS_SYMMETRY,
    AXIS_SEGMENTS,
    AXIS_COUNT
};

#define EXPLORE_MAX_VALUES 64 /* of one choice */

struct explore_choice {
    const char *value[EXPLORE_MAX_VALUES];
    int count;
};

/* One combination. */
struct explore_row {
    const char *value[AXIS_COUNT]; /* one of its choice's; null where the method leaves no choice */
    struct diag diag;              /* why there is no table */
    struct table table;            /* without that */
    int bytes;                     /* start, q_b, n and offset of all segments */
    double price;                  /* what is weighed against the error: bytes, or what the exploration's cost names */
    double mhz;                    /* of the module that was measured; 0 where no clock is weighed */
    double error;                  /* of the objective, in output LSB, to the six digits that are printed */
    bool front;                    /* no table is cheaper, quicker or more accurate without being worse in another */
};

struct exploration {
    const char *function;
    const struct tensor *in, *out;
    enum objective objective;
    const char *cost; /* what the rows' price is, "ice40:lut"; null: bytes */
    bool has_clock;   /* of cost: it has one */
    struct explore_choice choice[AXIS_COUNT];
    struct explore_row *rows;
    int count, found; /* the rows before `found` have tables */
};

/* Fills bytes, error, front and found, and price where no cost is named; rows with tables come first, by price, then
 * clock and error, the others as they were. */
void explore_rank(struct exploration *exploration);

/* md: the tables, then the combinations without one and why; the others: every row. Exit 1 when memory ran out. */
int explore_print(const struct exploration *exploration, enum cells_format format, int line_width, struct text *out,
                  struct diag *diag);

/* Error over price, both logarithmic, with the front; for at least one table. Free with svg_free. */
void explore_plot(const struct exploration *exploration, struct svg *svg);

#endif
