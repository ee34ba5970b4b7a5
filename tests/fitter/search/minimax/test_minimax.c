/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both methods that prove an optimum against every table of tiny formats; minimax against known optima of wide ones. */
#include "../../reference/draw.h"
#include "../../reference/fixture.h"
#include "../../reference/tiny_spec.h"
#include "search/minimax/minimax.h"
#include "search/squares/complete_search.h"
#include "search/squares/real_bound.h"

/* The search ends when an error smaller by 1e-9 LSB is out of reach; targets differ in their last bits. */
static const double tolerance = 1.01e-9;

/* A spec, and the least errors of its tables. */
struct small {
    struct tiny tiny;
    struct every_spec every;
    struct every_found best;
};

static void draw_small(struct small *small, int number)
{
    tiny_draw_free(&small->tiny, number, false);
    small->every = tiny_every(&small->tiny, 0);
    small->every.segments = small->every.count;
}

/* The largest error of a table, or the sum of squares where that is minimised. */
static double error_of(const struct small *small, const struct table *table)
{
    struct reference_table reference;
    reference_table_init(&reference, table);
    const struct tiny_error error = tiny_error(&small->every, &reference, small->tiny.text);
    free(reference.memory);
    return small->every.squares ? error.squares : error.max;
}

/* A table as small as can be, of those that keep to the limit. */
static void expect_fewest(const struct small *small, const struct table *table, double max_err)
{
    const struct certificate *certificate = &table->certificate;
    const double error = error_of(small, table);
    ck_assert_msg(fabs(error - certificate->max_err_lsb) <= 1e-11 && error <= max_err,
                  "%s: --max-err %.17g: certified %.17g, is %.17g", small->tiny.text, max_err, certificate->max_err_lsb,
                  error);
    ck_assert_msg(certificate->objective == OBJECTIVE_SEGMENTS && certificate->has_second_objective &&
                      certificate->optimal == 1 && !certificate->has_lower_bound,
                  "%s: --max-err %.17g: not claimed to have the fewest segments", small->tiny.text, max_err);
}

static void expect(const struct small *small, const struct table *table, int segments)
{
    const struct certificate *certificate = &table->certificate;
    const double least = small->best.least_of[segments], error = error_of(small, table);
    ck_assert_msg(table->segment_count <= segments, "%s: %d segments, must be at most %d", small->tiny.text,
                  table->segment_count, segments);
    ck_assert_msg(fabs(error - certificate->max_err_lsb) <= 1e-11, "%s: certified %.17g, is %.17g", small->tiny.text,
                  certificate->max_err_lsb, error);
    ck_assert_msg(fabs(error - least) <= tolerance, "%s: %d segments: error %.17g, the least is %.17g",
                  small->tiny.text, segments, error, least);
    ck_assert_msg(certificate->optimal == 1, "%s: %d segments: not claimed to be optimal", small->tiny.text, segments);
    ck_assert_msg(fabs(certificate->lower_bound_lsb - least) <= tolerance,
                  "%s: %d segments: lower bound %.17g, the least is %.17g", small->tiny.text, segments,
                  certificate->lower_bound_lsb, least);
}

/* The error of a table, asked for as --max-err, takes as many segments. */
static void check_round_trip(struct small *small, const struct table *made)
{
    struct table table;
    struct diag diag;
    small->tiny.spec.max_err = made->certificate.max_err_lsb + (tiny_is_exact(&small->tiny) ? 0 : 1e-11);
    const int status = small->tiny.spec.max_err > 0 ? fit(&small->tiny.spec, &table, &diag) : EXIT_REQUIREMENT;
    if (small->tiny.spec.max_err > 0) {
        ck_assert_msg(status == EXIT_DONE, "%s: --max-err %.17g: exit %d: %s", small->tiny.text,
                      small->tiny.spec.max_err, status, diag.text);
        ck_assert_msg(table.segment_count <= made->segment_count, "%s: --max-err %.17g: %d segments, %d reach it",
                      small->tiny.text, small->tiny.spec.max_err, table.segment_count, made->segment_count);
        table_free(&table);
    }
    small->tiny.spec.max_err = NAN;
}

