/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The integer table of least squared error whose segments all have one shift. */
#ifndef PWLC_SHIFTS_H
#define PWLC_SHIFTS_H

#include "diag.h"
#include "line.h"
#include "squares.h"

/*
 * Improves a table of at most `most` segments and of the shift in table->rules, over all shifts of `any`. No table may
 * be known: then table->exact.cost is INFINITY. Exit 3 when none is found.
 *
 * All shifts are looked at together first, as if each segment could have any: what that says of lines and of what lies
 * before and after them bounds all searches that follow (of few points; of more it takes too long). Then that shift is
 * searched, and all those above it together, and those below: mostly no such table is better than the one in hand, and
 * so none of one shift. If the best one is, and all its lines can have the longest of their shifts, it is the best of
 * them all. Else the nearest shift is searched for itself, and then the rest.
 */
int shifts_search(struct squares *table, const struct line_rules *any, int most, struct diag *diag);

#endif
