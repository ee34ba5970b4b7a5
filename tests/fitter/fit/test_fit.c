/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What fit promises: the reference tables, error limits in both directions, saturation, and the same bytes again. */
#include "../reference/fixture.h"

static const char *const documents_sigmoid = "sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1 --segments 16";

/* Within this of the recomputed statistics: what is left of the file's six digits. */
static void assert_same_error(const char *what, double certified, double plain)
{
    ck_assert_msg(fabs(certified - plain) <= 5e-7 * plain + 1e-9, "%s: certified %.9g, measured %.9g", what, certified,
                  plain);
}

static void assert_certified(const struct fitted *fitted)
{
    const struct plain_stats plain = measure_plainly(&fitted->spec, &fitted->table);
    const struct certificate *certificate = &fitted->table.certificate;
    ck_assert(certificate->exhaustive);
    ck_assert_int_eq(certificate->checked, plain.codes);
    assert_same_error("maximum", certificate->max_err_lsb, plain.max);
    assert_same_error("RMS", certificate->rms_err_lsb, plain.rms);
    assert_same_error("mean", certificate->mean_abs_err_lsb, plain.mean_abs);
    ck_assert_int_eq(certificate->saturated_codes, plain.saturated);
}

START_TEST(documents_sigmoid_has_rms_of_42_at_most)
{
    struct fitted fitted;
    char flags[FLAGS_SIZE];
    snprintf(flags, sizeof flags, "%s --method lsq", documents_sigmoid);
    fit_well(flags, &fitted);
    assert_certified(&fitted);
    ck_assert_int_eq(fitted.table.segment_count, 16);
    printf("# RMS %.4f LSB\n", fitted.table.certificate.rms_err_lsb);
    ck_assert(fitted.table.certificate.rms_err_lsb <= 42);
    const int64_t q_y = pwl_eval(&fitted.packed.table, 24986);
    ck_assert_msg(llabs(q_y - 34405) <= 150, "code 24986 gives %" PRId64, q_y);
    fitted_free(&fitted);
}
END_TEST

/* |q| in 16 bits, all shifts those of one global shift_bits_b and shift_bits_c, and term_c what q_c says. */
START_TEST(document_method_is_the_documents)
{
    static const char *const flags[] = {
        "sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1 --segments 16 --method document",
        "tanh --in s16:2^-13:0 --out s16:2^-15:0 --method document",
        "gelu --in s16:2^-12:1000 --out s16:2^-12:-300 --method document",
        "silu --in s8:2^-4:0 --out s8:2^-4:0 --method document",
    };
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        struct fitted fitted;
        fit_well(flags[k], &fitted);
        assert_certified(&fitted);
        ck_assert(fitted.table.has_unfused);
        ck_assert_int_eq(fitted.table.segment_count, 16);
        for (int i = 0; i < 16; i++) {
            const struct segment *segment = &fitted.table.segments[i], *first = &fitted.table.segments[0];
            const struct unfused *unfused = &segment->unfused;
            ck_assert(llabs(segment->q_b) <= 32767 && llabs(unfused->q_c) <= 32767);
            ck_assert_int_eq(segment->n, unfused->n_bx + unfused->n_yb);
            ck_assert_int_eq(segment->n, first->n);
            ck_assert_int_eq(unfused->n_yc, first->unfused.n_yc);
            ck_assert(segment->offset == (unfused->n_yc > 0
                                              ? (int64_t)ref_divide(unfused->q_c, unfused->n_yc, REF_FLOOR)
                                              : unfused->q_c * ((int64_t)1 << -unfused->n_yc)));
        }
        fitted_free(&fitted);
    }
}
END_TEST

