/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The built-in functions against mpmath (golden/function_values.h), their stated properties, and their messages. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../golden/function_values.h"
#include "base/suggest.h"
#include "function/function.h"
#include "function/samples.h"
#include "../../support/suite.h"

#define GOLDEN_COUNT (sizeof function_values / sizeof function_values[0])

/* Errors in units of LDBL_EPSILON times the result: what function.h promises, 2^-62, is 2 where that is 2^-63;
 * derivatives are products of two and of four such. Seen: none, where a long double has 64 bits. */
#define VALUE_LIMIT 2.0L
#define FIRST_LIMIT 4.0L
#define SECOND_LIMIT 8.0L

static void init(struct function *function, const char *name)
{
    struct diag diag;
    ck_assert_msg(function_init(function, name, &diag) == EXIT_DONE, "%s", name);
}

/* Error in LDBL_EPSILON relative to want. No scale is below 2^-64, so that results below 2^-90 need to be good to 2^-40
 * alone, as those beyond 2^900, and nothing where doubles underflow, nor beyond them. */
static long double relative_error(long double got, long double want)
{
    if (fabsl(want) > DBL_MAX)
        return isinf(got) ? 0 : INFINITY;
    const long double size = fabsl(want), error = fabsl(got - want);
    if (size < 0x1p-90L || size > 0x1p900L)
        return error <= 0x1p-40L * size + 0x1p-960L ? 0 : INFINITY;
    return error / size / LDBL_EPSILON;
}

START_TEST(values_and_derivatives_match_mpmath)
{
    long double worst[3] = {0, 0, 0};
    size_t compared = 0;
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        struct function function;
        init(&function, function_values[i].name);
        const long double x = function_values[i].x;
        if (fabsl(x) > 0x1p60L &&
            (strcmp(function_values[i].name, "sin") == 0 || strcmp(function_values[i].name, "cos") == 0))
            continue; /* many waves between two codes */
        compared++;
        const long double errors[3] = {
            relative_error(function_value(&function, x), function_values[i].value),
            relative_error(function_derivative(&function, x), function_values[i].derivative),
            relative_error(function_second_derivative(&function, x), function_values[i].second_derivative),
        };
        const long double limits[3] = {VALUE_LIMIT, FIRST_LIMIT, SECOND_LIMIT};
        for (int order = 0; order < 3; order++) {
            ck_assert_msg(errors[order] <= limits[order], "%s at %.17Lg, derivative %d: %.1Lf epsilon",
                          function_values[i].name, x, order, errors[order]);
            worst[order] = fmaxl(worst[order], errors[order]);
        }
    }
    ck_assert_uint_gt(compared, GOLDEN_COUNT / 2);
    if (getenv("PWL_TEST_VERBOSE") != NULL)
        fprintf(stderr, "worst errors in epsilon: %.2Lf %.2Lf %.2Lf\n", worst[0], worst[1], worst[2]);
}
END_TEST

START_TEST(every_function_is_in_the_golden_table)
{
    for (const struct function_info *info = function_table; info->name != NULL; info++) {
        size_t points = 0;
        for (size_t j = 0; j < GOLDEN_COUNT; j++)
            points += strcmp(function_values[j].name, info->name) == 0;
        ck_assert_msg(points >= 20, "%s has %zu points", info->name, points);
    }
}
END_TEST

/* Near their roots the derivatives are differences of terms of this size; the error is bound by the terms'. */
START_TEST(derivatives_stay_accurate_near_their_roots)
{
    static const struct {
        const char *name;
        long double root;  /* of the first derivative, from mpmath's findroot at 40 digits */
        long double slope; /* an upper bound of |f''| there */
    } roots[] = {
        {"gelu", -0.751791524693564457904947L, 1.0L},        {"gelu_tanh", -0.752461422071016258487954L, 1.0L},
        {"quick_gelu", -0.7511542554412889512980956L, 1.0L}, {"silu", -1.278464542761073795109359L, 1.0L},
        {"mish", -1.192431214515495212137588L, 1.0L},
    };
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        struct function function;
        init(&function, roots[i].name);
        const long double low = function_derivative(&function, roots[i].root - 1e-15L);
        const long double high = function_derivative(&function, roots[i].root + 1e-15L);
        ck_assert_msg(low < 0 && high > 0, "%s: %Lg %Lg", roots[i].name, low, high);
        ck_assert(high - low < 2e-15L * roots[i].slope + 16 * LDBL_EPSILON);
    }
}
END_TEST

