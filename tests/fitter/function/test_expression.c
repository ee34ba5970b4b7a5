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

static double value_at(const struct expression *expression, double x)
{
    return expression_value(expression, dd_of(x)).mid.hi;
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
                const double value = value_at(expression, places[k]);
                ck_assert_msg(fabs(value - expected) <= 2 * DBL_EPSILON * fabs(expected), "%s at %g: %.17g, not %.17g",
                              text, places[k], value, expected);
            }
            expression_free(expression);
        }
    }
    struct expression *composed = make("leaky_relu(x, 0.25) + elu(-x, 2) + swish(2*x)/2");
    ck_assert_double_eq(value_at(composed, -2), -0.5 + 2 + (double)(-2 / (1 + expl(4))));
    expression_free(composed);
}
END_TEST

START_TEST(agrees_with_libm)
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
            const double x = k / 64.0, expected = known[i].value(x), value = value_at(expression, x);
            /* those of the double formulas */
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
        {"sin(x, x)", "too many arguments of sin, which takes one, at character 6"},
        {"1+silu(x,2)", "too many arguments of silu, which takes one, at character 9"},
        {"min()", "--expr"},
        {"x ? 1", "--expr"},
        {"x+1e999*x", "the number at character 3 is too large, must be below 1e308"},
        {"x, x^2", "has 2 values, must have one"},
        {"--x", "from character 2 on"},
        {"2x", "from character 2 on"},
        {"(x)(x)", "from character 4 on"},
        {"x ? 1 :", "not complete"},
        {"x : 1", "from character 3 on"},
        {"x*(2,3)", "from character 5 on"},
        {"sin", "from character 1 on"},
        {"1.5.5*x", "from character 4 on"},
        {"elu(x,1,2)", "too many arguments of elu, which takes x and alpha"},
        {"2*pi*x", "from character 3 on, 'pi*x'; it is written _pi"},
        {"x+e^x", "'e^x'; it is written _e, its powers exp(x)"},
        {"pow(x, 2)", "from character 1 on, 'pow(x, 2)'; a power is written ^"},
        {"where(x > 0, x, 0)", "; a choice is written as in x < 0 ? 0 : x"},
        {"x if x > 0 else 0", "; a choice is written as in x < 0 ? 0 : x"},
        {"clip(x, 0, 6)", "; that is min(max(x, -1), 1)"},
        {"x > 0 and x < 1", "from character 7 on, 'and x < 1'; it is written &&"},
        {"np.tanh(x)", "; functions stand alone, as in tanh(x)"},
        {"x * |x|", "from character 5 on, '|x|'; a magnitude is written abs(x)"},
        {"sigmoid(1.702x)", "from character 14 on, 'x)'; a product is written *, as in 2*x"},
        {"(x + 1) (x - 1)", "from character 9 on, '(x - 1)'; a product is written *"},
        {"x*tanh", "from character 3 on, 'tanh'; tanh is a function, as in tanh(x)"},
        {"hardswish*x", "; hardswish is a function, as in hardswish(x)"},
        {"Sigmoid(x)", "; did you mean sigmoid?"},
        {"sofplus(x)", "; did you mean softplus?"},
        {"y*x", "; the variable is x, and names are those"},
        {"x*a_name_that_is_longer_than_all_others(x)", "from character 3 on"},
        {"elu(x, 1, 2)", "too many arguments of elu, which takes x and alpha, at character 9"},
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
    /* Nested too deeply, by parentheses and by powers. */
    for (size_t i = 0; i < 998; i++)
        long_text[i] = '(';
    struct expression *expression = NULL;
    struct diag diag = {0};
    ck_assert(expression_create(long_text, "--expr", &expression, &diag) == EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, "nested too deeply at character 9") != NULL, "%s", diag.text);
    for (size_t i = 0; i + 1 < EXPRESSION_MAX; i += 2)
        memcpy(long_text + i, "x^", 2);
    long_text[EXPRESSION_MAX - 1] = '\0';
    ck_assert(expression_create(long_text, "--expr", &expression, &diag) == EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, "nested too deeply") != NULL, "%s", diag.text);
}
END_TEST

