/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions of x: their values and derivatives, what is refused and where, threads, and tables made from them. */
#include <check.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"
#include "function/expression.h"
#include "measure/measure.h"
#include "spec/spec.h"
#include "table/table.h"

#include "../../support/suite.h"

static struct expression *make(const char *text)
{
    struct expression *expression;
    struct diag diag = {0};
    ck_assert_msg(expression_create(text, "--expr", &expression, &diag) == EXIT_DONE, "%s", diag.text);
    return expression;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double gelu(double x)
{
    return x * (1 + erf(x / sqrt(2))) / 2;
}

static double piecewise(double x)
{
    return x < -1 ? -1 : x > 1 && x != 2 ? sqrt(x) : x;
}

static double constants(double x)
{
    return x * 3.14159265358979323846 + 2.71828182845904523536;
}

static double rounding(double x)
{
    return floor(x) + ceil(x / 3) + rint(x);
}

static double others(double x)
{
    return expm1(x) + log1p(fabs(x)) + erfc(x) + log2(x * x + 1) + log10(x * x + 1) + log(x * x + 1);
}

/* Every function that can be fitted can stand in an expression, by each of its names. */
START_TEST(built_in_functions_are_known)
{
    static const double places[] = {-7.3, -2.5, -0.4, 0.3, 1.7, 6.6};
    for (const struct function_info *info = function_table; info->name != NULL; info++) {
        struct function function;
        struct diag diag = {0};
        ck_assert_int_eq(function_init(&function, info->name, &diag), EXIT_DONE);
        const char *name = info->name;
        for (size_t i = 0; name != NULL; name = info->aliases[i++]) {
            char text[40];
            snprintf(text, sizeof text, "%s(x)", name);
            struct expression *expression = make(text);
            for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
                if (!function_defined(&function, places[k]))
                    continue;
                const double expected = (double)function_value(&function, places[k]);
                const double value = expression_value(expression, places[k]);
                ck_assert_msg(fabs(value - expected) <= 2 * DBL_EPSILON * fabs(expected), "%s at %g: %.17g, not %.17g",
                              text, places[k], value, expected);
            }
            expression_free(expression);
        }
    }
    struct expression *composed = make("leaky_relu(x, 0.25) + elu(-x, 2) + swish(2*x)/2");
    ck_assert_double_eq(expression_value(composed, -2), -0.5 + 2 + (double)(-2 / (1 + expl(4))));
    expression_free(composed);
}
END_TEST

START_TEST(evaluates_in_double)
{
    static const struct {
        const char *text;
        double (*value)(double x);
    } known[] = {
        {"1/(1+exp(-x))", sigmoid},
        {"  1 / ( 1 + exp( -x ) )  ", sigmoid},
        {"x*(1+erf(x/sqrt(2)))/2", gelu},
        {"x < -1 ? -1 : x > 1 && x != 2 ? sqrt(x) : x", piecewise},
        {"x*_pi+_e", constants},
        {"floor(x)+ceil(x/3)+rint(x)", rounding},
        {"expm1(x)+log1p(abs(x))+erfc(x)+log2(x^2+1)+log10(x^2+1)+ln(x^2+1)", others},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct expression *expression = make(known[i].text);
        for (int k = -400; k <= 400; k++) {
            const double x = k / 64.0, expected = known[i].value(x), value = expression_value(expression, x);
            /* muParser may write x*x for x^2 and fold constants: a few roundings */
            ck_assert_msg(fabs(value - expected) <= 8 * DBL_EPSILON * (1 + fabs(expected)),
                          "%s at %g: %.17g, not %.17g", known[i].text, x, value, expected);
        }
        expression_free(expression);
    }
    expression_free(NULL);
}
END_TEST

START_TEST(keeps_the_text_without_outer_blanks)
{
    struct expression *expression = make("  x + 1 ");
    ck_assert_str_eq(expression->text, "x + 1");
    expression_free(expression);
}
END_TEST