static void check_segments(struct small *small, int segments)
{
    struct table table;
    struct diag diag;
    small->tiny.spec.segments = segments;
    const int status = fit(&small->tiny.spec, &table, &diag);
    small->tiny.spec.segments = 0;
    if (!isfinite(small->best.least_of[segments])) { /* the values of --fix are out of reach */
        ck_assert_msg(status == EXIT_REQUIREMENT, "%s: %d segments: exit %d, must be %d", small->tiny.text, segments,
                      status, EXIT_REQUIREMENT);
        return;
    }
    ck_assert_msg(status == EXIT_DONE, "%s: %d segments: exit %d: %s", small->tiny.text, segments, status, diag.text);
    expect(small, &table, segments);
    if (segments == 2)
        check_round_trip(small, &table);
    table_free(&table);
}

static void check_max_err(struct small *small, double max_err)
{
    struct table table;
    struct diag diag;
    int fewest = 1;
    while (fewest <= small->every.count && !(small->best.least_of[fewest] <= max_err))
        fewest++;
    small->tiny.spec.max_err = max_err;
    const int status = fit(&small->tiny.spec, &table, &diag);
    small->tiny.spec.max_err = NAN;
    if (fewest > small->every.count) {
        ck_assert_msg(status == EXIT_REQUIREMENT, "%s: --max-err %.17g: exit %d, must be %d", small->tiny.text, max_err,
                      status, EXIT_REQUIREMENT);
        return;
    }
    ck_assert_msg(status == EXIT_DONE, "%s: --max-err %.17g: exit %d: %s", small->tiny.text, max_err, status,
                  diag.text);
    ck_assert_msg(table.segment_count == fewest, "%s: --max-err %.17g: %d segments, the fewest are %d",
                  small->tiny.text, max_err, table.segment_count, fewest);
    expect_fewest(small, &table, max_err);
    table_free(&table);
}

/* Errors between those of one table and the next, and one a little below and above a least error. */
static void check_max_errs(struct small *small)
{
    const double *least = small->best.least_of;
    const int most = small->every.count < 5 ? small->every.count : 5;
    for (int m = 1; m < most; m++)
        if (isfinite(least[m]) && least[m] > least[m + 1] + 1e-3)
            check_max_err(small, least[m + 1] + (least[m] - least[m + 1]) * uniform(0.01, 0.99));
    const int m = (int)between(1, most);
    if (isfinite(least[m]) && least[m] > 1e-6) {
        check_max_err(small, least[m] + 1e-7);
        check_max_err(small, least[m] - 1e-7);
    }
}

static int checked;

static void check_small(int number)
{
    struct small small;
    struct table table;
    struct diag diag;
    draw_small(&small, number);
    if (small.tiny.is_constant) {
        ck_assert_msg(fit(&small.tiny.spec, &table, &diag) == EXIT_USAGE, "%s: exit %d", small.tiny.text, diag.code);
    } else {
        small.best = every_table(&small.every, INFINITY);
        const int most = small.every.count < 4 ? small.every.count : 4;
        for (int segments = 1; segments <= most; segments++)
            check_segments(&small, segments);
        check_max_errs(&small);
        checked++;
    }
    spec_free(&small.tiny.spec);
}

enum { CASES = 240, CASES_PER_TEST = 60 };

START_TEST(minimax_is_the_least_of_all_tables)
{
    for (int k = 0; k < CASES_PER_TEST / quick_step(5); k++) /* twelve have every form and rounding */
        check_small(_i * CASES_PER_TEST + k);
}
END_TEST

/* Sums of at most 64 squares, of errors below 2^11, taken in other orders. */
static double squares_tolerance(double least)
{
    return 1e-9 + 1e-11 * least;
}

static int bounds_above_floor;

static void check_squares(struct small *small, int segments)
{
    struct table table;
    struct diag diag;
    const double least = small->best.least_of[segments];
    small->tiny.spec.segments = segments;
    const int status = fit(&small->tiny.spec, &table, &diag);
    small->tiny.spec.segments = 0;
    if (!isfinite(least)) {
        ck_assert_msg(status == EXIT_REQUIREMENT, "%s: %d segments: exit %d, must be %d", small->tiny.text, segments,
                      status, EXIT_REQUIREMENT);
        return;
    }
    ck_assert_msg(status == EXIT_DONE, "%s: %d segments: exit %d: %s", small->tiny.text, segments, status, diag.text);
    const struct certificate *certificate = &table.certificate;
    const double cost = error_of(small, &table);
    ck_assert_msg(table.segment_count <= segments, "%s: %d segments, must be at most %d", small->tiny.text,
                  table.segment_count, segments);
    ck_assert_msg(fabs(cost - least) <= squares_tolerance(least), "%s: %d segments: cost %.17g, the least is %.17g",
                  small->tiny.text, segments, cost, least);
    ck_assert_msg(certificate->optimal == 1 && certificate->objective == OBJECTIVE_RMS,
                  "%s: %d segments: not claimed to be optimal", small->tiny.text, segments);
    ck_assert_msg(certificate->lower_bound_lsb == certificate->rms_err_lsb, "%s: %d segments: lower bound %.17g",
                  small->tiny.text, segments, certificate->lower_bound_lsb);
    table_free(&table);
}

