/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The built-in functions and their first two derivatives, of elementary.h's functions and accuracy: the same
 * everywhere. A value is a product, a quotient or a sum of one sign of these, of which one alone errs by more than
 * 2^-72: below 2^-65 of it. Derivatives err by less than 2^-64 away from roots that lie between the terms of a sum
 * (those of gelu, silu and mish). An argument is rounded to 106 bits, and where an exponential multiplies that, it is
 * by 1600 at most. */
#include "function.h"

#include <math.h>

#include "curvature.h"
#include "elementary.h"
#include "functions.h"
#include "gelu.h"

static const struct dd selu_scale = {0x1.0cfabd6a91132p+0, 0x1.6fc7d272f2695p-55};
/* times selu's alpha, 1.67326 */
static const struct dd selu_scale_alpha = {0x1.c212cc640f031p+0, 0x1.05161b045a1fep-56};

static struct dd sigmoid_d1(struct dd x, const double *p)
{
    return dd_mul(sigmoid(x, p), sigmoid(dd_neg(x), p));
}

static struct dd sigmoid_d2(struct dd x, const double *p)
{
    return dd_neg(dd_mul(sigmoid_d1(x, p), dd_tanh(dd_scaled(x, 0.5))));
}

/* tanh: 1 - tanh^2 = 4 sigmoid(2x) sigmoid(-2x) */
static struct dd tangent_h(struct dd x, const double *p)
{
    (void)p;
    return dd_tanh(x);
}

static struct dd tangent_h_d1(struct dd x, const double *p)
{
    return dd_scaled(sigmoid_d1(dd_scaled(x, 2), p), 4);
}

static struct dd tangent_h_d2(struct dd x, const double *p)
{
    return dd_scaled(dd_mul(dd_tanh(x), tangent_h_d1(x, p)), -2);
}

/* silu = x sigmoid(x) */
static struct dd silu(struct dd x, const double *p)
{
    return dd_mul(x, sigmoid(x, p));
}

static struct dd silu_d1(struct dd x, const double *p)
{
    return dd_mul(sigmoid(x, p), dd_plus(dd_mul(x, sigmoid(dd_neg(x), p)), 1));
}

static struct dd silu_d2(struct dd x, const double *p)
{
    const struct dd turn = dd_mul(x, dd_tanh(dd_scaled(x, 0.5)));
    return dd_mul(sigmoid_d1(x, p), dd_plus(dd_neg(turn), 2));
}

/* softplus = log(1 + e^x), logsigmoid = -softplus(-x) */
static struct dd softplus(struct dd x, const double *p)
{
    (void)p;
    const struct dd rest = dd_log1p(dd_exp(dd_neg(dd_abs(x))));
    return x.hi > 0 ? dd_add(x, rest) : rest;
}

static struct dd logsigmoid(struct dd x, const double *p)
{
    return dd_neg(softplus(dd_neg(x), p));
}

static struct dd logsigmoid_d1(struct dd x, const double *p)
{
    return sigmoid(dd_neg(x), p);
}

static struct dd logsigmoid_d2(struct dd x, const double *p)
{
    return dd_neg(sigmoid_d1(x, p));
}

/* mish = x t, t = tanh(softplus(x)) = n / (n + 2) with e = e^x, n = e (e + 2). For x > 0 everything is written in
 * w = e^-x instead, with d = 1 + 2w + 2w^2 = w^2 (n + 2), so that nothing overflows and no large terms cancel. Below,
 * d = n + 2. */
static struct dd mish_power(struct dd x)
{
    return dd_exp(dd_neg(dd_abs(x)));
}

static struct dd mish_d(struct dd x, struct dd e)
{
    const struct dd square = dd_square(e);
    return x.hi > 0 ? dd_plus(dd_scaled(dd_add(e, square), 2), 1) : dd_plus(dd_add(dd_scaled(e, 2), square), 2);
}

static struct dd mish_t(struct dd x)
{
    const struct dd e = mish_power(x);
    const struct dd top = x.hi > 0 ? dd_plus(dd_scaled(e, 2), 1) : dd_mul(e, dd_plus(e, 2));
    return dd_div(top, mish_d(x, e));
}

/* t' = 4 e (1 + e) / (n + 2)^2 */
static struct dd mish_t1(struct dd x)
{
    const struct dd e = mish_power(x), top = dd_scaled(dd_mul(e, dd_plus(e, 1)), 4);
    return dd_div(x.hi > 0 ? dd_mul(e, top) : top, dd_square(mish_d(x, e)));
}