/* Codes times scales reach 2^32 * 2^64 and, with far zero points, 2^127. */
START_TEST(results_are_numbers_everywhere_in_the_domain)
{
    for (const struct function_info *info = function_table; info->name != NULL; info++) {
        struct function function;
        init(&function, info->name);
        for (int exponent = -127; exponent <= 127; exponent++) {
            for (int sign = -1; sign <= 1; sign += 2) {
                const long double x = sign * ldexpl(1.37L, exponent);
                if (!function_defined(&function, x))
                    continue;
                const long double results[] = {function_value(&function, x), function_derivative(&function, x),
                                               function_second_derivative(&function, x)};
                for (int order = 0; order < 3; order++) {
                    const bool may_overflow = strcmp(info->name, "exp") == 0 && x > 709;
                    ck_assert_msg(may_overflow ? results[order] == INFINITY : isfinite(results[order]),
                                  "%s at %Lg, derivative %d: %Lg", info->name, x, order, results[order]);
                }
            }
        }
        /* far beyond any tensor: results may overflow, but are never the difference or product of inf and 0 */
        for (int exponent = -16000; exponent <= 16000; exponent += 500) {
            for (int sign = -1; sign <= 1; sign += 2) {
                const long double x = sign * ldexpl(1.37L, exponent);
                if (!function_defined(&function, x))
                    continue;
                ck_assert_msg(!isnan(function_value(&function, x)), "%s at %Lg", info->name, x);
                ck_assert_msg(!isnan(function_derivative(&function, x)), "%s at %Lg", info->name, x);
                ck_assert_msg(!isnan(function_second_derivative(&function, x)), "%s at %Lg", info->name, x);
            }
        }
        struct function at_zero;
        init(&at_zero, info->name);
        if (function_defined(&at_zero, 0))
            ck_assert(isfinite(function_value(&at_zero, 0)));
    }
}
END_TEST

START_TEST(symmetry_holds_as_stated)
{
    int counted[4] = {0, 0, 0, 0};
    for (const struct function_info *info = function_table; info->name != NULL; info++) {
        struct function function;
        init(&function, info->name);
        bool odd = true, even = true, complement = true;
        counted[info->symmetry]++;
        for (long double x = 0x1p-20L; x < 200; x *= 1.31L) {
            if (!function_defined(&function, -x)) {
                odd = even = complement = false;
                break;
            }
            const long double right = function_value(&function, x), left = function_value(&function, -x);
            odd = odd && left == -right;
            even = even && left == right;
            complement = complement && fabsl(left + right - 1) <= 2 * LDBL_EPSILON;
        }
        ck_assert_msg(odd == (info->symmetry == SYMMETRY_ODD), "%s", info->name);
        ck_assert_msg(even == (info->symmetry == SYMMETRY_EVEN), "%s", info->name);
        ck_assert_msg(complement == (info->symmetry == SYMMETRY_COMPLEMENT), "%s", info->name);
    }
    ck_assert_int_eq(counted[SYMMETRY_ODD], 6);
    ck_assert_int_eq(counted[SYMMETRY_EVEN], 1);
    ck_assert_int_eq(counted[SYMMETRY_COMPLEMENT], 2);
}
END_TEST

/* The slowest to settle is rsqrt, 1e-18 at 1e36; nothing else is further than 1e-36 or rounding from its limit. */
static void check_limit(const struct function *function, const char *limit, long double near, long double end)
{
    const char *name = function->info->name;
    const long double value = function_value(function, end), tolerance = 2e-18L;
    if (strcmp(limit, "x") == 0) {
        ck_assert_msg(value == end, "%s at %Lg: %Lg", name, end, value);
    } else if (strcmp(limit, "alpha x") == 0) {
        ck_assert(value == function->parameters[0] * end);
    } else if (strcmp(limit, "1.0507 x") == 0) {
        ck_assert(fabsl(value / end - 1.0507L) < 5e-5L); /* the text's digits */
    } else if (strcmp(limit, "-1.7581") == 0) {
        ck_assert(fabsl(value + 1.7581L) < 5e-5L);
    } else if (strcmp(limit, "oscillates") == 0) {
        ck_assert(fabsl(value) <= 1);
        ck_assert(function_value(function, 0.5L) > 0 && function_value(function, 4) < 0);
    } else if (strcmp(limit, "inf") == 0) {
        /* even log grows by 41 over the 18 decades */
        ck_assert_msg(value > function_value(function, near) + 40 || isinf(value), "%s", name);
        ck_assert(value > 0);
    } else if (strcmp(limit, "-inf") == 0) {
        ck_assert(value < function_value(function, near) - 40);
    } else {
        const long double want = strcmp(limit, "pi/2") == 0     ? acosl(0)
                                 : strcmp(limit, "-pi/2") == 0  ? -acosl(0)
                                 : strcmp(limit, "-alpha") == 0 ? -(long double)function->parameters[0]
                                                                : strtold(limit, NULL);
        ck_assert_msg(fabsl(value - want) <= tolerance, "%s at %Lg: %Lg, not %s", name, end, value, limit);
    }
}

