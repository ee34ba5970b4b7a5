/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random fits: each table is proven, gives the codes of its definition, survives its JSON, and is off by exactly what
 * its certificate says. */
#include "../reference/every_table.h"
#include "../reference/fixture.h"
#include "../reference/draw.h"
#include "../reference/random_spec.h"

enum {
    ALL_SPECS = 2500,
    STORAGES = 3,
    FORMS = 3,
    ROUNDINGS = 4,
    SAMPLES = 20000,
    MEASURED_BITS = 12,
    EVERY_CODE_BITS = 16
};

struct tally {
    int tables, refused, unusable;
    int kinds[STORAGES][FORMS][ROUNDINGS], functions[REFERENCE_FUNCTIONS], methods[METHOD_COUNT];
    int zero_outside_x, zero_outside_y, arbitrary_scales, with_saturation, max_errs, wide;
};

static struct tally tally;

/* The first of them: every third would miss storages. */
static int specs(void)
{
    return ALL_SPECS / quick_step(3);
}

static bool outside(const struct tensor *tensor)
{
    return tensor->zero_point < tensor->qmin || tensor->zero_point > tensor->qmax;
}

static void count_table(const struct fitted *fitted)
{
    const struct table *table = &fitted->table;
    tally.tables++;
    tally.kinds[table->storage][table->form][table->rounding]++;
    tally.functions[reference_find(table->function) - reference_functions]++;
    tally.methods[fitted->spec.method]++;
    tally.zero_outside_x += outside(&table->in);
    tally.zero_outside_y += outside(&table->out);
    tally.arbitrary_scales += !table->in.scale.power_of_two || !table->out.scale.power_of_two;
    tally.with_saturation += table->certificate.saturated_codes > 0;
    tally.max_errs += !isnan(fitted->spec.max_err);
    tally.wide += table->in.bits > EVERY_CODE_BITS;
}

/* pwl_eval against the definition in 128-bit integers; returns the widest intermediate value. */
static int assert_code(const char *flags, const struct fitted *fitted, const struct ref_table *reference, int64_t q)
{
    const struct ref_result expected = ref_eval(reference, q);
    const int64_t q_y = pwl_eval(&fitted->packed.table, q);
    if (expected.leaves != REF_FITS || q_y != expected.q_y) /* no assertion a code: they are slow */
        ck_abort_msg("%s: code %" PRId64 " gives %" PRId64 ", must be %" PRId64 "%s", flags, q, q_y, expected.q_y,
                     expected.leaves == REF_FITS ? "" : "; it leaves the accumulator");
    return expected.bits;
}

static void assert_codes(const char *flags, const struct fitted *fitted)
{
    const struct table *table = &fitted->table;
    struct reference_table reference;
    int bits = 1;
    reference_table_init(&reference, table);
    const uint64_t codes = (uint64_t)(table->in.qmax - table->in.qmin) + 1;
    if (table->in.bits <= EVERY_CODE_BITS) {
        for (int64_t q = table->in.qmin; q <= table->in.qmax; q++) {
            const int needed = assert_code(flags, fitted, &reference.table, q);
            bits = needed > bits ? needed : bits;
        }
        ck_assert_msg(bits == table->certificate.acc_bits, "%s: needs %d bits, certified %d", flags, bits,
                      table->certificate.acc_bits);
    } else {
        for (int k = 0; k < SAMPLES; k++)
            assert_code(flags, fitted, &reference.table, table->in.qmin + (int64_t)(draw_bits() % codes));
        for (int i = 0; i < table->segment_count; i++)
            for (int64_t q = table->segments[i].start - 2; q <= table->segments[i].start + 2; q++)
                assert_code(flags, fitted, &reference.table, q);
        assert_code(flags, fitted, &reference.table, table->in.qmax);
    }
    assert_code(flags, fitted, &reference.table, INT64_MIN / 4);
    assert_code(flags, fitted, &reference.table, INT64_MAX / 4);
    free(reference.memory);
}

static void assert_json(const char *flags, const struct table *table)
{
    struct table again;
    struct diag diag;
    char *text = json_of(table);
    const int status = table_from_json(text, strlen(text), &again, &diag);
    ck_assert_msg(status == EXIT_DONE, "%s: not read back: %s", flags, diag.text);
    char *text_again = json_of(&again);
    ck_assert_msg(!strcmp(text, text_again), "%s: written differently after reading", flags);
    free(text_again);
    free(text);
    table_free(&again);
}