START_TEST(refuses_what_is_no_function)
{
    char long_text[EXPRESSION_MAX + 2];
    memset(long_text, '+', sizeof long_text);
    for (size_t i = 0; i < EXPRESSION_MAX + 1; i += 2)
        long_text[i] = 'x';
    long_text[EXPRESSION_MAX + 1] = '\0';
    const struct {
        const char *text, *words;
    } bad[] = {
        {"", "empty"},
        {"   ", "empty"},
        {long_text, "1001 characters, must be at most 1000"},
        {"x;1", "character 2 is no part"},
        {"\"x\"", "character 1 is no part"},
        {"x'", "character 2 is no part"},
        {"x\n+1", "character 2 is no part"},
        {"x \xc3\x97 2", "character 3 is no part"},
        {"x=1", "character 2 assigns"},
        {"x+=1", "character 3 assigns"},
        {"x*(x=1)", "character 5 assigns"},
        {"y+1", "from character 1 on"},
        {"x+y", "from character 3 on"},
        {"sni(x)", "from character 1 on"},
        {"x*/2", "from character 3 on"},
        {"x y", "from character 3 on"},
        {"((x)", "not complete"},
        {"x+", "not complete"},
        {"x)", "from character 2 on"},
        {"sin(x, x)", "--expr"},
        {"min()", "--expr"},
        {"x ? 1", "--expr"},
        {"1e999*x", "from character 1 on"},
        {"x, x^2", "has 2 values, must have one"},
        {"3", "does not depend on x"},
        {"_pi", "does not depend on x"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct expression *expression = NULL;
        struct diag diag = {0};
        ck_assert_msg(expression_create(bad[i].text, "--expr", &expression, &diag) == EXIT_USAGE, "'%s'", bad[i].text);
        ck_assert_msg(strstr(diag.text, bad[i].words) && strncmp(diag.text, "--expr", 6) == 0, "'%s': %s", bad[i].text,
                      diag.text);
        ck_assert_ptr_null(expression);
    }
    long_text[EXPRESSION_MAX - 1] = '\0'; /* ends with x */
    expression_free(make(long_text));
}
END_TEST

/* The bounds of expression.h: f''' h^2 / 6 and f 2^-53 / h, with a few roundings in f. */
START_TEST(derives_by_differences)
{
    struct function function, builtin;
    struct diag diag = {0};
    ck_assert_int_eq(function_set_expression(&function, "1/(1+exp(-x))", "--expr", &diag), EXIT_DONE);
    ck_assert_int_eq(function_init(&builtin, "sigmoid", &diag), EXIT_DONE);
    static const double steps[] = {0, 0x1p-12, 0x1p-28};
    for (size_t s = 0; s < 3; s++) {
        function_set_step(&function, steps[s]);
        for (int k = -64; k <= 64; k++) {
            const long double x = k / 8.0L;
            const double h = steps[s] > 0 ? steps[s] : 0x1p-17 * fmax(1, fabs((double)x));
            const long double bound = h * h / 6 * 0.13L + 4 * 0x1p-53 / h;
            ck_assert(fabsl(function_derivative(&function, x) - function_derivative(&builtin, x)) <= bound);
            const double h2 = 0x1p-13 * fmax(1, fabs((double)x));
            ck_assert(fabsl(function_second_derivative(&function, x) - function_second_derivative(&builtin, x)) <=
                      h2 * h2 / 12 * 0.25L + 8 * 0x1p-53 / (h2 * h2));
        }
    }
    function_free(&function);

    /* Next to the end of the domain the difference is one-sided; at a kink the mean of both sides. */
    ck_assert_int_eq(function_set_expression(&function, "sqrt(x)", "--expr", &diag), EXIT_DONE);
    function_set_step(&function, 0x1p-10);
    ck_assert(function_derivative(&function, 0) == 0x1p5L);
    ck_assert(function_derivative(&function, -1) == 0);
    function_free(&function);
    ck_assert_int_eq(function_set_expression(&function, "max(x,0)", "--expr", &diag), EXIT_DONE);
    function_set_step(&function, 0x1p-10);
    ck_assert(function_derivative(&function, 0) == 0.5L);
    ck_assert(function_derivative(&function, 0x1p-10) == 1 && function_derivative(&function, -0x1p-10) == 0);
    function_free(&function);
}
END_TEST

START_TEST(is_defined_where_it_is_finite)
{
    struct function function;
    struct diag diag = {0};
    char domain[40];
    ck_assert_int_eq(function_set_expression(&function, "log(x)", "--expr", &diag), EXIT_DONE);
    ck_assert_str_eq(function_name(&function), "expr");
    ck_assert(function_defined(&function, 1) && !function_defined(&function, 0) && !function_defined(&function, -1));
    ck_assert(!function_defined(&function, (long double)NAN));
    function_domain_text(&function, domain, sizeof domain);
    ck_assert_str_eq(domain, "(-inf, inf)");
    ck_assert_int_eq(function_set_parameter(&function, "alpha=1", &diag), EXIT_USAGE);
    ck_assert(strstr(diag.text, "expr has no parameters") != NULL);
    ck_assert(function_noise(&function) == 8 * (long double)DBL_EPSILON);
    function_free(&function);
    ck_assert_int_eq(function_init(&function, "log", &diag), EXIT_DONE);
    ck_assert(function_noise(&function) == 8 * LDBL_EPSILON);
}
END_TEST

#define THREADS 8

struct work {
    const struct expression *expression;
    int first;
    double sum;
    bool wrong;
};

static void *evaluate(void *argument)
{
    struct work *work = argument;
    for (int k = 0; k < 40000; k++) {
        const double x = work->first + k / 4096.0, value = expression_value(work->expression, x);
        work->wrong |= fabs(value - sigmoid(x)) > 4 * DBL_EPSILON;
    }
    return NULL;
}

START_TEST(threads_share_an_expression)
{
    struct expression *expression = make("1/(1+exp(-x))");
    struct work works[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        works[i] = (struct work){.expression = expression, .first = 2 * i - THREADS};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, evaluate, &works[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert(!works[i].wrong);
    }
    expression_free(expression);
}
END_TEST

/* Any locale whose decimal point is a comma, where one is installed. */
START_TEST(does_not_depend_on_the_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "de_DE", "fr_FR"};
    bool set = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !set; i++)
        set = setlocale(LC_ALL, names[i]) != NULL;
    struct expression *expression = make("min(0.25*x,1.5)");
    ck_assert(expression_value(expression, 3) == 0.75 && expression_value(expression, 100) == 1.5);
    expression_free(expression);
    setlocale(LC_ALL, "C");
}
END_TEST

