/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random fits under constraints: each table keeps to them by the definitions alone, and none beats the best table that
 * is free of them. */
#include <stdarg.h>

#include "../../reference/fixture.h"
#include "../../reference/draw.h"
#include "../../reference/random_spec.h"

enum { SPECS = 400, TIED_BITS = 6, MEASURED_BITS = 12, CHOICES = 6 };

static const char *const choices[CHOICES] = {"--shift",    "--slope-terms", "--knots",
                                             "--monotone", "--continuous",  "--fix"};

struct tally {
    int tables, refused, optimal, compared, kept[CHOICES];
};

static struct tally tally;

__attribute__((format(printf, 2, 3))) static void append(char *flags, const char *format, ...)
{
    const size_t length = strlen(flags);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(flags + length, FLAGS_SIZE - length, format, arguments);
    va_end(arguments);
}

/* A code that must have an output code near its target. */
static void add_fix(const struct spec *spec, char *flags)
{
    const struct reference_map map = map_of(spec);
    const int64_t q_x = map.qmin_x + draw((int)(map.qmax_x - map.qmin_x + 1));
    const int64_t near = (int64_t)rintl(reference_clip(&map, reference_target(&map, q_x))) + draw(3) - 1;
    const int64_t q_y = near < map.qmin_y ? map.qmin_y : near > map.qmax_y ? map.qmax_y : near;
    append(flags, " --fix %.17Lg:%.17Lg", map.scale_x * (long double)(q_x - map.zp_x),
           map.scale_y * (long double)(q_y - map.zp_y));
}

/* Adds one constraint at least. Ties take narrow inputs. */
static void add_constraints(const struct spec *spec, char *flags)
{
    const int last = spec->in.bits <= TIED_BITS ? CHOICES : 3, chosen = draw(last);
    for (int choice = 0; choice < CHOICES; choice++) {
        if (choice != chosen && (choice >= last || draw(4)))
            continue;
        if (choice == 0)
            append(flags, " --shift one");
        else if (choice == 1)
            append(flags, " --slope-terms %d", 1 + draw(2));
        else if (choice == 2 && spec->method != METHOD_UNIFORM)
            append(flags, draw(2) ? " --knots uniform" : " --knots pow2");
        else if (choice == 3)
            append(flags, " --monotone");
        else if (choice == 4)
            append(flags, " --continuous %d", draw(4));
        else if (choice == 5)
            add_fix(spec, flags);
    }
}

/* Flags of a fit that can be constrained; false where the random ones are not. */
static bool draw_flags(int index, char free[FLAGS_SIZE], char flags[FLAGS_SIZE])
{
    struct spec spec;
    struct diag diag;
    random_flags(index, free, FLAGS_SIZE);
    ck_assert_msg(spec_from(free, &spec, &diag) == EXIT_DONE, "%s: %s", free, diag.text);
    const bool takes = (spec.method == METHOD_LSQ || spec.method == METHOD_MINIMAX || spec.method == METHOD_UNIFORM) &&
                       spec.in.bits <= 8 && spec.out.bits <= 12;
    strcpy(flags, free);
    if (takes)
        add_constraints(&spec, flags);
    spec_free(&spec);
    return takes && strcmp(free, flags) != 0;
}

