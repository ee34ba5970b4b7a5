/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The problem that a spec states, in the searches' own data, which know no spec: the rules of lines, the points, and
 * what neighbours owe each other. Made here and in points_of_spec.h, and nowhere else.
 */
#ifndef PWLC_PROBLEM_H
#define PWLC_PROBLEM_H

#include "points_of_spec.h"
#include "search/interpolation/interpolation.h"
#include "search/line.h"
#include "search/ties/ties.h"
#include "spec/spec.h"

void line_rules_init(struct line_rules *rules, const struct spec *spec);

/* The ties over the points of the spec. Exit 1 when memory is short; ties_free drops what they own. */
int ties_init(struct ties *ties, const struct spec *spec, const struct points *points, struct diag *diag);

/*
 * The values at points (--knots points) that the search looks at.
 *
 * They lie in --offset-type, or are any that the fields hold. Of those the search need not look at any that lies
 * beyond a limit of the outputs by more than the steepest slope, D: moved back to D beyond the limit it gives the same
 * outputs. A neighbour lies beyond the limit too, so that all between saturates before and after; and slopes, products
 * and sums come no nearer to the ends of their types, as they shrink towards 0. For --offset-type holds 0, and the
 * limit that is passed lies on its side of 0.
 */
struct integers interpolation_values(const struct spec *spec, const struct line_rules *rules);

/* What makes, added to a sum, of a floor the rounding between values 2^shift codes apart that the spec asks for. */
struct addends interpolation_addends(const struct spec *spec, int shift);

#endif
