/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The largest error of a table, proven for every code without visiting every code.
 *
 * On a run of codes where the function is convex (curvature.h says where; concave: turned over) and the table follows
 * one line L, with a and b the run's ends:
 *
 *   T_a, T_b <= t <= C    the tangents at a and b, and the chord between a and b, of the target t
 *   L - r <= q_y <= L + s the raw output before saturation; floor has r = 1 - 2^-n and s = 0, half_up 1/2 - 2^-n and
 *                         1/2, half_away and half_even 1/2 and 1/2; 0 and 0 where nothing is shifted out
 *
 * Saturating both keeps the order. So q_y - t is at most sat(L + s) - sat(T), T being T_a up to where the tangents meet
 * and T_b from there on, and t - q_y at most sat(C) - sat(L - r). Both are straight but where one of the two leaves
 * the output's range: their largest values lie there or at the ends. A run whose bound is well above what single codes
 * attain is halved; the gap between C and T falls with the square of the run's length, so few are. Where a tangent does
 * not exist, at a kink or at the end of the domain, the code itself is a run of one.
 *
 * Of an expression enclosures of f and f'' over the run (function/engine.h) take the place of a known curvature: f is
 * within B w^2 / 8 of the chord, B being the largest f'' to that side and w the width, and within the enclosure of f. A
 * run that has none, about a kink or a jump, is halved until no code is left inside. What an expression's values at the
 * ends may be off by is added.
 *
 * NOISE stands for roundings. f and, relative to its terms, f' are within 8 * 2^-63 (function/elementary.h and
 * tests/fitter/function/test_function.c), x = scale * (q - zp) and the rest of t and L, which have 106 bits and more,
 * far nearer. Six times that is added to every bound: below 1e-6 LSB for 32-bit codes, whose values have 33 bits.
 *
 * Among many codes some are mostly rounded by about r and s where L is worst: those are computed, by the residues of
 * L's sums (residues.h), and show how close the bound is. Where a slope is nearly a fraction of few digits, or codes
 * are few, none may be. Then the run's own r and s, again by the residues, are taken for the whole width of the
 * rounding, and the run is halved while its bound is well above what single codes attain.
 */
#ifndef PWLC_ERROR_BOUND_H
#define PWLC_ERROR_BOUND_H

#include <stdbool.h>

#include "function/function.h"
#include "table/table.h"

/* Sets *bound to at least the largest |q_y - t|, t clipped to the output's range as in a certificate, over all codes.
 * It is a number of 6 significant digits, rounded up. False where nothing is proven: samples; expressions
 * that bend or jump at too many places; reduced tables, whose codes are not on lines; sin and cos over more than 2^16
 * half-waves; values beyond 2^500 LSB; a compiler's `real` (base/real.h) too narrow for the products of 32-bit codes.
 * The table is proven, and its codes lie in the domain as measure makes sure. */
bool table_bound(const struct table *table, const struct function *function, double *bound);

/* As table_bound for one segment over the codes [segment->start, last], not rounded: proven there, of a table of this
 * format without reduction, whose own segments are not looked at; folded, over their mirror images too. Where the bound
 * would be more than `most`, *bound is some number that is. */
bool segment_bound(const struct table *table, const struct function *function, const struct segment *segment,
                   int64_t last, double most, double *bound);

/* What the segment is off by at `count` codes alone, whose clipped targets are given, each rounded as at the worst code
 * of its cell [cells[k], cells[k + 1]); `most` as above. */
double segment_bound_at(const struct table *table, const struct segment *segment, int count, const double *codes,
                        const int64_t *cells, const double *targets, double most);

#endif
