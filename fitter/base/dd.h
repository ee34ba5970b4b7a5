/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers of about 106 bits as sums of two doubles, by additions, products, quotients and roots that IEEE 754 rounds in
 * one way alone: a result is the same on every machine, under every libm, and whatever `long double` is.
 *
 * |lo| is at most half an ulp of hi. With u = 2^-53 a sum is within 3 u^2 of itself, and with a double within 2 u^2, a
 * product within 5 u^2 (Joldes, Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of
 * double-word arithmetic", 2017; Muller, Rideau, "Formalization of double-word arithmetic, and comments on" it, 2022),
 * a quotient within 12 u^2 and a root within 5 u^2, but for what underflows, below 2^-960. Where hi is not finite lo is
 * 0.
 */
#ifndef PWLC_DD_H
#define PWLC_DD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct dd {
    double hi, lo;
};

static inline struct dd dd_of(double value)
{
    return (struct dd){value, 0};
}

/* hi + lo, |hi| >= |lo| */
static inline struct dd dd_join(double hi, double lo)
{
    const double sum = hi + lo;
    return isfinite(sum) ? (struct dd){sum, lo - (sum - hi)} : (struct dd){hi, 0};
}

/* a + b, exactly */
static inline struct dd dd_sum(double a, double b)
{
    const double sum = a + b, part = sum - a;
    return isfinite(sum) ? (struct dd){sum, (a - (sum - part)) + (b - part)} : (struct dd){sum, 0};
}

/* The upper half of the digits; beyond 2^990 there is none. */
static inline double dd_upper_half(double a)
{
    const double scaled = 134217729 * a;
    return scaled - (scaled - a);
}

/* a b, exactly where it does not underflow */
static inline struct dd dd_product(double a, double b)
{
    const double product = a * b;
    if (!(fabs(a) < 0x1p990 && fabs(b) < 0x1p990 && fabs(product) < 0x1p1000))
        return (struct dd){product, 0};
    const double a1 = dd_upper_half(a), a2 = a - a1, b1 = dd_upper_half(b), b2 = b - b1;
    return (struct dd){product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

static inline struct dd dd_neg(struct dd a)
{
    return (struct dd){-a.hi, -a.lo};
}

static inline struct dd dd_add(struct dd a, struct dd b)
{
    const struct dd high = dd_sum(a.hi, b.hi), low = dd_sum(a.lo, b.lo);
    const struct dd sum = dd_join(high.hi, high.lo + low.hi);
    return dd_join(sum.hi, sum.lo + low.lo);
}

static inline struct dd dd_sub(struct dd a, struct dd b)
{
    return dd_add(a, dd_neg(b));
}

/* a + b */
static inline struct dd dd_plus(struct dd a, double b)
{
    const struct dd sum = dd_sum(a.hi, b);
    return dd_join(sum.hi, sum.lo + a.lo);
}

static inline struct dd dd_mul(struct dd a, struct dd b)
{
    const struct dd product = dd_product(a.hi, b.hi);
    return dd_join(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* a b */
static inline struct dd dd_times(struct dd a, double b)
{
    const struct dd product = dd_product(a.hi, b);
    return dd_join(product.hi, product.lo + a.lo * b);
}

/* a times a power of two */
static inline struct dd dd_scaled(struct dd a, double power)
{
    return (struct dd){a.hi * power, a.lo * power};
}

/* What the first quotient leaves is below 3 u of a: of it u is lost with rest.lo, u with b.lo and u by the quotient, 9
 * u^2 of a; first b is off by 3 u^2. */
static inline struct dd dd_div(struct dd a, struct dd b)
{
    const double first = a.hi / b.hi;
    if (!isfinite(first) || !isfinite(b.hi))
        return dd_of(first);
    const struct dd rest = dd_sub(a, dd_times(b, first));
    return dd_join(first, rest.hi / b.hi);
}

static inline struct dd dd_inverse(struct dd a)
{
    return dd_div(dd_of(1), a);
}

static inline struct dd dd_square(struct dd a)
{
    return dd_mul(a, a);
}

/* sqrt rounds once, by IEEE 754. What its square leaves is below 3 u of a: half of it, and so 1.5 u^2, is lost twice,
 * as in a quotient, and 1.2 u^2 by the square of it, which Newton's step leaves out. */
static inline struct dd dd_sqrt(struct dd a)
{
    const double root = sqrt(a.hi);
    if (!(root > 0 && isfinite(root)))
        return dd_of(root);
    return dd_join(root, dd_sub(a, dd_product(root, root)).hi / (2 * root));
}

static inline struct dd dd_abs(struct dd a)
{
    return a.hi < 0 ? dd_neg(a) : a;
}

/* Exact: an integer has at most 64 bits. */
static inline struct dd dd_of_integer(int64_t value)
{
    const int64_t low = value & 0xfffffff;
    return dd_sum((double)(value - low), (double)low);
}

/* As near as two doubles come, which is exact where a long double has 64 bits; the largest double for what is beyond.
 */
static inline struct dd dd_of_long(long double value)
{
    const long double limit = 0x1.fffffffffffffp+1023L;
    if (isfinite(value) && fabsl(value) > limit)
        return dd_of(value < 0 ? -(double)limit : (double)limit);
    return dd_join((double)value, (double)(value - (double)value));
}

/* For display: as near as a long double comes. */
static inline long double dd_long(struct dd a)
{
    return (long double)a.hi + a.lo;
}

/* a < b, of numbers */
static inline bool dd_less(struct dd a, struct dd b)
{
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

static inline struct dd dd_larger(struct dd a, struct dd b)
{
    return dd_less(a, b) ? b : a;
}

static inline struct dd dd_smaller(struct dd a, struct dd b)
{
    return dd_less(b, a) ? b : a;
}

#endif
