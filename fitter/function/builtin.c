/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The built-in functions and their first two derivatives.
 *
 * Each is accurate to a few ulp of long double for every finite x, away from roots that lie between the terms of a sum
 * (the derivatives of gelu, silu and mish). Where an exponential's argument is itself rounded, its error is multiplied
 * by the argument (up to 11400 before the result underflows): there the argument is held as a sum of two numbers. */
#include "function.h"

#include <math.h>

#include "curvature.h"

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

static const long double two_over_sqrt_pi = 1.128379167095512573896158903121545171688L;
static const long double one_over_sqrt_two_pi = 0.3989422804014326779399460599343818684759L;
static const long double selu_scale = 1.0507009873554804934193349852946L;
static const long double selu_alpha = 1.6732632423543772848170429916717L;

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
static long double sigmoid(long double x, const double *p)
{
    (void)p;
    const long double e = expl(-fabsl(x));
    return (x < 0 ? e : 1) / (1 + e);
}

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

static long double gelu(long double x, const double *p)
{
    (void)p;
    return x * normal_distribution(x);
}

static long double gelu_d1(long double x, const double *p)
{
    (void)p;
    return normal_distribution(x) + x * normal_density(x);
}

static long double gelu_d2(long double x, const double *p)
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

static long double gelu_tanh(long double x, const double *p)
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

static long double gelu_tanh_d1(long double x, const double *p)
{
    (void)p;
    if (fabsl(x) > GELU_TANH_FLAT)
        return x < 0 ? 0 : 1;
    return gelu_tanh_gate(x) * (1 + x * gelu_tanh_gate(-x) * gelu_tanh_v1(x));
}

