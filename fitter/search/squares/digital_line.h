/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How near integer lines come to targets, given how near real ones do. */
#ifndef PWLC_DIGITAL_LINE_H
#define PWLC_DIGITAL_LINE_H

#include <pwl/pwl.h>

#include "search/points.h"

/*
 * A line rounded to integers at n consecutive codes is a digital line: r_k = floor(b k + c), 0 <= k < n. So is one
 * whose ties all go up, or away from zero, which is what a line a little steeper does. Where ties go to even, those of
 * a slope a / 2^s, a odd, are 2^s apart and go up and down in turn.
 *
 * What the best real line leaves over of r, and of that the part along the parabola
 *
 *   u_k = ((k - m)^2 - (n^2 - 1) / 12) / |u|, m = (n - 1) / 2, |u|^2 = n (n^2 - 1) (n^2 - 4) / 180,
 *
 * to which all real lines are orthogonal, have bounds for all such r of up to DIGITAL_LINE_POINTS points:
 *
 *   min over l of sum (r_k - l_k)^2 <= circle * n    digital lines: 0.1065 is reached
 *   |sum u_k r_k| <= strip * sqrt(n)                 0.2182 of DIGITAL_LINE_FEW points and more
 *   (of fewer strip_few)
 *
 * tests/accuracy/test_digital_line.c visits them. (A digital line has a slope between neighbours of the Farey sequence
 * of order n - 1: M. D. McIlroy, "A note on discrete representation of lines", AT&T Technical Journal 64, 1985.)
 *
 * Let S = sum (t_k - l_k)^2 be what the best real line leaves over of targets t, and A its part along the parabola. In
 * the plane of the parabola and the rest, r is in both the circle and the strip, and t at (A, sqrt(S - A^2)); so
 * sum (r_k - t_k)^2 is at least the squared distance of that point from the intersection.
 */
#define DIGITAL_LINE_POINTS 1025
#define DIGITAL_LINE_FEW 10

struct digital_lines {
    double circle, strip_few, strip;
};

/* Those of a table's lines. */
const struct digital_lines *digital_lines_of(pwl_form form, pwl_rounding rounding);

/* Lower bound on sum (r_k - t_k)^2 of n points, of S and of at most |A|. */
double digital_line_cost(const struct digital_lines *lines, int n, double sse, double bend);

/* Of n consecutive codes: the sums of t, x t and x^2 t, where x counts from 0 at the first or the last. `error` is what
 * rounding may have done to sum |u| u_k t_k, computed from these. */
struct digital_sums {
    double y, xy, xxy, error;
};

/* |A|, or as much of it as is certain. */
double digital_line_bend(int n, const struct digital_sums *sums);

/* Sets end[k], 0 <= k < count: the bounds hold for lines over points of [k, end[k]), which have one mass and one code
 * each. Points are counted from the last one when reversed. */
void digital_line_runs(const struct points *points, bool reversed, int *end);

#endif
