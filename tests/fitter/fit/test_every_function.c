/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every function in a plausible s8, s16 and s32 format, and every method with every form and rounding. */
#include "../reference/fixture.h"

/* x in [-2^x_log2, 2^x_log2), y in [-2^y_log2, 2^y_log2). */
static const struct {
    const char *function, *more;
    int x_log2, y_log2;
} ranges[] = {
    {"sigmoid", "", 3, 0},
    {"tanh", "", 2, 0},
    {"gelu", "", 3, 3},
    {"gelu_tanh", "", 3, 3},
    {"quick_gelu", "", 3, 3},
    {"silu", "", 3, 3},
    {"softplus", "", 3, 3},
    {"mish", "", 3, 3},
    {"elu", "", 2, 2},
    {"elu", "--param alpha=0.3", 2, 2},
    {"selu", "", 2, 2},
    {"exp", "", 2, 6},
    {"erf", "", 2, 0},
    {"log", "--outside clamp", 3, 2},
    {"sqrt", "--outside clamp", 3, 2},
    {"rsqrt", "--outside clamp", 3, 2},
    {"reciprocal", "--outside clamp", 3, 3},
    {"sin", "", 2, 1},
    {"cos", "", 2, 1},
    {"atan", "", 3, 1},
    {"softsign", "", 3, 0},
    {"logsigmoid", "", 3, 3},
    {"hard_sigmoid", "", 3, 1},
    {"hard_swish", "", 3, 3},
    {"relu", "", 3, 3},
    {"relu6", "", 3, 3},
    {"leaky_relu", "", 3, 3},
    {"leaky_relu", "--param alpha=-0.25", 3, 3},
};
enum { RANGES = sizeof ranges / sizeof *ranges };

static void flags_for(int k, int bits, const char *more, char flags[FLAGS_SIZE])
{
    snprintf(flags, FLAGS_SIZE, "%s %s --in s%d:2^%d --out s%d:2^%d %s", ranges[k].function, ranges[k].more, bits,
             ranges[k].x_log2 - (bits - 1), bits, ranges[k].y_log2 - (bits - 1), more);
}

/* The table gives the codes that its definition gives, and the certificate's statistics are those of a plain loop. */
static void assert_certified(const char *flags, const struct fitted *fitted)
{
    const struct certificate *certificate = &fitted->table.certificate;
    const struct plain_stats plain = measure_plainly(&fitted->spec, &fitted->table);
    struct reference_table reference;
    reference_table_init(&reference, &fitted->table);
    for (int64_t q = fitted->table.in.qmin; q <= fitted->table.in.qmax; q++) {
        const struct ref_result expected = ref_eval(&reference.table, q);
        const int64_t q_y = pwl_eval(&fitted->packed.table, q);
        ck_assert_msg(expected.leaves == REF_FITS, "%s: code %" PRId64 " leaves the accumulator", flags, q);
        ck_assert_msg(q_y == expected.q_y, "%s: code %" PRId64 " gives %" PRId64 ", must be %" PRId64, flags, q, q_y,
                      expected.q_y);
    }
    free(reference.memory);
    ck_assert_msg(certificate->exhaustive && certificate->checked == plain.codes, "%s: not every code", flags);
    ck_assert_msg(fabs(certificate->max_err_lsb - plain.max) <= 5e-7 * plain.max + 1e-9, "%s: max %.9g, measured %.9g",
                  flags, certificate->max_err_lsb, plain.max);
    ck_assert_msg(fabs(certificate->rms_err_lsb - plain.rms) <= 5e-7 * plain.rms + 1e-9, "%s: RMS %.9g, measured %.9g",
                  flags, certificate->rms_err_lsb, plain.rms);
    ck_assert_msg(certificate->saturated_codes == plain.saturated, "%s: %" PRId64 " saturated codes, measured %" PRId64,
                  flags, certificate->saturated_codes, plain.saturated);
}

static int64_t certified_codes(int bits)
{
    return (int64_t)1 << bits;
}

START_TEST(every_function_fits_s8)
{
    char flags[FLAGS_SIZE];
    struct fitted fitted;
    flags_for(_i, 8, "", flags);
    fit_well(flags, &fitted);
    assert_certified(flags, &fitted);
    ck_assert_int_eq(fitted.table.certificate.checked, certified_codes(8));
    ck_assert_int_eq(fitted.table.storage, PWL_INT8);
    fitted_free(&fitted);
}
END_TEST

START_TEST(every_function_fits_s16)
{
    char flags[FLAGS_SIZE];
    struct fitted fitted;
    flags_for(_i, 16, "", flags);
    fit_well(flags, &fitted);
    assert_certified(flags, &fitted);
    ck_assert_int_eq(fitted.table.certificate.checked, certified_codes(16));
    ck_assert_int_eq(fitted.table.storage, PWL_INT16);
    fitted_free(&fitted);
}
END_TEST

/* 2^32 codes are not all compared; the certificate says so, and no code of a sample of the test's own is off by more
 * than it says. It visits the codes around each extreme of f - line, so another code can differ by the rounding of
 * the line alone, at most 1 LSB there and 1 LSB here. */
