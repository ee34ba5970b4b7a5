/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where segments start. Knots are indices of points; segment m covers the points [knots[m], knots[m + 1]). */
#ifndef PWLC_REAL_KNOTS_H
#define PWLC_REAL_KNOTS_H

#include "base/diag.h"
#include "search/points.h"

/* Least squares with real lines over unclipped points: dynamic programming over candidates, dense where the function
 * bends, or all places; of many points each knot is then moved, all together, to the best code nearby. There are at
 * least `segments` places; knots has room for segments + 1 entries. */
int knots_least_squares(const struct points *points, int segments, int *knots, struct diag *diag);

#endif
