/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of the tables that the methods find the best one by the objective is given, and what one way of asking finds, the
 * others accept. */
#include "../reference/fixture.h"
#include "base/number.h"

static const char *const specs[] = {
    /* Halves that saturate at different outputs. */
    "sigmoid --in s3:2^1:0 --out s8:2^-9:25 --rounding half_up --segments 2 --slope-bits 5 --symmetry fold",
    "sigmoid --in s8:2^-4:0 --out u8:2^-8:30 --segments 4 --symmetry fold",
    "tanh --in s9:2^-6:0 --out s8:2^-7:40 --segments 3 --symmetry fold --form biased",
    "sin --in s8:2^-5:0 --out s8:2^-6:-90 --segments 5 --symmetry fold --form anchored --rounding half_even",
    /* Many segments, whose errors are mostly of rounding. */
    "gelu --in s11:2^-8 --out s8:2^-5 --segments 40",
    "silu --in s11:2^-7 --out s12:2^-8 --segments 64 --slope-bits 6",
    /* Corners between the codes that are looked at. */
    "relu --in s32:2^-16 --out s32:2^-16",
    "leaky_relu --in s24:2^-12 --out s24:2^-12",
    /* Words wider than can be visited. */
    "sigmoid --in s18:2^-14 --out s12:2^-11 --segments 6",
};
enum { SPECS = sizeof specs / sizeof *specs };

static struct certificate certificate_of(const char *spec, const char *method)
{
    char flags[FLAGS_SIZE];
    struct fitted fitted;
    snprintf(flags, sizeof flags, "%s --method %s", spec, method);
    fit_well(flags, &fitted);
    const struct certificate certificate = fitted.table.certificate;
    ck_assert_str_eq(fitted.table.method, method);
    fitted_free(&fitted);
    if (certificate.has_lower_bound && certificate.optimal != 1) { /* written as it is, not rounded up */
        char digits[32];
        snprintf(digits, sizeof digits, "%.6g", certificate.lower_bound_lsb);
        ck_assert_msg(strtod(digits, NULL) == certificate.lower_bound_lsb, "%s: lower bound %.17g, written %s", spec,
                      certificate.lower_bound_lsb, digits);
    }
    return certificate;
}

/* Where its own search leaves a tenth of the error open or more. */
START_TEST(lsq_has_no_larger_rms_than_other_methods)
{
    static const char *const others[] = {"minimax", "uniform"};
    const struct certificate lsq = certificate_of(specs[_i], "lsq");
    ck_assert_int_eq(lsq.objective, OBJECTIVE_RMS);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct certificate other = certificate_of(specs[_i], others[i]);
        ck_assert_msg(lsq.rms_err_lsb <= other.rms_err_lsb ||
                          (lsq.has_lower_bound && lsq.lower_bound_lsb >= 0.9 * lsq.rms_err_lsb),
                      "%s: RMS %.9g, by %s %.9g", specs[_i], lsq.rms_err_lsb, others[i], other.rms_err_lsb);
    }
}
END_TEST

