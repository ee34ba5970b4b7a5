/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table beside its function, code by code: what plots and histograms are made of. */
#ifndef PWLC_CURVE_H
#define PWLC_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "function/function.h"
#include "table/table.h"

/* Inputs of more codes than this are sampled evenly, their lowest and highest code included. */
#define CURVE_CODES ((int64_t)1 << 20)

struct curve_point {
    int64_t code;
    double x, f;    /* real input and function */
    double target;  /* t in output codes, clipped to the output range, as in a certificate */
    int64_t output; /* q_y */
    double err;     /* q_y - t */
};

/* Of a proven table and a code where the function has a value. */
struct curve_point curve_point_of(const struct table *table, const struct packed_table *packed,
                                  const struct function *function, int64_t code);

struct curve {
    size_t count;
    bool exhaustive; /* every code is in it */
    int64_t *code;
    double *x, *f, *y; /* real input, function and dequantised output */
    double *err;       /* of curve_point */
};

/* The table must already be proven and its codes lie in the function's domain, as measure makes sure. */
int curve_make(const struct table *table, const struct packed_table *packed, const struct function *function,
               struct curve *curve, struct diag *diag);
void curve_free(struct curve *curve);

#endif
