/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers of 113 bits, where sums of two doubles (dd.h) would be hard to read: binary128, which IEEE 754 rounds in one
 * way, so that results do not depend on what `long double` is. Slow where it is done in software: for what is not done
 * at every code. A compiler that has no such type takes `long double`.
 */
#ifndef PWLC_REAL_H
#define PWLC_REAL_H

#include <float.h>
#include <math.h>

#include "dd.h"

#if LDBL_MANT_DIG < 113 && defined __SIZEOF_FLOAT128__
__extension__ typedef __float128 real;
#define REAL_BITS 113
#else
typedef long double real;
#define REAL_BITS LDBL_MANT_DIG
#endif

static inline real real_of(struct dd a)
{
    return (real)a.hi + (real)a.lo;
}

/* As near as two doubles come. */
static inline struct dd real_dd(real value)
{
    const double hi = (double)value;
    return isfinite(hi) ? dd_join(hi, (double)(value - (real)hi)) : dd_of(hi);
}

static inline real real_abs(real a)
{
    return a < 0 ? -a : a;
}

static inline real real_larger(real a, real b)
{
    return a > b ? a : b;
}

static inline real real_smaller(real a, real b)
{
    return a < b ? a : b;
}

/* The nearest integer, ties to even. */
static inline real real_nearest(real a)
{
    const real one = 1, shift = one * 0x1.8p52 * ((uint64_t)1 << (REAL_BITS - 53));
    return real_abs(a) < shift / 8 ? (a + shift) - shift : a;
}

static inline real real_floor(real a)
{
    const real near = real_nearest(a);
    return near > a ? near - 1 : near;
}

static inline real real_ceil(real a)
{
    return -real_floor(-a);
}

/* a 2^exponent */
static inline real real_scaled(real a, int exponent)
{
    for (; exponent > 1000; exponent -= 1000)
        a *= 0x1p1000;
    for (; exponent < -1000; exponent += 1000)
        a *= 0x1p-1000;
    return a * (real)ldexp(1, exponent);
}

#endif
