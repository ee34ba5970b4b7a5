/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/dd.h and function/elementary.h against MPFR, by the bounds that they derive, where their errors are largest: at
 * the ends of each series, next to roots, far out, and at numbers of which nothing but the last bits differ. */
#include <check.h>
#include <math.h>
#include <mpfr.h>

#include "function/elementary.h"

#include "../../support/suite.h"
#include "../reference/draw.h"

#define PRECISION 600 /* so that an argument is exact, and less than a multiple of pi by any digits */
#define UNIT 0x1p-53
#define SMALLEST 0x1p-950

typedef struct dd function_of_one(struct dd x);
typedef int mpfr_function(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding);

static void set_pair(mpfr_t value, struct dd pair)
{
    mpfr_set_d(value, pair.hi, MPFR_RNDN);
    mpfr_add_d(value, value, pair.lo, MPFR_RNDN);
}

/* As near as two doubles come. */
static struct dd pair_of(mpfr_t value)
{
    mpfr_t rest;
    const double hi = mpfr_get_d(value, MPFR_RNDN);
    mpfr_init2(rest, PRECISION);
    mpfr_sub_d(rest, value, hi, MPFR_RNDN);
    const struct dd pair = dd_join(hi, mpfr_get_d(rest, MPFR_RNDN));
    mpfr_clear(rest);
    return pair;
}

/* Fails where `got` is farther from `want` than the limits, of `want` and in all, allow. */
static void check_near(const char *name, struct dd x, struct dd got, mpfr_t want, double relative, double absolute)
{
    mpfr_t off;
    const double size = fabs(mpfr_get_d(want, MPFR_RNDA));
    mpfr_init2(off, PRECISION);
    set_pair(off, got);
    mpfr_sub(off, off, want, MPFR_RNDN);
    const double error = fabs(mpfr_get_d(off, MPFR_RNDA));
    ck_assert_msg(error <= relative * size + absolute + SMALLEST, "%s(%a + %a) is %a, off by %g of %g", name, x.hi,
                  x.lo, got.hi, error, size);
    mpfr_clear(off);
}

struct tested {
    const char *name;
    function_of_one *own;
    mpfr_function *mpfr;
    double relative, share_of_x; /* the bound: so much of the result, and so much of |x| */
};

static void check_at(const struct tested *tested, struct dd x)
{
    mpfr_t at, want;
    mpfr_inits2(PRECISION, at, want, (mpfr_ptr)NULL);
    set_pair(at, x);
    tested->mpfr(want, at, MPFR_RNDN);
    check_near(tested->name, x, tested->own(x), want, tested->relative, tested->share_of_x * fabs(x.hi));
    mpfr_clears(at, want, (mpfr_ptr)NULL);
}

/* At a place and to either side of it, at distances down to the last bit of a pair. */
static void check_around(const struct tested *tested, struct dd place)
{
    check_at(tested, place);
    const int exponent = place.hi != 0 ? ilogb(place.hi) : 0;
    for (int k = 0; k < 40 / quick_step(4); k++) {
        const double distance = ldexp(uniform(1, 2), exponent - (int)between(8, 107));
        check_at(tested, dd_plus(place, distance));
        check_at(tested, dd_plus(place, -distance));
    }
}

/* x of each sign, from those small enough for f to be nothing but the first term of its series to 2^most. */
static void check_small(const struct tested *tested, int most)
{
    for (int exponent = -60; exponent <= most; exponent++) {
        const double x = ldexp(uniform(0.5, 1), exponent);
        check_at(tested, dd_sum(x, x * uniform(-UNIT, UNIT)));
        check_at(tested, dd_sum(-x, x * uniform(-UNIT, UNIT)));
    }
}

static void check_drawn(const struct tested *tested, double low, double high, int count)
{
    for (int k = 0; k < count / quick_step(4); k++) {
        const double x = uniform(low, high);
        check_at(tested, dd_sum(x, x * uniform(-UNIT / 2, UNIT / 2)));
    }
}

/* (2 k + 1) log(2) / 64: where the series of e^x ends. */
static void check_ends_of_exp(const struct tested *tested, int from, int to)
{
    for (int k = from; k <= to; k += k < -40 || k >= 40 ? 1117 : 1)
        check_around(tested, dd_scaled(dd_times(dd_ln2, 2 * k + 1), 0x1p-6));
}

