/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the segments of a table become in hardware. With X counted from the zero point, or from the segment's start when
 * anchored, a segment gives, before fold, reduction and saturation,
 *
 *   V   = slope * X                       biased: + offset
 *   sum = shr(V * 2^left, right + amount) + offset, the latter not when biased
 *
 * slope, offset and amount being the segment's own, left and right the module's. Aligned: amount is 0 everywhere, slope
 * is q_b * 2^(N - n) with N the largest n, and all of it is then divided by what powers of two are common. Barrel:
 * slope is q_b, and amount what n has more than the smallest.
 *
 * |V| < 2^126: q_b * X and its left shift, by up to 63 bits, stay within 64 bits, and N - n or amount add 63 at most.
 */
#ifndef PWLC_RTL_LINE_H
#define PWLC_RTL_LINE_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/integers.h"
#include "table/table.h"

struct line {
    wide start, last; /* codes, counted as the search counts them: lines.shift less than the table's */
    wide slope, offset;
    int amount;
    wide x_low, x_high; /* of X */
};

struct lines {
    int count;
    struct line *lines; /* malloc'd */
    wide shift;         /* folded: the zero point, for the search is of the distance from it; else 0 */
    wide zero;          /* where X counts from, in the search's codes; of no use when anchored */
    int left, right;    /* one of them is 0 */
    int max_amount;
    bool few_terms; /* every slope is 0 or a sum of at most two signed powers of two */
};

int lines_make(const struct table *table, bool aligned, struct lines *lines, struct diag *diag);
void lines_free(struct lines *lines);

/* v / 2^n rounded, n >= 0 */
wide shift_right(wide v, int n, pwl_rounding rounding);

/* A slope as sign * (2^high + second * 2^low), sign and second being -1, 0 or 1; false when it is no such sum. */
struct terms {
    int sign, high, second, low;
};
bool slope_terms(wide slope, struct terms *terms);

#endif
