/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which slopes the lines from one start can have, to be part of a better table. */
#ifndef PWLC_SLOPE_WINDOWS_H
#define PWLC_SLOPE_WINDOWS_H

#include "program_state.h"

/* Sums over the points from the start i on, up to the last end that a better table can have. */
void slope_windows_sum_points(struct line_program *program, int i);

/* Finds the windows of every end; returns one that holds those of both directions. */
struct window slope_windows_find(struct line_program *program);

/* The slope of least squares over the core of the range to an end, NAN where any will do. */
double slope_windows_centre(const struct line_program *program, int j);

/* Whether any slope that is not safe can serve. */
bool slope_windows_hold_steep(const struct line_program *program);

#endif
