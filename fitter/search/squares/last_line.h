/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the last line of a table costs, wherever it starts. */
#ifndef PWLC_LAST_LINE_H
#define PWLC_LAST_LINE_H

#include "base/diag.h"
#include "search/line.h"
#include "search/points.h"

/*
 * Sets cost[k], 0 <= k <= count, so that no line of the rules costs less over the last k points of a table of at most
 * `segments` that costs less than `ceiling`. They are 0 where a search is too much.
 *
 * Seen from the last code these are the ranges from one start, and one slope follows them all. A code is turned over
 * with the zero point, and so a slope changes its sign; products, biases and sums stay what they are. The anchored form
 * has other phases for each start, but no line that the biased form has not, whatever its offset; slopes of whole
 * numbers have no phases. (Where ties go by the whole sum, the biased form has not all of them;
 * nor is every line with sums of 64 bits searched. Then nothing is known.)
 */
int last_line_costs(const struct points *points, const struct line_rules *rules, int segments, double ceiling,
                    double *cost, struct diag *diag);

#endif