static void fit_table(const char *expression, const char *in, const char *out, struct table *table)
{
    struct spec spec;
    struct diag diag = {0};
    spec_init(&spec);
    ck_assert(!spec_set(&spec, "--expr", expression, &diag) && !spec_set(&spec, "--in", in, &diag) &&
              !spec_set(&spec, "--out", out, &diag));
    ck_assert_msg(!spec_resolve(&spec, &diag) && !fit(&spec, table, &diag), "%s", diag.text);
    spec_free(&spec);
}

START_TEST(tables_keep_the_expression)
{
    struct table table, again;
    struct function function;
    struct diag diag = {0};
    char *text, *second;
    fit_table("1/(1+exp(-x))", "s8:2^-4", "s8:2^-8:-128", &table);
    ck_assert_str_eq(table.function, "expr");
    ck_assert_str_eq(table.expression, "1/(1+exp(-x))");
    ck_assert(strstr(table.spec, "--expr '1/(1+exp(-x))' --in") != NULL);
    ck_assert_int_eq(table_to_json(&table, &text, &diag), EXIT_DONE);
    ck_assert_msg(table_from_json(text, strlen(text), &again, &diag) == EXIT_DONE, "%s", diag.text);
    ck_assert_str_eq(again.expression, table.expression);
    ck_assert_int_eq(table_to_json(&again, &second, &diag), EXIT_DONE);
    ck_assert_str_eq(text, second);
    ck_assert_int_eq(table_function(&again, NULL, &function, &diag), EXIT_DONE);
    ck_assert(function.expression->step == 0x1p-4);
    ck_assert(fabsl(function_value(&function, 1) - sigmoid(1)) <= DBL_EPSILON);
    function_free(&function);
    ck_assert_int_eq(table_function(&again, "points.csv", &function, &diag), EXIT_USAGE);

    /* A text that a file may hold and muParser does not take is refused when it is needed. */
    strcpy(again.expression, "1/(1+exp(-y))");
    ck_assert_int_eq(table_function(&again, NULL, &function, &diag), EXIT_USAGE);
    ck_assert(strncmp(diag.text, "expression", 10) == 0);
    free(text);
    free(second);
    table_free(&table);
    table_free(&again);
}
END_TEST

