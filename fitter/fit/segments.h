/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segments of a table for the points of a workspace. */
#ifndef PWLC_SEGMENTS_H
#define PWLC_SEGMENTS_H

#include "workspace.h"

/* Fills work->segments with a table of `count` segments, or fewer where more would not help. */
int fit_segments(struct workspace *work, int count, struct diag *diag);

/* The same of the fewest that hold `limit` at the points, `most` or fewer, and of those with little squared error. */
int fit_segments_within(struct workspace *work, double limit, int most, struct diag *diag);

/* The same where they are tied and few hold ties.enough at the points; 0 segments where none are found so. */
int fit_few_segments(struct workspace *work, int most, struct diag *diag);

static inline bool has_uniform_knots(const struct spec *spec)
{
    return spec->constraints.knots == KNOTS_UNIFORM || spec->method == METHOD_UNIFORM;
}

#endif