static void assert_segments(const char *flags, const struct fitted *fitted, const struct ref_table *reference)
{
    const struct constraints *asked = &fitted->spec.constraints;
    const struct table *table = &fitted->table;
    const int64_t codes = table->in.qmax - table->in.qmin + 1;
    for (int i = 0; i < table->segment_count; i++) {
        const struct segment *segment = &table->segments[i];
        const uint64_t q = (uint64_t)llabs(segment->q_b);
        ck_assert_msg(!asked->one_shift || segment->n == table->segments[0].n, "%s: two shifts", flags);
        /* The digits of the non-adjacent form, which has the fewest. */
        ck_assert_msg(!asked->slope_terms || __builtin_popcountll(q ^ (3 * q)) <= asked->slope_terms,
                      "%s: slope %" PRId64, flags, segment->q_b);
        if (asked->knots == KNOTS_UNIFORM)
            ck_assert_msg(segment->start == table->in.qmin + codes * i / table->segment_count,
                          "%s: segment %d starts at %" PRId64, flags, i, segment->start);
        if (i == 0)
            continue;
        /* Two bits more than number the segments decide. */
        int bits = 2;
        while (1 << (bits - 2) < (fitted->spec.segments ? fitted->spec.segments : (int)codes))
            bits++;
        if (asked->knots == KNOTS_POW2 && bits < table->in.bits)
            ck_assert_msg(segment->start % (1 << (table->in.bits - bits)) == 0, "%s: segment %d starts at %" PRId64,
                          flags, i, segment->start);
        struct ref_table before = *reference; /* whose last segment goes on */
        before.count = i;
        const int64_t step = ref_eval(reference, segment->start).q_y - ref_eval(&before, segment->start).q_y;
        ck_assert_msg(!asked->continuous || llabs(step) <= asked->max_step, "%s: a step of %" PRId64 " at %" PRId64,
                      flags, step, segment->start);
    }
}

static void assert_codes(const char *flags, const struct fitted *fitted, const struct ref_table *reference)
{
    const struct spec *spec = &fitted->spec;
    const struct reference_map map = map_of(spec);
    /* Another way to compute f may decide otherwise where it is level. */
    const long double level = (fabsl((long double)map.zp_y) + 0x1p32L) * 0x1p-60L;
    int64_t last = 0;
    for (int64_t q = map.qmin_x; q <= map.qmax_x; q++) {
        const int64_t q_y = ref_eval(reference, q).q_y;
        const long double rise = q > map.qmin_x ? reference_target(&map, q) - reference_target(&map, q - 1) : 0;
        if (spec->constraints.monotone && ((rise > level && q_y < last) || (rise < -level && q_y > last)))
            ck_abort_msg("%s: a step against f at %" PRId64, flags, q);
        last = q_y;
    }
    for (int k = 0; k < spec->fix_count; k++) {
        const int64_t q_x = (int64_t)rintl((long double)spec->fixes[k].x / map.scale_x) + map.zp_x;
        const int64_t q_y = (int64_t)rintl((long double)spec->fixes[k].y / map.scale_y) + map.zp_y;
        ck_assert_msg(ref_eval(reference, q_x).q_y == q_y, "%s: code %" PRId64 " is not fixed", flags, q_x);
    }
}

/* Against the least largest error that a table without constraints can have. */
static void assert_cost(const char *free, const char *flags, const struct fitted *fitted)
{
    char best[FLAGS_SIZE + 32];
    struct fitted other;
    struct diag diag;
    snprintf(best, sizeof best, "%s --method minimax", free);
    if (!isnan(fitted->spec.max_err) || fit_flags(best, &other, &diag))
        return;
    const double with = fitted->table.certificate.max_err_lsb, without = other.table.certificate.max_err_lsb;
    if (other.table.certificate.optimal == 1) {
        tally.compared++;
        ck_assert_msg(with >= without - 1e-8, "%s: error %.9g, without constraints at least %.9g", flags, with,
                      without);
    }
    fitted_free(&other);
}

static void assert_bounds(const char *flags, const struct fitted *fitted)
{
    const struct certificate *certificate = &fitted->table.certificate;
    const double reached =
        certificate->objective == OBJECTIVE_MAX ? certificate->max_err_lsb : certificate->rms_err_lsb;
    ck_assert_msg(!certificate->has_lower_bound || certificate->lower_bound_lsb <= reached + 1e-8,
                  "%s: reaches %.9g, lower bound %.9g", flags, reached, certificate->lower_bound_lsb);
    tally.optimal += certificate->optimal == 1;
}

