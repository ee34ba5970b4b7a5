/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of one slope from one start: what is known of ranges from there, and what a line comes to at a code. */
#ifndef PWLC_SLOPE_LINES_H
#define PWLC_SLOPE_LINES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <pwl/fixed.h>

#include "base/numbers.h"
#include "search/line.h"
#include "search/points.h"
#include "search/rounding.h"

/* The best line of a range so far. */
struct range {
    double cost; /* INFINITY when none was found */
    int64_t offset;
    int32_t q_b;
    int32_t n;
};

/* A line that is followed by its constant: it began at a limit, or meets ties. */
struct single_offset {
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

struct slope_scan {
    const struct points *points;        /* every code is a point */
    const struct line_rules *rules;     /* with sums of at most 56 bits */
    struct range *range;                /* from the start, by the end */
    const double *floor_sum;            /* rounding_floor_sums */
    double *least;                      /* what the best line of a range costs at least, by the end */
    double *spare;                      /* what a range may cost, by the end */
    struct window *window[DIRECTIONS];  /* slopes that can make a range part of a better table, by the end */
    struct core *core[DIRECTIONS];      /* of the range to an end */
    struct window *leaving[DIRECTIONS]; /* of those at the near limit at all points before one */
    int64_t safe[SLOPES_SHIFTS];        /* the largest numerator of n whose lines cannot leave their types */
    bool all;                           /* safe slopes are no other matter than the rest; else: */
    bool apart;                         /* safe slopes alone, else the rest */
    bool leaves;               /* apart: lines at the near limit are left out, or they alone are followed, of ... */
    enum direction way;        /* ... one direction, which leave it at the start */
    int start, furthest;       /* the start; the last end that a better table can have */
    int64_t origin;            /* X is the code less this */
    int64_t steps, most_steps; /* points looked at, and how many may be */
    bool complete;             /* most_steps was never reached */
    bool out_of_memory;
    struct single_offset *singles;
    int room;
    /* Of the slope under trial: */
    double slope;
    double *ceiling; /* what a line may cost up to an end, to serve a better table there or later; by the end */
    double *useful;  /* what a line must cost less than to serve at an end itself; by the end */
    int end;         /* the last end that its lines can serve */
    double *code;    /* of the constant 0, by the point, where biases have no phases */
    int leave;       /* the last point at which a line may leave a limit */
    int64_t q_b;
    int n;
    int64_t unit, addend;
    int rise;              /* of the line along the codes: -1, 0, 1 */
    int64_t near_y, far_y; /* the limits it comes from and goes to */
    int64_t near_first;    /* the first code that is not at the near limit */
    int64_t far_last;      /* the last one that costs by the parabola: the far limit too, but of a half */
    enum ties ties;
    bool is_safe; /* no constant that can serve leaves its type */
    bool beyond;  /* a line that was followed as if it were safe left its type, and would have served */
    bool touched; /* a limit of the rules had a say */
    int last;     /* the last point that was looked at */
};

/* The nearest integer of |x| < 2^51, ties to even; rint is a call where the processor's instruction may not be used. */
static inline double nearest(double x)
{
    const double shifter = 0x1.8p52;
    return (x + shifter) - shifter;
}

static inline bool take_step(struct slope_scan *slopes)
{
    slopes->complete &= slopes->steps < slopes->most_steps;
    return ++slopes->steps <= slopes->most_steps;
}

static inline void note_point(struct slope_scan *slopes, int k)
{
    slopes->last = k > slopes->last ? k : slopes->last;
}

static inline int64_t floor_shr(int64_t a, int n)
{
    return pwl_shr64(a, n, PWL_FLOOR);
}

static inline int64_t product_at(const struct slope_scan *slopes, int k)
{
    return slopes->q_b * ((int64_t)slopes->points->code[k] - slopes->origin);
}

static inline int64_t saturated(const struct slope_scan *slopes, int64_t raw)
{
    return pwl_sat(raw, slopes->rules->qmin_y, slopes->rules->qmax_y);
}

/* Whether a bias comes before a right shift, so that its low bits count. */
static inline bool phased(const struct slope_scan *slopes)
{
    return slopes->rules->form == PWL_BIASED && slopes->n > 0;
}

/* Whether no two of so many points have ties at the same phase or at neighbouring ones, of a slope q_b * 2^-n: then
 * each tie gives the codes of a phase next to it, whichever way it is rounded. */
static inline bool ties_are_apart(int64_t q_b, int n, int points)
{
    const int64_t mask = pwl_shl64(1, n) - 1;
    for (int64_t d = 1; d < points; d++)
        if (((q_b * d + 1) & mask) <= 2)
            return false;
    return true;
}

/* A line that is the best of the range to an end, if it is one of the rules. */
static inline void keep_line(struct slope_scan *slopes, int end, int64_t offset, double cost)
{
    const struct line line = {.q_b = slopes->q_b, .n = slopes->n, .offset = offset};
    const double *code = slopes->points->code;
    if (slopes->is_safe || line_provable(slopes->rules, &line, (int64_t)code[slopes->start], (int64_t)code[end - 1]))
        slopes->range[end] =
            (struct range){.cost = cost, .offset = offset, .q_b = (int32_t)slopes->q_b, .n = (int32_t)slopes->n};
    else
        slopes->beyond |= cost < slopes->useful[end];
}

#endif