static void check_small_squares(int number)
{
    struct small small;
    draw_small(&small, number);
    if (!small.tiny.is_constant) {
        small.tiny.spec.method = METHOD_LSQ;
        small.every.squares = true;
        small.best = every_table(&small.every, INFINITY);
        const int most = small.every.count < 4 ? small.every.count : 4;
        for (int segments = 1; segments <= most; segments++)
            check_squares(&small, segments);
    }
    spec_free(&small.tiny.spec);
}

START_TEST(lsq_is_the_least_of_all_tables)
{
    for (int k = 0; k < CASES_PER_TEST / quick_step(5); k++) /* twelve have every form and rounding */
        check_small_squares(900000 + _i * CASES_PER_TEST + k);
}
END_TEST

START_TEST(most_cases_are_not_constant)
{
    ck_assert_int_ge(checked, CASES / quick_step(5) * 9 / 10);
}
END_TEST

enum { MOST_CODES = 64 };

/* Sums of 8 to 14 bits, and offsets of less. */
static void narrow_sums(struct every_spec *every, char text[80])
{
    every->sum_bits = (int)between(8, 14);
    const int offset_bits = (int)between(5, every->sum_bits);
    every->offset_low = -((int64_t)1 << (offset_bits - 1));
    every->offset_high = -every->offset_low - 1;
    snprintf(text, 80, "%d bits, offsets of %d, zero point %" PRId64, every->sum_bits, offset_bits, every->zp_x);
}

static void draw_narrow(struct small *small, int number, char text[80])
{
    draw_small(small, number);
    const int64_t near = between(-40, 40);
    small->every.zp_x = llabs(small->every.zp_x) < 100 ? small->every.zp_x : near;
    narrow_sums(&small->every, text);
}

/* Whether the search for squares is complete where sums are narrow. It leaves out steep lines with outputs that no
 * offset is, and biased ones through fixed codes. */
static bool is_searched(const struct small *small)
{
    const struct every_spec *every = &small->every;
    return every->offset_low <= every->qmin_y && every->qmax_y <= every->offset_high &&
           !(every->form == EVERY_BIASED && small->tiny.spec.fix_count > 0);
}

/* The same search below fit, and the bound of real lines on cells of several codes. */
static void check_narrow_squares(const struct small *small, const struct points *points, const struct line_rules *rules,
                                 const char *text)
{
    struct every_spec every = small->every;
    double mass[MOST_CODES], floor = 0;
    int knots[PWL_MAX_SEGMENTS + 1];
    struct line lines[PWL_MAX_SEGMENTS];
    struct points weighed = *points;
    struct diag diag;
    every.squares = true;
    const struct every_found best = every_table(&every, INFINITY);
    const double *const least = best.least_of;
    weighed.mass = mass;
    for (int k = 0; k < points->count; k++) {
        mass[k] = 1;
        floor += (points->target[k] - rint(points->target[k])) * (points->target[k] - rint(points->target[k]));
    }
    for (int segments = 1; segments <= 3; segments++) {
        struct exact exact = {.last = EXACT_ALL, .share = 1, .segments = segments, .cost = INFINITY};
        const int status = exact_improve(&weighed, rules, segments, knots, lines, &exact, &diag);
        ck_assert_msg(status != EXIT_DONE || exact.cost >= least[segments] - squares_tolerance(least[segments]),
                      "%s; %s, %d segments: cost %.17g, the least is %.17g", small->tiny.text, text, segments,
                      exact.cost, least[segments]);
        ck_assert_msg(!is_searched(small) || (status == EXIT_DONE) == isfinite(least[segments]),
                      "%s; %s: exit %d, the least cost is %g", small->tiny.text, text, status, least[segments]);
        if (status != EXIT_DONE)
            continue;
        ck_assert_msg(
            !is_searched(small) ||
                (fabs(exact.cost - least[segments]) <= squares_tolerance(least[segments]) && exact_is_optimal(&exact)),
            "%s; %s, %d segments: cost %.17g (%s), the least is %.17g", small->tiny.text, text, segments, exact.cost,
            exact_is_optimal(&exact) ? "optimal" : "no proof", least[segments]);
        const int near[] = {0, (int)between(1, points->count - 1), points->count};
        const int cells = (int)between(2, points->count);
        struct real_bound bound = {.knots = knots}, coarse = {.knots = knots};
        ck_assert_int_eq(
            real_bound(&weighed, rules->qmin_y, rules->qmax_y, segments, 1e12, near, 3, points->count, &bound, &diag),
            EXIT_DONE);
        ck_assert_int_eq(
            real_bound(&weighed, rules->qmin_y, rules->qmax_y, segments, 1e12, near, 3, cells, &coarse, &diag),
            EXIT_DONE);
        const double lower = integer_cost_bound(bound.cost, points->count / 4.0, floor);
        ck_assert_msg(lower <= least[segments] * (1 + 1e-9) + 1e-9,
                      "%s: %d segments cost at least %.17g, but %.17g is reached", small->tiny.text, segments, lower,
                      least[segments]);
        ck_assert_msg(coarse.cost <= bound.cost * (1 + 1e-9) + 1e-9,
                      "%s: %d segments cost at least %.17g, but with %d cells %.17g", small->tiny.text, segments,
                      bound.cost, cells, coarse.cost);
        bounds_above_floor += lower > floor;
    }
}

