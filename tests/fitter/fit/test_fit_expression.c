/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions of inputs too wide to visit. Nothing is proven of them between the points, and yet their tables hold an
 * error at every code, in at most a fiftieth more segments than those of the built-in function, whose lines are proven,
 * and searched with the rounding that each code has. */
#include "../reference/fixture.h"

static const struct {
    const char *builtin, *expression, *flags;
    double max_err;
} cases[] = {
    {"sigmoid", "1/(1+exp(-x))", "--in s18:2^-14 --out s16:2^-15 --form anchored", 1},
    {"sigmoid", "1/(1+exp(-x))", "--in s18:2^-14 --out s16:2^-15 --rounding half_up", 1},
    {"softsign", "x/(1+abs(x))", "--in s18:2^-14 --out s16:2^-15", 1},
    {"relu", "max(x,0)", "--in u17:2^-13:65536 --out s12:2^-9 --form biased --knots uniform", 1},
    {"tanh", "tanh(x)", "--in s17:2^-14 --out s12:2^-11 --slope-bits 8", 2},
    {"tanh", "tanh(x)", "--in s17:2^-14 --out s12:2^-11 --monotone", 1.5},
    /* The whole test alone: they take longer than the others. */
    {"sigmoid", "1/(1+exp(-x))", "--in s18:2^-14 --out s16:2^-15", 1},
    {"sigmoid", "1/(1+exp(-x))", "--in u18:2^-14:131072 --out u16:2^-16 --form biased --knots uniform", 2},
    {"tanh", "tanh(x)", "--in s18:2^-15 --out s16:2^-15 --slope-bits 10", 2},
    {"relu", "max(x,0)", "--in s18:2^-14 --out s16:2^-12", 1},
    {"silu", "x/(1+exp(-x))", "--in s17:2^-13 --out s16:2^-12", 1.2},
    {"silu", "x/(1+exp(-x))", "--in s17:2^-13 --out s16:2^-12 --slope-bits 6", 1},
    {"tanh", "tanh(x)", "--in s20:2^-17 --out s16:2^-15 --form anchored", 2},
    {"silu", "x/(1+exp(-x))", "--in s17:2^-13 --out s16:2^-12 --slope-terms 2", 2},
};
enum { CASES = sizeof cases / sizeof *cases, QUICK_CASES = 6 };

START_TEST(holds_an_error_in_as_few_segments)
{
    char flags[FLAGS_SIZE];
    struct fitted builtin, expression;
    snprintf(flags, sizeof flags, "%s %s --max-err %g", cases[_i].builtin, cases[_i].flags, cases[_i].max_err);
    fit_well(flags, &builtin);
    snprintf(flags, sizeof flags, "--expr %s %s --max-err %g", cases[_i].expression, cases[_i].flags,
             cases[_i].max_err);
    fit_well(flags, &expression);
    const struct plain_stats proven = measure_plainly(&builtin.spec, &builtin.table);
    const struct plain_stats stats = measure_plainly(&builtin.spec, &expression.table);
    ck_assert_msg(proven.max <= cases[_i].max_err, "%s: off by %g", cases[_i].builtin, proven.max);
    ck_assert_msg(stats.max <= cases[_i].max_err, "%s: off by %g at code %" PRId64, flags, stats.max, stats.max_at);
    const int most = builtin.table.segment_count + builtin.table.segment_count / 50;
    ck_assert_msg(expression.table.segment_count <= most, "%s: %d segments, of %s %d", flags,
                  expression.table.segment_count, cases[_i].builtin, builtin.table.segment_count);
    fitted_free(&builtin);
    fitted_free(&expression);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fit_expression");
    TCase *tcase = tcase_create("fit_expression");
    tcase_add_loop_test(tcase, holds_an_error_in_as_few_segments, 0, test_is_long() ? CASES : QUICK_CASES);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
