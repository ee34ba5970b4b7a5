/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segments that depend on their neighbours: tables that never step against the function, or that have no gaps. */
#ifndef PWLC_TIES_H
#define PWLC_TIES_H

#include <stdbool.h>

#include "base/diag.h"
#include "search/points.h"
#include "spec/spec.h"

/* f has an extreme in between: no step either way. */
#define TURN 2

/* What neighbouring codes and segments of a table owe each other. */
struct ties {
    struct constraints constraints;
    bool fold; /* the points are the half of a folded table, whose other half, of a code at least, is the sum minus this
                * one */
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

#endif