/* The certificate has six digits; targets in long double, of the size of the output's codes and its zero point, are
 * good to a few units of their last place, 2^-63 of it. */
static double target_precision(const struct reference_map *map)
{
    return (fabs((double)map->zp_y) + 0x1p32) * 0x1p-60;
}

static bool same_error(double certified, double plain, double precision)
{
    return fabs(certified - plain) <= 1e-6 * plain + precision;
}

static void assert_certificate(const char *flags, const struct fitted *fitted)
{
    const struct certificate *certificate = &fitted->table.certificate;
    const struct reference_map map = map_of(&fitted->spec);
    const struct plain_stats plain = measure_plainly(&fitted->spec, &fitted->table);
    const double precision = target_precision(&map);
    /* At the ends of the range and at ties, another way to compute f may decide otherwise. */
    int64_t at_end = 0, at_tie = 0;
    for (int64_t q = map.qmin_x; q <= map.qmax_x; q++) {
        const long double t = reference_target(&map, q), near = precision;
        at_end += fabsl(t - (long double)map.qmin_y) < near || fabsl(t - (long double)map.qmax_y) < near;
        at_tie += fabsl(fabsl(t - rintl(t)) - 0.5L) < near;
    }
    ck_assert_msg(certificate->exhaustive && certificate->checked == plain.codes, "%s: not every code", flags);
    ck_assert_msg(same_error(certificate->max_err_lsb, plain.max, precision), "%s: max %.9g, measured %.9g", flags,
                  certificate->max_err_lsb, plain.max);
    ck_assert_msg(same_error(certificate->rms_err_lsb, plain.rms, precision), "%s: RMS %.9g, measured %.9g", flags,
                  certificate->rms_err_lsb, plain.rms);
    ck_assert_msg(same_error(certificate->mean_abs_err_lsb, plain.mean_abs, precision), "%s: mean %.9g, measured %.9g",
                  flags, certificate->mean_abs_err_lsb, plain.mean_abs);
    ck_assert_msg(llabs(certificate->saturated_codes - plain.saturated) <= at_end,
                  "%s: %" PRId64 " saturated codes, measured %" PRId64, flags, certificate->saturated_codes,
                  plain.saturated);
    ck_assert_msg(fabs(certificate->correctly_rounded - plain.correct) * (double)plain.codes <= (double)at_tie + 1e-6,
                  "%s: %.9g correctly rounded, measured %.9g", flags, certificate->correctly_rounded, plain.correct);
}

static void assert_asked_for(const char *flags, const struct fitted *fitted)
{
    const struct table *table = &fitted->table;
    const struct spec *spec = &fitted->spec;
    const int64_t codes = table->in.qmax - table->in.qmin + 1;
    ck_assert_msg(table->form == spec->form && table->rounding == spec->rounding, "%s: other form or rounding", flags);
    if (spec->method == METHOD_LUT) {
        ck_assert_msg(table->segment_count == codes, "%s: %d segments", flags, table->segment_count);
    } else if (isnan(spec->max_err)) {
        const int64_t wanted = spec->segments < codes ? spec->segments : codes;
        /* The least maximum, or the least sum of squares, may need fewer. */
        const bool least = spec->method == METHOD_MINIMAX || spec->method == METHOD_LSQ;
        ck_assert_msg(table->segment_count == wanted || (least && table->segment_count < wanted), "%s: %d segments",
                      flags, table->segment_count);
    } else {
        ck_assert_msg(measure_plainly(spec, table).max <= spec->max_err, "%s: misses its error limit", flags);
    }
    const int slope_bits = spec->slope_bits ? spec->slope_bits : storage_bits(table->storage);
    for (int i = 0; i < table->segment_count; i++)
        ck_assert_msg(llabs(table->segments[i].q_b) <= (int64_t)1 << (slope_bits - 1), "%s: slope %" PRId64, flags,
                      table->segments[i].q_b);
}

