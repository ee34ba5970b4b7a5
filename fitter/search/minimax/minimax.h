/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least possible largest error of a table, and the fewest segments for a given one, with proof. */
#ifndef PWLC_MINIMAX_H
#define PWLC_MINIMAX_H

#include <stdbool.h>

#include "base/diag.h"
#include "search/line.h"
#include "search/points.h"

/* A table found, and what is known of all others. knots has room for PWL_MAX_SEGMENTS + 1, lines for
 * PWL_MAX_SEGMENTS entries. */
struct minimax {
    int segments;
    int *knots;
    struct line *lines;
    double max_err;     /* of this table at the points; with points->between, proven at every code */
    double lower_bound; /* no table of the rules with as many segments has a smaller largest error */
    int hardest;        /* the point where a segment failed in an earlier search, to be tried first; 0 at first */
};

/* Whether the search was complete: the bound is what the table has, to MINIMAX_RESOLUTION. */
static inline bool minimax_is_optimal(const struct minimax *minimax)
{
    return minimax->lower_bound >= minimax->max_err;
}

#define MINIMAX_RESOLUTION 1e-9 /* LSB, or 1e-12 of the error: far below the digits of a certificate */

/*
 * Finds the table of least largest error among those of at most `segments` segments.
 *
 * Absolute and biased: a line that is feasible over a range is so over each part of it. So the longest segment from the
 * left, again and again, gives the fewest segments for an error, and bisection over the error the least one for a
 * number of segments. Anchored: the line moves with its start, but its end may be cut; so the farthest end of k
 * segments is sought over every start that k - 1 segments can reach.
 */
int minimax_least_error(const struct points *points, const struct line_rules *rules, int segments,
                        struct minimax *result, struct diag *diag);

/* The fewest segments with a largest error of at most max_err: each as long as it can be. Only segments, knots, lines
 * and max_err are set; *fewest says that no table has fewer segments. Exit 3 when `most` segments do not suffice. */
int minimax_cover(const struct points *points, const struct line_rules *rules, double max_err, int most,
                  struct minimax *result, bool *fewest, struct diag *diag);

/* As minimax_cover, and among the tables with that many segments the one of least error. */
int minimax_fewest_segments(const struct points *points, const struct line_rules *rules, double max_err, int most,
                            struct minimax *result, bool *fewest, struct diag *diag);

#endif