/*
 * Sums of so few bits that they decide which lines there are, which in real formats only long slopes bring about: the
 * search below fit, with rules of its own.
 */
static void check_narrow(int number)
{
    struct small small;
    int64_t cell[MOST_CODES + 1];
    double code[MOST_CODES], target[MOST_CODES], weight[MOST_CODES];
    int knots[PWL_MAX_SEGMENTS + 1];
    struct line lines[PWL_MAX_SEGMENTS];
    struct diag diag;
    char text[80];
    draw_narrow(&small, number, text);
    const struct every_spec *every = &small.every;
    const struct points points = {.count = every->count,
                                  .cell = cell,
                                  .code = code,
                                  .target = target,
                                  .weight = weight,
                                  .fixed = small.tiny.fixed,
                                  .exhaustive = true};
    for (int k = 0; k <= every->count; k++)
        cell[k] = every->first_x + k;
    for (int k = 0; k < every->count; k++) {
        code[k] = (double)cell[k];
        target[k] = every->output[k].target;
        weight[k] = 1;
    }
    const int64_t steepest = (int64_t)1 << (every->slope_bits - 1);
    const struct line_rules rules = {.form = (pwl_form)every->form,
                                     .rounding = (pwl_rounding)every->rounding,
                                     .zp_x = every->zp_x,
                                     .qmin_y = every->qmin_y,
                                     .qmax_y = every->qmax_y,
                                     .slopes = {-steepest, steepest - 1},
                                     .accumulator_bits = every->sum_bits,
                                     .shift_min = 1 - every->sum_bits,
                                     .shift_max = every->sum_bits - 1,
                                     .offsets = {every->offset_low, every->offset_high}};
    small.best = every_table(every, INFINITY);
    check_narrow_squares(&small, &points, &rules, text);
    for (int segments = 1; segments <= 3; segments++) {
        struct minimax result = {.knots = knots, .lines = lines};
        const double least = small.best.least_of[segments];
        const int status = minimax_least_error(&points, &rules, segments, &result, &diag);
        ck_assert_msg((status == EXIT_DONE) == isfinite(least), "%s; %s: exit %d, the least error is %g",
                      small.tiny.text, text, status, least);
        if (status != EXIT_DONE)
            continue;
        ck_assert_msg(fabs(result.max_err - least) <= tolerance && minimax_is_optimal(&result),
                      "%s; %s, %d segments: error %.17g (%s), the least is %.17g", small.tiny.text, text, segments,
                      result.max_err, minimax_is_optimal(&result) ? "optimal" : "no proof", least);
    }
    spec_free(&small.tiny.spec);
}

START_TEST(bounds_of_real_lines_say_something)
{
    ck_assert_int_ge(bounds_above_floor, 20);
}
END_TEST

