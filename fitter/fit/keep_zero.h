/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table's value at x = 0, which networks count on: padding stays zero, gates stay centred. */
#ifndef PWLC_KEEP_ZERO_H
#define PWLC_KEEP_ZERO_H

#include <stdbool.h>
#include <stdint.h>

#include "attempt.h"

#define KEEP_ZERO_COST 0.25 /* LSB that the default pays for it */

/* The code of x = 0 and the output code that f(0) is. */
struct zero {
    int64_t q_x, q_y;
    double value; /* f(0) */
};

/* False where f(0) is neither 0 nor 1/2, or one of them is no code exactly. */
bool zero_find(const struct function *function, const struct tensor *in, const struct tensor *out, struct zero *zero);

/* Whether a table gives that code. */
bool zero_is_kept(const struct table *table, const struct zero *zero);

/*
 * Tables that give it: one line is exchanged, or the table for that of --fix 0:f(0). Taken unless that takes more
 * segments, steps against the direction of the function, or KEEP_ZERO_COST more of either error.
 */
extern const struct attempt attempt_line_of_zero, attempt_table_of_zero;

#endif
