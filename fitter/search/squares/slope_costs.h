/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of the lines of one slope from one start, over the ranges to every end: each way below follows them from
 * code to code with running sums, whose parabola gives the best constant at every end. */
#ifndef PWLC_SLOPE_COSTS_H
#define PWLC_SLOPE_COSTS_H

#include "slope_lines.h"

/* Where lines begin to be free: at the start, `first`; or, having been at the near limit since the start at the cost
 * `paid`, where they leave it, at `first`. */
struct line_origin {
    int first;
    bool leave;
    double paid;
};

/* Any lines, also where some leave their types or meet fixed points: by intervals of phases, each of which is split
 * where a code parts it. */
void slope_costs_by_interval(struct slope_scan *slopes);

/* The lines of a safe slope, where no point is fixed: by their constants; where a bias comes before the shift, by
 * classes of phases. */
void slope_costs_by_offset(struct slope_scan *slopes, const struct line_origin *lines);
void slope_costs_by_phase(struct slope_scan *slopes, const struct line_origin *lines);

#endif