static long double gelu_tanh_d2(long double x, const double *p)
{
    (void)p;
    if (fabsl(x) > GELU_TANH_FLAT)
        return 0;
    const long double left = gelu_tanh_gate(-x), right = gelu_tanh_gate(x);
    const long double v1 = gelu_tanh_v1(x);
    return left * right * (2 * v1 + x * gelu_tanh_v2(x) - x * v1 * v1 * (right - left));
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

/* erf */
static long double error_function(long double x, const double *p)
{
    (void)p;
    return erfl(x);
}

static long double error_function_d1(long double x, const double *p)
{
    (void)p;
    return two_over_sqrt_pi * gaussian(x, 1);
}

static long double error_function_d2(long double x, const double *p)
{
    return -2 * x * error_function_d1(x, p);
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
#define NO_PARAMETERS                                                                                                  \
    {                                                                                                                  \
        {                                                                                                              \
            NULL, 0, 0, 0                                                                                              \
        }                                                                                                              \
    }

/* clang-format off */
const struct function_info function_table[] = {
    {"sigmoid", "1 / (1 + exp(-x))", sigmoid, sigmoid_d1, sigmoid_d2, REALS,
     SYMMETRY_COMPLEMENT, &curvature_convex_concave, "0", "1", NO_PARAMETERS},
    {"tanh", "tanh(x)", tangent_h, tangent_h_d1, tangent_h_d2, REALS,
     SYMMETRY_ODD, &curvature_convex_concave, "-1", "1", NO_PARAMETERS},
    {"gelu", "x (1 + erf(x / sqrt(2))) / 2", gelu, gelu_d1, gelu_d2, REALS,
     SYMMETRY_NONE, &curvature_gelu, "0", "x", NO_PARAMETERS},
    {"gelu_tanh", "x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2", gelu_tanh, gelu_tanh_d1, gelu_tanh_d2, REALS,
     SYMMETRY_NONE, &curvature_gelu_tanh, "0", "x", NO_PARAMETERS},
    {"silu", "x / (1 + exp(-x))", silu, silu_d1, silu_d2, REALS,
     SYMMETRY_NONE, &curvature_silu, "0", "x", NO_PARAMETERS},
    {"softplus", "log(1 + exp(x))", softplus, sigmoid, sigmoid_d1, REALS,
     SYMMETRY_NONE, &curvature_convex, "0", "x", NO_PARAMETERS},
    {"mish", "x tanh(log(1 + exp(x)))", mish, mish_d1, mish_d2, REALS,
     SYMMETRY_NONE, &curvature_mish, "0", "x", NO_PARAMETERS},
    {"elu", "x < 0: alpha (exp(x) - 1); else x", elu, elu_d1, elu_d2, REALS,
     SYMMETRY_NONE, &curvature_kink, "-alpha", "x", {{"alpha", 1, 0, 1000}, {NULL, 0, 0, 0}}},
    {"selu", "1.0507 (x < 0: 1.67326 (exp(x) - 1); else x)", selu, selu_d1, selu_d2, REALS,
     SYMMETRY_NONE, &curvature_kink, "-1.7581", "1.0507 x", NO_PARAMETERS},
    {"exp", "exp(x)", exponential, exponential, exponential, REALS,
     SYMMETRY_NONE, &curvature_convex, "0", "inf", NO_PARAMETERS},
    {"erf", "erf(x)", error_function, error_function_d1, error_function_d2, REALS,
     SYMMETRY_ODD, &curvature_convex_concave, "-1", "1", NO_PARAMETERS},
    {"log", "log(x), natural", logarithm, reciprocal, logarithm_d2, POSITIVE,
     SYMMETRY_NONE, &curvature_concave, "-inf", "inf", NO_PARAMETERS},
    {"sqrt", "sqrt(x)", square_root, square_root_d1, square_root_d2, 0, INFINITY, false, true, false,
     SYMMETRY_NONE, &curvature_concave, "0", "inf", NO_PARAMETERS},
    {"rsqrt", "1 / sqrt(x)", rsqrt, rsqrt_d1, rsqrt_d2, POSITIVE,
     SYMMETRY_NONE, &curvature_convex, "inf", "0", NO_PARAMETERS},
    {"reciprocal", "1 / x", reciprocal, logarithm_d2, reciprocal_d2, -INFINITY, INFINITY, true, true, true,
     SYMMETRY_ODD, &curvature_concave_convex, "0", "0", NO_PARAMETERS},
    {"sin", "sin(x)", sine, cosine, minus_sine, REALS,
     SYMMETRY_ODD, &curvature_sine, "oscillates", "oscillates", NO_PARAMETERS},
    {"cos", "cos(x)", cosine, minus_sine, minus_cosine, REALS,
     SYMMETRY_EVEN, &curvature_cosine, "oscillates", "oscillates", NO_PARAMETERS},
    {"atan", "atan(x)", arc_tangent, arc_tangent_d1, arc_tangent_d2, REALS,
     SYMMETRY_ODD, &curvature_convex_concave, "-pi/2", "pi/2", NO_PARAMETERS},
    {"softsign", "x / (1 + |x|)", softsign, softsign_d1, softsign_d2, REALS,
     SYMMETRY_ODD, &curvature_convex_concave, "-1", "1", NO_PARAMETERS},
    {"logsigmoid", "-log(1 + exp(-x))", logsigmoid, logsigmoid_d1, logsigmoid_d2, REALS,
     SYMMETRY_NONE, &curvature_concave, "x", "0", NO_PARAMETERS},
    {"hard_sigmoid", "min(max(x/6 + 1/2, 0), 1)", hard_sigmoid, hard_sigmoid_d1, zero, REALS,
     SYMMETRY_COMPLEMENT, &curvature_hard, "0", "1", NO_PARAMETERS},
    {"hard_swish", "x min(max(x/6 + 1/2, 0), 1)", hard_swish, hard_swish_d1, hard_swish_d2, REALS,
     SYMMETRY_NONE, &curvature_hard, "0", "x", NO_PARAMETERS},
    {"relu", "max(x, 0)", relu, relu_d1, zero, REALS,
     SYMMETRY_NONE, &curvature_kink, "0", "x", NO_PARAMETERS},
    {"relu6", "min(max(x, 0), 6)", relu6, relu6_d1, zero, REALS,
     SYMMETRY_NONE, &curvature_relu6, "0", "6", NO_PARAMETERS},
    {"leaky_relu", "x < 0: alpha x; else x", leaky_relu, leaky_relu_d1, zero, REALS,
     SYMMETRY_NONE, &curvature_kink, "alpha x", "x", {{"alpha", 0.01, -1000, 1000}, {NULL, 0, 0, 0}}},
    {NULL, NULL, NULL, NULL, NULL, REALS, SYMMETRY_NONE, NULL, NULL, NULL, NO_PARAMETERS},
};
/* clang-format on */
