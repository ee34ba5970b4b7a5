/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What certify.c, measure.c, measure_cuda.c, smooth.c and sampled_codes.c share; other files use certify.h. */
#ifndef PWLC_MEASURE_H
#define PWLC_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "certify.h"

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
long double subject_value(const struct subject *subject, int64_t q);
long double subject_target(const struct subject *subject, long double value);

/* sampled_codes.c: the codes that stand for an input too wide to visit whole. An item is (q - qmin_x) * 2 + 1 for a
 * code of the evenly spaced sample, + 0 for the others; ascending, each code once. *items is malloc'd. */
#define EVEN_SAMPLES ((int64_t)1 << 20)
int wide_codes(const struct subject *subject, uint64_t **items, size_t *count, struct diag *diag);

/* What one thread finds in a run of codes. */
struct chunk {
    long double sum, sum_of_squares; /* of the codes in the averages */
    int64_t averaged, correct;
    int64_t saturated;
    double max_err;
    int64_t max_err_at;
    int64_t max_ulp, max_ulp_at;
    bool backward;     /* a step against the direction of f */
    bool has_no_value; /* f is not a number at no_value_at */
    int64_t no_value_at;
};

struct point {
    int64_t q, y;
    bool averaged;
    long double value; /* f */
};

struct point point_at(const struct subject *subject, int64_t q, bool averaged);

/* Everything but the direction of steps. */
void chunk_add_point(struct chunk *chunk, const struct subject *subject, const struct point *point);

/* A step of the table against the direction of f, between neighbouring codes of the comparison. */
bool steps_backward(const struct subject *subject, const struct point *from, const struct point *to);

/* Whether the table steps backward from q - 1 to q; false at the first code. */
bool steps_backward_at(const struct subject *subject, int64_t q);

/* What a chunk starts from, of a comparison that knows nothing yet: an error of -1 makes the first code the witness of
 * an exact table. */
struct chunk chunk_initial(const struct subject *subject);

/* Adds the codes [first, first + count), as chunk_add_run where wide. */
void chunk_add_codes(struct chunk *chunk, const struct subject *subject, int64_t first, int64_t count, bool wide);

/* Joins the chunks of neighbouring codes, in order. `checked` codes are in them; exhaustive: they are all. */
int chunks_join(const struct subject *subject, const struct chunk *chunks, size_t count, int64_t checked,
                bool exhaustive, struct error_stats *stats, struct diag *diag);

/* smooth.c: adds the codes [first, first + count) as chunk_add_point and steps_backward would, but takes f from
 * polynomials where they are accurate enough. chunk->max_err and max_ulp must already be near the whole comparison's:
 * each code that might exceed them is decided in long double. The sums differ from the exact ones by less than 1e-9
 * of an LSB a code, and 2^-60 of the target, to which f itself is good. */
void chunk_add_run(struct chunk *chunk, const struct subject *subject, int64_t first, int64_t count);

#endif
