/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines for inputs too wide to visit, held to an error at every code. */
#ifndef PWLC_BOUNDED_LINE_H
#define PWLC_BOUNDED_LINE_H

#include "search/hulls.h"
#include "search/line.h"
#include "search/points.h"

/* Finds a line over the points of the hulls, whose spec is points->spec, with wide_line_bound at most their max_err:
 * the real line with most room at the points and the two end codes, its rounding taken at its worst, on the integers'
 * grid, or the line of fewest bits. points->held is kept to. Not every line that serves is found. */
bool wide_line(const struct hulls *hulls, const struct line_rules *rules, struct line *line);

/* The largest |q_y - target| proven of a line for every code of the points [begin, end); INFINITY without a proof. Of
 * functions without proofs (error_bound.h) that at the points and the two end codes, the rounding taken at its worst: what
 * the codes between them come to, but for what the function does there. Where it is more than `most`, some number that
 * is. */
double wide_line_bound(const struct points *points, int begin, int end, const struct line *line, double most);

#endif