/* The joint choice of slope and constant on integers, and of knots, is what the default adds to the documents' way. */
START_TEST(lsq_beats_document_and_uniform)
{
    static const char *const methods[] = {"lsq", "uniform", "document"};
    double rms[3];
    for (int m = 0; m < 3; m++) {
        struct fitted fitted;
        char flags[FLAGS_SIZE];
        snprintf(flags, sizeof flags, "%s --method %s", documents_sigmoid, methods[m]);
        fit_well(flags, &fitted);
        rms[m] = fitted.table.certificate.rms_err_lsb;
        printf("# %-8s RMS %.4f LSB\n", methods[m], rms[m]);
        fitted_free(&fitted);
    }
    ck_assert(rms[0] < rms[1]);
    ck_assert(rms[0] < rms[2]);
    ck_assert(rms[2] < 130.1); /* the documents' own fitter, on the same codes */
}
END_TEST

START_TEST(eight_bit_tables_reach_the_known_optimum)
{
    static const struct {
        const char *flags;
        double mse, correct;
    } known[] = {
        {"sigmoid --in s8:2^-4:0 --out s8:2^-8:-128", 0.0705, 0},
        {"tanh --in s8:2^-4:0 --out s8:2^-7:0", 0.0362, 0},
        {"gelu --in s8:2^-5:0 --out s8:2^-5:0", 0.067517, 1},
        {"gelu --in s8:2^-4:0 --out s8:2^-4:0", 0.033719, 1},
        {"silu --in s8:2^-4:0 --out s8:2^-4:0", 0.076709, 1},
        {"hard_swish --in s8:2^-4:0 --out s8:2^-4:0", 0.029100, 1},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        struct fitted fitted;
        fit_well(known[k].flags, &fitted);
        const struct plain_stats plain = measure_plainly(&fitted.spec, &fitted.table);
        const double mse = plain.rms * plain.rms;
        printf("# %-44s MSE %.6f LSB^2, known %.6f\n", known[k].flags, mse, known[k].mse);
        /* Half a unit of the last digit known. */
        ck_assert_msg(mse <= known[k].mse + (known[k].correct == 1 ? 5e-7 : 5e-5), "%s: %.7g", known[k].flags, mse);
        ck_assert(plain.correct >= known[k].correct);
        fitted_free(&fitted);
    }
}
END_TEST

/* The best knots of real lines are others. */
START_TEST(knots_are_those_of_integer_lines)
{
    static const struct {
        const char *flags;
        double rms;
    } known[] = {
        {"sigmoid --in s16:2^-12:0 --out u8:2^-8:0", 0.3084},             /* on the knots of real lines 0.3218 */
        {"gelu --in s16:2^-12:0 --out s8:2^-4:0", 0.2449},                /* 0.2514 */
        {"sin --in s24:2^-21:0 --out s16:2^-15:0 --slope-bits 6", 130.5}, /* 133.7 */
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        struct fitted fitted;
        fit_well(known[k].flags, &fitted);
        const double rms = fitted.table.certificate.rms_err_lsb;
        ck_assert_msg(rms <= known[k].rms, "%s: RMS %.7g LSB", known[k].flags, rms);
        fitted_free(&fitted);
    }
}
END_TEST

