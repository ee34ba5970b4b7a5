/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reference_function.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Each formula avoids cancellation, so that it keeps its digits in far tails too. */

static const long double pi = 3.14159265358979323846264338327950288L;

static long double sigmoid(long double x, long double p)
{
    (void)p;
    return 1 / (1 + expl(-x));
}

static long double hyperbolic_tangent(long double x, long double p)
{
    (void)p;
    return tanhl(x);
}

static long double gelu(long double x, long double p)
{
    (void)p;
    return x * erfcl(-x / sqrtl(2)) / 2;
}

static long double gelu_tanh(long double x, long double p)
{
    (void)p;
    return x / (1 + expl(-2 * sqrtl(2 / pi) * (x + 0.044715L * x * x * x)));
}

static long double quick_gelu(long double x, long double p)
{
    (void)p;
    return x / (1 + expl(-1.702L * x));
}

static long double silu(long double x, long double p)
{
    (void)p;
    return x / (1 + expl(-x));
}

static long double softplus(long double x, long double p)
{
    (void)p;
    return (x > 0 ? x : 0) + log1pl(expl(-fabsl(x)));
}

static long double mish(long double x, long double p)
{
    return x * tanhl(softplus(x, p));
}

static long double elu(long double x, long double p)
{
    return x < 0 ? p * expm1l(x) : x;
}

static long double selu(long double x, long double p)
{
    (void)p;
    return 1.0507009873554804934193349852946L * (x < 0 ? 1.6732632423543772848170429916717L * expm1l(x) : x);
}

static long double exponential(long double x, long double p)
{
    (void)p;
    return expl(x);
}

static long double error_function(long double x, long double p)
{
    (void)p;
    return erfl(x);
}

static long double logarithm(long double x, long double p)
{
    (void)p;
    return logl(x);
}

static long double square_root(long double x, long double p)
{
    (void)p;
    return sqrtl(x);
}

static long double rsqrt(long double x, long double p)
{
    (void)p;
    return 1 / sqrtl(x);
}

static long double reciprocal(long double x, long double p)
{
    (void)p;
    return 1 / x;
}

static long double sine(long double x, long double p)
{
    (void)p;
    return sinl(x);
}

static long double cosine(long double x, long double p)
{
    (void)p;
    return cosl(x);
}

static long double arc_tangent(long double x, long double p)
{
    (void)p;
    return atanl(x);
}

static long double softsign(long double x, long double p)
{
    (void)p;
    return x / (1 + fabsl(x));
}

static long double logsigmoid(long double x, long double p)
{
    return -softplus(-x, p);
}

static long double hard_sigmoid(long double x, long double p)
{
    (void)p;
    return x <= -3 ? 0 : x >= 3 ? 1 : (x + 3) / 6;
}

static long double hard_swish(long double x, long double p)
{
    return x * hard_sigmoid(x, p);
}

static long double relu(long double x, long double p)
{
    (void)p;
    return x > 0 ? x : 0;
}

static long double relu6(long double x, long double p)
{
    (void)p;
    return x > 6 ? 6 : x > 0 ? x : 0;
}

static long double leaky_relu(long double x, long double p)
{
    return x < 0 ? p * x : x;
}

