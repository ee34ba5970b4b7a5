/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of a ramp less what is the same on both sides of the zero point. */
#ifndef PWLC_RESIDUAL_TABLE_H
#define PWLC_RESIDUAL_TABLE_H

#include "base/diag.h"
#include "search/points.h"
#include "spec/spec.h"
#include "table/table.h"

/*
 * With d = q_x - zp_x, ramp(d) = floor(d * scale_x / scale_y) where d > 0, else 0, and the ratio of scales a power of
 * two:
 *
 *   q_y = zp_y + ramp(d) - g(|d|)          |d| = d, or -1 - d, or else -d, where d < 0
 *
 * within spec->max_err, by the g that is cheapest in gates. A step of g at index i takes those that compare with the
 * bits of i above its trailing zeros, for each value of which half as many may differ: the sum of 2^-zeros(i) is made
 * least, and of equal ones that of squared errors. Points are all codes. Exit 3 where no g keeps to the error.
 */
int residual_segments(const struct spec *spec, const struct points *points, struct segment *segments, int *count,
                      struct diag *diag);

#endif
