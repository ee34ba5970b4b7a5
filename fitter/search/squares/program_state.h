/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the dynamic program of complete_search.h: what is known of codes and ranges. */
#ifndef PWLC_PROGRAM_STATE_H
#define PWLC_PROGRAM_STATE_H

#include "moments.h"
#include "slope_lines.h"

/* A line that has been at a limit since its start. */
struct waiting {
    double cost, paid; /* of all codes so far, and of those since its start */
    int start;
};

/*
 * Arrays by the number of segments and the point have the entry [m * (count + 1) + k], see `entry`; those of ranges
 * [i * (count + 1) + j]. `before` and `ahead_any` are to be set, to 0 where nothing is known, before
 * program_begin_bounds.
 */
struct line_program {
    const struct points *points;
    const struct line_rules *rules;
    int segments, count;
    double ceiling; /* only cheaper tables count */
    int shares;     /* of the steps: each start has one at most */
    void *memory;   /* holds all arrays but singles */
    /* By the point. */
    double *floor_sum;                   /* the rounding floor of the points before */
    double *over[DIRECTIONS];            /* what being at the near limit costs beyond that, of the points before */
    double *off[DIRECTIONS];             /* what not being at it costs at least, of the points before */
    double over_error;                   /* what rounding may have done to differences of both */
    bool *is_knot;                       /* whether ranges may start and end there */
    double unsafe;                       /* the least slope that is not safe */
    struct waiting *waiting[DIRECTIONS]; /* by m: the best line m that may leave the near limit */
    double *paid;                        /* by m: what all before the start costs with line m */
    /* The start under trial, by the point. */
    struct moment_sums *sums; /* over the points from there on */
    double *known;            /* the least cost of the codes before */
    double *cost;             /* what ranges cost, less than INFINITY to none but the ends ... */
    int first_end, last_end;  /* ... in [first_end, last_end] */
    struct range *left;       /* of the lines that leave a limit */
    /* By the number of segments and the point. */
    double *behind;    /* least cost of the codes before */
    int *from;         /* where the last of these lines starts; -1 when one less does as well */
    double *upper;     /* `behind` of passes before */
    double *most;      /* what the codes before may cost in a better table */
    double *before;    /* lower bound on the codes before */
    double *ahead_any; /* lower bound on the codes from there on */
    double *ahead;     /* the same where a line of a better table starts there */
    /* By the range. */
    struct range *range;
    double *least;                  /* lower bound on a line that is not at the near limit at its start */
    double *least_left[DIRECTIONS]; /* of these, on those that leave that limit there */
    struct slope_scan slopes;
};

static inline struct range *range_of(const struct line_program *program, int i, int j)
{
    return &program->range[(size_t)i * ((size_t)program->count + 1) + (size_t)j];
}

static inline double *entry(double *table, const struct line_program *program, int m, int k)
{
    return &table[(size_t)m * ((size_t)program->count + 1) + (size_t)k];
}

/* The least cost of a line from i, by the end: one that is not at the near limit at i, or leaves it there. */
static inline double *program_least(const struct line_program *program, bool leaves, enum direction way, int i)
{
    return entry(leaves ? program->least_left[way] : program->least, program, i, 0);
}

#endif
