/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of least squared error: a start made better, and what is known of all other tables. */
#ifndef PWLC_BEST_SQUARES_H
#define PWLC_BEST_SQUARES_H

#include "base/diag.h"
#include "search/line.h"
#include "squares_table.h"

/* The integer optimum of at most EXACT_POINTS points, from the knots of the incumbent; with one shift in `any` also
 * from its lines, and over each shift. */
int squares_search(struct squares *table, const struct line_rules *any, struct diag *diag);

/* The lines of the incumbent against what real lines can do at best, saturation included, and lines on the knots of
 * those where they are better. Where points are not all codes nothing is bounded, but knots are looked for. */
int squares_bound(struct squares *table, struct diag *diag);

#endif
