/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The built-in functions and their first two derivatives.
 *
 * Each is accurate to a few ulp of long double for every finite x, away from roots that lie between the terms of a sum
 * (the derivatives of gelu, silu and mish). Where an exponential's argument is itself rounded, its error is multiplied
 * by the argument (up to 11400 before the result underflows): there the argument is held as a sum of two numbers. */
#include "function.h"

#include <math.h>

#include "curvature.h"
#include "functions.h"
#include "gelu.h"

static const long double selu_scale = 1.0507009873554804934193349852946L;
static const long double selu_alpha = 1.6732632423543772848170429916717L;

static long double sigmoid_d1(long double x, const double *p)
{
    return sigmoid(x, p) * sigmoid(-x, p);
}

static long double sigmoid_d2(long double x, const double *p)
{
    return -sigmoid_d1(x, p) * tanhl(x / 2);
}

/* tanh: 1 - tanh^2 = 4 sigmoid(2x) sigmoid(-2x) */
static long double tangent_h(long double x, const double *p)
{
    (void)p;
    return tanhl(x);
}

static long double tangent_h_d1(long double x, const double *p)
{
    return 4 * sigmoid_d1(2 * x, p);
}

static long double tangent_h_d2(long double x, const double *p)
{
    return -2 * tanhl(x) * tangent_h_d1(x, p);
}

/* silu = x sigmoid(x) */
static long double silu(long double x, const double *p)
{
    return x * sigmoid(x, p);
}

static long double silu_d1(long double x, const double *p)
{
    return sigmoid(x, p) * (1 + x * sigmoid(-x, p));
}

static long double silu_d2(long double x, const double *p)
{
    return sigmoid_d1(x, p) * (2 - x * tanhl(x / 2));
}

/* softplus = log(1 + e^x), logsigmoid = -softplus(-x) */
static long double softplus(long double x, const double *p)
{
    (void)p;
    return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x));
}

static long double logsigmoid(long double x, const double *p)
{
    return -softplus(-x, p);
}

static long double logsigmoid_d1(long double x, const double *p)
{
    return sigmoid(-x, p);
}

static long double logsigmoid_d2(long double x, const double *p)
{
    return -sigmoid_d1(x, p);
}

/* mish = x t, t = tanh(softplus(x)) = n / (n + 2) with e = e^x, n = e (e + 2). For x > 0 everything is written in
 * w = e^-x instead, with d = 1 + 2w + 2w^2 = w^2 (n + 2), so that nothing overflows and no large terms cancel. */
static long double mish_t(long double x)
{
    if (x > 0) {
        const long double w = expl(-x);
        return (1 + 2 * w) / (1 + 2 * w + 2 * w * w);
    }
    const long double e = expl(x), n = e * (e + 2);
    return n / (n + 2);
}

/* t' = 4 e (1 + e) / (n + 2)^2 */
static long double mish_t1(long double x)
{
    if (x > 0) {
        const long double w = expl(-x), d = 1 + 2 * w + 2 * w * w;
        return 4 * w * w * (1 + w) / (d * d);
    }
    const long double e = expl(x), d = e * (e + 2) + 2;
    return 4 * e * (1 + e) / (d * d);
}

/* t'' = 4 e (2 + 2e - 3e^2 - 2e^3) / (n + 2)^3 */
static long double mish_t2(long double x)
{
    if (x > 0) {
        const long double w = expl(-x), d = 1 + 2 * w + 2 * w * w;
        return 4 * w * w * (2 * w * w * w + 2 * w * w - 3 * w - 2) / (d * d * d);
    }
    const long double e = expl(x), d = e * (e + 2) + 2;
    return 4 * e * (2 + 2 * e - 3 * e * e - 2 * e * e * e) / (d * d * d);
}

static long double mish(long double x, const double *p)
{
    (void)p;
    return x * mish_t(x);
}

static long double mish_d1(long double x, const double *p)
{
    (void)p;
    return mish_t(x) + x * mish_t1(x);
}

static long double mish_d2(long double x, const double *p)
{
    (void)p;
    return 2 * mish_t1(x) + x * mish_t2(x);
}

/* elu, selu: scale x above 0, scale alpha (e^x - 1) below */
static long double elu(long double x, const double *p)
{
    return x < 0 ? p[0] * expm1l(x) : x;
}

static long double elu_d1(long double x, const double *p)
{
    return x < 0 ? p[0] * expl(x) : 1;
}

static long double elu_d2(long double x, const double *p)
{
    return x < 0 ? p[0] * expl(x) : 0;
}

static long double selu(long double x, const double *p)
{
    (void)p;
    return selu_scale * (x < 0 ? selu_alpha * expm1l(x) : x);
}

