/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small functions of numbers, in the inner loops of searches. */
#ifndef PWLC_NUMBERS_H
#define PWLC_NUMBERS_H

#include <math.h>

static inline double square(double x)
{
    return x * x;
}

/* fmin and fmax of numbers, which are calls. */
static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* floor(log2(x)) and ceil(log2(x)), exactly, x > 0; 2000 for what is not finite. */
static inline int floor_log2(double x)
{
    int exponent = 2001;
    if (isfinite(x))
        frexp(x, &exponent);
    return exponent - 1;
}

static inline int ceil_log2(double x)
{
    const int whole = floor_log2(x);
    return whole + (ldexp(1, whole) < x);
}

#endif
