/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The states of the complete search in joint_exact.h, and the lines that lead from one to the next. */
#ifndef PWLC_JOINT_FOLLOW_H
#define PWLC_JOINT_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "search/error_band.h"
#include "search/line.h"
#include "search/points.h"
#include "tie.h"

/* Slopes tried and codes looked at in one fit. */
#define TIE_MOST_STEPS (1 << 26)

/* The best segments that end at a place and give a value there. */
struct state {
    int64_t last; /* the output before the place */
    struct line line;
    int start;     /* place where the last segment starts; -1 where the state is out of reach */
    int begins_at; /* the value there of the state before */
};

/* Output codes allowed at a point. */
struct limits {
    int64_t low, high;
};

struct tie_program {
    const struct ties *ties;
    const struct points *points;
    struct line_rules rules; /* with one shift, that of a trial */
    int segments, places;
    int *place_at; /* by point; -1 where no segment may start */
    struct limits *band;
    int64_t margin; /* by which values at a place may lie outside the band */
    int width;      /* values at a place */
    struct state *state;
    int *need;  /* by place: segments that follow it at least */
    int *reach; /* by place: point that a segment from there ends at or before */
    int *begun; /* by first output of a segment from the start in hand: the fewest segments before it */
    int64_t steps;
    bool gave_up;

    int start;    /* place in hand */
    int farthest; /* point that a segment from it may still look at */
    int64_t origin;
    int64_t q_b, *step_up; /* slope in hand; of the biased form the least sum for each output from qmin_y + 1 on */
    int n;
};

static inline struct state *state_at(const struct tie_program *search, int segments, int place, int value)
{
    return &search->state[((size_t)segments * (size_t)(search->places + 1) + (size_t)place) * (size_t)search->width +
                          (size_t)value];
}

static inline int direction_at(const struct tie_program *search, int point)
{
    return search->ties->constraints.monotone && point > 0 && point < search->points->count ? search->ties->joint[point]
                                                                                            : 0;
}

static inline bool is_backward(int direction, int64_t from, int64_t to)
{
    return direction > 0 ? to < from : direction < 0 ? to > from : false;
}

/* The least value of use at a point. */
static inline int64_t least_value(const struct tie_program *search, int point)
{
    const int64_t value = search->band[point].low - search->margin;
    return value > search->rules.qmin_y ? value : search->rules.qmin_y;
}

/* Every slope of the window from the start in hand: the states that its lines reach. */
void tie_try_slopes(struct tie_program *search, const struct band_range *window);

#endif
