/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segments that depend on their neighbours: tables that never step against the function, or that have no gaps. */
#ifndef PWLC_TIES_H
#define PWLC_TIES_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/integers.h"
#include "search/points.h"

/* f has an extreme in between: no step either way. */
#define TURN 2

/* What neighbouring codes and segments of a table owe each other. */
struct ties {
    bool monotone;   /* no step against the direction of f */
    bool continuous; /* where a segment starts, the one before would give an output within max_step */
    int max_step;
    bool fold; /* the points are the half of a folded table, whose other half, of a code at least, is the sum minus this
                * one */
    int64_t fold_sum;
    bool improve;          /* a table that keeps the ties already is to be improved, too */
    bool by_max_err;       /* the largest error counts, else the sum of squared errors */
    double max_err;        /* the largest error allowed, or infinity */
    bool stops_at_max_err; /* a table within it need not be improved */
    int few;               /* segments that tie_few_segments found; 0 where it was not asked */
    signed char *inside;   /* direction of f, -1 to 1, from point k - 1 to point k, or TURN; malloc'd */
    int *run_end;          /* behind the points from k on with the direction of k; malloc'd */
    signed char *joint;    /* from the code before cell[k] to cell[k]; of k = 0 neither is looked at */
    signed char *cell;     /* from the first to the last code of the cell, or TURN */
};

/* Drops what they own; fit/problem.h makes them. */
void ties_free(struct ties *ties);

/* Whether segments are tied to their neighbours at all. */
static inline bool ties_bind(const struct ties *ties)
{
    return ties->monotone || ties->continuous;
}

/*
 * Ties hold between outputs of the table's codes. A point of a folded half serves two codes, itself, which saturates
 * from qmin to qmax, and its mirror image, which does so from sum - qmax to sum - qmin in terms of the half's outputs.
 * Two of these may be apart for the one and the same for the other. A tie is asked of each code that the point serves.
 * The outputs that keep to it there are an interval, as saturation keeps their order.
 */

/* With which the codes of point k do not step against a direction of f from those of the point before, whose output is
 * `before`; or from a lower code of the same cell. */
struct integers tie_outputs_after(const struct ties *ties, const struct points *points, int k, int direction,
                                  int64_t before);
struct integers tie_outputs_in_cell(const struct points *points, int k, int direction, int64_t before);

/* With which a segment may begin at point k, for --continuous, where the one before would give `value`. */
struct integers tie_outputs_near(const struct ties *ties, const struct points *points, int k, int64_t value);

/* By how many codes the two halves of a folded table lie apart at the first code of the one, if `first` is the output
 * there. */
int64_t tie_gap_of_halves(const struct ties *ties, const struct points *points, int64_t first);

/* The half's outputs beyond which each code that point k serves saturates. */
struct integers tie_outputs_apart(const struct points *points, int k, struct integers outputs);

/* How far apart two of those may lie that tie_outputs_near lets follow each other. */
int64_t tie_widest_step(const struct ties *ties, const struct points *points, int k);

#endif
