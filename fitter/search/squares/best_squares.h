/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of least squared error: a start made better, and what is known of all other tables. */
#ifndef PWLC_BEST_SQUARES_H
#define PWLC_BEST_SQUARES_H

#include "base/diag.h"
#include "complete_search.h"
#include "search/line.h"
#include "search/points.h"

/* A table in hand. knots has room for PWL_MAX_SEGMENTS + 1, lines for PWL_MAX_SEGMENTS entries. */
struct squares {
    const struct points *points;
    struct line_rules *rules; /* with one shift, that of the table in hand */
    int *knots;
    struct line *lines;
    bool moved;         /* squares_bound: it is another one now */
    struct exact exact; /* exact.segments is to be set */
};

/* Exchanges the table in hand. */
void squares_take(struct squares *table, double cost, int count, const int *knots, const struct line *lines);

/* The integer optimum of at most EXACT_POINTS points, from knots in hand; with one shift in `any` also from lines, and
 * over each shift. */
int squares_search(struct squares *table, const struct line_rules *any, struct diag *diag);

/* The lines in hand against what real lines can do at best, saturation included, and lines on the knots of those where
 * they are better. The points are all codes. */
int squares_bound(struct squares *table, struct diag *diag);

#endif
