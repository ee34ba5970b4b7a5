/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The attempts of one fit, shared by its files: segments for its points, what is known of them, and how many
 * are needed. */
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

/* Room for the largest table, shared by the attempts of one fit. */
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
    struct kept kept;
};

/* segments.c: fills work->segments with a table of `count` segments, or fewer where more would not help. */
int fit_segments(struct workspace *work, int count, struct diag *diag);

/* The same of the fewest that hold `limit` at the points, `most` or fewer, and of those with little squared error. */
int fit_segments_within(struct workspace *work, double limit, int most, struct diag *diag);

/* The same where they are tied and few hold ties.enough at the points; 0 segments where none are found so. */
int fit_few_segments(struct workspace *work, int most, struct diag *diag);

static inline bool has_uniform_knots(const struct spec *spec)
{
    return spec->constraints.knots == KNOTS_UNIFORM || spec->method == METHOD_UNIFORM;
}

/* certificate.c: proves and measures the segments found, and writes them and their certificate into the table. */
int certify(struct workspace *work, struct table *table, struct diag *diag);

/* Whether the table costs what its lines do at the points. That of a half may cost more, see spec_fold_narrow. */
bool costs_as_searched(const struct workspace *work, const struct certificate *certificate);

/* Both in one, for a number of segments. */
int fit_and_certify(struct workspace *work, int count, struct table *table, struct diag *diag);

/* Keeps a table while others are tried, and makes it the present one again. */
void keep_table(struct workspace *work, const struct table *table);
void take_kept_table(const struct workspace *work, struct table *table);

/* tied_starts.c: exchanges a table of tied segments for a better one by its objective, of `count` segments or fewer. */
int try_tied_starts(struct workspace *work, int count, struct table *table, struct diag *diag);

/* max_err.c: few segments, `most` or fewer, of a table that keeps to --max-err. */
int fit_max_err(struct workspace *work, int most, struct table *table, struct diag *diag);

/* interpolation_table.c: the table of values at evenly spaced points that the spec asks for, certified. */
int fit_interpolation(struct workspace *work, struct table *table, struct diag *diag);

/* Exit 3 when the table does not. */
int check_max_err(const struct spec *spec, const struct table *table, struct diag *diag);

#endif
