/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dynamic program of the search in complete_search.h. */
#ifndef PWLC_LINE_PROGRAM_H
#define PWLC_LINE_PROGRAM_H

#include "base/diag.h"
#include "program_state.h"

int program_init(struct line_program *program, const struct points *points, const struct line_rules *rules,
                 int segments, struct diag *diag);

void program_free(struct line_program *program);

/* Segments start anywhere from now on, or within `radius` of the knots of a table alone. */
void program_place_anywhere(struct line_program *program);
void program_place_near(struct line_program *program, const int *knots, int segments, int radius);

/* The lines of a table, if they are of the rules, need not be found. */
void program_take_lines(struct line_program *program, const int *knots, const struct line *lines, int segments);

/* One dynamic program below the ceiling; returns the least cost, INFINITY when no table lies below. With samples each
 * start has its share of the steps. */
double program_solve(struct line_program *program, int samples, int64_t most_steps);

/* The table that was found; returns the number of its segments. */
int program_read(const struct line_program *program, int *knots, struct line *lines);

#endif