START_TEST(max_err_is_met_with_few_segments)
{
    static const struct {
        const char *flags;
        double max_err;
        int most;
    } known[] = {
        /* Fewest of any integer table, as published with the 256-entry interpolation of the same error. */
        {"sigmoid --in s16:2^-12:0 --out s16:2^-15:0", 1.016, 142},
        {"tanh --in s16:2^-12:0 --out s16:2^-15:0", 1.476, 148},
        {"sigmoid --in s16:2^-12:0 --out s16:2^-15:0 --method lsq", 1.016, 142},
        {"tanh --in s16:2^-12:0 --out s16:2^-15:0 --method lsq", 1.476, 148},
        /* Fewest real lines within 1 LSB before rounding; rounding to nearest adds half an LSB. */
        {"gelu --in s16:2^-12:0 --out s16:2^-12:0 --rounding half_up", 1.5, 47},
        {"sigmoid --in s8:2^-4:0 --out s8:2^-8:-128", 0.75, 16},
        {"exp --in u12:2^-9:4095 --out u16:2^-16:0 --form biased", 2.25, 4096},
        {"sin --in s11:2^-8:0 --out s16:2^-14:0 --form anchored", 3, 4096},
        {"atan --in s16:2^-12:0 --out s16:2^-14:0 --method uniform", 20, 4096},
        {"silu --in s16:2^-12:0 --out s16:2^-12:0 --method document", 40, 4096},
        {"gelu --in s8:0.0472:-3 --out s8:0.0238:-121", 1, 16},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        struct fitted fitted;
        char flags[FLAGS_SIZE];
        snprintf(flags, sizeof flags, "%s --max-err %g", known[k].flags, known[k].max_err);
        fit_well(flags, &fitted);
        assert_certified(&fitted);
        const double max = measure_plainly(&fitted.spec, &fitted.table).max;
        printf("# %-72s %4d segments, max %.4f LSB\n", flags, fitted.table.segment_count, max);
        ck_assert_msg(max <= known[k].max_err, "%s: off by %.9g LSB", flags, max);
        ck_assert_msg(fitted.table.segment_count <= known[k].most, "%s: %d segments, at most %d are needed", flags,
                      fitted.table.segment_count, known[k].most);
        fitted_free(&fitted);
    }
}
END_TEST

START_TEST(a_larger_max_err_needs_no_more_segments)
{
    int last = PWL_MAX_SEGMENTS;
    for (double max_err = 0.75; max_err < 400; max_err *= 2) {
        struct fitted fitted;
        char flags[FLAGS_SIZE];
        snprintf(flags, sizeof flags, "silu --in s14:2^-10:0 --out s16:2^-11:0 --max-err %g", max_err);
        fit_well(flags, &fitted);
        const double max = measure_plainly(&fitted.spec, &fitted.table).max;
        ck_assert_msg(max <= max_err, "%s: off by %.9g LSB", flags, max);
        ck_assert_msg(fitted.table.segment_count <= last, "%s: %d segments, %d do for half the error", flags,
                      fitted.table.segment_count, last);
        last = fitted.table.segment_count;
        fitted_free(&fitted);
    }
    ck_assert_int_le(last, 4);
}
END_TEST

START_TEST(more_segments_are_no_worse)
{
    static const int counts[] = {1, 2, 3, 5, 8, 13, 21, 34, 55, 128, 511, 4096};
    double last = INFINITY;
    for (size_t k = (size_t)quick_step(2) - 1; k < sizeof counts / sizeof *counts; k += (size_t)quick_step(2)) {
        struct fitted fitted;
        char flags[FLAGS_SIZE];
        snprintf(flags, sizeof flags, "tanh --in s13:2^-10:0 --out s16:2^-14:0 --segments %d", counts[k]);
        fit_well(flags, &fitted);
        ck_assert_int_le(fitted.table.segment_count, counts[k]); /* those that rounding makes alike are one */
        const double rms = measure_plainly(&fitted.spec, &fitted.table).rms;
        ck_assert_msg(rms <= last, "%s: RMS %.6g, with fewer segments %.6g", flags, rms, last);
        last = rms;
        fitted_free(&fitted);
    }
    /* The rounding error of a 16-bit output is 1 / sqrt(12) = 0.289 LSB. */
    ck_assert(last < 0.3);
}
END_TEST

START_TEST(a_table_has_no_more_segments_than_codes)
{
    struct fitted fitted;
    fit_well("sigmoid --in s3:2^-1:0 --out s8:2^-7:0 --segments 4096", &fitted);
    ck_assert_int_le(fitted.table.segment_count, 8);
    assert_certified(&fitted);
    fitted_free(&fitted);
}
END_TEST

