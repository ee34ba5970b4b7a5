/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a table is to give: the function's value at an input code, in output codes. */
#ifndef PWLC_TARGET_H
#define PWLC_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dd.h"
#include "function.h"
#include "tensor.h"

/* --outside: codes outside the function's domain are an error, or take the nearest defined code's value. */
enum outside { OUTSIDE_ERROR, OUTSIDE_CLAMP };

/* Codes of [qmin_x, qmax_x] at which the function is defined: [first, last] without `hole`; empty when first > last. */
struct code_domain {
    int64_t first, last;
    bool has_hole; /* the code of x = 0 of a punctured function */
    int64_t hole;
    /* The code whose value stands for the hole: the smallest positive, else the largest negative. */
    int64_t hole_stands;
};

struct code_domain code_domain_find(const struct function *function, const struct tensor *in);

/* The code of the domain, which must not be empty, whose function value a code takes. */
int64_t code_domain_nearest(const struct code_domain *domain, int64_t q);

/* The real target of a code in output LSB, f(x)/scale_y + zp_y, not clipped. Codes outside the domain take the
 * nearest defined code's value under OUTSIDE_CLAMP. */
struct dd target_unclipped(const struct function *function, const struct tensor *in, const struct tensor *out,
                           enum outside outside, int64_t q_x);

/* The same of a value of f. */
struct dd target_of_value(const struct tensor *out, struct dd value);

/* A target, or any output code, within the output range. */
struct dd target_clipped(const struct tensor *out, struct dd target);

/* How far an output code is from a target. */
struct dd target_missed(struct dd target, int64_t q_y);

#endif
