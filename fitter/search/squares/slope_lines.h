/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of one slope from one start: what is known of ranges from there, and what a line comes to at a code. */
#ifndef PWLC_SLOPE_LINES_H
#define PWLC_SLOPE_LINES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <pwl/fixed.h>

#include "search/line.h"
#include "search/points.h"

/* The best line of a range so far; cost in LSB^2. */
struct range {
    double cost; /* INFINITY when none was found */
    int64_t offset;
    int32_t q_b;
    int32_t n;
};

/* A line that is followed by its constant c alone, as it began at a limit or meets ties; its cost so far. */
struct single_offset {
    int64_t c;
    double cost;
};

/* Biases that put a code at a tie are ... */
enum tie_rounding {
    TIES_ALL,  /* followed */
    TIES_NONE, /* left out */
    TIES_AGAIN /* alone followed, and only where a tie may come twice */
};

/* The part of a range at which no line saturates that costs no more than `excess` beyond the rounding floor: the points
 * [begin, end). */
struct core {
    double excess;
    int begin, end;
};

/* A line that goes UP comes from qmin_y and goes to qmax_y. */
enum direction { UP, DOWN, DIRECTIONS };

enum { SLOPES_SHIFTS = 128, SLOPES_NO_SHIFT = 64 };

/*
 * The slopes from one start, tried one after the other. Ranges begin at the start; "by the end" is an array whose entry
 * j is of the range [start, j). Slopes are scanned in one of two ways: all alike, or safe slopes apart from the rest,
 * as only safe ones may be followed by the parabola without a look at types. What is known is parted by how long it
 * holds: for a start, for a search, for a slope.
 */

/* A start, set before its slopes are tried. */
struct slope_start {
    int start, furthest; /* the start, and the last end that a better table can have */
    int64_t origin;      /* X is the code less this */
    bool apart;          /* where slopes are not scanned all alike: safe slopes are scanned now, else the rest */
    bool leaves;         /* apart: only lines of direction `way` that leave the near limit at the start; else ... */
    enum direction way;  /* ... lines that are at the near limit at the start are left out */
    struct range *range; /* by the end: the best line so far */
    double *least;       /* by the end: a lower bound on the best line, in LSB^2 */
    double *spare;       /* by the end: what a range may cost in a better table */
    struct window *window[DIRECTIONS];  /* by the end: slopes that can make the range part of a better table */
    struct core *core[DIRECTIONS];      /* by the end */
    struct window *leaving[DIRECTIONS]; /* by the point: slopes of lines that leave the near limit there */
};

/* The work that a search has done. */
struct slope_work {
    int64_t steps, most_steps; /* points looked at, and how many may be */
    bool complete;             /* most_steps was never reached */
    bool out_of_memory;
    struct single_offset *singles; /* room for `room` of them */
    int room;
};

/* The slope under trial, set by slope_scan.c. */
struct slope_trial {
    int64_t q_b;
    int n;
    double slope;          /* q_b * 2^-n */
    int64_t unit, addend;  /* constants are multiples of unit; addend is what rounding adds before the shift */
    int rise;              /* of the line along the codes: -1, 0, 1 */
    int64_t near_y, far_y; /* the near and the far limit */
    int64_t near_first;    /* the first code beyond the near limit */
    int64_t far_last;      /* the last code that costs by the parabola: the far limit, or of a half the one before */
    double *ceiling;       /* by the end: what a line may cost up to there, to serve a better table there or later */
    double *useful;        /* by the end: what a line must cost less than to serve at that end itself */
    int end;               /* the last end that its lines can serve */
    int leave;             /* the last point at which its lines may leave the near limit */
    double *code;          /* by the point: the code of the constant 0, where biases have no phases */
    enum tie_rounding ties;
    bool is_safe; /* no constant that can serve leaves its type */
};

/* What following it showed. */
struct slope_found {
    bool beyond;  /* a line that was followed as if it were safe left its type, and would have served */
    bool touched; /* a limit of the rules had a say */
    int last;     /* the last point that was looked at */
};

struct slope_scan {
    const struct points *points;    /* every code is a point */
    const struct line_rules *rules; /* with sums of at most 56 bits */
    const double *floor_sum;        /* by the point: what the points before cost at their nearest codes */
    int64_t safe[SLOPES_SHIFTS];    /* by SLOPES_NO_SHIFT + n: the largest |q_b| whose lines cannot leave their types */
    bool all; /* all slopes are scanned alike: of the anchored form, with fixed points or a whole grid */
    struct slope_start from;
    struct slope_work work;
    struct slope_trial trial;
    struct slope_found found;
};

/* The nearest integer of |x| < 2^51, ties to even; rint is a call where the processor's instruction may not be used. */
static inline double nearest(double x)
{
    const double shifter = 0x1.8p52;
    return (x + shifter) - shifter;
}

static inline bool take_step(struct slope_scan *slopes)
{
    slopes->work.complete &= slopes->work.steps < slopes->work.most_steps;
    return ++slopes->work.steps <= slopes->work.most_steps;
}

static inline void note_point(struct slope_scan *slopes, int k)
{
    slopes->found.last = k > slopes->found.last ? k : slopes->found.last;
}

static inline int64_t floor_shr(int64_t a, int n)
{
    return pwl_shr64(a, n, PWL_FLOOR);
}

static inline int64_t product_at(const struct slope_scan *slopes, int k)
{
    return slopes->trial.q_b * ((int64_t)slopes->points->code[k] - slopes->from.origin);
}

static inline int64_t saturated(const struct slope_scan *slopes, int64_t raw)
{
    return pwl_sat(raw, slopes->rules->qmin_y, slopes->rules->qmax_y);
}

/* Whether a bias comes before a right shift, so that its low bits count. */
static inline bool phased(const struct slope_scan *slopes)
{
    return slopes->rules->form == PWL_BIASED && slopes->trial.n > 0;
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
    const struct line line = {.q_b = slopes->trial.q_b, .n = slopes->trial.n, .offset = offset};
    const double *code = slopes->points->code;
    if (slopes->trial.is_safe ||
        line_provable(slopes->rules, &line, (int64_t)code[slopes->from.start], (int64_t)code[end - 1]))
        slopes->from.range[end] = (struct range){
            .cost = cost, .offset = offset, .q_b = (int32_t)slopes->trial.q_b, .n = (int32_t)slopes->trial.n};
    else
        slopes->found.beyond |= cost < slopes->trial.useful[end];
}

#endif
