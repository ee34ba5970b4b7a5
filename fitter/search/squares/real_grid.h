/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells of points between whose places real lines run, and what limits of the output cost there. */
#ifndef PWLC_REAL_GRID_H
#define PWLC_REAL_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "moments.h"
#include "search/line.h"
#include "search/points.h"

enum { LOW, HIGH, LIMITS };

/* Somewhere a segment may end or meet a limit: cells before `left` come before it, cells from `right` on after it. */
struct place {
    int left, right;
    double first, last; /* the line is at the limit at or before `first`, going down, at or after `last`, going up */
};

struct real_grid {
    int cells, places;
    int *edge; /* cell c holds the points [edge[c], edge[c + 1]) */
    struct moments *cell;
    struct place *place;
    double limit[LIMITS];
    double reached[LIMITS];   /* values from which on a line is at the limit: for a half it costs apart, and half a code
                               * before it a line may be rounded to it */
    double *at_limit[LIMITS]; /* cost of being at the limit in all cells before one */
    double *nearest[LIMITS];  /* least cost of a point at the limit, of the cell and of its neighbours at a place */
    double *floor_sum;        /* rounding floor of all cells before one */
    double steepest;          /* the largest slope of a line */
    bool is_rounded;          /* lines are integer lines, and cost what their codes do at least */
};

/* Points from the last one, so that the same program bounds suffixes. */
struct view {
    const struct points *points;
    bool reversed;
};

/* Cells as narrow as can be, at most `most` of them; each point is one when near is null. */
int real_grid_init(struct real_grid *grid, const struct view *view, int64_t qmin_y, int64_t qmax_y, const int *near,
                   int near_count, int most, struct diag *diag);

/* Lines over a grid of which every cell is a point are integer lines of the rules from now on. */
void real_grid_round(struct real_grid *grid, const struct line_rules *rules);

void real_grid_free(struct real_grid *grid);

#endif
