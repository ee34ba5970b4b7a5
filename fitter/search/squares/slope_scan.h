/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of integer lines from one start, over the ranges to every end: the inner part of the search in
 * complete_search.h. */
#ifndef PWLC_SLOPE_SCAN_H
#define PWLC_SLOPE_SCAN_H

#include "slope_lines.h"

/* Finds out which slopes are safe; where lines are not followed apart, all are taken in one. */
void slopes_init(struct slope_scan *slopes);

/* The least slope that is not safe. */
double slopes_unsafe(const struct slope_scan *slopes);

/* Follows the slope 0 from the start on, and keeps each line that is the best of a range. */
void slopes_try_flat(struct slope_scan *slopes);

/* All slopes of the rules in a window; with a stride above 0 some, about that far apart. */
void slopes_try_all(struct slope_scan *slopes, struct window window, double stride);

#endif