START_TEST(every_function_fits_s32)
{
    enum { SAMPLES = 100003 };
    char flags[FLAGS_SIZE];
    struct fitted fitted;
    flags_for(_i, 32, "", flags);
    fit_well(flags, &fitted);
    const struct table *table = &fitted.table;
    ck_assert_int_eq(table->storage, PWL_INT32);
    ck_assert(!table->certificate.exhaustive);

    const struct reference_map map = map_of(&fitted.spec);
    struct reference_table reference;
    reference_table_init(&reference, table);
    double max = 0;
    for (int64_t k = 0; k <= SAMPLES; k++) {
        const int64_t q = map.qmin_x + (map.qmax_x - map.qmin_x) / SAMPLES * k;
        const struct ref_result expected = ref_eval(&reference.table, q);
        ck_assert(expected.leaves == REF_FITS && pwl_eval(&fitted.packed.table, q) == expected.q_y);
        const long double t = reference_clip(&map, reference_target(&map, q));
        max = fmax(max, (double)fabsl((long double)expected.q_y - t));
    }
    free(reference.memory);
    ck_assert_msg(max <= table->certificate.max_err_lsb + 2, "%s: off by %.9g LSB, certified %.9g", flags, max,
                  table->certificate.max_err_lsb);
    fitted_free(&fitted);
}
END_TEST

START_TEST(every_function_of_the_fitter_is_here)
{
    for (const struct function_info *info = function_table; info->name; info++) {
        bool found = false;
        for (int k = 0; k < RANGES; k++)
            found |= !strcmp(ranges[k].function, info->name);
        ck_assert_msg(found, "%s is not tested", info->name);
        ck_assert_msg(reference_find(info->name) != NULL, "%s has no reference", info->name);
    }
}
END_TEST

static const char *const forms[] = {"absolute", "biased", "anchored"};
static const char *const roundings[] = {"floor", "half_up", "half_away", "half_even"};
static const char *const types[][2] = {{"s6:2^-3:0", "s8:2^-5:0"},
                                       {"u8:0.041:97", "u8:0.0173:13"},
                                       {"s12:2^-9:-700", "s16:2^-12:5000"},
                                       {"u11:0.00391:1024", "s18:0.0000312:-90000"}};
enum { FORMS = 3, ROUNDINGS = 4, TYPES = 4 };

/* _i counts forms and roundings */
static void fit_form(const char *method, const char *types_in, const char *types_out, int i, struct fitted *fitted)
{
    char flags[FLAGS_SIZE];
    snprintf(flags, sizeof flags, "gelu --in %s --out %s --method %s --form %s --rounding %s", types_in, types_out,
             method, forms[i % FORMS], roundings[i / FORMS]);
    fit_well(flags, fitted);
    assert_certified(flags, fitted);
    ck_assert_str_eq(form_name(fitted->table.form), forms[i % FORMS]);
    ck_assert_str_eq(rounding_name(fitted->table.rounding), roundings[i / FORMS]);
    ck_assert_str_eq(fitted->table.method, method);
}

START_TEST(methods_take_every_form_and_rounding)
{
    for (int t = 0; t < TYPES; t++) {
        struct fitted lsq, uniform, lut;
        fit_form("lsq", types[t][0], types[t][1], _i, &lsq);
        fit_form("uniform", types[t][0], types[t][1], _i, &uniform);
        fit_form("lut", types[t][0], types[t][1], _i, &lut);
        const double rms = lsq.table.certificate.rms_err_lsb;
        ck_assert_msg(rms <= uniform.table.certificate.rms_err_lsb, "%s: worse than equal widths", lsq.table.spec);
        ck_assert_msg(rms >= lut.table.certificate.rms_err_lsb, "%s: better than the nearest codes", lsq.table.spec);
        ck_assert_msg(lut.table.certificate.correctly_rounded == 1, "%s: not the nearest codes", lut.table.spec);
        fitted_free(&lsq);
        fitted_free(&uniform);
        fitted_free(&lut);
    }
}
END_TEST

START_TEST(document_takes_its_own_form_and_rounding)
{
    struct fitted fitted;
    char flags[FLAGS_SIZE];
    if (_i == 0) {
        fit_form("document", "s12:2^-9:-700", "s16:2^-12:5000", _i, &fitted);
        fitted_free(&fitted);
        return;
    }
    snprintf(flags, sizeof flags,
             "gelu --in s12:2^-9:-700 --out s16:2^-12:5000 --method document --form %s --rounding %s",
             forms[_i % FORMS], roundings[_i / FORMS]);
    refuse(flags, EXIT_USAGE, "--method document");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("every_function");
    TCase *functions = tcase_create("functions");
    tcase_add_test(functions, every_function_of_the_fitter_is_here);
    tcase_add_loop_test(functions, every_function_fits_s8, 0, RANGES);
    const int step = quick_step(6);
    for (int k = 0; k < RANGES; k += step)
        tcase_add_loop_test(functions, every_function_fits_s16, k, k + 1);
    for (int k = step / 2; k < RANGES; k += step) /* others */
        tcase_add_loop_test(functions, every_function_fits_s32, k, k + 1);
    suite_add_tcase(suite, functions);
    TCase *forms_case = tcase_create("forms");
    tcase_add_loop_test(forms_case, methods_take_every_form_and_rounding, 0, FORMS * ROUNDINGS);
    tcase_add_loop_test(forms_case, document_takes_its_own_form_and_rounding, 0, FORMS * ROUNDINGS);
    suite_add_tcase(suite, forms_case);
    return run_suite(suite);
}
