/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measuring a table against the real function. */
#ifndef PWLC_MEASURE_H
#define PWLC_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "error_stats.h"
#include "function/function.h"
#include "function/weights.h"
#include "parts.h"
#include "table/table.h"

#define MEASURE_EVERY_CODE ((int64_t)1 << 20)

/* Progress of a long measurement, called from one thread with done <= total. */
typedef void measure_progress(void *context, uint64_t done, uint64_t total);

/* Inputs of up to MEASURE_EVERY_CODE codes: every code. Wider: all codes within 64 of each knot and of the range's
 * ends, the codes around each extreme of f - line inside each segment, and 2^20 evenly spaced codes; with all_codes
 * every code, on all cores. The same numbers on any number of cores. Exit 2 when the range leaves the function's
 * domain. packed is the table in the runtime's layout, already proven. */
int measure(const struct table *table, const struct packed_table *packed, const struct function *function,
            bool all_codes, measure_progress *progress, void *context, struct error_stats *stats, struct diag *diag);

/* As measure, on a given number of threads. */
int measure_on_threads(const struct table *table, const struct packed_table *packed, const struct function *function,
                       bool all_codes, int threads, measure_progress *progress, void *context,
                       struct error_stats *stats, struct diag *diag);

/* The parts of measure() with all_codes, to be measured anywhere (parts.h): parts_join() then gives its statistics.
 * Their number is 0 for inputs of up to MEASURE_EVERY_CODE codes. packed and function must live as long. Free with
 * parts_free(), also after a failure. */
int measure_part_count(const struct table *table);
int measure_parts(const struct table *table, const struct packed_table *packed, const struct function *function,
                  struct parts *parts, struct diag *diag);

/* |q_y - t| at one code; NAN where the function has no value. */
double measure_code(const struct table *table, const struct packed_table *packed, const struct function *function,
                    int64_t q_x);

/* To be called after measure, which judges the function's domain. Exit 2 when the weights are not those of table->in.
 */
int measure_weighted(const struct table *table, const struct packed_table *packed, const struct function *function,
                     const struct weights *weights, struct weighted_stats *stats, struct diag *diag);

#endif
