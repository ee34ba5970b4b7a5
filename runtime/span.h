/* SPDX-License-Identifier: Apache-2.0 */
/* What the kinds "narrow" and "wide" share: the lines of a table with the codes they serve, and the search for a line.
 */
#ifndef PWL_SPAN_H
#define PWL_SPAN_H

#include <pwl/plain.h>

#include "bounds.h"
#include "kind.h"

/* A line and its codes in arrays of the job's type, counted from the middle of the type: s of the lowest and of the
 * highest code, which may lie beyond the type's ends. */
typedef struct pwl_span {
    int64_t first, last;
    const pwl_plain64 *of; /* of u; until the next line is asked for */
} pwl_span;

typedef struct pwl_span_walk {
    const pwl_job *job;
    pwl_plain_walk lines;
    pwl_plain_line line[2]; /* the last one given, and the one after it, in turn */
    int turn, more;
    int64_t from_s; /* u - s */
} pwl_span_walk;

void pwl_span_begin(pwl_span_walk *walk, const pwl_job *job);

/* The next line that a code of the array's type can reach, once clamped; 0 after the last. */
int pwl_span_next(pwl_span_walk *walk, pwl_span *next);

/* Of the span that was given last. */
pwl_bounds pwl_span_bounds(const pwl_span_walk *walk, const pwl_span *span);

/* Whether some code of the table is one of the array's type, so that clamping codes to the table's is clamping them to
 * codes of the type. */
int pwl_span_overlaps(const pwl_job *job);

/* v clipped to signed integers of the job's input. */
int64_t pwl_span_clip(const pwl_job *job, int64_t v);

/*
 * Where the search for the line of s starts, for codes in cells of 2^cell_bits from the type's lowest: cell[k] is the
 * line of the first code of cell k, or an earlier one. With the steps returned, for step = steps - 1 ... 0, if
 * s > last[i + 2^step - 1] then i += 2^step, it ends at the line of s, and no index reaches `capacity`. last[] holds
 * `capacity` codes, the type's highest from the last line on.
 */
int pwl_span_cells(const pwl_job *job, const int32_t *last, int capacity, int cell_bits, int cells, int32_t *cell);

#endif
