/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Enclosures: a number known to within a radius, which every operation rounds up.
 *
 * A radius of INFINITY says that nothing is known of the number; the middle is then what the operation makes of the
 * middles, or NaN. A middle of +-INFINITY with a radius of 0 stands for a number beyond +-2^900: what e^x is from 710
 * on, so that 1 / (1 + e^x) is 0 there. The functions contain their true value wherever it exists.
 */
#ifndef PWLC_BALL_H
#define PWLC_BALL_H

#include <stdbool.h>

#include "base/dd.h"

struct ball {
    struct dd mid;
    double rad;
};

/* Relative errors of dd.h's operations, and what covers underflow. */
#define BALL_SUM 0x1p-103      /* 3 u^2, u = 2^-53, is below 2^-104 */
#define BALL_PRODUCT 0x1p-102  /* 5 u^2 is below 2^-103 */
#define BALL_QUOTIENT 0x1p-101 /* 12 u^2 is below 2^-102 */
#define BALL_TINY 0x1p-950
/* From where a number may be called infinite; what is below BALL_SMALL may be added to that some times. */
#define BALL_BEYOND 0x1p910
#define BALL_SMALL 0x1p890

/* A radius that was computed by fewer than 16 operations, rounded up. NaN, of what is not known, becomes INFINITY. */
static inline double ball_up(double rad)
{
    return rad >= 0 ? rad * (1 + 0x1p-48) : (double)INFINITY;
}

static inline struct ball ball_of(double value)
{
    return (struct ball){{value, 0}, 0};
}

static inline bool ball_is(struct ball a, double value)
{
    return a.rad == 0 && a.mid.hi == value && a.mid.lo == 0;
}

/* The largest |number|; and the smallest: 0 where that is not known, and BALL_BEYOND where it is more. */
static inline double ball_most(struct ball a)
{
    return ball_up(fabs(a.mid.hi) + a.rad);
}

static inline double ball_least(struct ball a)
{
    return fmin(BALL_BEYOND, fmax(0, (fabs(a.mid.hi) * (1 - 0x1p-50) - a.rad) * (1 - 0x1p-48)));
}

/* Or infinite itself. */
static inline bool ball_is_small(struct ball a)
{
    return isinf(a.mid.hi) ? a.rad == 0 : ball_most(a) < BALL_SMALL;
}

static inline struct ball ball_neg(struct ball a)
{
    return (struct ball){dd_neg(a.mid), a.rad};
}

/* An infinite middle, of a number that is at least so far from 0. */
struct ball ball_beyond(struct dd mid, double least);

static inline struct ball ball_add(struct ball a, struct ball b)
{
    const struct dd mid = dd_add(a.mid, b.mid);
    if (isinf(mid.hi))
        return ball_beyond(mid, ball_is_small(a) && ball_is_small(b) ? BALL_BEYOND : 0);
    return (struct ball){mid, ball_up(a.rad + b.rad + fabs(mid.hi) * BALL_SUM)};
}

static inline struct ball ball_sub(struct ball a, struct ball b)
{
    return ball_add(a, ball_neg(b));
}

static inline struct ball ball_mul(struct ball a, struct ball b)
{
    const struct dd mid = dd_mul(a.mid, b.mid);
    if (isinf(mid.hi))
        return ball_beyond(mid, ball_least(a) * ball_least(b));
    if (mid.hi == 0 && (ball_is(a, 0) || ball_is(b, 0)))
        return ball_of(0);
    return (struct ball){mid, ball_up(fabs(a.mid.hi) * b.rad + fabs(b.mid.hi) * a.rad + a.rad * b.rad +
                                      fabs(mid.hi) * BALL_PRODUCT + BALL_TINY)};
}

/* By an exact number. */
static inline struct ball ball_times(struct ball a, double factor)
{
    return ball_mul(a, ball_of(factor));
}

/* What holds all that two enclosures hold. */
struct ball ball_hull(struct ball a, struct ball b);

struct ball ball_div(struct ball a, struct ball b);
struct ball ball_inverse(struct ball a);
struct ball ball_sqrt(struct ball a);
struct ball ball_power(struct ball a, double whole); /* |whole| < 2^53 */

enum ball_function {
    BALL_SIN,
    BALL_COS,
    BALL_TAN,
    BALL_ASIN,
    BALL_ACOS,
    BALL_ATAN,
    BALL_SINH,
    BALL_COSH,
    BALL_TANH,
    BALL_ASINH,
    BALL_ACOSH,
    BALL_ATANH,
    BALL_EXP,
    BALL_EXPM1,
    BALL_LOG,
    BALL_LOG1P,
    BALL_SQRT,
    BALL_ERF,
    BALL_ERFC,
    BALL_SIGMOID,
    BALL_GELU,
    BALL_GELU_TANH,
    BALL_QUICK_GELU,
    BALL_SILU,
    BALL_SOFTPLUS,
    BALL_MISH,
    BALL_LOGSIGMOID,
    BALL_FUNCTIONS
};

/* values[0] = f(a), and for order 2 its derivatives values[1] = f'(a) and values[2] = f''(a). */
void ball_function(enum ball_function function, struct ball a, int order, struct ball values[3]);

#endif
