/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in functions in double, compiled for hosts and for CUDA devices, and how far each may be off.
 *
 * With u = 2^-53, X = x (1 + delta) and |delta| <= u (the argument may be a rounded product), the value at X differs
 * from f(x) by at most
 *
 *   u (a + b n + c n^2) |f(x)| + u (d + e |x|) + 2^-1000 `tiny`,     n = |x|, max(-x, 0) or max(x, 0) by `side`
 *
 * plus terms of u^2, for which each constant (MARGIN of functions.h) has room. It is made of
 * - the device's library: the CUDA C++ Programming Guide has errors of 1 ulp for exp, expm1, log, log1p and tanh, 2 for
 *   erf, atan, sinpi and cospi, and 5 for erfc; + - * / and sqrt are rounded right. An ulp is at most 2 u of the value.
 *   These errors come from tests and are no guarantee, so they are counted twice: 4, 8 and 20. The C library of a host
 *   is as good (tests/fitter/device/test_double_function.c measures it), and sweeps compare a value of every run;
 * - u for every other operation, times how much it counts in the result;
 * - delta, times |x f' / f|, or as |x f'| where f has a root that x does not share.
 *
 *   sigmoid     e = exp(-|x|) 4 + |x|, + 3; from 0 on e counts by at most 1/2, and |x| e / (1 + e) <= 0.28
 *   tanh, erf   |x f' / f| <= 1
 *   gelu        z = -x sqrt(1/2) within 3; |z erfc' / erfc| <= 2 z^2 + 1 = x^2 + 1 above 0 and below 1 under it, from
 *               erfc(z) >= 2 / sqrt(pi) exp(-z^2) / (z + sqrt(z^2 + 2)); so 20 + 3 (x^2 + 1) + 2
 *   gelu_tanh   v within 10, so sigmoid(v) within 7 + 11 |v|, |v| <= 1.6 |x| + 0.072 |x|^3. Where x < -21.5 the value
 *               is below 2^-1000; above, |x|^3 <= 21.5 x^2: 11 |v| <= 18 |x| + 17 x^2
 *   quick_gelu  v = 1.702 x within 2, so sigmoid(v) within 7 + 3 |v| <= 7 + 5.2 |x|; the product 2
 *   silu        2 more than sigmoid
 *   softplus    exp(-|x|) 4 + |x|, log1p 4 + 1; the sum 1; |x f' / f| <= 1 from 0 on. logsigmoid the same of -x
 *   mish        e or w within 4 + |x|, or 4 where it counts; four more operations on each side of the quotient
 *   elu, selu   4, |x f' / f| <= 1; the product, or two, and the constants
 *   exp         4 + |x|
 *   log         4, and |x f'| = 1
 *   sin, cos    8; by sinpi(x / pi), since x / pi is within 3: |z pi f'| 3 <= 3 |x|
 *   hard_*      x + 3 within 1 + |x|, over 6; |x| <= 3 where it counts; times x, which is itself within 1
 * Values that underflow in double, but not in long double, are what `tiny` is for.
 */
#ifndef PWLC_DOUBLE_FUNCTION_H
#define PWLC_DOUBLE_FUNCTION_H

#include <math.h>

#include <pwl/fixed.h>

#include "../function/functions.h"

#define DOUBLE_IDENTIFIER(value, ...) DOUBLE_##value,
enum double_function { FUNCTIONS(DOUBLE_IDENTIFIER) DOUBLE_FUNCTION_COUNT }; /* as function_table */

#define DOUBLE_UNIT 0x1p-53
#define DOUBLE_TINY 0x1p-1000

struct double_error {
    int side;
    double a, b, c, d, e, tiny;
};

/* FUNCTIONS(DOUBLE_MARGIN) fills an array of struct double_error. */
#define MARGIN(side, a, b, c, d, e, tiny)                                                                              \
    {                                                                                                                  \
        side, a, b, c, d, e, tiny                                                                                      \
    }
#define DOUBLE_MARGIN(value, name, aliases, formula, first, second, domain, symmetry, curvature, limit_min, limit_max, \
                      parameters, margin)                                                                              \
    margin,

/* How far off, at most; value is the one that was computed. */
PWL_FN double double_margin(const struct double_error *error, double x, double value)
{
    const double size = fabs(x), n = error->side == 0 ? size : fmax(error->side * x, 0.0);
    return DOUBLE_UNIT * ((error->a + n * (error->b + n * error->c)) * fabs(value) + error->d + error->e * size) +
           DOUBLE_TINY * error->tiny;
}

