/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What no table with real coefficients can beat, computed from targets alone. No header of the project. */
#ifndef RMS_BOUND_H
#define RMS_BOUND_H

/*
 * Lower bound on the root mean square of sat(line) - target over `count` neighbouring codes, for every choice of at
 * most `segments` real lines and of the knots between them; sat clips to [low, high], where the targets lie too.
 * Returns most when no bound below it was found. `cell` codes at a time are the grid: finer is tighter and slower.
 *
 * Why it is a bound. Take any table, and let each knot lie in some cell. The cells wholly inside a segment cost at
 * least their least squares, because a segment's codes cost at least what a part of them costs with a line of its
 * own. So the table costs at least the sum over its segments of the least squares of the whole cells between two
 * knots' cells, the knots' cells left out; the least such sum over all ways to choose knots' cells is what the
 * dynamic program finds. (A knot on a boundary may be taken to lie in either cell: leaving a cell out costs less.)
 *
 * Saturation. Lines are monotone, so a segment is at a limit at most in a first part and in a last part. The cells
 * of those cost their distance to the limit. Between them the line is free, but where it meets the limit, in some
 * cell that is left out, it is at or beyond it at one code, and hence, going on in the same direction, at the cell's
 * far end: least squares under that one inequality. With parts at a limit on both sides one of the two inequalities
 * is dropped.
 *
 * Integer tables: a rounded line is within 1/2 of a real one (floor: of the line 1/2 below) at every code, and sat
 * does not widen that, so an integer table's RMS is at least this bound minus 1/2.
 */
double rms_bound(const double *target, int count, double low, double high, int segments, int cell, double most);

#endif