START_TEST(limits_hold_as_stated)
{
    for (const struct function_info *info = function_table; info->name != NULL; info++) {
        struct function function;
        init(&function, info->name);
        if (isinf(info->domain_min))
            check_limit(&function, info->limit_min, -1e18L, -1e36L);
        else
            check_limit(&function, info->limit_min, 1e-18L, 1e-36L);
        check_limit(&function, info->limit_max, 1e18L, 1e36L);
    }
}
END_TEST

START_TEST(derivatives_at_kinks_are_from_the_right)
{
    static const struct {
        const char *name;
        long double x, first, second;
    } kinks[] = {
        {"relu", 0, 1, 0},
        {"relu6", 0, 1, 0},
        {"relu6", 6, 0, 0},
        {"leaky_relu", 0, 1, 0},
        {"elu", 0, 1, 0},
        {"hard_sigmoid", 3, 0, 0},
        {"hard_swish", 3, 1, 0},
        {"softsign", 0, 1, -2},
        {"hard_swish", -3, -0.5L, 1.0L / 3},
        {"hard_sigmoid", -3, 1.0L / 6, 0},
    };
    for (size_t i = 0; i < sizeof kinks / sizeof kinks[0]; i++) {
        struct function function;
        init(&function, kinks[i].name);
        ck_assert_msg(function_derivative(&function, kinks[i].x) == kinks[i].first, "%s", kinks[i].name);
        ck_assert_msg(function_second_derivative(&function, kinks[i].x) == kinks[i].second, "%s", kinks[i].name);
    }
}
END_TEST

START_TEST(parameters_shape_elu_and_leaky_relu)
{
    struct function function;
    struct diag diag;
    init(&function, "elu");
    ck_assert_int_eq(function_set_parameter(&function, "alpha=2.5", &diag), EXIT_DONE);
    ck_assert(relative_error(function_value(&function, -1), 2.5L * expm1l(-1)) <= 2);
    ck_assert(relative_error(function_derivative(&function, -1), 2.5L * expl(-1)) <= 2);
    ck_assert(relative_error(function_second_derivative(&function, -1), 2.5L * expl(-1)) <= 2);
    ck_assert(function_value(&function, 3) == 3);
    init(&function, "leaky_relu");
    ck_assert(function_value(&function, -8) == -8 * (long double)0.01);
    ck_assert_int_eq(function_set_parameter(&function, "alpha=0.25", &diag), EXIT_DONE);
    ck_assert(function_value(&function, -8) == -2);
    ck_assert(function_derivative(&function, -8) == 0.25L);
}
END_TEST

static void expect_parameter_error(const char *name, const char *assignment, const char *text)
{
    struct function function, before;
    struct diag diag = {0};
    init(&function, name);
    before = function;
    ck_assert_msg(function_set_parameter(&function, assignment, &diag) == EXIT_USAGE, "%s", assignment);
    ck_assert_int_eq(diag.code, EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, text) != NULL, "'%s' lacks '%s'", diag.text, text);
    ck_assert(function.parameters[0] == before.parameters[0]);
}

