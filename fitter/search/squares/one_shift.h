/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The integer table of least squared error whose segments all have one shift. */
#ifndef PWLC_ONE_SHIFT_H
#define PWLC_ONE_SHIFT_H

#include "base/diag.h"
#include "best_squares.h"
#include "search/line.h"

/*
 * Improves a table of at most `most` segments and of the shift in table->rules, over all shifts of `any`. No table may
 * be known: then table->exact.cost is INFINITY. Exit 3 when none is found.
 *
 * A line of some shift is one of each longer shift too, unless it is steep there or its sums leave the accumulator. So
 * the shifts are looked at together, as if each segment could have any of them: mostly no such table is better than the
 * incumbent, and so none of one shift, or all lines of the best one can have the longest of their shifts, and it is the
 * best of them all. Else the incumbent's shift is searched for itself, then all below it and all above it together, and
 * where that does not do the nearest for itself, and so on with the rest.
 *
 * Of few points all shifts are taken in that way: what that says of lines and of what lies before and after them bounds
 * all searches that follow. Of more, tables near the incumbent come first; and the longer shifts, of which the bound
 * says that the function is too steep for them, are left for the end, when little is left of them.
 */
int shifts_search(struct squares *table, const struct line_rules *any, int most, struct diag *diag);

#endif