START_TEST(narrow_sums_leave_the_least_error)
{
    for (int k = 0; k < CASES_PER_TEST; k++)
        check_narrow(700000 + _i * CASES_PER_TEST + k);
}
END_TEST

/* The reasons of the reference for leaving lines out, put to the test where all can be tried. */
static void check_reference(const struct small *small, const char *text)
{
    struct every_spec every = small->every;
    every.segments = 4;
    const struct every_found some = every_table(&every, INFINITY);
    every.every_line = true;
    const struct every_found all = every_table(&every, INFINITY);
    for (int m = 1; m <= every.segments; m++)
        ck_assert_msg(all.least_of[m] == some.least_of[m] ||
                          fabs(all.least_of[m] - some.least_of[m]) <= squares_tolerance(all.least_of[m]),
                      "%s; %s, %d segments: %.17g with all lines, %.17g with some", small->tiny.text, text, m,
                      all.least_of[m], some.least_of[m]);
}

/* With constraints that such reasons have to mind. */
START_TEST(lines_that_the_reference_leaves_out_add_nothing)
{
    struct small small;
    char text[80];
    for (int number = 10000; number < 10400; number++) {
        if (number % 3)
            draw_narrow(&small, number, text);
        else
            draw_small(&small, number);
        struct every_spec *every = &small.every;
        every->squares = one_in(2);
        every->one_shift = one_in(3);
        every->slope_terms = one_in(4);
        for (int k = 1; number % 4 == 0 && k < every->count; k++)
            every->may_start[k] = one_in(2);
        if (every->count <= 16 && every->qmax_y - every->qmin_y < 64 && (every->count == 8 || every->slope_bits == 3))
            check_reference(&small, number % 3 ? text : "sums of 32 bits");
        spec_free(&small.tiny.spec);
    }
    draw_narrow(&small, 700159, text); /* whose best line leaves its sums at the code before it */
    small.every.squares = true;
    check_reference(&small, text);
    spec_free(&small.tiny.spec);
}
END_TEST

/* Errors that other searches have reached, and that a proof is found for each form. */
static const struct {
    const char *flags;
    int segments;
    double max_err;
} known[] = {
    {"sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1 --segments 16", 16, 81.3},
    {"sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1 --segments 32", 32, 20.3},
    {"sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1 --segments 64", 64, 5.7},
    {"tanh --in s16:2^-13:0 --out s16:2^-15:0 --segments 16", 16, 83.8},
    {"sigmoid --in s16:2^-12:0 --out s16:2^-15:0 --max-err 1.016", 142, 1.016},
    {"tanh --in s16:2^-12:0 --out s16:2^-15:0 --max-err 1.476", 148, 1.476},
    {"gelu --in s12:2^-8:0 --out s12:2^-8:0 --segments 16 --form biased --rounding half_up", 16, 0.91},
    {"sigmoid --in s12:2^-8:0 --out s16:2^-15:0 --segments 16 --form anchored --rounding half_even", 16, 43},
    {"sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1 --segments 16 --form anchored", 16, 81.21},
    {"tanh --in s16:2^-13:0 --out s16:2^-15:0 --max-err 1 --form anchored --shift one", 204, 1},
    {"sigmoid --in s16:2^-12:0 --out s32:2^-30:0 --segments 135", 135, 19632.2},
    {"erf --in s16:2^-13:0 --out s16:2^-15:0 --max-err 1 --knots uniform", 512, 1},
};
enum { KNOWN = sizeof known / sizeof *known };

START_TEST(known_optima_are_met_and_proven)
{
    char flags[FLAGS_SIZE];
    struct fitted fitted;
    snprintf(flags, sizeof flags, "%s --method minimax", known[_i].flags);
    fit_well(flags, &fitted);
    const struct certificate *certificate = &fitted.table.certificate;
    const struct plain_stats stats = measure_plainly(&fitted.spec, &fitted.table);
    ck_assert_int_le(fitted.table.segment_count, known[_i].segments);
    ck_assert_msg(stats.max <= known[_i].max_err, "%s: error %g, must be at most %g", flags, stats.max,
                  known[_i].max_err);
    ck_assert_msg(fabs(certificate->max_err_lsb - stats.max) < 1e-9, "%s: certified %.12g, is %.12g", flags,
                  certificate->max_err_lsb, stats.max);
    ck_assert_msg(certificate->optimal == 1, "%s: not claimed to be optimal", flags);
    fitted_free(&fitted);
}
END_TEST

