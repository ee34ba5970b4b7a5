/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least that rounding to codes costs. */
#ifndef PWLC_ROUNDING_FLOOR_H
#define PWLC_ROUNDING_FLOOR_H

#include "search/points.h"

/* Squared distance of every target to its nearest code, summed before each point (count + 1 values): no table costs
 * less. malloc'd; null when out of memory. */
double *rounding_floor_sums(const struct points *points);

/* The least cost of codes whose real table, `gain` = sum mass * (code - real)^2 at most away from them, costs `real`.
 */
double integer_cost_bound(double real, double gain, double floor);

#endif
