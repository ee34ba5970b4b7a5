/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What integer lines from one start cost, over the ranges to every end: the inner part of the search in exact.h. */
#ifndef PWLC_SLOPES_H
#define PWLC_SLOPES_H

#include <stdbool.h>
#include <stdint.h>

#include "line.h"
#include "points.h"

/* The best line of a range so far. */
struct range {
    double cost; /* INFINITY when none was found */
    int64_t offset;
    int32_t q_b;
    int32_t n;
};

/* A line that is followed by its constant: it began at a limit, or meets ties. */
struct single {
    int64_t c;
    double cost;
};

/* What is done about biases that put a code at a tie. */
enum ties {
    TIES_ALL,  /* they are followed */
    TIES_NONE, /* they are left out */
    TIES_AGAIN /* they alone, and only where they may come twice */
};

struct slopes {
    const struct points *points;    /* every code is a point */
    const struct line_rules *rules; /* with sums of at most 56 bits */
    struct range *range;            /* of the start in hand, by the end */
    double *limit;                  /* what a line may cost up to an end, to be of use there or later; by the end */
    int start, end;                 /* the start; the last end of use */
    int64_t origin;                 /* X is the code less this */
    int64_t steps, most_steps;      /* points looked at, and how many may be */
    bool complete;                  /* most_steps was never reached */
    bool out_of_memory;
    struct single *singles;
    int room;
    /* the slope in hand */
    int64_t q_b;
    int n;
    int64_t unit, addend;
    int rise;              /* of the line along the codes: -1, 0, 1 */
    int64_t near_y, far_y; /* the limits it comes from and goes to */
    enum ties ties;
    bool safe;    /* no constant of use can leave its type */
    bool touched; /* a limit of the rules had a say */
    int last;     /* the last point that was looked at */
};

/* Follows the slope 0 from the start on, and keeps each line that is the best of a range. */
void slopes_try_flat(struct slopes *slopes);

struct window {
    double low, high;
};

/* All slopes of the rules in a window; with a stride above 0 some, about that far apart. */
void slopes_try_all(struct slopes *slopes, struct window window, double stride);

#endif