static const char *const exact[] = {
    "gelu --in s8:2^-5:0 --out s8:2^-5:0",
    "gelu --in s8:2^-4:0 --out s8:2^-4:0",
    "silu --in s8:2^-4:0 --out s8:2^-4:0",
    "hard_swish --in s8:2^-4:0 --out s8:2^-4:0",
};
enum { EXACT = sizeof exact / sizeof *exact };

START_TEST(tables_of_8_bits_round_every_code_correctly)
{
    char flags[FLAGS_SIZE];
    struct fitted fitted;
    snprintf(flags, sizeof flags, "%s --segments 16 --slope-bits 8 --method minimax", exact[_i]);
    fit_well(flags, &fitted);
    ck_assert_int_le(fitted.table.segment_count, 16);
    ck_assert_msg(measure_plainly(&fitted.spec, &fitted.table).correct == 1, "%s: not every code is the nearest",
                  flags);
    fitted_free(&fitted);
}
END_TEST

static const char *const pairs[] = {
    "sigmoid --in s8:2^-4:0 --out s8:2^-8:-128 --form absolute --rounding floor",
    "tanh --in s8:2^-5:0 --out s8:2^-7:0 --form biased --rounding half_even",
    "gelu --in u8:0.0472:131 --out u8:0.0238:9 --form anchored --rounding half_away",
    "exp --in s8:2^-5:127 --out u8:2^-8:0 --form biased --rounding floor",
    "sin --in s9:2^-6:0 --out s10:2^-8:0 --form anchored --rounding floor",
    "mish --in s9:2^-6:0 --out s10:2^-6:3 --form absolute --rounding half_up",
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

START_TEST(more_segments_never_have_a_larger_error)
{
    double before = INFINITY;
    for (int segments = 1; segments <= 24; segments++) {
        char flags[FLAGS_SIZE];
        struct fitted fitted;
        snprintf(flags, sizeof flags, "%s --segments %d --method minimax", pairs[_i], segments);
        fit_well(flags, &fitted);
        const double error = measure_plainly(&fitted.spec, &fitted.table).max;
        ck_assert_msg(error <= before + tolerance, "%s: error %.12g, with one segment less %.12g", flags, error,
                      before);
        ck_assert_int_eq(fitted.table.certificate.optimal, 1);
        before = error;
        fitted_free(&fitted);
    }
}
END_TEST

START_TEST(a_looser_bound_never_needs_more_segments)
{
    char flags[FLAGS_SIZE];
    snprintf(flags, sizeof flags, "%s --method minimax", pairs[_i]);
    expect_looser_bounds_to_need_no_more(flags, 0.51, 40, 1.17);
}
END_TEST

START_TEST(two_runs_give_the_same_bytes)
{
    char flags[FLAGS_SIZE];
    struct fitted first, second;
    snprintf(flags, sizeof flags, "%s --max-err 0.8 --method minimax", pairs[_i]);
    fit_well(flags, &first);
    fit_well(flags, &second);
    char *a = json_of(&first.table), *b = json_of(&second.table);
    ck_assert_str_eq(a, b);
    free(a);
    free(b);
    fitted_free(&first);
    fitted_free(&second);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("minimax");
    TCase *small = tcase_create("small");
    tcase_add_loop_test(small, minimax_is_the_least_of_all_tables, 0, CASES / CASES_PER_TEST);
    tcase_add_loop_test(small, lsq_is_the_least_of_all_tables, 0, CASES / CASES_PER_TEST);
    tcase_add_loop_test(small, narrow_sums_leave_the_least_error, 0, 4);
    tcase_add_test(small, most_cases_are_not_constant);
    tcase_add_test(small, bounds_of_real_lines_say_something);
    tcase_add_test(small, lines_that_the_reference_leaves_out_add_nothing);
    suite_add_tcase(suite, small);
    TCase *large = tcase_create("large");
    tcase_add_loop_test(large, known_optima_are_met_and_proven, 0, KNOWN);
    tcase_add_loop_test(large, tables_of_8_bits_round_every_code_correctly, 0, EXACT);
    tcase_add_loop_test(large, more_segments_never_have_a_larger_error, 0, PAIRS);
    tcase_add_loop_test(large, a_looser_bound_never_needs_more_segments, 0, PAIRS);
    tcase_add_loop_test(large, two_runs_give_the_same_bytes, 0, PAIRS);
    suite_add_tcase(suite, large);
    return run_suite(suite);
}
