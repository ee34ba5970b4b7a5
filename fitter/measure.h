/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What certify.c, measure.c and wide_codes.c share; other files use certify.h. */
#ifndef PWLC_MEASURE_H
#define PWLC_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "certify.h"

/* Codes of [qmin_x, qmax_x] at which the function is defined: [first, last] without `hole`; empty when first > last. */
struct code_domain {
    int64_t first, last;
    bool has_hole;       /* the code of x = 0 of a punctured function */
    int64_t hole;
    int64_t hole_stands; /* the code whose value stands for the hole: the smallest positive, else the largest negative */
};

struct code_domain code_domain_find(const struct function *function, const struct tensor *in);

/* What is measured. */
struct subject {
    const struct table *table;
    const pwl_table *packed;
    const struct function *function;
    struct code_domain domain;
};

/* The defined code whose function value a code takes. */
int64_t subject_defined_code(const struct subject *subject, int64_t q);

/* f at a code (not scaled), and the target made from such a value, in output LSB, not clipped. */
long double subject_value(const struct subject *subject, int64_t q);
long double subject_target(const struct subject *subject, long double value);

/* wide_codes.c: the codes that stand for an input too wide to visit whole. An item is (q - qmin_x) * 2 + 1 for a
 * code of the evenly spaced sample, + 0 for the others; ascending, each code once. *items is malloc'd. */
#define EVEN_SAMPLES ((int64_t)1 << 20)
int wide_codes(const struct subject *subject, uint64_t **items, size_t *count, struct diag *diag);

#endif
