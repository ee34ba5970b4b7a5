/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What packing and unpacking of profiles share. */
#ifndef PWLC_PROFILE_SEGMENTS_H
#define PWLC_PROFILE_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "table/table.h"

/* Exit 3 unless a type has so many bits at most, or exactly, and such codes. which is "input" or "output". */
enum signs { SIGNED = 1, UNSIGNED = 2, ANY_SIGN = 3 };
int need_type(const struct tensor *type, const char *which, int least_bits, int most_bits, enum signs signs,
              struct diag *diag);

/* The same, of fixed-point numbers: zero point 0, and a scale of 2^-FIXED_POINT_LOG2 to 2^FIXED_POINT_LOG2. */
#define FIXED_POINT_LOG2 40
int need_fixed_point(const struct tensor *type, const char *which, int least_bits, int most_bits, enum signs signs,
                     struct diag *diag);

/* Exit 3 unless point i and the next one are so far apart that 16 bits hold it. */
int need_slope(int i, int64_t slope, struct diag *diag);

/* Exit 3 unless the table has one set of at most so many segments, of this form and rounding; exact shifts need no
 * rounding. */
int need_lines(const struct table *table, pwl_form form, pwl_rounding rounding, int most, struct diag *diag);

/* Exit 3 where a line leaves the codes of the output, for a consumer that does not clip to them. */
int need_within(const struct table *table, struct diag *diag);

/* Exit 3 where a segment of the absolute form cannot be evaluated in 32 bits: its shifted product, and the sum. */
int need_32_bits(const struct table *table, struct diag *diag);

/* The exact value of a table at a code, or at the one behind the last, before it saturates. */
int64_t raw_value(const struct table *table, const struct packed_table *packed, int64_t q_x);

/* The value of a segment's line at any code, before it saturates. */
int64_t segment_value(const struct table *table, const struct segment *segment, int64_t q_x);

/* Begins a table's segments; then adds one behind them, that serves the codes from `start` on, from which the anchored
 * form counts. It takes the place of one before that starts at the same code, or that lies below the lowest code as it
 * does; behind the last code nothing is added. Exit 2 when the segments are too many, or not in order. */
void segments_begin(struct table *table, pwl_form form, pwl_rounding rounding);
int segments_add(struct table *table, int64_t start, int64_t q_b, int n, int64_t offset, struct diag *diag);

#endif
