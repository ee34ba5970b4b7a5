/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What integer lines from one start cost, over the ranges to every end: the inner part of the search in
 * complete_search.h. */
#ifndef PWLC_SLOPE_SCAN_H
#define PWLC_SLOPE_SCAN_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "search/line.h"
#include "search/points.h"
#include "search/rounding.h"

static inline double square(double x)
{
    return x * x;
}

/* fmin and fmax of numbers, which are calls. */
static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

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

struct window {
    double low, high;
};

/* Of a range: what it may cost beyond the rounding floor, and the points between that no line leaves to saturation. */
struct core {
    double excess;
    int begin, end;
};

/* A line that rises comes from qmin_y and goes to qmax_y. */
enum direction { UP, DOWN, DIRECTIONS };

enum { SLOPES_SHIFTS = 128, SLOPES_NO_SHIFT = 64 };

struct slopes {
    const struct points *points;        /* every code is a point */
    const struct line_rules *rules;     /* with sums of at most 56 bits */
    struct range *range;                /* of the start in hand, by the end */
    const double *floor_sum;            /* rounding_floor_sums */
    double *least;                      /* what the best line of a range costs at least, likewise */
    double *spare;                      /* what a range may cost, by the end */
    struct window *window[DIRECTIONS];  /* slopes of use to a range, by the end */
    struct core *core[DIRECTIONS];      /* of the range to an end */
    struct window *leaving[DIRECTIONS]; /* of those at the limit behind at all points before one */
    int64_t safe[SLOPES_SHIFTS];        /* the largest numerator of n whose lines cannot leave their types */
    bool all;                           /* safe slopes are no other matter than the rest; else: */
    bool apart;                         /* safe slopes alone, else the rest */
    bool leaves;               /* apart: lines at the limit behind are left out, or they alone are followed, of ... */
    enum direction way;        /* ... one direction, which leave it at the start */
    int start, furthest;       /* the start; the last end of use */
    int64_t origin;            /* X is the code less this */
    int64_t steps, most_steps; /* points looked at, and how many may be */
    bool complete;             /* most_steps was never reached */
    bool out_of_memory;
    struct single *singles;
    int room;
    /* the slope in hand */
    double slope;
    double *limit;  /* what a line may cost up to an end, to be of use there or later; by the end */
    double *useful; /* what it must cost less than to be of use at an end; by the end */
    int end;        /* the last end of use */
    double *code;   /* of the constant 0, by the point, where biases have no phases */
    int leave;      /* the last point of use to leave a limit at */
    int64_t q_b;
    int n;
    int64_t unit, addend;
    int rise;              /* of the line along the codes: -1, 0, 1 */
    int64_t near_y, far_y; /* the limits it comes from and goes to */
    int64_t near_first;    /* the first code that is not at the limit behind */
    int64_t far_last;      /* the last one that costs by the parabola: the limit ahead too, but of a half */
    enum ties ties;
    bool is_safe; /* no constant of use can leave its type */
    bool beyond;  /* of those that are followed as if all were, one that leaves its type would be of use */
    bool touched; /* a limit of the rules had a say */
    int last;     /* the last point that was looked at */
};

/* Finds out which slopes are safe; where lines are not followed apart, all are taken in one. */
void slopes_init(struct slopes *slopes);

/* The least slope that is not safe. */
double slopes_unsafe(const struct slopes *slopes);

/* Follows the slope 0 from the start on, and keeps each line that is the best of a range. */
void slopes_try_flat(struct slopes *slopes);

/* All slopes of the rules in a window; with a stride above 0 some, about that far apart. */
void slopes_try_all(struct slopes *slopes, struct window window, double stride);

#endif
