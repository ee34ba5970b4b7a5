/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether one integer line can serve a range of codes within a given error: a complete search. */
#ifndef PWLC_INTEGER_LINE_IN_BAND_H
#define PWLC_INTEGER_LINE_IN_BAND_H

#include "search/hulls.h"
#include "search/line.h"

enum strip_answer {
    STRIP_FOUND,    /* *line serves the range */
    STRIP_NONE,     /* no integer line of the rules does */
    STRIP_UNDECIDED /* too many candidates: none was found among those tried */
};

/*
 * Looks for slope, shift and constant within the rules, provable over the segment's codes, with the output code of
 * every point k of the hulls between L[k] = ceil(target - max_err) and U[k] = floor(target + max_err); points whose
 * limit lies beyond the output range are bounded on one side only. line->cost is not set.
 *
 * With v = q_b * X / 2^n a rounded value r(v) + c meets L and U where L - c <= v < U + 1 - c (floor) or
 * L - c - 1/2 <= v <= U - c + 1/2 (to nearest; a tie at an end is decided by the rounding). These are half-planes in
 * (slope, c), so only the corners of the hulls of the limits count. For an integer c the slopes form an interval: the
 * line exists if the interval holds a fraction q_b / 2^n with a short enough numerator, and of each n the flattest is
 * the easiest to prove. For a slope the constants, or the biases in their steps of 2^-n, form an interval too.
 * Whichever of constants and slopes are fewer are all tried; a biased line is sought by slopes.
 */
enum strip_answer strip_line(const struct hulls *hulls, const struct line_rules *rules, struct line *line);

#endif
