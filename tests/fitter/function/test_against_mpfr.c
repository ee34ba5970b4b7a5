/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The built-in functions against MPFR's values, at random arguments of 106 bits. */
#include <check.h>
#include <math.h>

#include "function/reference.h"

#include "../../support/suite.h"
#include "../reference/draw.h"

/* As function.h says of every function, relative to the result, and to 2^-48 of results below 2^-94. */
#define RELATIVE 0x1p-65

static void compare(const struct function *function, const struct function *reference, double x, double rest)
{
    const struct dd at = dd_sum(x, x * rest);
    if (!function_defined_at(function, at))
        return;
    const struct dd got = function_at(function, at), want = function_at(reference, at);
    const double error = fabs(dd_sub(got, want).hi), size = fabs(want.hi);
    const double limit = size < 0x1p-94 ? 0x1p-48 * size + 0x1p-950 : RELATIVE * size;
    ck_assert_msg(error <= limit, "%s at %.17g: off by %g of %g", function_name(function), x, error, size);
}

START_TEST(values_are_those_of_mpfr)
{
    draw_from(11);
    for (const struct function_info *info = function_table; info->name; info++) {
        struct function function, reference;
        struct function_info own;
        struct diag diag;
        ck_assert_int_eq(function_init(&function, info->name, &diag), EXIT_DONE);
        reference = function;
        if (reference_use_mpfr(&reference, &own, &diag) == EXIT_MISSING)
            return;
        for (int k = 0; k < 3000; k++) {
            const double rest = 0x1p-54 * uniform(-1, 1), near = uniform(-10, 10),
                         any = ldexp(uniform(1, 2), (int)between(-40, 8));
            compare(&function, &reference, near, rest);
            compare(&function, &reference, any, rest);
            compare(&function, &reference, -any, rest);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("against_mpfr");
    TCase *tests = tcase_create("against_mpfr");
    tcase_add_test(tests, values_are_those_of_mpfr);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