START_TEST(parameter_errors_are_named)
{
    expect_parameter_error("relu", "alpha=1", "relu has no parameters");
    expect_parameter_error("elu", "beta=1", "elu has no such parameter; it has alpha");
    expect_parameter_error("elu", "alph=1", "elu has no such parameter; it has alpha");
    expect_parameter_error("elu", "alpha1=1", "elu has no such parameter");
    expect_parameter_error("elu", "alpha", "write name=value");
    expect_parameter_error("elu", "=1", "write name=value");
    expect_parameter_error("elu", "", "write name=value");
    expect_parameter_error("elu", "alpha=", "alpha must be a number");
    expect_parameter_error("elu", "alpha=x", "alpha must be a number");
    expect_parameter_error("elu", "alpha=1 ", "alpha must be a number");
    expect_parameter_error("elu", "alpha=nan", "alpha must be a number");
    expect_parameter_error("elu", "alpha=0x1", "alpha must be a number");
    expect_parameter_error("elu", "alpha=1e999", "alpha must lie between 0 and 1000");
    expect_parameter_error("elu", "alpha=-0.5", "alpha must lie between 0 and 1000");
    expect_parameter_error("leaky_relu", "alpha=1000.5", "alpha must lie between -1000 and 1000");
}
END_TEST

START_TEST(unknown_functions_get_a_suggestion)
{
    static const char *const slips[][2] = {{"sigmod", "sigmoid"},
                                           {"Gelu", "gelu"},
                                           {"GELU", "gelu"},
                                           {"tahn", "tanh"},
                                           {"log2", "log"},
                                           {"Hardswish", "hardswish"},
                                           {"softpluss", "softplus"},
                                           {"leaky-relu", "leaky_relu"},
                                           {"Swish", "swish"},
                                           {"swsh", "swish"},
                                           {"quick-gelu", "quick_gelu"}};
    struct function function;
    struct diag diag;
    for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "did you mean %s?", slips[i][1]);
        ck_assert_ptr_null(function_find(slips[i][0]));
        ck_assert_int_eq(function_init(&function, slips[i][0], &diag), EXIT_USAGE);
        ck_assert_msg(strstr(diag.text, expected) != NULL, "%s", diag.text);
    }
    static const char *const strange[] = {"", "quux",
                                          "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        ck_assert_int_eq(function_init(&function, strange[i], &diag), EXIT_USAGE);
        ck_assert_ptr_null(strstr(diag.text, "did you mean"));
        ck_assert_ptr_nonnull(strstr(diag.text, "pwlc list"));
    }
    ck_assert_int_eq(function_init(&function, "a\nb\x7f", &diag), EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(diag.text, "'a?b?'"));
}
END_TEST

/* Whoever writes one of these finds the function that was meant. */
START_TEST(other_names_are_taken)
{
    static const char *const names[][2] = {{"swish", "silu"},
                                           {"logistic", "sigmoid"},
                                           {"quickgelu", "quick_gelu"},
                                           {"hswish", "hard_swish"},
                                           {"hardswish", "hard_swish"},
                                           {"hsigmoid", "hard_sigmoid"},
                                           {"softrelu", "softplus"},
                                           {"soft_plus", "softplus"},
                                           {"lrelu", "leaky_relu"},
                                           {"gelu_new", "gelu_tanh"},
                                           {"ln", "log"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct function function;
        init(&function, names[i][0]);
        ck_assert_str_eq(function_name(&function), names[i][1]);
        ck_assert_ptr_null(function_find(names[i][0]));
    }
    /* Each is another name of one function that there is, and no function's own. */
    size_t count = 0;
    for (const struct function_info *info = function_table; info->name != NULL; info++) {
        for (size_t i = 0; info->aliases[i] != NULL; i++, count++) {
            struct function function;
            init(&function, info->aliases[i]);
            ck_assert_ptr_eq(function.info, info);
            ck_assert_ptr_null(function_find(info->aliases[i]));
        }
    }
    ck_assert_uint_ge(count, 20);
}
END_TEST

START_TEST(suggestions_count_edits)
{
    static const char *const words[] = {"segments", "--max-err", "form", "format", "fit", NULL};
    static const char *const functions[] = {"mish", "tanh", NULL};
    static const char *const flags[] = {"-o", "--out", "--segments", "--slope-bits", "--slope-terms", NULL};
    static const char *const roundings[] = {"floor", "half_up", "half_away", "half_even", NULL};
    static const char *const none[] = {NULL};
    ck_assert_str_eq(suggest("segment", words), "segments");
    ck_assert_str_eq(suggest("sgements", words), "segments");
    ck_assert_str_eq(suggest("ift", words), "fit"); /* a swap is one edit, all that three characters allow */
    ck_assert_str_eq(suggest("--max-error", words), "--max-err");
    ck_assert_str_eq(suggest("forma", words), "form"); /* the first of equals */
    ck_assert_str_eq(suggest("formatt", words), "format");
    ck_assert_ptr_null(suggest("abcdef", words));
    ck_assert_str_eq(suggest("frm", words), "form");
    ck_assert_ptr_null(suggest("fm", words)); /* two characters allow none */
    ck_assert_str_eq(suggest("FORM", words), "form");
    ck_assert_ptr_null(suggest("swish", functions)); /* two edits are too many for five characters */
    ck_assert_str_eq(suggest("--seg", flags), "--segments");
    ck_assert_ptr_null(suggest("--slope", flags)); /* begins two */
    ck_assert_ptr_null(suggest("-n", flags));
    ck_assert_str_eq(suggest("--output", flags), "-o");
    ck_assert_str_eq(suggest("nearest", roundings), "half_even");
    ck_assert_ptr_null(suggest("nearest", words));
    ck_assert_ptr_null(suggest("", words));
    ck_assert_ptr_null(suggest("form", none));
}
END_TEST

START_TEST(domains_are_as_stated)
{
    static const struct {
        const char *name, *text;
        bool below, zero;
    } domains[] = {
        {"sigmoid", "(-inf, inf)", true, true},
        {"log", "(0, inf)", false, false},
        {"sqrt", "[0, inf)", false, true},
        {"rsqrt", "(0, inf)", false, false},
        {"reciprocal", "(-inf, 0) and (0, inf)", true, false},
    };
    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++) {
        struct function function;
        char text[64], cut[5];
        init(&function, domains[i].name);
        function_domain_text(&function, text, sizeof text);
        ck_assert_str_eq(text, domains[i].text);
        function_domain_text(&function, cut, sizeof cut);
        ck_assert_uint_eq(strlen(cut), 4);
        ck_assert(function_defined(&function, 1) && function_defined(&function, 1e300L));
        ck_assert(function_defined(&function, 0x1p-1000L));
        ck_assert(function_defined(&function, -0x1p-1000L) == domains[i].below);
        ck_assert(function_defined(&function, 0) == domains[i].zero);
        ck_assert(!function_defined(&function, NAN));
        ck_assert(!function_defined(&function, INFINITY) && !function_defined(&function, -INFINITY));
    }
}
END_TEST

