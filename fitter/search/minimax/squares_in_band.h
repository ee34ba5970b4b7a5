/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Less squared error for a table whose largest error is given. */
#ifndef PWLC_SQUARES_IN_BAND_H
#define PWLC_SQUARES_IN_BAND_H

#include "base/diag.h"
#include "minimax.h"
#include "search/line.h"
#include "search/points.h"

/* Moves the knots of a table and exchanges its lines for ones of less squared error, none of which is off by more than
 * max_err; the table keeps to that on entry. Its number of segments stays. A local search: each round tries every
 * knot at its place, some steps to the left and some to the right, all of them together by a dynamic program, and the
 * steps halve where no move helps. Nothing is proven of the result. */
int squares_in_band(const struct points *points, const struct line_rules *rules, double max_err, struct minimax *table,
                    struct diag *diag);

#endif