static void assert_again(const char *flags, const struct table *table)
{
    struct fitted again;
    fit_well(flags, &again);
    char *first = json_of(table), *second = json_of(&again.table);
    ck_assert_msg(!strcmp(first, second), "%s: two runs differ", flags);
    free(first);
    free(second);
    fitted_free(&again);
}

START_TEST(random_constraints_are_kept)
{
    draw_from(20240301);
    for (int index = 0; tally.tables + tally.refused < SPECS; index++) {
        char unbound[FLAGS_SIZE], flags[FLAGS_SIZE];
        struct fitted fitted;
        struct diag diag;
        if (!draw_flags(index, unbound, flags))
            continue;
        const int status = fit_flags(flags, &fitted, &diag);
        if (status == EXIT_USAGE && strstr(diag.text, "outside the output range at every input code"))
            continue;
        if (status == EXIT_REQUIREMENT) {
            tally.refused++;
            continue;
        }
        ck_assert_msg(status == EXIT_DONE, "%s: exit %d: %s", flags, status, diag.text);
        struct reference_table reference;
        reference_table_init(&reference, &fitted.table);
        assert_segments(flags, &fitted, &reference.table);
        assert_codes(flags, &fitted, &reference.table);
        assert_bounds(flags, &fitted);
        assert_cost(unbound, flags, &fitted);
        if (index % 16 == 0)
            assert_again(flags, &fitted.table);
        for (int choice = 0; choice < CHOICES; choice++)
            tally.kept[choice] += strstr(flags, choices[choice]) != NULL;
        tally.tables++;
        free(reference.memory);
        fitted_free(&fitted);
    }
    printf(
        "# %d random specs: %d tables, %d proven optimal, %d compared with the best without constraints; %d refused\n",
        SPECS, tally.tables, tally.optimal, tally.compared, tally.refused);
    ck_assert_int_le(tally.refused, SPECS / 5);
    ck_assert_int_ge(tally.optimal, SPECS / 5);
    ck_assert_int_ge(tally.compared, SPECS / 3);
    for (int choice = 0; choice < CHOICES; choice++)
        ck_assert_msg(tally.kept[choice] >= 25, "%s: %d tables", choices[choice], tally.kept[choice]);
}
END_TEST

/* A segment for each code, which goes from its output to the next one's, keeps every tie and is off by half a code at
 * most. */
START_TEST(ties_leave_errors_of_half_a_code)
{
    static const char *const functions[] = {"tanh", "gelu", "exp"}, *const forms[] = {"absolute", "anchored", "biased"},
                             *const ties[] = {"--continuous 0", "--continuous 1 --monotone", "--continuous 2",
                                              "--continuous 0 --monotone --shift one"};
    for (int f = 0; f < 3; f++)
        for (int t = (f + _i) % quick_step(4); t < 4; t += quick_step(4)) {
            char flags[FLAGS_SIZE];
            struct fitted fitted;
            struct reference_table reference;
            snprintf(flags, sizeof flags, "%s --in s7:2^-4:0 --out s16:2^-13:0 --form %s %s --max-err 0.5",
                     functions[f], forms[_i], ties[t]);
            fit_well(flags, &fitted);
            reference_table_init(&reference, &fitted.table);
            assert_segments(flags, &fitted, &reference.table);
            assert_codes(flags, &fitted, &reference.table);
            ck_assert_double_le(fitted.table.certificate.max_err_lsb, 0.5);
            free(reference.memory);
            fitted_free(&fitted);
        }
}
END_TEST