PWL_FN double double_sigmoid(double x)
{
    const double e = exp(-fabs(x));
    return (x < 0 ? e : 1) / (1 + e);
}

PWL_FN double double_gelu_tanh(double x)
{
    const double outer = 1.5957691216057308, cubic = 0.044715; /* 2 sqrt(2 / pi) */
    return x * double_sigmoid(outer * x * (1 + cubic * x * x));
}

PWL_FN double double_softplus(double x)
{
    return fmax(x, 0.0) + log1p(exp(-fabs(x)));
}

/* As mish_t of builtin.c. */
PWL_FN double double_mish(double x)
{
    const double e = exp(-fabs(x));
    if (x > 0)
        return x * ((1 + 2 * e) / (1 + 2 * e + 2 * e * e));
    const double n = e * (e + 2);
    return x * (n / (n + 2));
}

/* sin(pi z) and cos(pi z): the device's sin would reduce large arguments through local memory. */
PWL_FN double double_sinpi(double z)
{
#ifdef __CUDA_ARCH__
    return sinpi(z);
#else
    const double r = z - 2 * rint(z / 2); /* exact, in [-1, 1] */
    /* sin(pi r) is sin(pi (1 - r)), whose argument is small where sin has its other root. */
    const double nearer = fabs(r) > 0.5 ? copysign(1, r) - r : r;
    return sin(3.14159265358979323846 * nearer);
#endif
}

PWL_FN double double_cospi(double z)
{
#ifdef __CUDA_ARCH__
    return cospi(z);
#else
    const double r = fabs(z - 2 * rint(z / 2));
    return double_sinpi(0.5 - r);
#endif
}

/* f(x); p is the function's parameter, if it has one. */
PWL_FN double double_value(enum double_function function, double x, double p)
{
    const double one_over_pi = 0.31830988618379067154, sqrt_half = 0.70710678118654752440;
    const double selu_scale = 1.0507009873554804934193349852946, selu_alpha = 1.6732632423543772848170429916717;
    switch (function) {
    case DOUBLE_sigmoid:
        return double_sigmoid(x);
    case DOUBLE_tangent_h:
        return tanh(x);
    case DOUBLE_gelu:
        return x * (0.5 * erfc(-x * sqrt_half));
    case DOUBLE_gelu_tanh:
        return double_gelu_tanh(x);
    case DOUBLE_quick_gelu:
        return x * double_sigmoid(1.702 * x);
    case DOUBLE_silu:
        return x * double_sigmoid(x);
    case DOUBLE_softplus:
        return double_softplus(x);
    case DOUBLE_mish:
        return double_mish(x);
    case DOUBLE_elu:
        return x < 0 ? p * expm1(x) : x;
    case DOUBLE_selu:
        return selu_scale * (x < 0 ? selu_alpha * expm1(x) : x);
    case DOUBLE_exponential:
        return exp(x);
    case DOUBLE_error_function:
        return erf(x);
    case DOUBLE_logarithm:
        return log(x);
    case DOUBLE_square_root:
        return sqrt(x);
    case DOUBLE_rsqrt:
        return 1 / sqrt(x);
    case DOUBLE_reciprocal:
        return 1 / x;
    case DOUBLE_sine:
        return double_sinpi(x * one_over_pi);
    case DOUBLE_cosine:
        return double_cospi(x * one_over_pi);
    case DOUBLE_arc_tangent:
        return atan(x);
    case DOUBLE_softsign:
        return x / (1 + fabs(x));
    case DOUBLE_logsigmoid:
        return -double_softplus(-x);
    case DOUBLE_hard_sigmoid:
        return fmin(fmax((x + 3) / 6, 0.0), 1.0);
    case DOUBLE_hard_swish:
        return x * fmin(fmax((x + 3) / 6, 0.0), 1.0);
    case DOUBLE_relu:
        return fmax(x, 0.0);
    case DOUBLE_relu6:
        return fmin(fmax(x, 0.0), 6.0);
    case DOUBLE_leaky_relu:
        return x < 0 ? p * x : x;
    case DOUBLE_FUNCTION_COUNT:
        break;
    }
    return (double)NAN;
}

#endif
