/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions and targets once more, from their formulas alone: no code of the project. */
#ifndef REFERENCE_FUNCTION_H
#define REFERENCE_FUNCTION_H

#include <stdint.h>

/* One built-in function: names, and plausible ranges of x. */
struct reference_function {
    const char *name;
    long double (*value)(long double x, long double parameter);
    int domain;            /* REFERENCE_ALL, or what of the reals it is defined on */
    double x_min, x_max;   /* where it bends */
    const char *parameter; /* null when it has none */
    double parameter_min, parameter_max;
};

enum { REFERENCE_ALL, REFERENCE_POSITIVE, REFERENCE_NOT_NEGATIVE, REFERENCE_NOT_ZERO };

#define REFERENCE_FUNCTIONS 26
extern const struct reference_function reference_functions[REFERENCE_FUNCTIONS];

const struct reference_function *reference_find(const char *name); /* null when unknown */

int reference_defined(const struct reference_function *function, long double x);

/* "2^-12", or "0.0472" for the double nearest to it */
long double reference_scale(const char *text);

/* A conversion from codes to targets. */
struct reference_map {
    const struct reference_function *function;
    long double parameter;
    int64_t qmin_x, qmax_x, zp_x, qmin_y, qmax_y, zp_y;
    long double scale_x, scale_y;
};

/* f(x) / scale_y + zp_y, not clipped. A code outside the domain takes the value of the nearest one inside, of two the
 * upper. */
long double reference_target(const struct reference_map *map, int64_t q);

/* t clipped to [qmin_y, qmax_y] */
long double reference_clip(const struct reference_map *map, long double t);

#endif
