/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A squared error that no line with real coefficients can beat, saturation included. */
#ifndef PWLC_REAL_BOUND_H
#define PWLC_REAL_BOUND_H

#include "base/diag.h"
#include "search/line.h"
#include "search/points.h"

/*
 * A lower bound on the squared error of every table of at most `segments` lines, each with real coefficients and
 * clipped to the output range.
 *
 * Knots. The points are taken in cells. A knot lies between two cells of one point each, or inside a larger cell (or
 * at its edge), which then counts for neither of its neighbours. A segment costs at least the least squares of the
 * whole cells between its two knots, and the dynamic program takes the least sum over all places of knots. Cells are
 * narrow around the knots of a good table, where the optimum lies, and wide far from them, where a table loses more
 * than the points that are left out; up to a few thousand points each is its own cell.
 *
 * Saturation. A line is monotone, so a segment is at a limit at most in a first and in a last part, which cost their
 * distance to it. Between them the line is free, but where it meets the limit it is at or beyond it: least squares
 * under one inequality, which has its own least-squares line or passes through the limit. (Of the two inequalities of
 * a segment with parts at both limits, one is dropped.)
 *
 * Half a folded table costs at its limits what points_cost says, and between them what the targets of a point are apart
 * beyond the line's own cost. There a line counts as at a limit from half a code before it, where it may be rounded to
 * it, so that what follows holds with those costs for what is at a limit.
 *
 * Integer tables. A rounded value lies within 1/2 of a real line at every code (of the line 1/2 lower under floor),
 * and clipping both does not move them apart, so an integer table's RMS is at least this bound's minus 1/2. It is also
 * at least the rounding floor, the RMS distance of targets to their nearest codes.
 *
 * Points that stand for several codes (wider inputs) do not bound anything: the codes between them could fit better.
 */

struct real_bound {
    double cost; /* no such table costs less, in LSB^2; the ceiling when none below it exists */
    bool found;  /* some path lies below the ceiling: */
    int segments;
    int *knots; /* its knots, to the cell; room for segments + 1 entries, the caller's */
};

/* Tables that cost `ceiling` or more are left out; `near` are the points, ascending, where the lines of a good table
 * end or meet a limit of the output. At most about `cells` cells: more are tighter and slower. With hundreds of
 * segments the bound is 0. */
int real_bound(const struct points *points, int64_t qmin_y, int64_t qmax_y, int segments, double ceiling,
               const int *near, int near_count, int cells, struct real_bound *bound, struct diag *diag);

/*
 * As real_bound for every suffix, and for integer lines, none steeper than the rules allow: cost[m * (count + 1) + k]
 * bounds tables of at most m segments over the points [k, count), 0 <= m <= segments; INFINITY where none lies below
 * the ceiling. Every point is a cell. Where the real line lies beyond a limit so does the rounded one, and costs the
 * same; so each segment's other part is rounded for itself, and costs no less than any range within it.
 */
int integer_bound_suffixes(const struct points *points, const struct line_rules *rules, int segments, double ceiling,
                           double *cost, struct diag *diag);

/* Bounds prefixes likewise, the points [0, k). */
int integer_bound_prefixes(const struct points *points, const struct line_rules *rules, int segments, double ceiling,
                           double *cost, struct diag *diag);

#endif
