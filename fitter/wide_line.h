/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines for inputs too wide to visit, held to an error at every code. */
#ifndef PWLC_WIDE_LINE_H
#define PWLC_WIDE_LINE_H

#include "line.h"
#include "points.h"

/* Finds a line with |q_y - target| <= max_err proven (bound.h) for every code of the points [begin, end), whose spec is
 * points->spec: the real line with most room at the points and the two end codes, its rounding taken at its worst, on
 * the integers' grid, or the line of fewest bits. Not every line that serves is found. */
bool wide_line(const struct line_rules *rules, const struct points *points, int begin, int end, double max_err,
               struct line *line);

/* The largest |q_y - target| proven of a line over them; INFINITY without a proof. */
double wide_line_bound(const struct points *points, int begin, int end, const struct line *line);

#endif
