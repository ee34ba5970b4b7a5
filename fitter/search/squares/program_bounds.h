/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lower bounds that a dynamic program leaves, for the passes and programs after it. */
#ifndef PWLC_PROGRAM_BOUNDS_H
#define PWLC_PROGRAM_BOUNDS_H

#include "program_state.h"

/* Lower bounds of a program that has ended. They hold for programs over some of its lines. */
struct program_bounds {
    void *memory;
    double *before, *ahead, *least, *least_left[DIRECTIONS];
};

/* Starts the bounds of a program from `before` and `ahead_any`. */
void program_begin_bounds(struct line_program *program);

/* Raises `ahead` by what searches so far, complete or not, know of lines from any start. */
void program_raise_bounds(struct line_program *program);

/* Moves the bounds out of a program that has ended, which may only be freed then; or copies them into one that has not
 * begun. */
void program_give_bounds(struct line_program *program, struct program_bounds *bounds);
void program_take_bounds(struct line_program *program, const struct program_bounds *bounds);
void program_bounds_free(struct program_bounds *bounds);

#endif