START_TEST(segments_with_max_err_is_a_gate)
{
    struct fitted fitted;
    /* Both can hold, though not with the table of least RMS, which is off by 77. */
    fit_well("sigmoid --in s16:2^-12:0 --out s16:2^-15:0 --segments 16 --max-err 43", &fitted);
    ck_assert_int_eq(fitted.table.segment_count, 16);
    ck_assert(measure_plainly(&fitted.spec, &fitted.table).max <= 43);
    fitted_free(&fitted);
    refuse("sigmoid --in s16:2^-12:0 --out s16:2^-15:0 --segments 16 --max-err 5", EXIT_REQUIREMENT, "--max-err 5");
    refuse("sigmoid --in s16:2^-12:0 --out s16:2^-15:0 --max-err 0.4", EXIT_REQUIREMENT, "--max-err 0.4");
    refuse("sigmoid --in s8:2^-4:0 --out s8:2^-8:-128 --method lut --max-err 0.4", EXIT_REQUIREMENT, "--max-err 0.4");
}
END_TEST

START_TEST(saturated_codes_are_counted_and_can_be_refused)
{
    struct fitted fitted;
    /* 2^8 sigmoid(x) - 128 > 127 for x > log(255) = 5.54: codes 89 to 127. */
    fit_well("sigmoid --in s8:2^-4:0 --out s8:2^-8:-128", &fitted);
    ck_assert_int_eq(fitted.table.certificate.saturated_codes, 39);
    fitted_free(&fitted);
    /* sqrt(x) < 4 throughout, and 4 is code 32768. At 2^-14 the last code alone gives 65535.5. */
    fit_well("sqrt --in u16:2^-12:0 --out u16:2^-13:0 --no-saturate --segments 4", &fitted);
    ck_assert_int_eq(fitted.table.certificate.saturated_codes, 0);
    fitted_free(&fitted);
    refuse("sqrt --in u16:2^-12:0 --out u16:2^-14:0 --no-saturate", EXIT_REQUIREMENT, "1 of 65536 codes");
    refuse("sigmoid --in s8:2^-4:0 --out s8:2^-8:-128 --no-saturate", EXIT_REQUIREMENT, "--no-saturate");
    refuse("sigmoid --in s8:2^-4:0 --out s8:2^-8:1000", EXIT_USAGE, "--out");
}
END_TEST

START_TEST(the_same_spec_gives_the_same_bytes)
{
    static const char *const flags[] = {
        "sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1",
        "gelu --in s8:0.0472:-3 --out s8:0.0238:-121",
        "gelu --in s16:2^-12:0 --out s16:2^-12:0 --method document",
        "tanh --in s16:2^-12:0 --out s16:2^-15:0 --max-err 4 --form biased",
        "exp --in s20:2^-17:0 --out u24:2^-20:0 --segments 8 --method uniform",
        "elu --param alpha=0.25 --in s9:2^-6:0 --out s12:2^-9:0 --form anchored --rounding half_even",
        "mish --in s8:2^-4:0 --out s8:2^-4:0 --method lut",
    };
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        struct fitted first, second;
        fit_well(flags[k], &first);
        fit_well(flags[k], &second);
        char *text = json_of(&first.table), *again = json_of(&second.table);
        ck_assert_str_eq(text, again);
        free(text);
        free(again);
        fitted_free(&first);
        fitted_free(&second);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fit");
    TCase *tcase = tcase_create("fit");
    tcase_add_test(tcase, documents_sigmoid_has_rms_of_42_at_most);
    tcase_add_test(tcase, document_method_is_the_documents);
    tcase_add_test(tcase, lsq_beats_document_and_uniform);
    tcase_add_test(tcase, eight_bit_tables_reach_the_known_optimum);
    tcase_add_test(tcase, knots_are_those_of_integer_lines);
    tcase_add_test(tcase, max_err_is_met_with_few_segments);
    tcase_add_test(tcase, a_larger_max_err_needs_no_more_segments);
    tcase_add_test(tcase, more_segments_are_no_worse);
    tcase_add_test(tcase, a_table_has_no_more_segments_than_codes);
    tcase_add_test(tcase, segments_with_max_err_is_a_gate);
    tcase_add_test(tcase, saturated_codes_are_counted_and_can_be_refused);
    tcase_add_test(tcase, the_same_spec_gives_the_same_bytes);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
