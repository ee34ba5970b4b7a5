/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables whose segments depend on their neighbours. */
#ifndef PWLC_TIED_TABLE_H
#define PWLC_TIED_TABLE_H

#include <stdbool.h>

#include "base/diag.h"
#include "search/line.h"
#include "search/points.h"
#include "ties.h"

/* A table that keeps the ties, and what is known of all others. */
struct tied {
    int segments;
    int most; /* segments allowed; knots has room for as many and one more */
    int *knots;
    struct line *lines;
    bool changed;   /* the table given did not keep the ties */
    bool proven;    /* no table of at most that many segments has a smaller largest error at the points */
    double max_err; /* where it is proven */
};

/*
 * Turns the table in *tied into one that keeps the ties, at little cost. Of the largest error `low` is a lower bound.
 *
 * A line is given by its values at both ends. Dynamic programming over the segments chooses for each knot one of a few
 * positions and for each line one of a few values at both ends, around those of the incumbent, such that neighbours
 * agree; again and again from the result, by ever smaller moves. So too from an agreed cover (joint_search.h) and, for
 * --monotone, from a table with knots at the extremes of f. The result is no proven optimum. Where the largest error
 * counts, a complete search follows for formats narrow enough (joint_exact.h). Exit 3 when no such table is found.
 */
int tie_segments(const struct ties *ties, const struct points *points, const struct line_rules *rules, double low,
                 struct tied *tied, struct diag *diag);

/* A table of few segments, tied->most or fewer, that keeps the ties and, at the points, the largest error allowed: the
 * agreed cover of fewest segments. Its rules are those given, with --shift one those of one shift. Sets segments, 0
 * where there is none, knots and lines. Exit 1 when memory is short. */
int tie_few_segments(const struct ties *ties, const struct points *points, const struct line_rules *rules,
                     struct tied *tied, struct diag *diag);

#endif
