/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where segments start. Knots are indices of points; segment m covers the points [knots[m], knots[m + 1]). */
#ifndef PWLC_REAL_KNOTS_H
#define PWLC_REAL_KNOTS_H

#include "base/diag.h"
#include "search/line.h"
#include "search/points.h"

/* Each range a caller asks for has at least `segments` points; knots has room for segments + 1 entries. */

/* Least squares with real lines: dynamic programming on a grid of candidates, dense where the function bends, then
 * each knot moved, all together, to the best code nearby; on a grid of the points' own it is left at that. Cost of a
 * segment: least squares over unclipped points. */
int knots_least_squares(const struct points *points, int segments, int *knots, struct diag *diag);

#endif