static long double selu_d1(long double x, const double *p)
{
    (void)p;
    return selu_scale * (x < 0 ? selu_alpha * expl(x) : 1);
}

static long double selu_d2(long double x, const double *p)
{
    (void)p;
    return x < 0 ? selu_scale * selu_alpha * expl(x) : 0;
}

static long double exponential(long double x, const double *p)
{
    (void)p;
    return expl(x);
}

static long double logarithm(long double x, const double *p)
{
    (void)p;
    return logl(x);
}

static long double logarithm_d2(long double x, const double *p)
{
    (void)p;
    return -1 / (x * x);
}

static long double square_root(long double x, const double *p)
{
    (void)p;
    return sqrtl(x);
}

static long double square_root_d1(long double x, const double *p)
{
    (void)p;
    return 0.5L / sqrtl(x);
}

static long double square_root_d2(long double x, const double *p)
{
    (void)p;
    return -0.25L / (x * sqrtl(x));
}

static long double rsqrt(long double x, const double *p)
{
    (void)p;
    return 1 / sqrtl(x);
}

static long double rsqrt_d1(long double x, const double *p)
{
    (void)p;
    return -0.5L / (x * sqrtl(x));
}

static long double rsqrt_d2(long double x, const double *p)
{
    (void)p;
    return 0.75L / (x * x * sqrtl(x));
}

/* reciprocal; its derivative is log's second, and it is log's first */
static long double reciprocal(long double x, const double *p)
{
    (void)p;
    return 1 / x;
}

static long double reciprocal_d2(long double x, const double *p)
{
    (void)p;
    return 2 / (x * x * x);
}

static long double sine(long double x, const double *p)
{
    (void)p;
    return sinl(x);
}

static long double cosine(long double x, const double *p)
{
    (void)p;
    return cosl(x);
}

static long double minus_sine(long double x, const double *p)
{
    (void)p;
    return -sinl(x);
}

static long double minus_cosine(long double x, const double *p)
{
    (void)p;
    return -cosl(x);
}

static long double arc_tangent(long double x, const double *p)
{
    (void)p;
    return atanl(x);
}

static long double arc_tangent_d1(long double x, const double *p)
{
    (void)p;
    return 1 / (1 + x * x);
}

static long double arc_tangent_d2(long double x, const double *p)
{
    const long double d1 = arc_tangent_d1(x, p);
    return -2 * x * d1 * d1;
}

/* softsign = x / (1 + |x|); its second derivative jumps at 0 */
static long double softsign(long double x, const double *p)
{
    (void)p;
    return x / (1 + fabsl(x));
}

static long double softsign_d1(long double x, const double *p)
{
    (void)p;
    const long double d = 1 + fabsl(x);
    return 1 / (d * d);
}

static long double softsign_d2(long double x, const double *p)
{
    (void)p;
    const long double d = 1 + fabsl(x);
    return (x < 0 ? 2 : -2) / (d * d * d);
}

/* hard_sigmoid = clip(x/6 + 1/2, 0, 1), hard_swish = x hard_sigmoid(x). x + 3 is exact near its root. */
static long double hard_sigmoid(long double x, const double *p)
{
    (void)p;
    return x < -3 ? 0 : x >= 3 ? 1 : (x + 3) / 6;
}

static long double hard_sigmoid_d1(long double x, const double *p)
{
    (void)p;
    return x >= -3 && x < 3 ? 1.0L / 6 : 0;
}

static long double hard_swish(long double x, const double *p)
{
    return x * hard_sigmoid(x, p);
}

static long double hard_swish_d1(long double x, const double *p)
{
    (void)p;
    return x < -3 ? 0 : x >= 3 ? 1 : (2 * x + 3) / 6;
}

static long double hard_swish_d2(long double x, const double *p)
{
    (void)p;
    return x >= -3 && x < 3 ? 1.0L / 3 : 0;
}

static long double relu(long double x, const double *p)
{
    (void)p;
    return x > 0 ? x : 0;
}

static long double relu_d1(long double x, const double *p)
{
    (void)p;
    return x >= 0 ? 1 : 0;
}

static long double relu6(long double x, const double *p)
{
    (void)p;
    return x > 6 ? 6 : x > 0 ? x : 0;
}

static long double relu6_d1(long double x, const double *p)
{
    (void)p;
    return x >= 0 && x < 6 ? 1 : 0;
}

static long double leaky_relu(long double x, const double *p)
{
    return x < 0 ? p[0] * x : x;
}

static long double leaky_relu_d1(long double x, const double *p)
{
    return x < 0 ? p[0] : 1;
}

static long double zero(long double x, const double *p)
{
    (void)x;
    (void)p;
    return 0;
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
