/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dynamic program of the search in complete_search.h. */
#ifndef PWLC_LINE_PROGRAM_H
#define PWLC_LINE_PROGRAM_H

#include "base/diag.h"
#include "complete_search.h"
#include "slope_scan.h"

/* Weighted sums relative to the point they start from. */
struct sums {
    double w, x, y, xx, xy, yy;
};

/* A line that has been at a limit since its start. */
struct waiting {
    double cost, paid; /* of all codes so far, and of those since its start */
    int start;
};

struct search {
    const struct points *points;
    const struct line_rules *rules;
    int segments, count;
    double ceiling;           /* only cheaper tables count */
    int shares;               /* of the steps: each start has one at most */
    bool all_starts;          /* lines are followed from all starts: what that says holds for other tables, too */
    bool near;                /* starts are those near some knots */
    int known_to;             /* no better table costs less than `behind` before any point up to this */
    bool whole;               /* only a search of all is of use: it ends where it is likely not to be done */
    double *floor_sum;        /* rounding_floor_sums */
    double *over[DIRECTIONS]; /* what being at the limit behind costs beyond that, of the points before each */
    double *off[DIRECTIONS];  /* what not being at it does at least, likewise */
    double unsafe;            /* the least slope that is not safe */
    double over_error;        /* what rounding may have done to differences of both */
    struct sums *sums;        /* of the start in hand, over the points from there to each */
    double *behind;           /* least cost of the codes before k, by number of segments: [m * (count + 1) + k] */
    double *upper;            /* the same of passes before */
    double *most;             /* what the codes before k may cost in a better table, likewise */
    double *known;            /* of the start in hand: the least cost of the codes before, by the end */
    double *cost;             /* of the start in hand: what ranges cost, likewise, ... */
    int first_end, last_end;  /* ... less than INFINITY to none but these, and those between */
    double *before;           /* lower bound on the codes before k, likewise */
    int *from;                /* where the last of them starts; -1 when one less does as well */
    double *ahead_any;        /* lower bound on the codes from k on, likewise */
    double *ahead;            /* the same where a line of a better table starts at k */
    struct range *range;      /* [i * (count + 1) + j] */
    double *least;            /* search_least */
    double *least_any;        /* what any line costs at least that is not at the limit behind at its start, likewise */
    double *least_left[DIRECTIONS];
    struct waiting *waiting[DIRECTIONS]; /* the best line m that may leave the limit behind */
    double *paid;                        /* what all before the start in hand costs with line m */
    struct range *left;                  /* of the lines that leave a limit, by the end */
    bool *is_knot;                       /* points where ranges may start and end */
    struct slopes slopes;
};

/* Those of a search that has ended. They hold for searches over some of its lines. */
struct search_bounds {
    double *before, *ahead, *least, *least_left[DIRECTIONS];
};

static inline struct range *range_of(const struct search *search, int i, int j)
{
    return &search->range[(size_t)i * ((size_t)search->count + 1) + (size_t)j];
}

static inline double *entry(double *table, const struct search *search, int m, int k)
{
    return &table[(size_t)m * ((size_t)search->count + 1) + (size_t)k];
}

static inline int *from_of(const struct search *search, int m, int k)
{
    return &search->from[(size_t)m * ((size_t)search->count + 1) + (size_t)k];
}

/* What a line from i costs at least, by the end, if it is part of a better table: one that is not at the limit behind
 * at i, or leaves it there. */
static inline double *search_least(const struct search *search, bool leaves, enum direction way, int i)
{
    return (leaves ? search->least_left[way] : search->least) + (size_t)i * ((size_t)search->count + 1);
}

/* No table is known, nor what lies before or after a code, until `before` and `ahead_any` are set: */
int search_init(struct search *search, const struct points *points, const struct line_rules *rules, int segments,
                struct diag *diag);

void search_begin(struct search *search);

void search_free(struct search *search);

/* Segments start anywhere from now on, or within `radius` of the knots of a table alone. */
void search_anywhere(struct search *search);
void search_near(struct search *search, const int *knots, int segments, int radius);

/* The lines of a table, if they are of the rules, need not be found. */
void search_know(struct search *search, const int *knots, const struct line *lines, int segments);

/* One dynamic program below the ceiling in hand; returns the least cost, INFINITY when no table lies below. With
 * samples each start has its share of the steps. */
double search_solve(struct search *search, int samples, int64_t most_steps);

/* Raises `ahead` by what searches so far, complete or not, know of lines from any start. */
void search_look_ahead(struct search *search);

/* Moves the bounds out of a search that has ended, or copies them into one that has not begun. */
void search_give_bounds(struct search *search, struct search_bounds *bounds);
void search_take_bounds(struct search *search, const struct search_bounds *bounds);
void search_bounds_free(struct search_bounds *bounds);

/* The table that was found. */
void search_read(const struct search *search, int *knots, struct line *lines, struct exact *exact);

#endif
