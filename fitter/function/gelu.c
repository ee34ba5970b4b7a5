/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions made of e^-x and e^(-x^2), whose arguments are held as sums of two numbers where their rounding would be
 * multiplied. */
#include "gelu.h"

#include <math.h>
#include <stddef.h>

/* hi + lo, |lo| at most about an ulp of hi */
struct pair {
    long double hi, lo;
};

/* An irrational constant: hi is exact in every format from binary64 on, so that lo is right everywhere. */
static const struct pair sqrt_half = {0x1.6a09e667f3bcdp-1L, -4.833646656726456518593584429912793221341e-17L};
/* 2 sqrt(2 / pi) */
static const struct pair gelu_tanh_outer = {0x1.9884533d43651p+0L, -9.969308809110920314576552604662932386934e-17L};
/* 0.044715, the decimal */
static const struct pair gelu_tanh_cubic = {0x1.6e4e26d4801f7p-5L, 2.196021142708559636957943439483642578125e-18L};

/* 1.702, the decimal */
static const struct pair quick_gelu_factor = {0x1.b3b645a1cac08p+0L, 4.26325641456060111522674560546875e-17L};

static const long double two_over_sqrt_pi = 1.128379167095512573896158903121545171688L;
static const long double one_over_sqrt_two_pi = 0.3989422804014326779399460599343818684759L;

static struct pair pair_normalise(long double hi, long double lo)
{
    const long double sum = hi + lo;
    return (struct pair){sum, lo - (sum - hi)};
}

static struct pair pair_multiply(struct pair a, struct pair b)
{
    const long double hi = a.hi * b.hi;
    return pair_normalise(hi, fmal(a.hi, b.hi, -hi) + (a.hi * b.lo + a.lo * b.hi));
}

static struct pair pair_add_one(struct pair a)
{
    const long double sum = 1 + a.hi, part = sum - 1;
    return pair_normalise(sum, (1 - (sum - part)) + (a.hi - part) + a.lo);
}

static struct pair pair_of(long double x)
{
    return (struct pair){x, 0};
}

/* e^(-scale x^2) for scale 1 or 1/2. Beyond |x| = 200 it underflows, and x^2 is not formed. */
static long double gaussian(long double x, long double scale)
{
    if (fabsl(x) > 200)
        return 0;
    const long double square = x * x;
    return expl(-scale * square) * (1 - scale * fmal(x, x, -square));
}

/* sigmoid */
long double sigmoid(long double x, const double *p)
{
    (void)p;
    const long double e = expl(-fabsl(x));
    return (x < 0 ? e : 1) / (1 + e);
}

/* gelu = x Phi(x), Phi the normal distribution function */
static long double normal_density(long double x)
{
    return one_over_sqrt_two_pi * gaussian(x, 0.5L);
}

static long double normal_distribution(long double x)
{
    const struct pair z = pair_multiply(sqrt_half, pair_of(-x));
    const long double tail = erfcl(z.hi);
    /* first order in z.lo; the second is below z.lo^2 z.hi^2, 2^-100 of the result */
    return x < 0 ? 0.5L * (tail - z.lo * two_over_sqrt_pi * gaussian(z.hi, 1)) : 0.5L * tail;
}

long double gelu(long double x, const double *p)
{
    (void)p;
    return x * normal_distribution(x);
}

long double gelu_d1(long double x, const double *p)
{
    (void)p;
    return normal_distribution(x) + x * normal_density(x);
}

long double gelu_d2(long double x, const double *p)
{
    (void)p;
    const long double density = normal_density(x);
    return density == 0 ? 0 : fmal(-x, x, 2) * density; /* x^2 may have overflowed */
}

/* gelu_tanh = x sigmoid(v), v = 2 sqrt(2/pi) (x + 0.044715 x^3). From |x| = 1000 on sigmoid(v) is 0 or 1. */
#define GELU_TANH_FLAT 1000

static long double gelu_tanh_gate(long double x)
{
    const struct pair cubic = pair_multiply(gelu_tanh_cubic, pair_multiply(pair_of(x), pair_of(x)));
    const struct pair v = pair_multiply(pair_multiply(gelu_tanh_outer, pair_of(x)), pair_add_one(cubic));
    /* sigmoid(hi + lo) = sigmoid(hi) (1 + lo sigmoid(-hi)) to first order */
    return sigmoid(v.hi, NULL) * (1 + v.lo * sigmoid(-v.hi, NULL));
}

long double gelu_tanh(long double x, const double *p)
{
    (void)p;
    if (fabsl(x) > GELU_TANH_FLAT)
        return x < 0 ? 0 : x;
    return x * gelu_tanh_gate(x);
}

/* v' */
static long double gelu_tanh_v1(long double x)
{
    const long double outer = gelu_tanh_outer.hi + gelu_tanh_outer.lo;
    const long double cubic = gelu_tanh_cubic.hi + gelu_tanh_cubic.lo;
    return outer * (1 + 3 * cubic * x * x);
}

/* v'' */
static long double gelu_tanh_v2(long double x)
{
    return 6 * (gelu_tanh_outer.hi + gelu_tanh_outer.lo) * (gelu_tanh_cubic.hi + gelu_tanh_cubic.lo) * x;
}

long double gelu_tanh_d1(long double x, const double *p)
{
    (void)p;
    if (fabsl(x) > GELU_TANH_FLAT)
        return x < 0 ? 0 : 1;
    return gelu_tanh_gate(x) * (1 + x * gelu_tanh_gate(-x) * gelu_tanh_v1(x));
}

long double gelu_tanh_d2(long double x, const double *p)
{
    (void)p;
    if (fabsl(x) > GELU_TANH_FLAT)
        return 0;
    const long double left = gelu_tanh_gate(-x), right = gelu_tanh_gate(x);
    const long double v1 = gelu_tanh_v1(x);
    return left * right * (2 * v1 + x * gelu_tanh_v2(x) - x * v1 * v1 * (right - left));
}

/* quick_gelu = x sigmoid(v), v = 1.702 x. sigmoid(v) and sigmoid(-v), which has the other sign of x. */
static long double quick_gelu_gate(long double x)
{
    const struct pair v = pair_multiply(quick_gelu_factor, pair_of(x));
    return sigmoid(v.hi, NULL) * (1 + v.lo * sigmoid(-v.hi, NULL));
}

long double quick_gelu(long double x, const double *p)
{
    (void)p;
    return x * quick_gelu_gate(x);
}

long double quick_gelu_d1(long double x, const double *p)
{
    (void)p;
    return quick_gelu_gate(x) * (1 + 1.702L * x * quick_gelu_gate(-x));
}

long double quick_gelu_d2(long double x, const double *p)
{
    (void)p;
    return 1.702L * quick_gelu_gate(x) * quick_gelu_gate(-x) * (2 - 1.702L * x * tanhl(1.702L * x / 2));
}

/* erf */
long double error_function(long double x, const double *p)
{
    (void)p;
    return erfl(x);
}

long double error_function_d1(long double x, const double *p)
{
    (void)p;
    return two_over_sqrt_pi * gaussian(x, 1);
}

long double error_function_d2(long double x, const double *p)
{
    return -2 * x * error_function_d1(x, p);
}