START_TEST(exponentials)
{
    const struct tested exp = {"exp", dd_exp, mpfr_exp, exp2(-72.4), 0},
                        two = {"exp2", dd_exp2, mpfr_exp2, exp2(-72.4), 0},
                        expm1 = {"expm1", dd_expm1, mpfr_expm1, exp2(-65.8), 0},
                        tanh = {"tanh", dd_tanh, mpfr_tanh, exp2(-65.8), 0};
    draw_from(1);
    check_ends_of_exp(&exp, -30000, 32700);
    check_drawn(&exp, -650, 709, 20000);
    check_drawn(&two, -940, 1020, 20000);
    check_ends_of_exp(&expm1, -3000, 32700);
    check_around(&expm1, dd_of(0x1p-7));
    check_around(&expm1, dd_of(-0x1p-7));
    check_drawn(&expm1, -0.02, 0.02, 20000);
    check_small(&expm1, 0);
    check_around(&tanh, dd_scaled(dd_ln2, 0x1p-7));
    check_around(&tanh, dd_of(0x1p-8));
    check_drawn(&tanh, -40, 40, 20000);
    check_small(&tanh, 0);
    ck_assert(dd_exp(dd_of(710)).hi == (double)INFINITY && dd_exp(dd_of(-750)).hi == 0);
}
END_TEST

START_TEST(logarithms)
{
    const struct tested log = {"log", dd_log, mpfr_log, exp2(-65.5), 0},
                        log1p = {"log1p", dd_log1p, mpfr_log1p, exp2(-65.5), 0};
    draw_from(2);
    for (int exponent = -1074; exponent <= 1023; exponent += exponent < -3 || exponent > 3 ? 61 : 1) {
        check_around(&log, dd_of(ldexp(1, exponent)));
        check_around(&log, dd_of(ldexp(sqrt(2), exponent)));
    }
    check_drawn(&log, 0, 3, 20000);
    check_around(&log1p, dd_of(0.41));
    check_around(&log1p, dd_of(-0.25));
    check_drawn(&log1p, -0.25, 2, 20000);
    for (int exponent = -60; exponent < -2; exponent++) {
        check_around(&log1p, dd_of(ldexp(1, exponent)));
        check_around(&log1p, dd_of(-ldexp(1, exponent)));
    }
    ck_assert(dd_log(dd_of(0)).hi == -(double)INFINITY && isnan(dd_log(dd_of(-1)).hi));
}
END_TEST

/* Around the multiples of pi / 2 that pairs come next to, and of pi / 4, where the series end. */
static void check_waves(const struct tested *tested, int exponent, int count)
{
    mpfr_t place;
    mpfr_init2(place, PRECISION);
    for (int k = 0; k < count; k++) {
        mpfr_const_pi(place, MPFR_RNDN);
        mpfr_mul_d(place, place, floor(ldexp(uniform(-1, 1), exponent)) / 4, MPFR_RNDN);
        check_around(tested, pair_of(place));
    }
    mpfr_clear(place);
}

START_TEST(waves)
{
    struct tested each[] = {{"sin", dd_sin, mpfr_sin, 0x1p-78, 0}, {"cos", dd_cos, mpfr_cos, 0x1p-78, 0}};
    draw_from(3);
    for (int k = 0; k < 2; k++) {
        each[k].share_of_x = 0x1p-158;
        for (int exponent = 2; exponent <= 50; exponent++)
            check_waves(&each[k], exponent, 20);
        check_around(&each[k], dd_of(0x1p50));
        each[k].share_of_x = 0x1p-153;
        for (int exponent = 51; exponent < 200; exponent++)
            check_waves(&each[k], exponent, 4);
    }
    check_small(&each[0], 0);
    ck_assert(dd_sin(dd_of(0x1p200)).hi == 0 && isnan(dd_cos(dd_of((double)NAN)).hi));
}
END_TEST

START_TEST(arc_tangents)
{
    const struct tested atan = {"atan", dd_atan, mpfr_atan, 0x1p-78, 0};
    draw_from(4);
    check_around(&atan, dd_of(1));
    check_around(&atan, dd_of(-1));
    for (int exponent = 1; exponent < 300; exponent += 7)
        check_around(&atan, dd_of(ldexp(1, exponent)));
    check_drawn(&atan, -3, 3, 20000);
    check_small(&atan, 0);
}
END_TEST