START_TEST(samples_stand_in_for_a_function)
{
    static const char csv[] = "-1,4\n0.5,1\n2,3\n";
    struct samples *samples;
    struct diag diag;
    char text[64];
    ck_assert_int_eq(samples_parse(csv, strlen(csv), 0, &samples, &diag), EXIT_DONE);
    struct function function = {.samples = samples};
    ck_assert_str_eq(function_name(&function), "samples");
    ck_assert(function_value(&function, -0.25L) == 2.5L);
    ck_assert(function_derivative(&function, -0.25L) == -2);
    ck_assert(function_second_derivative(&function, -0.25L) == 0);
    ck_assert(function_defined(&function, -1) && function_defined(&function, 2));
    ck_assert(!function_defined(&function, -1.0001L) && !function_defined(&function, 2.0001L));
    function_domain_text(&function, text, sizeof text);
    ck_assert_str_eq(text, "[-1, 2]");
    ck_assert_int_eq(function_set_parameter(&function, "alpha=1", &diag), EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(diag.text, "samples has no parameters"));
    samples_free(samples);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("function");
    TCase *values = tcase_create("values");
    tcase_set_timeout(values, 60);
    tcase_add_test(values, values_and_derivatives_match_mpmath);
    tcase_add_test(values, every_function_is_in_the_golden_table);
    tcase_add_test(values, derivatives_stay_accurate_near_their_roots);
    tcase_add_test(values, results_are_numbers_everywhere_in_the_domain);
    tcase_add_test(values, symmetry_holds_as_stated);
    tcase_add_test(values, limits_hold_as_stated);
    tcase_add_test(values, derivatives_at_kinks_are_from_the_right);
    tcase_add_test(values, parameters_shape_elu_and_leaky_relu);
    suite_add_tcase(suite, values);
    TCase *messages = tcase_create("messages");
    tcase_add_test(messages, parameter_errors_are_named);
    tcase_add_test(messages, unknown_functions_get_a_suggestion);
    tcase_add_test(messages, other_names_are_taken);
    tcase_add_test(messages, suggestions_count_edits);
    tcase_add_test(messages, domains_are_as_stated);
    tcase_add_test(messages, samples_stand_in_for_a_function);
    suite_add_tcase(suite, messages);
    return run_suite(suite);
}