/* More segments than straight parts of f are of no use. */
START_TEST(straight_parts_take_one_segment)
{
    static const struct {
        const char *flags;
        int segments;
        double error;
    } cases[] = {
        {"--expr x --in s16:2^-8 --out s16:2^-8", 1, 0},
        {"--expr x/2+1 --in s16:2^-8 --out s16:2^-8", 1, 0.5},
        {"--expr x --in s24:2^-12 --out s24:2^-12", 1, 0},
        {"relu --in s16:2^-8 --out s16:2^-8", 2, 0},
        {"relu --in s16:2^-8 --out s16:2^-8 --form anchored", 2, 0},
        {"relu --in s16:2^-8 --out s16:2^-8 --form biased --rounding half_even", 2, 0},
        {"relu6 --in s16:2^-8 --out s16:2^-8 --shift one", 3, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fitted fitted;
        fit_well(cases[i].flags, &fitted);
        ck_assert_msg(fitted.table.segment_count == cases[i].segments, "%s: %d segments, not %d", cases[i].flags,
                      fitted.table.segment_count, cases[i].segments);
        ck_assert_msg(fitted.table.certificate.max_err_lsb == cases[i].error, "%s: off by %.9g", cases[i].flags,
                      fitted.table.certificate.max_err_lsb);
        fitted_free(&fitted);
    }
}
END_TEST

/* --max-err alone tells a number of segments, which --segments with the same error accepts; one less is refused. */
START_TEST(the_number_found_is_accepted)
{
    static const char *const bounded[] = {
        "gelu --in s10:2^-6 --out s12:2^-8 --max-err 1 --method lsq",
        "sigmoid --in s10:2^-6 --out s12:2^-11 --max-err 1 --knots pow2",
        "tanh --in s10:2^-7 --out s10:2^-9 --max-err 0.8 --knots pow2 --method minimax",
        "sigmoid --in s10:2^-6 --out s10:2^-9 --max-err 1 --method lsq --symmetry fold",
    };
    for (size_t i = 0; i < sizeof bounded / sizeof *bounded; i++) {
        struct fitted fewest, again;
        char flags[FLAGS_SIZE];
        fit_well(bounded[i], &fewest);
        snprintf(flags, sizeof flags, "%s --segments %d", bounded[i], fewest.table.segment_count);
        fit_well(flags, &again);
        ck_assert_msg(again.table.certificate.max_err_lsb <= again.spec.max_err, "%s: off by %.9g", flags,
                      again.table.certificate.max_err_lsb);
        ck_assert_int_le(again.table.segment_count, fewest.table.segment_count);
        fitted_free(&again);
        ck_assert_int_eq(fewest.table.certificate.optimal, 1);
        snprintf(flags, sizeof flags, "%s --segments %d", bounded[i], fewest.table.segment_count - 1);
        refuse(flags, EXIT_REQUIREMENT, "--max-err ");
        fitted_free(&fewest);
    }
}
END_TEST

/* Segments that are tied, of which nothing is proven: each with what fewer segments, a further constraint or another
 * method allows, which found a better table. */
static const struct {
    const char *spec, *method, *flags, *other_method, *other_flags;
} tied[] = {
    {"erf --in s13:2^-9 --out s12:2^-11 --monotone --continuous 0 --slope-bits 8", "minimax", "--segments 4", "minimax",
     "--segments 3"},
    {"sin --in s13:2^-10 --out s8:2^-7 --monotone --segments 4", "minimax", "", "minimax", "--shift one"},
    {"atan --in s11:2^-8 --out s12:2^-10 --continuous 1 --segments 6", "minimax", "", "minimax", "--monotone"},
    {"softplus --in s11:2^-8 --out s8:2^-4 --form biased --monotone --segments 16", "lsq", "", "minimax", ""},
};
enum { TIED = sizeof tied / sizeof *tied };

START_TEST(tied_segments_are_no_worse_than_those_of_less)
{
    char flags[FLAGS_SIZE];
    snprintf(flags, sizeof flags, "%s %s", tied[_i].spec, tied[_i].flags);
    const struct certificate found = certificate_of(flags, tied[_i].method);
    snprintf(flags, sizeof flags, "%s %s", tied[_i].spec, tied[_i].other_flags);
    const struct certificate other = certificate_of(flags, tied[_i].other_method);
    const bool by_max = found.objective == OBJECTIVE_MAX;
    const double error = by_max ? found.max_err_lsb : found.rms_err_lsb;
    const double other_error = by_max ? other.max_err_lsb : other.rms_err_lsb;
    ck_assert_int_ne(found.optimal, 1);
    ck_assert_msg(error <= other_error, "%s %s: %s %.9g, by %s %s %.9g", tied[_i].spec, tied[_i].flags, tied[_i].method,
                  error, tied[_i].other_method, tied[_i].other_flags, other_error);
}
END_TEST

START_TEST(bounds_are_rounded_away_from_what_they_bound)
{
    static const struct {
        double value, down, up;
    } rounded[] = {
        {21.07617, 21.0761, 21.0762},    {0.3331234567, 0.333123, 0.333124},   {99999.96, 99999.9, 100000},
        {1234567, 1.23456e6, 1.23457e6}, {1e-9 / 3, 3.33333e-10, 3.33334e-10}, {0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++) {
        ck_assert_double_eq(number_rounded_down(rounded[i].value), rounded[i].down);
        ck_assert_double_eq(number_rounded_up(rounded[i].value), rounded[i].up);
    }
}
END_TEST

/* A limit that was copied from a certificate, whose sixth digit was rounded down. */
START_TEST(an_error_keeps_to_itself_as_it_is_written)
{
    static const char *const written[] = {
        "gelu --in s8:2^-5 --out s8:2^-7 --segments 7 --method minimax",
        "sigmoid --in s8:2^-5 --out s8:2^-7 --segments 9 --method minimax",
    };
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        char flags[FLAGS_SIZE];
        struct fitted fitted;
        fit_well(written[i], &fitted);
        const double error = fitted.table.certificate.max_err_lsb;
        snprintf(flags, sizeof flags, "%s --max-err %.6g", written[i], error);
        fitted_free(&fitted);
        fit_well(flags, &fitted);
        ck_assert_msg(fitted.spec.max_err < error && number_written_within(error, fitted.spec.max_err),
                      "%s: off by %.9g", flags, error);
        fitted_free(&fitted);
        snprintf(flags, sizeof flags, "%s --max-err %.6g", written[i], error * (1 - 15e-6));
        refuse(flags, EXIT_REQUIREMENT, "--max-err ");
    }
}
END_TEST

/* The table itself keeps to the error, but not all that is proven of it. */
START_TEST(a_bound_that_fails_is_named)
{
    refuse("hard_sigmoid --in s32:2^-28:0 --out s32:2^-30 --segments 4 --method minimax --max-err 0.667",
           EXIT_REQUIREMENT, "it is proven only that it is off by at most");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("best_known");
    TCase *best_known = tcase_create("best_known");
    tcase_add_loop_test(best_known, lsq_has_no_larger_rms_than_other_methods, 0, SPECS);
    tcase_add_loop_test(best_known, tied_segments_are_no_worse_than_those_of_less, 0, TIED);
    tcase_add_test(best_known, bounds_are_rounded_away_from_what_they_bound);
    tcase_add_test(best_known, straight_parts_take_one_segment);
    tcase_add_test(best_known, the_number_found_is_accepted);
    tcase_add_test(best_known, a_bound_that_fails_is_named);
    tcase_add_test(best_known, an_error_keeps_to_itself_as_it_is_written);
    suite_add_tcase(suite, best_known);
    return run_suite(suite);
}
