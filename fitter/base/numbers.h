/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small functions of numbers, in the inner loops of searches. */
#ifndef PWLC_NUMBERS_H
#define PWLC_NUMBERS_H

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

#endif
