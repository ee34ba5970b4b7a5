/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the built-in functions are convex and where concave, against their second derivatives. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "function/curvature.h"
#include "function/function.h"

#include "../../support/suite.h"

/* A region in long double, in which f'' is looked at. */
struct region {
    struct curvature_region exact;
    long double from, to;
    int sign;
};

static struct region region_at(const struct curvature *curvature, long double x)
{
    const struct curvature_region exact = curvature_at(curvature, dd_of_long(x));
    return (struct region){exact, dd_long(exact.from), dd_long(exact.to), exact.sign};
}

static bool is_inside(const struct region *region, long double x)
{
    return curvature_inside(&region->exact, dd_of_long(x));
}

static struct function init(const struct function_info *info)
{
    struct function function;
    struct diag diag;
    ck_assert_int_eq(function_init(&function, info->name, &diag), EXIT_DONE);
    return function;
}

/* No assertion for what holds: millions of them are slow. */
static void assert_sign(const struct function *function, long double x)
{
    const struct region region = region_at(function->info->curvature, x);
    if (!(region.from <= x && x <= region.to))
        ck_abort_msg("%s: %Lg is not in its region", function->info->name, x);
    if (!function_defined(function, x) || !is_inside(&region, x))
        return;
    const long double second = function_second_derivative(function, x);
    if (!(second * region.sign >= 0))
        ck_abort_msg("%s: f'' is %Lg at %.20Lg, where it is called %s", function->info->name, second, x,
                     region.sign > 0 ? "convex" : "concave");
}

/* f' does not turn back inside a region, as it would at a kink. Its noise is 8 epsilon of terms below 2^12. */
static void assert_slopes(const struct function *function, long double from, long double to)
{
    const struct region region = region_at(function->info->curvature, from);
    if (!function_defined(function, from) || !function_defined(function, to) || !is_inside(&region, from) ||
        !is_inside(&region, to))
        return;
    const long double turn = function_derivative(function, to) - function_derivative(function, from);
    if (!(turn * region.sign >= -0x1p-48L))
        ck_abort_msg("%s turns by %Lg between %Lg and %Lg", function->info->name, turn, from, to);
}

START_TEST(signs_are_those_of_the_second_derivative)
{
    int known = 0;
    for (const struct function_info *info = function_table; info->name != NULL; info++) {
        struct function function = init(info);
        ck_assert_msg(info->curvature != NULL, "%s", info->name);
        for (int k = -40000; k <= 40000; k++) {
            assert_sign(&function, (long double)k / 1024);
            assert_slopes(&function, (long double)k / 1024, (long double)(k + 1) / 1024);
            assert_slopes(&function, (long double)k / 1024 - 0x1p-12L, (long double)k / 1024 + 0x1p-12L);
        }
        for (long double x = 0x1p-60L; x < 0x1p60L; x *= 1.37L) {
            assert_sign(&function, x);
            assert_sign(&function, -x);
        }
        for (int k = 0; info->parameters[k].name; k++) {
            function.parameters[k] = info->parameters[k].min;
            for (int i = -4000; i <= 4000; i++) {
                assert_sign(&function, (long double)i / 128);
                assert_slopes(&function, (long double)(i - 1) / 128, (long double)(i + 1) / 128);
            }
        }
        known++;
    }
    ck_assert_int_eq(known, 26);
}
END_TEST

/* 2^-52 of x away from a change f'' is 2^-52 times f''' x: well beyond its own noise, 16 epsilon of its terms. */
START_TEST(changes_are_where_the_second_derivative_or_the_slope_changes)
{
    for (const struct function_info *info = function_table; info->name != NULL; info++) {
        const struct function function = init(info);
        const struct curvature *curvature = info->curvature;
        for (int i = 0; i < curvature->changes; i++) {
            const long double at = dd_long(curvature->at[i]), step = at == 0 ? 0x1p-52L : fabsl(at) * 0x1p-52L;
            if (!function_defined(&function, at))
                continue;
            assert_sign(&function, at - step);
            assert_sign(&function, at + step);
            const long double before = function_second_derivative(&function, at - step);
            const long double after = function_second_derivative(&function, at + step);
            const long double bend =
                function_derivative(&function, at + step) - function_derivative(&function, at - step);
            const bool jump = fabsl(bend) > 0x1p-20L || fabsl(after - before) > 0x1p-20L;
            ck_assert_msg(jump || before * after < 0, "%s at %Lg: neither a kink nor a change of f''", info->name, at);
            if (!jump)
                ck_assert_int_eq(curvature->sign[i], -curvature->sign[i + 1]);
        }
    }
}
END_TEST

START_TEST(the_neighbours_of_a_change_are_not_inside)
{
    const struct curvature *const curvature = &curvature_gelu;
    for (int i = 0; i < 2; i++) {
        const long double at = dd_long(curvature->at[i]);
        for (int side = -1; side <= 1; side++) {
            const long double near = at * (1 + 4 * side * LDBL_EPSILON), far = at * (1 + 64 * side * LDBL_EPSILON);
            struct region region = region_at(curvature, near);
            ck_assert(!is_inside(&region, near));
            region = region_at(curvature, far);
            ck_assert(is_inside(&region, far) == (side != 0));
        }
    }
    const struct region left = region_at(curvature, -10);
    ck_assert(left.from == -INFINITY && left.sign == -1 && is_inside(&left, -10));
    ck_assert(!is_inside(&left, 0));
    const struct region zero = region_at(&curvature_kink, 0);
    ck_assert(!is_inside(&zero, 0) && is_inside(&zero, 0x1p-64L));
}
END_TEST

/* sin changes at k pi, cos at pi/2 + k pi; f itself is 0 there, and of the other sign than f''. */
START_TEST(waves_alternate)
{
    static const char *const names[] = {"sin", "cos"};
    for (int i = 0; i < 2; i++) {
        const struct function function = init(function_find(names[i]));
        for (int k = -70000; k <= 70000; k++) {
            const long double x = 0.9L * k;
            const struct region region = region_at(function.info->curvature, x);
            const long double width = region.to - region.from;
            if (is_inside(&region, x) && !(function_value(&function, x) * region.sign < 0))
                ck_abort_msg("%s at %Lg", names[i], x);
            if (!(fabsl(function_value(&function, region.from)) <= 8 * LDBL_EPSILON * fabsl(region.from) &&
                  fabsl(function_value(&function, region.to)) <= 8 * LDBL_EPSILON * fabsl(region.to)))
                ck_abort_msg("%s: not 0 around %Lg", names[i], x);
            if (!(width > 3 && width < 3.2L))
                ck_abort_msg("%s: a region of %Lg around %Lg", names[i], width, x);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("curvature");
    TCase *tests = tcase_create("curvature");
    tcase_add_test(tests, signs_are_those_of_the_second_derivative);
    tcase_add_test(tests, changes_are_where_the_second_derivative_or_the_slope_changes);
    tcase_add_test(tests, the_neighbours_of_a_change_are_not_inside);
    tcase_add_test(tests, waves_alternate);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
