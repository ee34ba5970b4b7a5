/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The states of the complete search of joint_exact.h, and the lines that lead from one to the next. */
#ifndef PWLC_JOINT_FOLLOW_H
#define PWLC_JOINT_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/integers.h"
#include "search/error_band.h"
#include "search/hulls.h"
#include "search/line.h"
#include "search/points.h"
#include "ties.h"

/* Slopes tried and codes looked at in one search, times the share of effort that a table is given. */
#define TIE_MOST_STEPS (1 << 26)

/* A table up to one knot that no other one surpasses. */
struct reached {
    struct integers after; /* the outputs with which a segment may follow, for --monotone */
    struct line line;
    int start;      /* position where the segment starts; -1 where no segments reach the state */
    int64_t begins; /* the segment's first output */
};

/* The dynamic program for one largest error. A position is an index of the knot grid (points.h). */
struct tie_program {
    const struct ties *ties;
    const struct points *points;
    struct line_rules rules; /* with --shift one: of the shift under trial */
    int segments, positions; /* segments allowed; the last position */
    int *position_at;        /* by point; -1 where no segment may start */
    struct integers *band;   /* outputs allowed, by point */
    struct integers *value;  /* what the line before a knot may give at it, by point: values told apart */
    int values;              /* room for those of a knot */
    struct reached *state;   /* by segments, position and value; room for so many */
    size_t room;
    int *fewest_after;  /* by position: fewer segments cannot serve the points from there on */
    int *real_end;      /* by position: no real line serves points from there on and this one, too */
    int *fewest_before; /* by output from qmin_y on: the fewest segments before one that begins with it */
    int64_t steps, most_steps;
    bool gave_up;

    /* The start and the slope under trial. */
    int start;      /* a position */
    int last_point; /* that lines from there are followed to, and one code more */
    int64_t origin, q_b;
    int n;
    struct integers safe; /* offsets that are provable at every code up to the last point */
};

/* Position and value are those where a segment ends and the next one starts. */
static inline struct reached *state_at(const struct tie_program *program, int segments, int position, int value)
{
    const size_t row = (size_t)segments * (size_t)(program->positions + 1) + (size_t)position;
    return &program->state[row * (size_t)program->values + (size_t)value];
}

/* Which way outputs may go from the code before a point to it: up (1), down (-1) or both. */
static inline int direction_at(const struct tie_program *program, int point)
{
    const bool bound = program->ties->monotone && point > 0 && point < program->points->count;
    return bound ? program->ties->joint[point] : 0;
}

/* Those at a point that may follow the output at the point before. */
static inline struct integers outputs_after(const struct tie_program *program, int point, int64_t last)
{
    return tie_outputs_after(program->ties, program->points, point, direction_at(program, point), last);
}

/* The outputs that saturation leaves apart at a point. */
static inline struct integers outputs_apart(const struct tie_program *program, int point)
{
    return tie_outputs_apart(program->points, point, (struct integers){program->rules.qmin_y, program->rules.qmax_y});
}

/* Sets the states that lines from the start reach, of every slope in a window. */
void tie_try_slopes(struct tie_program *program, const struct window *window);

#endif
