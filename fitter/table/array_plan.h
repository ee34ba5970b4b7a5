/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays of codes through a table, reduced or not, by the quickest way that the runtime has. */
#ifndef PWLC_ARRAY_PLAN_H
#define PWLC_ARRAY_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/plan.h>

#include "table.h"

/* The smallest element type that holds codes of this kind. */
pwl_type element_type(int bits, bool is_signed);

/* Element k of an array of the type. */
int64_t element_of(pwl_type type, const void *array, size_t k);

/* How many of an array's elements lie outside [min, max], and the first of them where there is one. */
size_t elements_outside(pwl_type type, const void *array, size_t count, int64_t min, int64_t max, int64_t *first);

struct array_plan {
    const struct packed_table *packed;
    pwl_type in, out;
    pwl_plan plan; /* of plain tables, in `memory` */
    void *memory;
};

/* packed is proven, and outlives the plan; out holds its output codes. Free with array_plan_free. */
int array_plan_make(struct array_plan *plan, const struct packed_table *packed, pwl_type in, pwl_type out,
                    struct diag *diag);
void array_plan_free(struct array_plan *plan);

/* y[k] = packed_eval(packed, x[k]) for k in [0, count). */
void array_plan_run(const struct array_plan *plan, const void *x, void *y, size_t count);

#endif
