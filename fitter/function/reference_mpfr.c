/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in functions by MPFR. A handful of correctly rounded operations at 128 bits each, in forms without
 * cancellation, so the relative error before the last rounding is some units of 2^-128; where an exponential multiplies
 * the error of its argument, by at most 745 before the result leaves double, it is still below 2^-116.
 */
#include "reference.h"

#include <mpfr.h>

#include "functions.h"

#define PRECISION 128
#define NEAREST MPFR_RNDN

/* Sets y to f(x); x may be overwritten. */
typedef void mpfr_function(mpfr_t y, mpfr_t x, const double *parameters);

/* 1 / (1 + e^-x) */
static void sigmoid(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_neg(y, x, NEAREST);
    mpfr_exp(y, y, NEAREST);
    mpfr_add_ui(y, y, 1, NEAREST);
    mpfr_ui_div(y, 1, y, NEAREST);
}

static void tangent_h(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_tanh(y, x, NEAREST);
}

/* x erfc(-x / sqrt 2) / 2 */
static void gelu(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_sqrt_ui(y, 2, NEAREST);
    mpfr_div(y, x, y, NEAREST);
    mpfr_neg(y, y, NEAREST);
    mpfr_erfc(y, y, NEAREST);
    mpfr_mul(y, y, x, NEAREST);
    mpfr_div_2ui(y, y, 1, NEAREST);
}

/* x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)) */
static void gelu_tanh(mpfr_t y, mpfr_t x, const double *p)
{
    mpfr_t v;
    mpfr_init2(v, PRECISION);
    mpfr_sqr(v, x, NEAREST);
    mpfr_mul_ui(v, v, 44715, NEAREST);
    mpfr_div_ui(v, v, 1000000, NEAREST);
    mpfr_add_ui(v, v, 1, NEAREST);
    mpfr_mul(v, v, x, NEAREST);
    mpfr_const_pi(y, NEAREST);
    mpfr_ui_div(y, 8, y, NEAREST);
    mpfr_sqrt(y, y, NEAREST);
    mpfr_mul(v, v, y, NEAREST);
    sigmoid(y, v, p);
    mpfr_mul(y, y, x, NEAREST);
    mpfr_clear(v);
}

static void silu(mpfr_t y, mpfr_t x, const double *p)
{
    sigmoid(y, x, p);
    mpfr_mul(y, y, x, NEAREST);
}

/* x sigmoid(1.702 x) */
static void quick_gelu(mpfr_t y, mpfr_t x, const double *p)
{
    mpfr_t v;
    mpfr_init2(v, PRECISION);
    mpfr_mul_ui(v, x, 1702, NEAREST);
    mpfr_div_ui(v, v, 1000, NEAREST);
    sigmoid(y, v, p);
    mpfr_mul(y, y, x, NEAREST);
    mpfr_clear(v);
}

/* log(1 + e^x), as max(x, 0) + log(1 + e^-|x|) */
static void softplus(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_abs(y, x, NEAREST);
    mpfr_neg(y, y, NEAREST);
    mpfr_exp(y, y, NEAREST);
    mpfr_log1p(y, y, NEAREST);
    if (mpfr_sgn(x) > 0)
        mpfr_add(y, y, x, NEAREST);
}

static void logsigmoid(mpfr_t y, mpfr_t x, const double *p)
{
    mpfr_neg(x, x, NEAREST);
    softplus(y, x, p);
    mpfr_neg(y, y, NEAREST);
}

static void mish(mpfr_t y, mpfr_t x, const double *p)
{
    softplus(y, x, p);
    mpfr_tanh(y, y, NEAREST);
    mpfr_mul(y, y, x, NEAREST);
}

static void elu(mpfr_t y, mpfr_t x, const double *p)
{
    if (mpfr_sgn(x) >= 0) {
        mpfr_set(y, x, NEAREST);
        return;
    }
    mpfr_expm1(y, x, NEAREST);
    mpfr_mul_d(y, y, p[0], NEAREST);
}

