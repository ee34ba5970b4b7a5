/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moves the knots of a table all together: each some steps to the left, to the right, or not at all. A dynamic program
 * takes the best of all combinations. */
#ifndef PWLC_KNOT_MOVES_H
#define PWLC_KNOT_MOVES_H

#include <stdbool.h>

enum { KNOT_MOVES = 7 }; /* at most, of one knot in a round */

struct knot_moves {
    int segments;
    int *place;       /* segments + 1, of which the first and the last stay ... */
    int end;          /* ... and the others lie between 0 and this */
    const int *moves; /* by how many steps; of combinations that cost the same, those that come first */
    int count, stay;  /* how many moves, and which one is by none */
    double tie;       /* costs that differ by no more than this share are the same */
    /* What segment m costs between two places, which its ends have come to by these moves; INFINITY where it has no
     * line. Beginnings come in the order of the moves, for each end. */
    double (*cost)(void *context, int m, int begin_move, int end_move, int begin, int end);
    void *context;
    signed char (*from)[KNOT_MOVES]; /* the best move of a segment's beginning, by that of its end; for `segments` */
};

/* Tries all combinations of moves by a step; returns the cost of the best, INFINITY where there is none. */
double knot_moves_try(const struct knot_moves *knots, int step);

/* Moves the knots to the combination that was found; returns whether any does move. */
bool knot_moves_take(const struct knot_moves *knots, int step);

#endif