/* A refusal says which limit binds. */
static void assert_refusal(const char *flags, const struct diag *diag)
{
    static const char *const limits[] = {"needs more than its", "no common shift", "accumulator",
                                         "--max-err",           "no provable",     "zero_point: "};
    bool named = false;
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
        named |= strstr(diag->text, limits[k]) != NULL;
    ck_assert_msg(named, "%s: '%s' names no limit", flags, diag->text);
}

START_TEST(random_fits_keep_their_promises)
{
    draw_from(20240229);
    for (int k = 0; k < specs(); k++) {
        char flags[FLAGS_SIZE];
        struct fitted fitted;
        struct diag diag;
        random_flags(k, flags, sizeof flags);
        const int status = fit_flags(flags, &fitted, &diag);
        if (status == EXIT_REQUIREMENT) {
            assert_refusal(flags, &diag);
            tally.refused++;
            continue;
        }
        if (status == EXIT_USAGE) {
            ck_assert_msg(strstr(diag.text, "outside the output range at every input code") != NULL, "%s: %s", flags,
                          diag.text);
            tally.unusable++;
            continue;
        }
        ck_assert_msg(status == EXIT_DONE, "%s: exit %d: %s", flags, status, diag.text);
        assert_asked_for(flags, &fitted);
        assert_codes(flags, &fitted);
        assert_json(flags, &fitted.table);
        if (fitted.table.in.bits <= MEASURED_BITS)
            assert_certificate(flags, &fitted);
        count_table(&fitted);
        fitted_free(&fitted);
    }
    printf("# %d random specs: %d tables, %d refused (exit 3), %d saturated everywhere (exit 2)\n", specs(),
           tally.tables, tally.refused, tally.unusable);
    printf("# zero point of x outside its codes %d, of y %d; arbitrary scales %d; with saturated codes %d; "
           "by --max-err %d; inputs of 17 to 32 bits %d\n",
           tally.zero_outside_x, tally.zero_outside_y, tally.arbitrary_scales, tally.with_saturation, tally.max_errs,
           tally.wide);
    printf("# lsq %d, minimax %d, uniform %d, document %d, lut %d\n", tally.methods[METHOD_LSQ],
           tally.methods[METHOD_MINIMAX], tally.methods[METHOD_UNIFORM], tally.methods[METHOD_DOCUMENT],
           tally.methods[METHOD_LUT]);
    ck_assert_msg(tally.refused * 20 < specs(), "%d of %d are refused", tally.refused, specs());
    ck_assert_msg(tally.unusable * 100 < specs(), "%d of %d are saturated everywhere", tally.unusable, specs());
}
END_TEST

/* Nothing that was to be tried was missed. */
START_TEST(random_fits_covered_everything)
{
    for (int s = 0; s < STORAGES; s++)
        for (int f = 0; f < FORMS; f++)
            for (int r = 0; r < ROUNDINGS; r++)
                ck_assert_msg(tally.kinds[s][f][r] >= specs() / 50, "%s %s %s: %d tables", storage_name((pwl_storage)s),
                              form_name((pwl_form)f), rounding_name((pwl_rounding)r), tally.kinds[s][f][r]);
    for (int k = 0; k < REFERENCE_FUNCTIONS; k++)
        ck_assert_msg(tally.functions[k] >= specs() / 50, "%s: %d tables", reference_functions[k].name,
                      tally.functions[k]);
    for (int m = 0; m < METHOD_COUNT; m++) /* residual is of functions with a straight part: residual.sh draws it */
        ck_assert_msg(m == METHOD_RESIDUAL || tally.methods[m] >= specs() / 200, "%s: %d tables",
                      method_name((enum method)m), tally.methods[m]);
    ck_assert_int_ge(tally.zero_outside_x, specs() / 10);
    ck_assert_int_ge(tally.zero_outside_y, specs() / 10);
    ck_assert_int_ge(tally.arbitrary_scales, specs() / 5);
    ck_assert_int_ge(tally.with_saturation, specs() / 10);
    ck_assert_int_ge(tally.max_errs, specs() / 50);
    ck_assert_int_ge(tally.wide, specs() / 400);
}
END_TEST

