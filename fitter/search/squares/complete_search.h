/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The integer table of least squared error, by a complete search, for short inputs. */
#ifndef PWLC_COMPLETE_SEARCH_H
#define PWLC_COMPLETE_SEARCH_H

#include "base/diag.h"
#include "search/line.h"
#include "search/points.h"
#include "search/rounding.h"

#define EXACT_FEW 256 /* points of which all lines are soon looked at */

struct search_bounds;

/* How far a search goes: some slopes from each start; knots near those of the incumbent; all tables. */
enum exact_stage { EXACT_SOME, EXACT_NEAR, EXACT_ALL };

struct exact {
    enum exact_stage last;             /* the last stage that is run */
    double share;                      /* of the steps of a table that takes one search; then what is left */
    int segments;                      /* at most those asked for */
    double cost;                       /* of the table, in LSB^2 */
    bool complete;                     /* all its lines were searched, or need not be */
    bool optimal;                      /* no table of the rules with as many segments costs less */
    double lower_bound;                /* no such table costs less; cost when optimal */
    const struct search_bounds *known; /* from a search over these lines and others, or null */
    struct search_bounds *found;       /* takes those of this search, or null */
    double any_shift;                  /* with one shift: what the best table without costs; NAN where not known */
};

/*
 * Improves a table: on entry knots and lines hold one of *exact's segments and cost (INFINITY when there is none).
 *
 * Dynamic programming over all codes on the least cost of integer lines over the ranges [i, j) that can be part of a
 * better table. From each start i, slopes are tried one after the other, and each is followed from code to code with
 * running sums of target - shifted product, whose parabola gives the best constant at every end j at once. A bias that
 * comes before the shift is followed by its phases, that is the intervals of biases which give the same codes so far.
 * A slope is given up when no continuation can be part of a better table: the cost of a line never falls as its range
 * grows. Slopes that would give the codes of one given up are skipped.
 *
 * What the codes before i cost at least is known exactly by then, and so is a table of the codes before j, which the
 * range has to better; the codes from j on cost at least what real lines do, less what rounding can gain
 * (real_bound.h). A line also costs at least
 * (sqrt(real) - sqrt(mass)/2)^2 over the codes that it does not leave to saturation, which bounds its slope to a window
 * around the real least-squares slope of those codes; what it pays at a limit it cannot pay between.
 *
 * Where that takes too long, tables whose knots are near those in hand are searched, as long as there are better ones.
 * What is known then of the lines from all starts bounds what lies after a code (search_look_ahead).
 * The passes and their steps are in one table, in exact.c.
 *
 * A line of the absolute and biased forms is the same from whatever code it starts. So none starts where the lines
 * before meet one more code at no cost but its floor; one that starts at a limit of the output is followed from
 * where it leaves the limit, once for all starts; and one that runs into the other limit must have cost less than that
 * limit alone. (Lines that may leave their types are followed one by one, if they would be of use in wider ones.)
 *
 * Of equal tables that of fewest segments is taken.
 *
 * Half a folded table costs at a limit not what the parabola says; its lines are at a limit from there on, not beyond.
 *
 * The search ends early, and is not complete, after a number of steps that depends on the input alone.
 */
int exact_improve(const struct points *points, const struct line_rules *rules, int segments, int *knots,
                  struct line *lines, struct exact *exact, struct diag *diag);

/* Cuts [first, last] to the shifts that are searched: with sums of more than 32 bits none beyond 24, either way. */
void exact_cut_shifts(const struct line_rules *rules, int *first, int *last);

#endif
