/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least error of all tables of values at evenly spaced points. No header of the project. */
#ifndef EVERY_POINTS_H
#define EVERY_POINTS_H

#include "every_table.h"

/* What rounding halves down, or towards the left value, adds to the sums of a line. */
int64_t every_addend(const struct every_spec *spec, int64_t q_b);

/* Tries every integer from offset_low to offset_high at every point, by dynamic programming from point to point: the
 * codes of an interval depend on the values at its two ends alone. Leaves out values that lie three times as far
 * beyond a limit of the outputs as a slope reaches; their neighbours come out as that limit too, and so does all
 * between. The least error among tables whose error is at most `limit`. */
struct every_found every_points(const struct every_spec *spec, double limit);

#endif
