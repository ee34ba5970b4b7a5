/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segments that depend on their neighbours: tables that never step against the function, or that have no gaps. */
#ifndef PWLC_TIE_H
#define PWLC_TIE_H

#include <stdbool.h>

#include "base/diag.h"
#include "search/line.h"
#include "search/points.h"
#include "spec/spec.h"

/* f has an extreme in between: no step either way. */
#define TURN 2

/* What neighbouring codes and segments of a table owe each other. */
struct ties {
    struct constraints constraints;
    bool fold; /* the points are the half of a folded table, whose other half is the sum minus this one */
    int64_t fold_sum;
    bool improve;          /* a table that keeps the ties already is to be improved, too */
    bool by_max_err;       /* the largest error counts, else the sum of squared errors */
    double max_err;        /* the largest error allowed, or infinity */
    bool stops_at_max_err; /* a table within it need not be improved */
    int few;               /* segments that tie_few_segments found; 0 where it was not asked */
    signed char *inside;   /* direction of f, -1 to 1, from point k - 1 to point k, or TURN; malloc'd */
    signed char *joint;    /* from the code before cell[k] to cell[k]; of k = 0 neither is looked at */
    signed char *cell;     /* from the first to the last code of the cell, or TURN */
};

/* The ties of a spec over its points. Exit 1 when memory is short. */
int ties_init(struct ties *ties, const struct spec *spec, const struct points *points, struct diag *diag);
void ties_free(struct ties *ties);

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
