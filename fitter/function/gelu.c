/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions made of e^-x and e^(-x^2). */
#include "gelu.h"

#include <stddef.h>

#include "elementary.h"

static const struct dd sqrt_half = {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55};
static const struct dd one_over_sqrt_two_pi = {0x1.9884533d43651p-2, -0x1.cbc0d30ebfd15p-56};
/* 2 sqrt(2 / pi) */
static const struct dd gelu_tanh_outer = {0x1.9884533d43651p+0, -0x1.cbc0d30ebfd15p-54};
/* 0.044715, the decimal */
static const struct dd gelu_tanh_cubic = {0x1.6e4e26d4801f7p-5, 0x1.441355475a31ap-59};
/* 1.702, the decimal */
static const struct dd quick_gelu_factor = {0x1.b3b645a1cac08p+0, 0x1.89374bc6a7efap-55};

/* e^(-scale x^2) for scale 1 or 1/2. Beyond |x| = 200 it underflows, and x^2 is not formed. */
static struct dd gaussian(struct dd x, double scale)
{
    return fabs(x.hi) > 200 ? dd_of(0) : dd_exp(dd_scaled(dd_square(x), -scale));
}

/* sigmoid */
struct dd sigmoid(struct dd x, const double *p)
{
    (void)p;
    const struct dd e = dd_exp(dd_neg(dd_abs(x)));
    return dd_div(x.hi < 0 ? e : dd_of(1), dd_plus(e, 1));
}

/* gelu = x Phi(x), Phi the normal distribution function */
static struct dd normal_density(struct dd x)
{
    return dd_mul(one_over_sqrt_two_pi, gaussian(x, 0.5));
}

static struct dd normal_distribution(struct dd x)
{
    return dd_scaled(dd_erfc(dd_neg(dd_mul(sqrt_half, x))), 0.5);
}

/* x times what is 0 where x is far from 0. */
static struct dd times_vanishing(struct dd x, struct dd factor)
{
    return factor.hi == 0 ? dd_of(0) : dd_mul(x, factor);
}

struct dd gelu(struct dd x, const double *p)
{
    (void)p;
    return times_vanishing(x, normal_distribution(x));
}

struct dd gelu_d1(struct dd x, const double *p)
{
    (void)p;
    return dd_add(normal_distribution(x), times_vanishing(x, normal_density(x)));
}

struct dd gelu_d2(struct dd x, const double *p)
{
    (void)p;
    return times_vanishing(dd_plus(dd_neg(dd_square(x)), 2), normal_density(x));
}

/* gelu_tanh = x sigmoid(v), v = 2 sqrt(2/pi) (x + 0.044715 x^3). From |x| = 1000 on sigmoid(v) is 0 or 1. */
#define GELU_TANH_FLAT 1000

static struct dd gelu_tanh_gate(struct dd x)
{
    const struct dd cubic = dd_mul(gelu_tanh_cubic, dd_square(x));
    return sigmoid(dd_mul(dd_mul(gelu_tanh_outer, x), dd_plus(cubic, 1)), NULL);
}

struct dd gelu_tanh(struct dd x, const double *p)
{
    (void)p;
    if (fabs(x.hi) > GELU_TANH_FLAT)
        return x.hi < 0 ? dd_of(0) : x;
    return dd_mul(x, gelu_tanh_gate(x));
}

/* v' */
static struct dd gelu_tanh_v1(struct dd x)
{
    const struct dd cubic = dd_mul(gelu_tanh_cubic, dd_square(x));
    return dd_mul(gelu_tanh_outer, dd_plus(dd_times(cubic, 3), 1));
}

/* v'' */
static struct dd gelu_tanh_v2(struct dd x)
{
    return dd_mul(dd_times(dd_mul(gelu_tanh_outer, gelu_tanh_cubic), 6), x);
}

struct dd gelu_tanh_d1(struct dd x, const double *p)
{
    (void)p;
    if (fabs(x.hi) > GELU_TANH_FLAT)
        return dd_of(x.hi < 0 ? 0 : 1);
    const struct dd turn = dd_mul(dd_mul(x, gelu_tanh_gate(dd_neg(x))), gelu_tanh_v1(x));
    return dd_mul(gelu_tanh_gate(x), dd_plus(turn, 1));
}

struct dd gelu_tanh_d2(struct dd x, const double *p)
{
    (void)p;
    if (fabs(x.hi) > GELU_TANH_FLAT)
        return dd_of(0);
    const struct dd left = gelu_tanh_gate(dd_neg(x)), right = gelu_tanh_gate(x);
    const struct dd v1 = gelu_tanh_v1(x), straight = dd_add(dd_scaled(v1, 2), dd_mul(x, gelu_tanh_v2(x)));
    const struct dd turn = dd_mul(dd_mul(x, dd_square(v1)), dd_sub(right, left));
    return dd_mul(dd_mul(left, right), dd_sub(straight, turn));
}

/* quick_gelu = x sigmoid(v), v = 1.702 x. */
static struct dd quick_gelu_gate(struct dd x)
{
    return sigmoid(dd_mul(quick_gelu_factor, x), NULL);
}

struct dd quick_gelu(struct dd x, const double *p)
{
    (void)p;
    return dd_mul(x, quick_gelu_gate(x));
}

struct dd quick_gelu_d1(struct dd x, const double *p)
{
    (void)p;
    const struct dd turn = times_vanishing(dd_mul(quick_gelu_factor, x), quick_gelu_gate(dd_neg(x)));
    return times_vanishing(dd_plus(turn, 1), quick_gelu_gate(x));
}

struct dd quick_gelu_d2(struct dd x, const double *p)
{
    (void)p;
    const struct dd v = dd_mul(quick_gelu_factor, x), left = quick_gelu_gate(dd_neg(x)),
                    slope = dd_mul(dd_mul(quick_gelu_factor, quick_gelu_gate(x)), left);
    return times_vanishing(dd_plus(dd_neg(dd_mul(v, dd_tanh(dd_scaled(v, 0.5)))), 2), slope);
}

/* erf */
struct dd error_function(struct dd x, const double *p)
{
    (void)p;
    return dd_erf(x);
}

struct dd error_function_d1(struct dd x, const double *p)
{
    (void)p;
    return dd_mul(dd_two_over_sqrt_pi, gaussian(x, 1));
}

struct dd error_function_d2(struct dd x, const double *p)
{
    return dd_scaled(dd_mul(x, error_function_d1(x, p)), -2);
}
