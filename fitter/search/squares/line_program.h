/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dynamic program of the search in complete_search.h. */
#ifndef PWLC_LINE_PROGRAM_H
#define PWLC_LINE_PROGRAM_H

#include "base/diag.h"
#include "complete_search.h"
#include "slope_scan.h"

/* Weighted sums relative to the point they start from. */
struct moment_sums {
    double w, x, y, xx, xy, yy;
};

/* A line that has been at a limit since its start. */
struct waiting {
    double cost, paid; /* of all codes so far, and of those since its start */
    int start;
};

/*
 * Arrays by the number of segments and the point have the entry [m * (count + 1) + k], see `entry`; those of ranges
 * [i * (count + 1) + j]. `before` and `ahead_any` are to be set, to 0 where nothing is known, before search_begin.
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
    double *over[DIRECTIONS];            /* what being at the limit behind costs beyond that, of the points before */
    double *off[DIRECTIONS];             /* what not being at it costs at least, likewise */
    double over_error;                   /* what rounding may have done to differences of both */
    bool *is_knot;                       /* whether ranges may start and end there */
    double unsafe;                       /* the least slope that is not safe */
    struct waiting *waiting[DIRECTIONS]; /* by m: the best line m that may leave the limit behind */
    double *paid;                        /* by m: what all before the start costs with line m */
    /* Of the start under trial, by the point. */
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
    /* Of ranges. */
    struct range *range;
    double *least;                  /* lower bound on a line that is not at the limit behind at its start */
    double *least_left[DIRECTIONS]; /* of these, on those that leave that limit there */
    struct slopes slopes;
};

/* Lower bounds of a program that has ended. They hold for programs over some of its lines. */
struct search_bounds {
    void *memory;
    double *before, *ahead, *least, *least_left[DIRECTIONS];
};

static inline struct range *range_of(const struct line_program *program, int i, int j)
{
    return &program->range[(size_t)i * ((size_t)program->count + 1) + (size_t)j];
}

static inline double *entry(double *table, const struct line_program *program, int m, int k)
{
    return &table[(size_t)m * ((size_t)program->count + 1) + (size_t)k];
}

/* What a line from i costs at least, by the end: one that is not at the limit behind at i, or leaves it there. */
static inline double *search_least(const struct line_program *program, bool leaves, enum direction way, int i)
{
    return entry(leaves ? program->least_left[way] : program->least, program, i, 0);
}

int search_init(struct line_program *program, const struct points *points, const struct line_rules *rules, int segments,
                struct diag *diag);

void search_begin(struct line_program *program);

void search_free(struct line_program *program);

/* Segments start anywhere from now on, or within `radius` of the knots of a table alone. */
void search_anywhere(struct line_program *program);
void search_near(struct line_program *program, const int *knots, int segments, int radius);

/* The lines of a table, if they are of the rules, need not be found. */
void search_know(struct line_program *program, const int *knots, const struct line *lines, int segments);

/* One dynamic program below the ceiling; returns the least cost, INFINITY when no table lies below. With samples each
 * start has its share of the steps. */
double search_solve(struct line_program *program, int samples, int64_t most_steps);

/* Raises `ahead` by what searches so far, complete or not, know of lines from any start. */
void search_look_ahead(struct line_program *program);

/* Moves the bounds out of a program that has ended, which may only be freed then; or copies them into one that has not
 * begun. */
void search_give_bounds(struct line_program *program, struct search_bounds *bounds);
void search_take_bounds(struct line_program *program, const struct search_bounds *bounds);
void search_bounds_free(struct search_bounds *bounds);

/* The table that was found; returns the number of its segments. */
int search_read(const struct line_program *program, int *knots, struct line *lines);

#endif