/* t'' = 4 e (2 + 2e - 3e^2 - 2e^3) / (n + 2)^3; in w: 4 w^2 (2 w^3 + 2 w^2 - 3 w - 2) / d^3 */
static struct dd mish_t2(struct dd x)
{
    const bool right = x.hi > 0;
    const struct dd e = mish_power(x), d = mish_d(x, e);
    struct dd bracket = dd_plus(dd_scaled(e, right ? 2 : -2), right ? 2 : -3);
    bracket = dd_plus(dd_mul(bracket, e), right ? -3 : 2);
    bracket = dd_plus(dd_mul(bracket, e), right ? -2 : 2);
    const struct dd top = dd_scaled(dd_mul(e, bracket), 4);
    return dd_div(right ? dd_mul(e, top) : top, dd_mul(dd_square(d), d));
}

static struct dd mish(struct dd x, const double *p)
{
    (void)p;
    return dd_mul(x, mish_t(x));
}

static struct dd mish_d1(struct dd x, const double *p)
{
    (void)p;
    return dd_add(mish_t(x), dd_mul(x, mish_t1(x)));
}

static struct dd mish_d2(struct dd x, const double *p)
{
    (void)p;
    return dd_add(dd_scaled(mish_t1(x), 2), dd_mul(x, mish_t2(x)));
}

/* elu, selu: scale x above 0, scale alpha (e^x - 1) below */
static struct dd elu(struct dd x, const double *p)
{
    return x.hi < 0 ? dd_times(dd_expm1(x), p[0]) : x;
}

static struct dd elu_d1(struct dd x, const double *p)
{
    return x.hi < 0 ? dd_times(dd_exp(x), p[0]) : dd_of(1);
}

static struct dd elu_d2(struct dd x, const double *p)
{
    return x.hi < 0 ? elu_d1(x, p) : dd_of(0);
}

static struct dd selu(struct dd x, const double *p)
{
    (void)p;
    return x.hi < 0 ? dd_mul(selu_scale_alpha, dd_expm1(x)) : dd_mul(selu_scale, x);
}

static struct dd selu_d1(struct dd x, const double *p)
{
    (void)p;
    return x.hi < 0 ? dd_mul(selu_scale_alpha, dd_exp(x)) : selu_scale;
}

static struct dd selu_d2(struct dd x, const double *p)
{
    return x.hi < 0 ? selu_d1(x, p) : dd_of(0);
}

static struct dd exponential(struct dd x, const double *p)
{
    (void)p;
    return dd_exp(x);
}

static struct dd logarithm(struct dd x, const double *p)
{
    (void)p;
    return dd_log(x);
}

static struct dd logarithm_d2(struct dd x, const double *p)
{
    (void)p;
    return dd_div(dd_of(-1), dd_square(x));
}

static struct dd square_root(struct dd x, const double *p)
{
    (void)p;
    return dd_sqrt(x);
}

static struct dd square_root_d1(struct dd x, const double *p)
{
    (void)p;
    return dd_div(dd_of(0.5), dd_sqrt(x));
}

static struct dd square_root_d2(struct dd x, const double *p)
{
    (void)p;
    return dd_div(dd_of(-0.25), dd_mul(x, dd_sqrt(x)));
}

static struct dd rsqrt(struct dd x, const double *p)
{
    (void)p;
    return dd_inverse(dd_sqrt(x));
}

static struct dd rsqrt_d1(struct dd x, const double *p)
{
    (void)p;
    return dd_div(dd_of(-0.5), dd_mul(x, dd_sqrt(x)));
}

static struct dd rsqrt_d2(struct dd x, const double *p)
{
    (void)p;
    return dd_div(dd_of(0.75), dd_mul(dd_square(x), dd_sqrt(x)));
}

/* reciprocal; its derivative is log's second, and it is log's first */
static struct dd reciprocal(struct dd x, const double *p)
{
    (void)p;
    return dd_inverse(x);
}

static struct dd reciprocal_d2(struct dd x, const double *p)
{
    (void)p;
    return dd_div(dd_of(2), dd_mul(dd_square(x), x));
}

static struct dd sine(struct dd x, const double *p)
{
    (void)p;
    return dd_sin(x);
}

static struct dd cosine(struct dd x, const double *p)
{
    (void)p;
    return dd_cos(x);
}

static struct dd minus_sine(struct dd x, const double *p)
{
    (void)p;
    return dd_neg(dd_sin(x));
}

static struct dd minus_cosine(struct dd x, const double *p)
{
    (void)p;
    return dd_neg(dd_cos(x));
}

