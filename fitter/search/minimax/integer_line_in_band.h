/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether one integer line can keep within a given error over a range of codes: a complete search. */
#ifndef PWLC_INTEGER_LINE_IN_BAND_H
#define PWLC_INTEGER_LINE_IN_BAND_H

#include "search/cover.h"
#include "search/hulls.h"
#include "search/line.h"

/*
 * Looks for slope, shift and offset within the rules, provable over the segment's codes, with the output code of every
 * point k of the hulls between L[k] = ceil(target - max_err) and U[k] = floor(target + max_err); points whose band is
 * open at a limit are bounded on one side only. line->cost is not set.
 *
 * With v = q_b * X / 2^n a rounded value r(v) + c lies between L and U where L - c <= v < U + 1 - c (floor) or
 * L - c - 1/2 <= v <= U - c + 1/2 (to nearest; where v is one of these ends the rounding decides). These are
 * half-planes in (slope, c), so only the corners of the hulls count, and the real lines that meet them form a polygon:
 *
 *     c |     ____            One c: the slopes form an interval. A line exists if the interval holds a fraction
 *       |    /    `.          q_b / 2^n with a short enough numerator; the flattest of each n is easiest to prove.
 *       |---/-------`.----    One slope: the offsets c, or the biases in their steps of 2^-n, form an interval.
 *       |   `._     _/
 *       |      `---'          Whichever of constants and slopes are fewer are all tried; a biased line is sought by
 *       +--------------- slope   slopes.
 */
enum line_answer integer_line_in_band(const struct hulls *hulls, const struct line_rules *rules, struct line *line);

#endif