static void selu(mpfr_t y, mpfr_t x, const double *p)
{
    mpfr_t constant;
    (void)p;
    mpfr_init2(constant, PRECISION);
    mpfr_set(y, x, NEAREST);
    if (mpfr_sgn(x) < 0) {
        mpfr_expm1(y, x, NEAREST);
        mpfr_set_str(constant, "1.6732632423543772848170429916717", 10, NEAREST);
        mpfr_mul(y, y, constant, NEAREST);
    }
    mpfr_set_str(constant, "1.0507009873554804934193349852946", 10, NEAREST);
    mpfr_mul(y, y, constant, NEAREST);
    mpfr_clear(constant);
}

static void exponential(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_exp(y, x, NEAREST);
}

static void error_function(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_erf(y, x, NEAREST);
}

static void logarithm(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_log(y, x, NEAREST);
}

static void square_root(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_sqrt(y, x, NEAREST);
}

static void rsqrt(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_rec_sqrt(y, x, NEAREST);
}

static void reciprocal(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_ui_div(y, 1, x, NEAREST);
}

static void sine(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_sin(y, x, NEAREST);
}

static void cosine(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_cos(y, x, NEAREST);
}

static void arc_tangent(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_atan(y, x, NEAREST);
}

static void softsign(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_abs(y, x, NEAREST);
    mpfr_add_ui(y, y, 1, NEAREST);
    mpfr_div(y, x, y, NEAREST);
}

/* min(max(x / 6 + 1 / 2, 0), 1) */
static void hard_sigmoid(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_add_ui(y, x, 3, NEAREST);
    mpfr_div_ui(y, y, 6, NEAREST);
    if (mpfr_sgn(y) < 0)
        mpfr_set_zero(y, 1);
    if (mpfr_cmp_ui(y, 1) > 0)
        mpfr_set_ui(y, 1, NEAREST);
}

static void hard_swish(mpfr_t y, mpfr_t x, const double *p)
{
    hard_sigmoid(y, x, p);
    mpfr_mul(y, y, x, NEAREST);
}

static void relu(mpfr_t y, mpfr_t x, const double *p)
{
    (void)p;
    mpfr_set(y, x, NEAREST);
    if (mpfr_sgn(x) < 0)
        mpfr_set_zero(y, 1);
}

static void relu6(mpfr_t y, mpfr_t x, const double *p)
{
    relu(y, x, p);
    if (mpfr_cmp_ui(y, 6) > 0)
        mpfr_set_ui(y, 6, NEAREST);
}

static void leaky_relu(mpfr_t y, mpfr_t x, const double *p)
{
    if (mpfr_sgn(x) < 0)
        mpfr_mul_d(y, x, p[0], NEAREST);
    else
        mpfr_set(y, x, NEAREST);
}

static struct dd evaluate(mpfr_function *function, struct dd x, const double *parameters)
{
    mpfr_t in, out;
    mpfr_init2(in, PRECISION);
    mpfr_init2(out, PRECISION);
    mpfr_set_d(in, x.hi, NEAREST);
    mpfr_add_d(in, in, x.lo, NEAREST);
    function(out, in, parameters);
    struct dd y = dd_of(mpfr_get_d(out, NEAREST));
    if (isfinite(y.hi)) {
        mpfr_sub_d(out, out, y.hi, NEAREST);
        y.lo = mpfr_get_d(out, NEAREST);
    }
    mpfr_clear(in);
    mpfr_clear(out);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return y;
}

#define DEFINE_VALUE(value, ...)                                                                                       \
    static struct dd value##_by_mpfr(struct dd x, const double *parameters)                                            \
    {                                                                                                                  \
        return evaluate(value, x, parameters);                                                                         \
    }
FUNCTIONS(DEFINE_VALUE)

#define ENTRY(value, ...) value##_by_mpfr,
static real_function *const references[] = {FUNCTIONS(ENTRY)}; /* as function_table */

int reference_use_mpfr(struct function *function, struct function_info *info, struct diag *diag)
{
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        if (function->info != &function_table[i])
            continue;
        *info = *function->info;
        info->value = references[i];
        function->info = info;
        return EXIT_DONE;
    }
    return diag_set(diag, EXIT_USAGE, "--ref mpfr: %s is not a built-in function, so MPFR has no form of it",
                    function_name(function));
}