static struct dd arc_tangent(struct dd x, const double *p)
{
    (void)p;
    return dd_atan(x);
}

static struct dd arc_tangent_d1(struct dd x, const double *p)
{
    (void)p;
    return dd_inverse(dd_plus(dd_square(x), 1));
}

static struct dd arc_tangent_d2(struct dd x, const double *p)
{
    const struct dd d1 = arc_tangent_d1(x, p);
    return dd_scaled(dd_mul(dd_mul(x, d1), d1), -2);
}

/* softsign = x / (1 + |x|); its second derivative jumps at 0 */
static struct dd softsign_d(struct dd x)
{
    return dd_plus(dd_abs(x), 1);
}

static struct dd softsign(struct dd x, const double *p)
{
    (void)p;
    return dd_div(x, softsign_d(x));
}

static struct dd softsign_d1(struct dd x, const double *p)
{
    (void)p;
    return dd_inverse(dd_square(softsign_d(x)));
}

static struct dd softsign_d2(struct dd x, const double *p)
{
    (void)p;
    const struct dd d = softsign_d(x);
    return dd_div(dd_of(x.hi < 0 ? 2 : -2), dd_mul(dd_square(d), d));
}

/* hard_sigmoid = clip(x/6 + 1/2, 0, 1), hard_swish = x hard_sigmoid(x). x + 3 is exact near its root. */
static bool is_below(struct dd x, double limit)
{
    return dd_less(x, dd_of(limit));
}

static struct dd hard_sigmoid(struct dd x, const double *p)
{
    (void)p;
    return is_below(x, -3) ? dd_of(0) : is_below(x, 3) ? dd_div(dd_plus(x, 3), dd_of(6)) : dd_of(1);
}

static struct dd hard_sigmoid_d1(struct dd x, const double *p)
{
    (void)p;
    return is_below(x, -3) || !is_below(x, 3) ? dd_of(0) : dd_inverse(dd_of(6));
}

static struct dd hard_swish(struct dd x, const double *p)
{
    return dd_mul(x, hard_sigmoid(x, p));
}

static struct dd hard_swish_d1(struct dd x, const double *p)
{
    (void)p;
    return is_below(x, -3) ? dd_of(0) : is_below(x, 3) ? dd_div(dd_plus(dd_scaled(x, 2), 3), dd_of(6)) : dd_of(1);
}

static struct dd hard_swish_d2(struct dd x, const double *p)
{
    (void)p;
    return is_below(x, -3) || !is_below(x, 3) ? dd_of(0) : dd_inverse(dd_of(3));
}

static struct dd relu(struct dd x, const double *p)
{
    (void)p;
    return x.hi > 0 ? x : dd_of(0);
}

static struct dd relu_d1(struct dd x, const double *p)
{
    (void)p;
    return dd_of(x.hi >= 0 ? 1 : 0);
}

static struct dd relu6(struct dd x, const double *p)
{
    return is_below(x, 6) ? relu(x, p) : dd_of(6);
}

static struct dd relu6_d1(struct dd x, const double *p)
{
    (void)p;
    return dd_of(x.hi >= 0 && is_below(x, 6) ? 1 : 0);
}

static struct dd leaky_relu(struct dd x, const double *p)
{
    return x.hi < 0 ? dd_times(x, p[0]) : x;
}

static struct dd leaky_relu_d1(struct dd x, const double *p)
{
    return dd_of(x.hi < 0 ? p[0] : 1);
}

static struct dd zero(struct dd x, const double *p)
{
    (void)x;
    (void)p;
    return dd_of(0);
}

#define REALS -INFINITY, INFINITY, true, true, false
#define POSITIVE 0, INFINITY, true, true, false
#define NOT_NEGATIVE 0, INFINITY, false, true, false
#define NOT_ZERO -INFINITY, INFINITY, true, true, true

/* clang-format off */
#define ALPHA(initial, min, max) {{"alpha", initial, min, max}, {NULL, 0, 0, 0}}
#define NO_PARAMETERS {{NULL, 0, 0, 0}}
#define ALIASES(...) {__VA_ARGS__, NULL}
#define NO_ALIASES {NULL}
/* clang-format on */

#define ROW(value, name, aliases, formula, first, second, domain, symmetry, curvature, limit_min, limit_max,           \
            parameters, margin)                                                                                        \
    {name, aliases, formula, value, first, second, domain, symmetry, &curvature, limit_min, limit_max, parameters},
const struct function_info function_table[] = {
    FUNCTIONS(ROW){.name = NULL},
};