/* The same function as a built-in one and as an expression: 16 segments of the whole 32-bit range. What is compared
 * are the extremes that the derivatives lead to; the values differ by 2^-53, 2^-22 LSB of 2^-31. */
START_TEST(finds_the_extremes_of_wide_inputs)
{
    static const char *const pairs[][3] = {
        {"tanh(x)", "tanh", "s32:2^-31:0"},
        {"max(x,0)", "relu", "s32:2^-28:0"},
    };
    for (size_t i = 0; i < 2; i++) {
        struct spec spec;
        struct table builtin, table;
        struct diag diag = {0};
        spec_init(&spec);
        ck_assert(!spec_set(&spec, "FUNCTION", pairs[i][1], &diag) && !spec_set(&spec, "--in", "s32:2^-29:0", &diag) &&
                  !spec_set(&spec, "--out", pairs[i][2], &diag) && !spec_set(&spec, "--method", "uniform", &diag) &&
                  !spec_set(&spec, "--segments", "5", &diag) && !fit(&spec, &builtin, &diag));
        function_free(&spec.function);
        ck_assert(!spec_set(&spec, "--expr", pairs[i][0], &diag) && !spec_resolve(&spec, &diag) &&
                  !fit(&spec, &table, &diag));
        const struct certificate *a = &builtin.certificate, *b = &table.certificate;
        ck_assert_msg(fabs(a->max_err_lsb - b->max_err_lsb) <= 1, "%s: %.17g at %lld, as expression %.17g at %lld",
                      pairs[i][1], a->max_err_lsb, (long long)a->max_err_at, b->max_err_lsb, (long long)b->max_err_at);
        ck_assert(a->monotone == b->monotone);
        table_free(&builtin);
        table_free(&table);
        spec_free(&spec);
    }
}
END_TEST

/* A tent, steep on one side: the table misses its peak, which lies between the codes that are looked at, and which
 * wide differences would shift. */
START_TEST(finds_the_peak_of_a_kink)
{
    struct spec spec;
    struct table table;
    struct packed_table packed;
    struct diag diag = {0};
    spec_init(&spec);
    ck_assert(!spec_set(&spec, "--expr", "max(0.05-max(16*(0.37123-x),2*(x-0.37123)),0)", &diag) &&
              !spec_set(&spec, "--in", "s32:2^-29:0", &diag) && !spec_set(&spec, "--out", "s32:2^-30:0", &diag) &&
              !spec_set(&spec, "--method", "uniform", &diag) && !spec_set(&spec, "--segments", "4", &diag));
    ck_assert_msg(!spec_resolve(&spec, &diag) && !fit(&spec, &table, &diag), "%s", diag.text);
    ck_assert(!table_pack(&table, &packed, &diag));
    const int64_t peak = (int64_t)(0.37123 * 0x1p29);
    double largest = 0;
    for (int64_t q = peak - 100; q <= peak + 100; q++)
        largest = fmax(largest, measure_code(&table, &packed, &spec.function, q));
    ck_assert_msg(table.certificate.max_err_lsb == largest, "%.17g at %lld, the peak has %.17g",
                  table.certificate.max_err_lsb, (long long)table.certificate.max_err_at, largest);
    packed_table_free(&packed);
    table_free(&table);
    spec_free(&spec);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("expression");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, built_in_functions_are_known);
    tcase_add_test(cases, evaluates_in_double);
    tcase_add_test(cases, keeps_the_text_without_outer_blanks);
    tcase_add_test(cases, refuses_what_is_no_function);
    tcase_add_test(cases, derives_by_differences);
    tcase_add_test(cases, is_defined_where_it_is_finite);
    tcase_add_test(cases, threads_share_an_expression);
    tcase_add_test(cases, does_not_depend_on_the_locale);
    tcase_add_test(cases, tables_keep_the_expression);
    tcase_add_test(cases, finds_the_extremes_of_wide_inputs);
    tcase_add_test(cases, finds_the_peak_of_a_kink);
    Suite *suite = suite_create("expression");
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
