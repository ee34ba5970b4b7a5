/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least cost of real lines from place to place, by dynamic programming. */
#ifndef PWLC_REAL_PROGRAM_H
#define PWLC_REAL_PROGRAM_H

#include "real_grid.h"
#include "search/rounding.h"

/* Costs of the cells between the places a and b, a in [lowest, b). */
struct row {
    int lowest;
    double *line;            /* a line between two knots */
    double *from[LIMITS];    /* one that leaves a limit at a */
    double *to[LIMITS];      /* one that reaches a limit at b */
    bool reaches[LIMITS];    /* whether it is worth looking at */
    bool leaves[LIMITS];     /* whether any from is finite */
    bool *may_leave[LIMITS]; /* whether some segment may leave the limit at a place */
};

/* The least cost of what some segment does somewhere, and the place where that segment began. */
struct state {
    double cost;
    int start;
};

/* Least costs with at most m segments, by place. */
struct layer {
    struct state *knot;            /* segment m ends; start: where it began */
    double *ended;                 /* the cost of the same */
    int first, last;               /* places where it is finite and can belong to a better table lie in [first, last] */
    struct state *leaving[LIMITS]; /* segment m, at the limit from its start, leaves it */
    double *left[LIMITS];
    int left_first[LIMITS], left_last[LIMITS]; /* the same of lines that leave a limit */
    struct state waiting[LIMITS]; /* segment m began and is at the limit; without the cells since the beginning */
    struct state at[LIMITS];      /* segment m has reached the limit; without the cells since then */
    double line;                  /* the least of a line to the place before, and of what lies before it */
    /* At the present place: what is left when segment m ends there, when it goes on, and when it does at a limit, after
     * the point or the cell where it got there. */
    double room_behind, room, room_at_limit;
};

struct real_program {
    struct row row;
    struct layer *layer; /* segments + 1 */
    double *doubles;
    struct state *states;
    bool *flags;
};

/* The least cost of the points from one on, by lines left: a program that ran from the last point. */
struct ahead {
    struct real_program program;
    int *place;    /* of each point */
    bool is_known; /* else it took too long */
};

static inline double ahead_of(const struct ahead *ahead, int m, int point)
{
    return ahead->program.layer[m].ended[ahead->place[point]] * (1 - MOMENTS_ROUNDING);
}

int real_program_init(struct real_program *program, int segments, int places, struct diag *diag);
void real_program_free(struct real_program *program);

/* The steps of one program, some two seconds: where f turns often each place may be reached from each. Sixteen lines of
 * the standard functions take a third of it. */
#define REAL_PROGRAM_STEPS ((int64_t)1 << 30)

/* Tables of at most so many segments below the ceiling. ahead is null when nothing is known. False, and nothing is
 * known, where that takes more than REAL_PROGRAM_STEPS. */
bool real_program_run(struct real_program *program, const struct real_grid *grid, int segments, double ceiling,
                      const struct ahead *ahead);

#endif
