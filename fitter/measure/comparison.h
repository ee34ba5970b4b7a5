/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparing a table with its function, code by code and run by run: the parts of a measurement. */
#ifndef PWLC_COMPARISON_H
#define PWLC_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/record.h"
#include "error_stats.h"
#include "function/target.h"
#include "table/table.h"

/* What is measured. */
struct subject {
    const struct table *table;
    const struct packed_table *packed;
    const struct function *function;
    struct code_domain domain;
};

/* Exit 2 when some code has no value: the range leaves the function's domain. */
int subject_make(const struct table *table, const struct packed_table *packed, const struct function *function,
                 struct subject *subject, struct diag *diag);

/* f at a code (not scaled), and the target made from such a value, in output LSB, not clipped. */
struct dd subject_value(const struct subject *subject, int64_t q);
struct dd subject_target(const struct subject *subject, struct dd value);

/* What one thread finds in a run of codes. */
struct chunk {
    struct dd sum, sum_of_squares; /* of |q_y - t| of the codes in the averages */
    struct dd signed_sum;          /* of q_y - t of the same */
    int64_t averaged, correct;
    int64_t saturated;
    double max_err;
    int64_t max_ulp, max_ulp_at;
    bool backward;     /* a step against the direction of f */
    bool has_no_value; /* f is not a number at no_value_at */
    int64_t no_value_at;
};

/* A chunk in a record, exactly. */
void chunk_save(const struct chunk *chunk, struct text *record);
struct chunk chunk_load(struct record *record);

struct point {
    int64_t q, y;
    bool averaged;
    struct dd value; /* f */
};

struct point point_at(const struct subject *subject, int64_t q, bool averaged);

/* Everything but the direction of steps. */
void chunk_add_point(struct chunk *chunk, const struct subject *subject, const struct point *point);

/* A step of the table against the direction of f, between neighbouring codes of the comparison. */
bool steps_backward(const struct subject *subject, const struct point *from, const struct point *to);

/* Whether the table steps backward from q - 1 to q; false at the first code. */
bool steps_backward_at(const struct subject *subject, int64_t q);

/* What a chunk starts from, of a comparison that knows nothing yet. */
struct chunk chunk_initial(const struct subject *subject);

/* The least error that counts as large as the largest: errors that are equal by the formula differ in their last bits.
 */
double max_err_tied(const struct tensor *out, double max_err);

/* What is compared, cut into chunks. */
struct chunk_codes {
    const uint64_t *items; /* of wide_codes; null for every code */
    uint64_t count;
    uint64_t chunk_size; /* of all but the last chunk */
};

/* The code that has a place among them. */
int64_t chunk_code(const struct subject *subject, const struct chunk_codes *codes, uint64_t place);

/* Joins the chunks of neighbouring codes, in order, and looks for the lowest code of the largest error in the first
 * chunk that has one. */
int chunks_join(const struct subject *subject, const struct chunk *chunks, size_t count,
                const struct chunk_codes *codes, struct error_stats *stats, struct diag *diag);

#endif
