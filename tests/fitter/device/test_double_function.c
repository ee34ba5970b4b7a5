/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The double functions of devices, compiled for the host, against MPFR: within their margins, where the argument is a
 * rounded product as it is in sweeps. Without MPFR the reference is long double. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/double_function.h"
#include "function/reference.h"

#include "../../support/suite.h"

#define STEPS 4001 /* of each scale, around 0 */

static const struct double_error errors[] = {FUNCTIONS(DOUBLE_MARGIN)};

/* The largest share of a margin that a function takes. A code's x is scale * k; the argument of double_value is rounded
 * to double, that of the reference is not. */
static double worst_share(int id, const struct function *function)
{
    static const double scales[] = {0x1p-40, 1e-9, 3.1e-5, 0.0037, 0.0137, 0.47, 13.7, 1e6};
    double worst = 0;
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        for (int k = -STEPS / 2; k <= STEPS / 2; k++) {
            const long double exact = (long double)scales[s] * k;
            const double x = scales[s] * k;
            if (!function_defined(function, exact))
                continue;
            const double value = double_value((enum double_function)id, x, function->parameters[0]);
            const long double reference = function_value(function, exact);
            if (isinf(value)) { /* exp beyond double */
                if (!(reference > 0x1p1023L))
                    ck_abort_msg("%s(%g) is infinite", function_table[id].name, x);
                continue;
            }
            const double margin = double_margin(&errors[id], x, value);
            const long double off = fabsl((long double)value - reference);
            if (!(off <= (long double)margin)) /* no assertion a code: they are slow */
                ck_abort_msg("%s(%.17g) = %.17g is off by %Lg, margin %g", function_table[id].name, x, value, off,
                             margin);
            if (margin > 0)
                worst = fmax(worst, (double)(off / (long double)margin));
        }
    }
    return worst;
}

START_TEST(values_are_within_their_margins)
{
    for (int id = 0; id < DOUBLE_FUNCTION_COUNT; id++) {
        struct function function;
        struct function_info info;
        struct diag diag;
        ck_assert_int_eq(function_init(&function, function_table[id].name, &diag), EXIT_DONE);
        if (reference_use_mpfr(&function, &info, &diag) != EXIT_DONE)
            ck_assert_int_eq(diag.code, EXIT_MISSING);
        const double share = worst_share(id, &function);
        fprintf(stderr, "%s: up to %.2f of the margin\n", function_table[id].name, share);
        /* Margins are not so wide that they would hide a wrong formula. */
        ck_assert_msg(share > 0.01, "%s takes %g of its margin", function_table[id].name, share);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("double_function");
    TCase *tests = tcase_create("double_function");
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, values_are_within_their_margins);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