const struct reference_function reference_functions[REFERENCE_FUNCTIONS] = {
    {"sigmoid", sigmoid, REFERENCE_ALL, -8, 8, NULL, 0, 0},
    {"tanh", hyperbolic_tangent, REFERENCE_ALL, -4, 4, NULL, 0, 0},
    {"gelu", gelu, REFERENCE_ALL, -5, 5, NULL, 0, 0},
    {"gelu_tanh", gelu_tanh, REFERENCE_ALL, -5, 5, NULL, 0, 0},
    {"quick_gelu", quick_gelu, REFERENCE_ALL, -5, 5, NULL, 0, 0},
    {"silu", silu, REFERENCE_ALL, -8, 8, NULL, 0, 0},
    {"softplus", softplus, REFERENCE_ALL, -8, 8, NULL, 0, 0},
    {"mish", mish, REFERENCE_ALL, -8, 8, NULL, 0, 0},
    {"elu", elu, REFERENCE_ALL, -6, 4, "alpha", 0.125, 4},
    {"selu", selu, REFERENCE_ALL, -6, 4, NULL, 0, 0},
    {"exp", exponential, REFERENCE_ALL, -6, 3, NULL, 0, 0},
    {"erf", error_function, REFERENCE_ALL, -3, 3, NULL, 0, 0},
    {"log", logarithm, REFERENCE_POSITIVE, 0.05, 12, NULL, 0, 0},
    {"sqrt", square_root, REFERENCE_NOT_NEGATIVE, 0.01, 10, NULL, 0, 0},
    {"rsqrt", rsqrt, REFERENCE_POSITIVE, 0.1, 9, NULL, 0, 0},
    {"reciprocal", reciprocal, REFERENCE_NOT_ZERO, 0.1, 6, NULL, 0, 0},
    {"sin", sine, REFERENCE_ALL, -4, 4, NULL, 0, 0},
    {"cos", cosine, REFERENCE_ALL, -4, 4, NULL, 0, 0},
    {"atan", arc_tangent, REFERENCE_ALL, -6, 6, NULL, 0, 0},
    {"softsign", softsign, REFERENCE_ALL, -10, 10, NULL, 0, 0},
    {"logsigmoid", logsigmoid, REFERENCE_ALL, -8, 8, NULL, 0, 0},
    {"hard_sigmoid", hard_sigmoid, REFERENCE_ALL, -4, 4, NULL, 0, 0},
    {"hard_swish", hard_swish, REFERENCE_ALL, -5, 5, NULL, 0, 0},
    {"relu", relu, REFERENCE_ALL, -3, 3, NULL, 0, 0},
    {"relu6", relu6, REFERENCE_ALL, -2, 8, NULL, 0, 0},
    {"leaky_relu", leaky_relu, REFERENCE_ALL, -6, 3, "alpha", -0.5, 0.9},
};

const struct reference_function *reference_find(const char *name)
{
    for (int k = 0; k < REFERENCE_FUNCTIONS; k++)
        if (!strcmp(name, reference_functions[k].name))
            return &reference_functions[k];
    return NULL;
}

int reference_defined(const struct reference_function *function, long double x)
{
    switch (function->domain) {
    case REFERENCE_POSITIVE:
        return x > 0;
    case REFERENCE_NOT_NEGATIVE:
        return x >= 0;
    case REFERENCE_NOT_ZERO:
        return x != 0;
    default:
        return 1;
    }
}

long double reference_scale(const char *text)
{
    if (!strncmp(text, "2^", 2))
        return ldexpl(1, atoi(text + 2));
    return strtod(text, NULL);
}

long double reference_target(const struct reference_map *map, int64_t q)
{
    /* Every domain but the one without 0 grows upwards, so the nearest code inside is never below; and without 0
     * only the code of 0 is outside. */
    if (!reference_defined(map->function, (long double)(q - map->zp_x))) {
        const int64_t lowest = map->function->domain == REFERENCE_NOT_NEGATIVE ? map->zp_x : map->zp_x + 1;
        q = lowest <= map->qmax_x ? lowest : map->zp_x - 1;
        q = q < map->qmin_x ? map->qmin_x : q;
    }
    const long double x = map->scale_x * (long double)(q - map->zp_x);
    return map->function->value(x, map->parameter) / map->scale_y + (long double)map->zp_y;
}

long double reference_clip(const struct reference_map *map, long double t)
{
    if (t < (long double)map->qmin_y)
        return (long double)map->qmin_y;
    return t > (long double)map->qmax_y ? (long double)map->qmax_y : t;
}
