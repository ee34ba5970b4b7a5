/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code of f(0) is kept where that costs little, and nothing else changes. */
#include "../reference/fixture.h"
#include "../measure/measure_fixture.h"
#include "base/number.h"
#include "fit/keep_zero.h"

#include "../../support/suite.h"

static void fit_with_zero(const char *flags, bool is_free, struct fitted *fitted)
{
    struct diag diag = {0};
    memset(fitted, 0, sizeof *fitted);
    ck_assert_msg(spec_from(flags, &fitted->spec, &diag) == EXIT_DONE, "%s: %s", flags, diag.text);
    fitted->spec.zero_is_free = is_free;
    ck_assert_msg(fit(&fitted->spec, &fitted->table, &diag) == EXIT_DONE, "%s: %s", flags, diag.text);
    ck_assert_int_eq(table_prove(&fitted->table, EXIT_REQUIREMENT, &fitted->packed, &fitted->proof, &diag), EXIT_DONE);
}

static int64_t output_at_zero(const struct fitted *fitted)
{
    return pwl_eval(&fitted->packed.table, fitted->spec.in.zero_point);
}

static const struct {
    const char *flags;
    int64_t q_y;   /* of f(0) */
    bool is_kept;  /* by default */
    bool was_kept; /* by the table of least error, too */
} cases[] = {
    {"sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1", 32767, true, false},
    {"tanh --in s8:2^-5 --out s8:2^-7 --segments 4", 0, true, true},
    {"tanh --in s8:2^-5:5 --out s8:2^-7:-7 --segments 5 --method minimax", -7, true, false},
    {"tanh --in s8:2^-5:5 --out s10:2^-9:-7 --segments 4 --method minimax", -7, false,
     false}, /* not monotone with it */
    {"gelu --in s8:0.0472:-3 --out s8:0.0238:-121 --segments 2", -121, false, false},
    {"gelu --in s8:0.0472:-3 --out s8:0.0238:-121 --max-err 1.5", -121, true, false},
    {"softsign --in s10:2^-6 --out s12:2^-11 --segments 8", 0, true, false},
    /* One line alone is exchanged: */
    {"sigmoid --in s16:2^-12 --out s16:2^-15", 16384, true, false},
    {"gelu --in s16:2^-12 --out s16:2^-12 --max-err 1", 0, false, false},
    {"silu --in s14:2^-10:3 --out s12:2^-8 --segments 12 --shift one", 0, true, false},
    {"erf --in s12:2^-9 --out s8:2^-7 --segments 5 --symmetry fold --form biased --method minimax", 0, true, false},
};

START_TEST(it_is_kept_where_it_costs_little)
{
    struct fitted kept, free;
    fit_with_zero(cases[_i].flags, false, &kept);
    fit_with_zero(cases[_i].flags, true, &free);
    const struct certificate *c = &kept.table.certificate, *least = &free.table.certificate;
    ck_assert_int_eq(output_at_zero(&free) == cases[_i].q_y, cases[_i].was_kept);
    ck_assert_int_eq(output_at_zero(&kept) == cases[_i].q_y, cases[_i].is_kept);
    ck_assert_int_eq(kept.table.segment_count, free.table.segment_count);
    ck_assert_double_le(c->max_err_lsb, least->max_err_lsb + KEEP_ZERO_COST);
    ck_assert_double_le(c->rms_err_lsb, least->rms_err_lsb + KEEP_ZERO_COST);
    ck_assert(c->monotone || !least->monotone);
    ck_assert(isnan(kept.spec.max_err) || c->max_err_lsb <= kept.spec.max_err);
    /* The table is one of those that the bound is about, which was an error and is rounded down; the spec is the one
     * given. */
    const bool is_worse = least->optimal == 1 && c->optimal != 1;
    const double bound = is_worse ? number_rounded_down(least->lower_bound_lsb) : least->lower_bound_lsb;
    ck_assert(c->has_lower_bound == least->has_lower_bound && c->lower_bound_lsb == bound);
    ck_assert(c->optimal == least->optimal || objective_error(c) > objective_error(least));
    ck_assert_ptr_null(strstr(kept.table.spec, "--fix"));
    ck_assert_ptr_null(strstr(kept.table.spec, "--zero"));
    ck_assert_ptr_nonnull(strstr(free.table.spec, " --zero free"));
    fitted_free(&kept);
    fitted_free(&free);
}
END_TEST

START_TEST(a_value_that_is_no_code_asks_nothing)
{
    static const struct {
        const char *function, *in, *out;
        bool is_code;
    } types[] = {{"tanh", "s8:2^-5:0", "s8:2^-7:3", true},    {"sigmoid", "s8:2^-5:0", "u8:2^-8:0", true},
                 {"sigmoid", "s8:2^-5:0", "u8:0.3:0", false}, {"sigmoid", "s8:2^-5:0", "u8:2^0:0", false},
                 {"exp", "s8:2^-5:0", "u8:2^-4:0", false},    {"tanh", "s8:2^-5:200", "s8:2^-7:0", false},
                 {"tanh", "s8:2^-5:0", "s8:2^-7:300", false}, {"reciprocal", "s8:2^-5:0", "s8:2^-2:0", false},
                 {"log", "s8:2^-5:0", "s8:2^-2:0", false},    {"sin", "u4:0.1:15", "u4:0.1:0", true},
                 {"exp", "s8:2^-5:0", "u8:2^-64:0", false}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const struct tensor in = tensor_of(types[i].in), out = tensor_of(types[i].out);
        const struct function function = function_of(types[i].function);
        struct zero zero = {0, out.qmin, 0};
        ck_assert_msg(zero_find(&function, &in, &out, &zero) == types[i].is_code, "%s %s %s", types[i].function,
                      types[i].in, types[i].out);
        ck_assert(zero.q_y >= out.qmin && zero.q_y <= out.qmax);
    }
}
END_TEST

START_TEST(a_fix_that_says_otherwise_is_obeyed)
{
    struct fitted fitted;
    fit_with_zero("tanh --in s8:2^-5 --out s8:2^-7 --segments 8 --fix 0:0.0078125", false, &fitted);
    ck_assert_int_eq(output_at_zero(&fitted), 1);
    fitted_free(&fitted);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("keep_zero");
    TCase *tests = tcase_create("keep_zero");
    tcase_add_loop_test(tests, it_is_kept_where_it_costs_little, 0, sizeof cases / sizeof *cases);
    tcase_add_test(tests, a_value_that_is_no_code_asks_nothing);
    tcase_add_test(tests, a_fix_that_says_otherwise_is_obeyed);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