START_TEST(error_functions)
{
    const struct tested erf = {"erf", dd_erf, mpfr_erf, 0x1p-66, 0}, near = {"erf", dd_erf, mpfr_erf, 0x1p-85, 0},
                        erfc = {"erfc", dd_erfc, mpfr_erfc, 0x1p-66, 0},
                        beyond = {"erfc", dd_erfc, mpfr_erfc, 0x1p-49, 0};
    draw_from(5);
    check_drawn(&near, -0.49, 0.49, 10000);
    check_small(&near, -1); /* below 1/2 */
    check_around(&erf, dd_of(0.5));
    check_around(&erf, dd_of(-0.5));
    check_around(&erfc, dd_of(-0.5));
    for (int j = 8; j < 128; j++) { /* where one place of the table follows another */
        check_around(&erfc, dd_of((j + 0.5) / 16));
        check_around(&erf, dd_of((j + 0.5) / 16));
    }
    check_drawn(&erfc, -9, 8, 20000);
    check_drawn(&erf, -9, 9, 20000);
    check_around(&beyond, dd_of(8));
    check_drawn(&beyond, 8, 25, 20000);
    ck_assert(dd_erfc(dd_of(30)).hi == 0 && dd_erfc(dd_of(-30)).hi == 2);
}
END_TEST

typedef struct dd operation_of_two(struct dd a, struct dd b);
typedef int mpfr_operation(mpfr_t y, const mpfr_t a, const mpfr_t b, mpfr_rnd_t rounding);

static struct dd drawn_pair(void)
{
    const double hi = ldexp(uniform(1, 2), (int)between(-3, 3));
    const struct dd pair = dd_sum(hi, hi * ldexp(uniform(-1, 1), one_in(2) ? -54 : -(int)between(53, 80)));
    return one_in(2) ? dd_neg(pair) : pair;
}

/* Half of the pairs are nearly the same, but for a sign. */
static void check_operation(const char *name, operation_of_two *own, mpfr_operation *mpfr, double bound)
{
    mpfr_t x, y, want;
    mpfr_inits2(PRECISION, x, y, want, (mpfr_ptr)NULL);
    for (int k = 0; k < 30000 / quick_step(4); k++) {
        const struct dd a = drawn_pair(), near = dd_plus(a, ldexp(a.hi, -(int)between(1, 105))),
                        b = k % 4 == 0   ? near
                            : k % 4 == 1 ? dd_neg(near)
                                         : drawn_pair();
        set_pair(x, a);
        set_pair(y, b);
        mpfr(want, x, y, MPFR_RNDN);
        check_near(name, a, own(a, b), want, bound * UNIT * UNIT, 0);
    }
    mpfr_clears(x, y, want, (mpfr_ptr)NULL);
}

static struct dd with_double(struct dd a, struct dd b)
{
    return dd_plus(a, b.hi);
}

static int mpfr_with_double(mpfr_t y, const mpfr_t a, const mpfr_t b, mpfr_rnd_t rounding)
{
    return mpfr_add_d(y, a, mpfr_get_d(b, MPFR_RNDN), rounding);
}

START_TEST(operations)
{
    const struct tested root = {"root", dd_sqrt, mpfr_sqrt, 5 * UNIT * UNIT, 0};
    draw_from(6);
    check_operation("sum", dd_add, mpfr_add, 3);
    check_operation("difference", dd_sub, mpfr_sub, 3);
    check_operation("sum with a double", with_double, mpfr_with_double, 2);
    check_operation("product", dd_mul, mpfr_mul, 5);
    check_operation("quotient", dd_div, mpfr_div, 12);
    check_drawn(&root, 0, 4, 30000);
    for (int exponent = -900; exponent < 900; exponent += 11)
        check_around(&root, dd_of(ldexp(1, exponent)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("elementary");
    TCase *tests = tcase_create("elementary");
    tcase_add_test(tests, operations);
    tcase_add_test(tests, exponentials);
    tcase_add_test(tests, logarithms);
    tcase_add_test(tests, waves);
    tcase_add_test(tests, arc_tangents);
    tcase_add_test(tests, error_functions);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
