/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines for inputs too wide to visit every code, held to an error at every code nonetheless. */
#ifndef PWLC_BOUNDED_LINE_H
#define PWLC_BOUNDED_LINE_H

#include "search/hulls.h"
#include "search/line.h"
#include "search/points.h"

/* Looks for a line over the points of the hulls whose bounded_line_error is at most the hulls' max_err and that gives
 * codes within their limits where points->held says so; points->between is set. Of all real lines the one that can be
 * moved farthest up and down without leaving the bands is rounded to integers, and if it fails the slope of fewest bits
 * is tried. So a line that exists may be missed. */
bool bounded_line(const struct hulls *hulls, const struct line_rules *rules, struct line *line);

/* The largest |q_y - target| of a line over every code of the points [begin, end), proven (error_bound.h); INFINITY
 * where no proof exists. Of functions of unknown curvature the largest one at the points and the two end codes, with
 * the rounding taken at its worst: codes between them are not worse unless the function bends there. Where the error is
 * more than `most`, some number that is. */
double bounded_line_error(const struct points *points, int begin, int end, const struct line *line, double most);

#endif