START_TEST(derivatives_are_those_of_built_in_functions)
{
    static const char *const pairs[][2] = {
        {"1/(1+exp(-x))", "sigmoid"},
        {"x/(1+exp(-1.702*x))", "quick_gelu"},
        {"x*tanh(log(1+exp(x)))", "mish"},
        {"x*erfc(-x/sqrt(2))/2", "gelu"},
        {"x/(1+abs(x))", "softsign"},
        {"max(min((x+3)/6,1),0)", "hard_sigmoid"},
        {"x<0?0.01*x:x", "leaky_relu"},
        {"elu(x, 1)", "elu"},
        {"max(x,0)", "relu"},
        {"x*(1+tanh(sqrt(2/_pi)*(x+0.044715*x^3)))/2", "gelu_tanh"},
        {"abs(x)*sign(x)*sigmoid(x)", "silu"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct function function, builtin;
        struct diag diag = {0};
        ck_assert_int_eq(function_set_expression(&function, pairs[i][0], "--expr", &diag), EXIT_DONE);
        ck_assert_int_eq(function_init(&builtin, pairs[i][1], &diag), EXIT_DONE);
        for (int k = -64; k <= 64; k++) {
            const struct dd x = dd_of(k / 8.0);
            const struct jet jet = expression_jet(function.expression, x);
            const struct dd expected[] = {builtin.info->value(x, builtin.parameters),
                                          builtin.info->derivative(x, builtin.parameters),
                                          builtin.info->second_derivative(x, builtin.parameters)};
            if (k == 0 && i == 10)
                continue; /* sign jumps */
            for (int order = 0; order < 3; order++)
                ck_assert_msg(fabs(dd_sub(jet.at[order].mid, expected[order]).hi) <= jet.at[order].rad + 0x1p-58,
                              "%s at %g, derivative %d: %.17g, not %.17g", pairs[i][0], x.hi, order,
                              jet.at[order].mid.hi, expected[order].hi);
            ck_assert(dd_sub(function_at(&function, x), jet.at[0].mid).hi == 0 &&
                      dd_sub(function_derivative_at(&function, x), jet.at[1].mid).hi == 0);
        }
        function_free(&function);
    }
}
END_TEST

/* At a kink the derivative is that from the right. */
START_TEST(kinks_have_slopes_from_the_right)
{
    static const struct {
        const char *text;
        double x, slope;
    } kinks[] = {
        {"abs(x)", 0, 1},         {"abs(-3*x)", 0, 3},  {"-abs(x)", 0, -1},     {"max(x,0)", 0, 1},
        {"max(-x,0)", 0, 0},      {"min(x,2*x)", 0, 1}, {"min(-x,2*x)", 0, -1}, {"leaky_relu(x,0.25)", 0, 1},
        {"elu(-x,2)", 0, -2},     {"max(x,1)", 1, 1},   {"x<1?x:3*x-2", 1, 3},  {"abs(x-1)+x", 1, 2},
        {"max(x-0.3,0)", 0.3, 0}, {"floor(x)", 2, 0},   {"relu6(x)", 6, 0},     {"hard_sigmoid(x)", 3, 0},
    };
    for (size_t i = 0; i < sizeof kinks / sizeof *kinks; i++) {
        struct expression *expression = make(kinks[i].text);
        const double slope = expression_jet(expression, dd_of(kinks[i].x)).at[1].mid.hi;
        ck_assert_msg(slope == kinks[i].slope, "%s at %g: %.17g", kinks[i].text, kinks[i].x, slope);
        expression_free(expression);
    }
}
END_TEST

/* What the enclosures do not tell apart is equal. */
START_TEST(near_numbers_are_equal)
{
    static const struct {
        const char *text;
        double x, value;
    } ties[] = {
        {"floor(log10(x))", 1000, 3},
        {"floor(log2(x))", 8, 3},
        {"ceil(log2(x))", 8, 3},
        {"floor(log2(x))", 7.999, 2},
        {"x*0.1==0.3", 3, 1},
        {"x*0.1<0.3", 3, 0},
        {"x*0.1>=0.3", 3, 1},
        {"sqrt(x)^2==2", 2, 1},
        {"rint(x*0.1*5)", 1, 0},
        {"rint(x*0.1*15)", 1, 2},
        {"sign(sqrt(x)^2-x)", 2, 0},
        {"sqrt(1-(x*0.1)^2*100)<0.001", 1, 1},
        {"floor(x)", 2.5, 2},
        {"floor(x)", -2.5, -3},
        {"ceil(x)", -2.5, -2},
        {"rint(x)", 2.5, 2},
        {"rint(x)", 3.5, 4},
        {"rint(x)", -2.5, -2},
        {"rint(x)", -0.5, 0},
        {"!x", 0, 1},
        {"!(x>1)", 3, 0},
        {"x&&0", 3, 0},
        {"x||0", 3, 1},
        {"x?1:2?3:4", 0, 3},
        {"-x^2", 3, -9},
        {"2^-x^2", 3, 0x1p-9},
        {"2^x^2", 3, 512},
        {"x-2-1", 3, 0},
        {"12/x/2", 3, 2},
        {"1<x<2", 3, 1},
        {"x^0.5", 4, 2},
        {"x^-1.5", 4, 0.125},
        {"x^(6/2)", -2, -8},
        {"x^(x*0.1*10)", -3, -1.0 / 27},
        {"x^(1/2+1/2)", 0, 0},
        {"0^x", 2, 0},
        {"x^0", 0, 1},
        {"avg(x,1,5)", 3, 3},
        {"sum(x,1,2)", 3, 6},
        {"min(4,x,5)", 3, 3},
        {"max(1,x)", 3, 3},
        {"1/(1+exp(-300*x))", -30, 0},
        {"atan(exp(900*x))-_pi/2", 2, 0},
        {"x*+2", 3, 6},
        {"x--2", 3, 5},
        {"1/(1/(x-3))", 3, 0},
    };
    for (size_t i = 0; i < sizeof ties / sizeof *ties; i++) {
        struct expression *expression = make(ties[i].text);
        const double value = value_at(expression, ties[i].x);
        ck_assert_msg(fabs(value - ties[i].value) <= 0x1p-60, "%s at %g: %.17g", ties[i].text, ties[i].x, value);
        expression_free(expression);
    }
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
    ck_assert(function_noise(&function, dd_of(2), function_at(&function, dd_of(2))) < 0x1p-63);
    function_free(&function);
    ck_assert_int_eq(function_init(&function, "log", &diag), EXIT_DONE);
    ck_assert(function_noise(&function, dd_of(2), dd_of(3)) == 3 * 0x1p-60);
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
        const double x = work->first + k / 4096.0, value = value_at(work->expression, x);
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
    ck_assert(value_at(expression, 3) == 0.75 && value_at(expression, 100) == 1.5);
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
    ck_assert(fabsl(function_value(&function, 1) - sigmoid(1)) <= DBL_EPSILON);
    function_free(&function);
    ck_assert_int_eq(table_function(&again, "points.csv", &function, &diag), EXIT_USAGE);

    /* A text that a file may hold and that is not understood is refused when it is needed. */
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
    tcase_add_test(cases, agrees_with_libm);
    tcase_add_test(cases, keeps_the_text_without_outer_blanks);
    tcase_add_test(cases, refuses_what_is_no_function);
    tcase_add_test(cases, derivatives_are_those_of_built_in_functions);
    tcase_add_test(cases, kinks_have_slopes_from_the_right);
    tcase_add_test(cases, near_numbers_are_equal);
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