/* Tables of few segments are known that hold an error. */
static const struct {
    const char *flags;
    int segments;
} few[] = {
    {"silu --in s12:2^-8 --out s16:2^-12 --monotone --slope-terms 2 --max-err 2", 123},
    {"elu --in s8:2^-4 --out s16:2^-12 --continuous 1 --max-err 2 --form anchored --rounding half_even", 31},
    {"sigmoid --in s16:2^-12 --out u16:2^-16 --knots uniform --continuous 0 --max-err 4", 256},
    {"silu --in s8:2^-4 --out s16:2^-12 --shift one --continuous 1 --max-err 2 --form biased --rounding half_even", 47},
    /* The whole test alone. The first: as few as without ties, where that is proven to be the fewest. */
    {"erf --in s16:2^-13 --out s16:2^-15 --continuous 0 --max-err 1 --rounding half_away", 187},
    {"erf --in s16:2^-13 --out s16:2^-15 --symmetry fold --continuous 0 --monotone --max-err 2", 56},
    {"elu --in s24:2^-20 --out s8:2^-4 --monotone --slope-terms 2 --max-err 1", 5},
};

enum { FEW = sizeof few / sizeof *few, FEW_QUICK = FEW - 3 };

START_TEST(tied_segments_are_few)
{
    struct fitted fitted;
    struct reference_table reference;
    fit_well(few[_i].flags, &fitted);
    const struct certificate *certificate = &fitted.table.certificate;
    reference_table_init(&reference, &fitted.table);
    assert_segments(few[_i].flags, &fitted, &reference.table);
    ck_assert_msg(!fitted.spec.constraints.monotone || certificate->monotone, "%s: a step against f", few[_i].flags);
    ck_assert_double_le(certificate->has_bound ? certificate->bound_lsb : certificate->max_err_lsb,
                        fitted.spec.max_err);
    ck_assert_msg(fitted.table.segment_count <= few[_i].segments, "%s: %d segments, %d suffice", few[_i].flags,
                  fitted.table.segment_count, few[_i].segments);
    free(reference.memory);
    fitted_free(&fitted);
}
END_TEST

static const char *const kinds[] = {
    "sigmoid --in s8:2^-4:0 --out s8:2^-8:-128 --monotone",
    "tanh --in s8:2^-5:0 --out s8:2^-7:0 --shift one",
    "gelu --in s8:2^-5:0 --out s8:2^-5:0 --slope-terms 1 --form anchored",
    "silu --in s8:2^-4:0 --out s8:2^-4:0 --continuous 1 --rounding half_up",
    "exp --in s8:2^-5:127 --out u8:2^-8:0 --knots pow2:5 --form biased",
    "mish --in s8:2^-5:0 --out s8:2^-5:0 --monotone --continuous 0 --fix 0:0",
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Of proven tables; more segments may do what fewer do. */
START_TEST(more_segments_never_have_a_larger_error)
{
    double before = INFINITY;
    int proven = 0;
    for (int segments = 2; segments <= 12; segments++) {
        char flags[FLAGS_SIZE];
        struct fitted fitted;
        snprintf(flags, sizeof flags, "%s --segments %d --method minimax", kinds[_i], segments);
        fit_well(flags, &fitted);
        if (fitted.table.certificate.optimal == 1) {
            const double error = measure_plainly(&fitted.spec, &fitted.table).max;
            ck_assert_msg(error <= before + 1e-8, "%s: error %.12g, with fewer segments %.12g", flags, error, before);
            before = error;
            proven++;
        }
        fitted_free(&fitted);
    }
    ck_assert_msg(proven >= 9, "%s: %d of 11 tables are proven", kinds[_i], proven);
}
END_TEST

START_TEST(a_looser_bound_never_needs_more_segments)
{
    expect_looser_bounds_to_need_no_more(kinds[_i], 0.75, 12, 1.4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("constraint properties");
    TCase *tcase = tcase_create("random");
    tcase_add_test(tcase, random_constraints_are_kept);
    tcase_add_loop_test(tcase, more_segments_never_have_a_larger_error, 0, KINDS);
    tcase_add_loop_test(tcase, a_looser_bound_never_needs_more_segments, 0, KINDS);
    tcase_add_loop_test(tcase, ties_leave_errors_of_half_a_code, 0, 3);
    tcase_add_loop_test(tcase, tied_segments_are_few, 0, test_is_long() ? FEW : FEW_QUICK);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
