/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts between points. */
#ifndef PWLC_WIDE_STARTS_H
#define PWLC_WIDE_STARTS_H

#include "search/line.h"
#include "search/points.h"
#include "spec/spec.h"
#include "table/table.h"

/* Where points are not all codes, a segment may start anywhere behind the last point of the one before it: moves each
 * start to where its line becomes the better of the two. Lines that hold at the points hold there as before, and codes
 * between them gain. Does nothing unless points->bounded, and where starts are tied to a grid, to neighbours or,
 * anchored, to the line itself. */
void settle_starts(const struct spec *spec, const struct line_rules *rules, const struct points *points, int count,
                   const int *knots, const struct line *lines, struct segment *segments);

#endif
