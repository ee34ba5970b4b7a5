/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Room for the largest table, shared by the attempts of one fit: the points, the present segments, and what is known of
 * them. */
#ifndef PWLC_WORKSPACE_H
#define PWLC_WORKSPACE_H

#include <stdbool.h>

#include "base/diag.h"
#include "search/line.h"
#include "search/minimax/minimax.h"
#include "search/points.h"
#include "search/squares/complete_search.h"
#include "search/ties/ties.h"
#include "spec/spec.h"
#include "table/table.h"

/* The best table so far, while others are tried. */
struct kept {
    int count;
    struct segment segments[PWL_MAX_SEGMENTS];
    struct certificate certificate;
};

struct workspace {
    const struct spec *spec; /* of the table, of its half when it is folded, or of its core when it is reduced */
    struct points points;
    struct line_rules rules; /* with one shift, that of the present table */
    int knots[PWL_MAX_SEGMENTS + 1];
    struct line lines[PWL_MAX_SEGMENTS];
    struct segment segments[PWL_MAX_SEGMENTS];
    int count;                /* segments of the present table */
    enum objective objective; /* that it was searched by */
    bool is_fewest;           /* by OBJECTIVE_SEGMENTS: no table of the rules keeps to --max-err with fewer */
    struct exact exact;       /* of the same, by least squares; 0 segments when nothing was proven */
    struct ties ties;         /* where its segments depend on each other */
    bool moved_by_ties;
    struct minimax minimax; /* its knots and lines are those above */
    struct kept kept;       /* of several starts, or numbers of segments */
    struct kept kept_half;  /* of the ways to take a half's limits */
};

/* For the codes of a spec, which it points to from then on. What an earlier call has taken is freed; the first one is
 * of a workspace of zeros. */
int workspace_begin(struct workspace *work, const struct spec *spec, struct diag *diag);
void workspace_free(struct workspace *work);

/* Keeps a table while others are tried, and makes it the present one again. */
void keep_table(struct kept *kept, const struct table *table);
void take_kept_table(const struct kept *kept, struct table *table);

#endif
