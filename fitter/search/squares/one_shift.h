/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The integer table of least squared error whose segments all have one shift. */
#ifndef PWLC_ONE_SHIFT_H
#define PWLC_ONE_SHIFT_H

#include "base/diag.h"
#include "search/line.h"
#include "squares_table.h"

/*
 * Improves a table of at most `most` segments and of the shift in table->rules, over all shifts of `any`. No table may
 * be known: then table->exact.cost is INFINITY. Exit 3 when none is found.
 *
 * Tables that may mix shifts are searched first, of many points those up to the likely one, since a function is mostly
 * too steep for longer ones. Often none of them is better, or all lines of the best one can have the longest of their
 * shifts, and it is the best of all. What else was found out bounds the searches that follow: of the likely shift for
 * itself, and of those below and above it in the same way. Each has half of the steps that are left.
 */
int shifts_search(struct squares *table, const struct line_rules *any, int most, struct diag *diag);

#endif