static void assert_stored(const char *flags, const struct fitted *fitted)
{
    const struct every_spec every = {.shift_multiple = fitted->spec.constraints.shift_multiple,
                                     .stored_bits = fitted->spec.slope_bits};
    for (int i = 0; i < fitted->table.segment_count; i++) {
        const struct segment *segment = &fitted->table.segments[i];
        ck_assert_msg(every_is_stored(&every, segment->q_b, segment->n), "%s: slope %" PRId64 " * 2^-%d", flags,
                      segment->q_b, segment->n);
    }
}

/* --shift-multiple, of slopes of every width. */
START_TEST(random_slopes_are_stored_with_multiples)
{
    draw_from(20240301);
    int stored = 0;
    for (int k = 0; k < specs() / 4; k++) {
        char flags[FLAGS_SIZE];
        struct fitted fitted;
        struct diag diag;
        random_flags(k, flags, sizeof flags);
        const int bits = 3 + draw(30), multiple = 2 + draw(bits - 2);
        const size_t length = strlen(flags);
        snprintf(flags + length, sizeof flags - length, " --slope-bits %d --shift-multiple %d", bits, multiple);
        const int status = fit_flags(flags, &fitted, &diag);
        if (status == EXIT_REQUIREMENT)
            assert_refusal(flags, &diag);
        if (status != EXIT_DONE)
            continue;
        assert_asked_for(flags, &fitted);
        assert_codes(flags, &fitted);
        assert_stored(flags, &fitted);
        stored++;
        fitted_free(&fitted);
    }
    ck_assert_int_ge(stored, specs() / 6); /* lut and document store none */
}
END_TEST

static const struct {
    const char *flags;
    int segments; /* at most */
} multiples[] = {
    /* Of wide inputs, where lines are found by other means. */
    {"sigmoid --in s20:2^-16 --out s16:2^-15 --method minimax --segments 24 --slope-bits 16 --shift-multiple 8", 24},
    {"silu --in s18:2^-14 --out s16:2^-12 --segments 24 --slope-bits 16 --shift-multiple 8", 24},
    {"tanh --in s24:2^-20 --out s16:2^-15 --max-err 4 --form anchored --slope-bits 12 --shift-multiple 5", 90},
    {"gelu --in s18:2^-14 --out s16:2^-12 --max-err 2 --form biased --rounding half_even --slope-bits 9 "
     "--shift-multiple 8",
     50},
    {"sigmoid --in s20:2^-16 --out s16:2^-15 --max-err 9 --rounding half_up --slope-terms 2 --slope-bits 16 "
     "--shift-multiple 8",
     60},
    /* 127.75 is 511 * 2^-2, and with shifts of 0 and 1 there is no slope between 127 and 128. */
    {"--expr 127.75*x --in s18:2^0:0 --out s32:2^0:0 --max-err 1 --slope-bits 16 --shift-multiple 8", 1},
    /* -128 is -32768 * 2^-8, and 32767 * 2^-8 the steepest slope upwards. */
    {"--expr -128*x --in s18:2^0:0 --out s32:2^0:0 --max-err 100 --slope-bits 16 --shift-multiple 8", 1},
    {"--expr 128*x --in s18:2^0:0 --out s32:2^0:0 --max-err 100 --slope-bits 16 --shift-multiple 8", 6},
    /* Lines of the absolute form become biased ones by shorter slopes. */
    {"tanh --in s9:2^-6:0 --out s10:2^-9:0 --segments 6 --form biased --slope-bits 5 --offset-type s12 "
     "--shift-multiple 4",
     6},
};

START_TEST(slopes_are_stored_with_multiples)
{
    const char *const flags = multiples[_i].flags;
    struct fitted fitted;
    fit_well(flags, &fitted);
    assert_stored(flags, &fitted);
    ck_assert_msg(fitted.table.segment_count <= multiples[_i].segments, "%s: %d segments", flags,
                  fitted.table.segment_count);
    fitted_free(&fitted);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("properties");
    TCase *tcase = tcase_create("properties");
    tcase_add_test(tcase, random_fits_keep_their_promises);
    tcase_add_test(tcase, random_fits_covered_everything);
    tcase_add_test(tcase, random_slopes_are_stored_with_multiples);
    tcase_add_loop_test(tcase, slopes_are_stored_with_multiples, 0, sizeof multiples / sizeof *multiples);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
