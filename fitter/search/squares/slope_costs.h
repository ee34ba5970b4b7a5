/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a slope's lines cost from the start in hand, over the ranges to every end: they are followed from code to code.
 */
#ifndef PWLC_SLOPE_COSTS_H
#define PWLC_SLOPE_COSTS_H

#include "slope_lines.h"

/* Lines of the slope in hand: those that were not at the near limit at the start, `first`; or those that have been
 * there, which has cost `paid`, and leave it at `first`. */
struct line_origin {
    int first;
    bool leave;
    double paid;
};

/* Any lines of the slope in hand, and those that leave a limit: node by node. */
void slope_costs_by_interval(struct slope_scan *slopes);

/* The lines of a safe slope, where no point is fixed: by their constants, or of biases with phases by classes of
 * those. */
void slope_costs_by_offset(struct slope_scan *slopes, const struct line_origin *lines);
void slope_costs_by_phase(struct slope_scan *slopes, const struct line_origin *lines);

#endif
