/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of values at points, against all integer values of 8 bits in small formats, and against the nearest values of
 * 16 bits. (Other types, and none, are in test_claims.) The arithmetic here is written from the rule of the tables
 * alone. */
#include "../../reference/draw.h"
#include "../../reference/fixture.h"
#include "../../reference/tiny_spec.h"

#include "fit/fit.h"
#include "fit/problem.h"
#include "search/interpolation/interpolation.h"
#include "search/ties/ties.h"

#include "../../../support/suite.h"

enum { VALUES = 256, TESTS = 8, CASES_PER_TEST = 300 };

/* --- a table's rule --- */

/* p / 2^shift, by the definition of each rounding. */
static int64_t rounded(int64_t p, int shift, pwl_rounding rounding)
{
    const int64_t d = (int64_t)1 << shift, down = p / d - (p % d < 0), rest = p - down * d;
    if (rounding == PWL_FLOOR || 2 * rest < d)
        return down;
    if (2 * rest > d || rounding == PWL_HALF_UP)
        return down + 1;
    return rounding == PWL_HALF_AWAY ? (p < 0 ? down : down + 1) : down + down % 2 * (down < 0 ? -1 : 1);
}

static bool fits(int64_t value)
{
    return value >= INT32_MIN && value <= INT32_MAX;
}

enum { MOST_CODES = 64 };

/* A small format with points, and what the search of all values needs to know of it. */
struct problem {
    struct tiny tiny;
    int shift, width, intervals;
    int64_t low, high; /* of a value */
    bool monotone;
    bool toward_left;          /* what lies between two values is rounded towards the left one */
    double weight[MOST_CODES]; /* of each code's squared error */
};

/* Clipped to the output range. */
static double target_of(const struct problem *problem, int k)
{
    const struct tensor *out = &problem->tiny.spec.out;
    return (double)fmaxl((long double)out->qmin, fminl((long double)out->qmax, problem->tiny.whole[k]));
}

static int64_t output(const struct problem *problem, int64_t a, int64_t b, int f)
{
    const struct tensor *out = &problem->tiny.spec.out;
    const int64_t y = problem->toward_left
                          ? a + (b - a) * f / problem->width
                          : rounded(a * problem->width + (b - a) * f, problem->shift, problem->tiny.spec.rounding);
    return y < out->qmin ? out->qmin : y > out->qmax ? out->qmax : y;
}

/* What makes of a floor the rounding towards the left value: that of a line that falls is upwards. */
static int64_t addend_of(const struct problem *problem, int64_t q_b)
{
    return problem->toward_left && q_b < 0 ? problem->width - 1 : 0;
}

/* Whether the line between two values is within the slopes and proven at a code; all these formats have sums of
 * 32 bits. */
static bool is_proven(const struct problem *problem, int i, int64_t a, int64_t b, int f)
{
    const struct spec *spec = &problem->tiny.spec;
    const int64_t q_b = b - a, from = (int64_t)i * problem->width + spec->in.qmin - spec->in.zero_point;
    const bool biased = spec->form == PWL_BIASED;
    const int64_t product = q_b * (biased ? from + f : f),
                  bias = biased ? a * problem->width + addend_of(problem, q_b) - q_b * from : 0;
    const int64_t sum = product + bias, half = spec->rounding == PWL_FLOOR ? 0 : problem->width / 2;
    const int64_t limit = (int64_t)1 << (problem->tiny.spec.slope_bits - 1);
    return -limit <= q_b && q_b < limit && fits(product) && fits(bias) && fits(sum) &&
           (spec->rounding == PWL_HALF_AWAY ? fits(llabs(sum) + half) : fits(sum + half));
}

/* Whether no output of interval i, nor the first one behind it, steps against f. */
static bool is_monotone(const struct problem *problem, int i, int64_t a, int64_t b)
{
    const long double *f = problem->tiny.whole + i * problem->width;
    const int steps = i + 1 < problem->intervals ? problem->width : problem->width - 1;
    for (int k = 0; k < steps; k++) {
        const int64_t step = output(problem, a, b, k + 1) - output(problem, a, b, k);
        if ((step > 0 && f[k + 1] < f[k]) || (step < 0 && f[k + 1] > f[k]))
            return false;
    }
    return true;
}

struct errors {
    double max, squares;
};

/* Of the codes of interval i; INFINITY where the pair is not allowed. */
static struct errors errors_of(const struct problem *problem, int i, int64_t a, int64_t b)
{
    const struct errors none = {INFINITY, INFINITY};
    struct errors errors = {0, 0};
    for (int f = 0; f < problem->width; f++) {
        const int k = i * problem->width + f;
        const int64_t y = output(problem, a, b, f), fixed = problem->tiny.fixed[k];
        const double e = fabs((double)y - target_of(problem, k));
        if ((fixed != EVERY_FREE && fixed != y) || !is_proven(problem, i, a, b, f))
            return none;
        errors.max = fmax(errors.max, e);
        errors.squares += e * e * problem->weight[k];
    }
    return !problem->monotone || is_monotone(problem, i, a, b) ? errors : none;
}

/* --- every value at every point --- */

struct optimum {
    double max;            /* the least largest error */
    double squares;        /* the least sum of squares */
    double squares_of_max; /* of the tables of least largest error */
};

static void relax_value(double *to, double candidate)
{
    *to = fmin(*to, candidate);
}

static struct optimum search(const struct problem *problem)
{
    double max[2][VALUES] = {{0}}, squares[2][VALUES] = {{0}}, second[2][VALUES] = {{0}};
    struct optimum least = {INFINITY, INFINITY, INFINITY};
    struct errors *all = malloc((size_t)problem->intervals * VALUES * VALUES * sizeof *all);
    ck_assert_ptr_nonnull(all);
    for (int i = 0; i < problem->intervals; i++) {
        double *const max_here = max[(i + 1) % 2], *const squares_here = squares[(i + 1) % 2];
        for (int b = 0; b < VALUES; b++) {
            max_here[b] = squares_here[b] = INFINITY;
            for (int a = 0; a < VALUES; a++) {
                const struct errors errors = errors_of(problem, i, problem->low + a, problem->low + b);
                all[((size_t)i * VALUES + (size_t)b) * VALUES + (size_t)a] = errors;
                relax_value(&max_here[b], fmax(max[i % 2][a], errors.max));
                relax_value(&squares_here[b], squares[i % 2][a] + errors.squares);
            }
        }
    }
    for (int b = 0; b < VALUES; b++) {
        relax_value(&least.max, max[problem->intervals % 2][b]);
        relax_value(&least.squares, squares[problem->intervals % 2][b]);
    }
    for (int i = 0; i < problem->intervals; i++)
        for (int b = 0; b < VALUES; b++) {
            double *const here = &second[(i + 1) % 2][b];
            *here = INFINITY;
            for (int a = 0; a < VALUES; a++) {
                const struct errors *errors = &all[((size_t)i * VALUES + (size_t)b) * VALUES + (size_t)a];
                if (errors->max <= least.max + 1e-9)
                    relax_value(here, second[i % 2][a] + errors->squares);
            }
        }
    for (int b = 0; b < VALUES; b++)
        relax_value(&least.squares_of_max, second[problem->intervals % 2][b]);
    free(all);
    return least;
}

/* --- small formats --- */

static pwl_form form_of(pwl_rounding rounding)
{
    return rounding == PWL_FLOOR || rounding == PWL_HALF_UP ? PWL_ANCHORED : PWL_BIASED;
}

/* False where the format is no table of points. */
static bool draw_problem(struct problem *problem, int number)
{
    char knots[32];
    struct spec *spec = &problem->tiny.spec;
    memset(problem, 0, sizeof *problem);
    tiny_draw_free(&problem->tiny, number, false);
    const int bits = spec->in.bits;
    problem->shift = (int)between(1, bits - 1);
    problem->width = 1 << problem->shift;
    problem->intervals = 1 << (bits - problem->shift);
    const bool is_signed = !one_in(4) ? spec->out.is_signed : !spec->out.is_signed;
    problem->low = is_signed ? -128 : 0;
    problem->high = problem->low + VALUES - 1;
    for (int k = 0; k < 1 << bits; k++)
        problem->weight[k] = 1;
    snprintf(knots, sizeof knots, "points:%d", problem->shift);
    tiny_set(&problem->tiny, "--knots", knots);
    tiny_set(&problem->tiny, "--offset-type", is_signed ? "s8" : "u8");
    spec->form = form_of(spec->rounding);
    if (!one_in(4) && tiny_is_exact(&problem->tiny)) {
        tiny_set(&problem->tiny, "--monotone", NULL);
        problem->monotone = true;
    }
    problem->toward_left = spec->rounding == PWL_FLOOR && one_in(2);
    if (problem->toward_left) {
        strcat(knots, ":toward_left");
        tiny_set(&problem->tiny, "--knots", knots);
        spec->form = PWL_BIASED;
    }
    if (spec->out.bits <= 8 && !problem->tiny.is_constant)
        return true;
    spec_free(spec);
    return false;
}

static struct {
    int tables, none, unproven, monotone, steep, weighted, second_missed, proofs, toward_left;
} counts;

static void check_values(const struct problem *problem, const struct table *table)
{
    const char *const text = problem->tiny.text;
    int64_t value = 0;
    ck_assert_int_eq(table->segment_count, problem->intervals);
    ck_assert_msg(table->form == (problem->toward_left ? PWL_BIASED : form_of(table->rounding)), "%s: form", text);
    for (int i = 0; i < table->segment_count; i++) {
        const struct segment *segment = &table->segments[i];
        const int64_t x = segment->start - table->in.zero_point;
        ck_assert_int_eq(segment->start, table->in.qmin + (int64_t)i * problem->width);
        ck_assert_int_eq(segment->n, problem->shift);
        /* The value at the start; a biased line has it in its sum there. */
        const int64_t sum = segment->q_b * x + segment->offset - addend_of(problem, segment->q_b);
        ck_assert_msg(table->form == PWL_ANCHORED || sum % problem->width == 0, "%s: bias of segment %d", text, i);
        const int64_t start = table->form == PWL_ANCHORED ? segment->offset : sum / problem->width;
        ck_assert_msg(i == 0 || start == value, "%s: segment %d starts at %lld, the one before ends at %lld", text, i,
                      (long long)start, (long long)value);
        value = start + segment->q_b;
        ck_assert_msg(value >= problem->low && value <= problem->high, "%s: value %lld", text, (long long)value);
    }
}

static void check_method(struct problem *problem, enum method method, const struct optimum *least)
{
    struct spec *spec = &problem->tiny.spec;
    struct table table;
    struct diag diag = {0};
    const char *const text = problem->tiny.text;
    spec->method = method;
    const int status = fit_as_asked(spec, &table, &diag);
    if (isinf(least->max)) {
        ck_assert_msg(status == EXIT_REQUIREMENT, "%s: exit %d (%s), there is no table", text, status, diag.text);
        counts.none++;
        return;
    }
    ck_assert_msg(status == EXIT_DONE, "%s: exit %d: %s", text, status, diag.text);
    const struct certificate *c = &table.certificate;
    double mass = 0;
    for (int k = 0; k < problem->intervals * problem->width; k++)
        mass += problem->weight[k];
    const double rms = sqrt(least->squares / mass), second = sqrt(least->squares_of_max / mass);
    check_values(problem, &table);
    counts.tables++;
    counts.unproven += c->optimal != 1;
    ck_assert_msg(!problem->monotone || c->monotone, "%s: not monotone", text);
    if (method == METHOD_MINIMAX) {
        ck_assert_msg(fabs(c->max_err_lsb - least->max) <= 1e-9 * (1 + least->max), "%s: max %.12g, least %.12g", text,
                      c->max_err_lsb, least->max);
        ck_assert_msg(c->rms_err_lsb >= second - 1e-9, "%s: second %.12g, least %.12g", text, c->rms_err_lsb, second);
        counts.second_missed += c->rms_err_lsb > second + 1e-9;
        if (!(c->rms_err_lsb <= second + 1e-9))
            printf("# second %.9g %.9g %s\n", c->rms_err_lsb, second, text);
    } else {
        ck_assert_msg(c->lower_bound_lsb <= rms + 1e-9, "%s: bound %.12g, least %.12g", text, c->lower_bound_lsb, rms);
        ck_assert_msg(c->optimal != 1 || fabs(c->rms_err_lsb - rms) <= 1e-9 * (1 + rms), "%s: rms %.12g, least %.12g",
                      text, c->rms_err_lsb, rms);
    }
    table_free(&table);
}

/* The search for squares finds the best table from a bad one, too: what it leaves out are no better tables. Otherwise
 * tables are improved by moves before, which would hide it. */
static void check_proof(const struct problem *problem, double least)
{
    const struct spec *const spec = &problem->tiny.spec;
    const char *const text = problem->tiny.text;
    struct points points;
    struct line_rules rules;
    struct ties ties;
    struct interpolation table;
    struct diag diag = {0};
    double cost, bound;
    line_rules_init(&rules, spec);
    ck_assert_int_eq(points_build(spec, &points, &diag), EXIT_DONE);
    ck_assert_int_eq(ties_init(&ties, spec, &points, &diag), EXIT_DONE);
    ck_assert_int_eq(interpolation_init(&table, &points, &rules, interpolation_values(spec, &rules), ties.inside,
                                        problem->shift, interpolation_addends(spec, problem->shift), &diag),
                     EXIT_DONE);
    if (!interpolation_any(&table, &diag)) {
        interpolation_least_squares(&table, INFINITY, INTERPOLATION_STEPS, &cost, &bound, &diag);
        ck_assert_msg(!diag.code && fabs(cost - least) <= 1e-9 * (1 + least) && bound == cost,
                      "%s: cost %.12g, bound %.12g, least %.12g", text, cost, bound, least);
        counts.proofs++;
    }
    interpolation_free(&table);
    ties_free(&ties);
    points_free(&points);
}

/* As many codes as have a weight, 0 among them. */
static void draw_weights(struct problem *problem, struct weights *weights)
{
    const size_t codes = (size_t)(problem->intervals * problem->width);
    *weights = (struct weights){.count = codes, .value = problem->weight};
    for (size_t k = 0; k < codes; k++)
        problem->weight[k] = draw(3) ? (double)draw(5) : 1;
    problem->weight[draw((int)codes)] = 3;
    problem->tiny.spec.weights = weights;
}

START_TEST(small_tables_are_the_best_of_all_values)
{
    struct problem problem;
    struct weights weights;
    for (int k = 0; k < CASES_PER_TEST / quick_step(20); k++) {
        if (!draw_problem(&problem, _i * CASES_PER_TEST + k))
            continue;
        struct optimum least = search(&problem);
        counts.monotone += problem.monotone;
        counts.toward_left += problem.toward_left;
        counts.steep += problem.tiny.spec.slope_bits < 8;
        check_method(&problem, METHOD_MINIMAX, &least);
        check_proof(&problem, least.squares);
        if (draw(3) == 0) {
            draw_weights(&problem, &weights);
            least = search(&problem);
            counts.weighted++;
        }
        check_method(&problem, METHOD_LSQ, &least);
        problem.tiny.spec.weights = NULL;
        spec_free(&problem.tiny.spec);
    }
}
END_TEST

START_TEST(every_kind_was_drawn)
{
    const int drawn = TESTS * CASES_PER_TEST / quick_step(20);
    printf("# %d tables, %d none, %d unproven, %d monotone, %d steep, %d weighted\n", counts.tables, counts.none,
           counts.unproven, counts.monotone, counts.steep, counts.weighted);
    ck_assert_int_ge(counts.tables, drawn);
    ck_assert_int_ge(counts.proofs, drawn / 2);
    ck_assert_int_gt(counts.none, 0);
    ck_assert_int_ge(counts.monotone, drawn / 40);
    ck_assert_int_ge(counts.steep, drawn / 4);
    ck_assert_int_ge(counts.weighted, drawn / 8);
    ck_assert_int_ge(counts.toward_left, drawn / 20);
    ck_assert_int_eq(counts.unproven, 0);
    ck_assert_int_eq(counts.second_missed, 0);
}
END_TEST

/* X is so large that slopes of more than 4 bits are not proven: as if they had no more. */
START_TEST(tables_are_provable)
{
    static const char *const roundings[] = {"half_away", "half_even"}, *const methods[] = {"minimax", "lsq"};
    char flags[FLAGS_SIZE];
    struct fitted far, near;
    snprintf(flags, sizeof flags,
             "relu --in s6:2^0:-286331153 --out s16:2^-4:-4581298448 --knots points:2 --rounding %s --method %s",
             roundings[_i % 2], methods[_i / 2]);
    fit_well(flags, &far);
    snprintf(flags, sizeof flags,
             "relu --in s6:2^0:-32 --out s16:2^-4:-512 --knots points:2 --rounding %s --method %s --slope-bits 4",
             roundings[_i % 2], methods[_i / 2]);
    fit_well(flags, &near);
    const struct certificate *a = &far.table.certificate, *b = &near.table.certificate;
    ck_assert_double_eq(a->max_err_lsb, b->max_err_lsb);
    ck_assert_double_eq_tol(a->rms_err_lsb, b->rms_err_lsb, 1e-9);
    ck_assert(a->max_err_lsb > 400 && b->optimal == 1);
    fitted_free(&far);
    fitted_free(&near);
}
END_TEST

/* The widest intervals whose best table holds a limit are those that --max-err takes. */
START_TEST(the_fewest_segments_are_taken)
{
    int found = 0;
    for (int number = 0; number < 2 * CASES_PER_TEST / quick_step(20); number++) {
        struct problem problem;
        struct diag diag = {0};
        struct table table;
        if (!draw_problem(&problem, number))
            continue;
        struct spec *const spec = &problem.tiny.spec;
        const int bits = spec->in.bits;
        const double limit = uniform(0.4, 1.4) * search(&problem).max;
        int widest = bits - 1;
        for (; widest > 0; widest--) {
            problem.shift = widest;
            problem.width = 1 << widest;
            problem.intervals = 1 << (bits - widest);
            if (search(&problem).max <= limit)
                break;
        }
        spec->constraints.point_shift = 0;
        if (isfinite(limit) && limit > 0) {
            spec->max_err = limit;
            const int status = fit_as_asked(spec, &table, &diag);
            ck_assert_msg(status == (widest ? EXIT_DONE : EXIT_REQUIREMENT), "%s: --max-err %.9g: exit %d (%s), for %d",
                          problem.tiny.text, limit, status, diag.text, widest);
            if (status == EXIT_DONE) {
                ck_assert_msg(table.segment_count == problem.intervals, "%s: --max-err %.9g: %d segments, needs %d",
                              problem.tiny.text, limit, table.segment_count, problem.intervals);
                ck_assert_int_eq(table.certificate.objective, OBJECTIVE_SEGMENTS);
                ck_assert_int_eq(table.certificate.optimal, 1);
                ck_assert_double_le(table.certificate.max_err_lsb, limit);
                table_free(&table);
                found++;
            }
        }
        spec_free(spec);
    }
    ck_assert_int_ge(found, CASES_PER_TEST / quick_step(20));
}
END_TEST

/* --- 16 bits --- */

enum { POINTS = 513, STEP = 128, CODES = 65536 };

/* T[i] + hu(f (T[i+1] - T[i]), 7), as interpolating hardware of 16 bits has it. */
static int64_t looked_up(const int64_t *value, int64_t code)
{
    const int64_t at = code + CODES / 2, i = at / STEP, f = at % STEP,
                  y = (value[i] * STEP + (value[i + 1] - value[i]) * f + STEP / 2);
    return y / STEP - (y % STEP < 0);
}

static double max_err_of(const struct reference_map *map, const int64_t *value, double *rms)
{
    double max = 0, squares = 0;
    for (int64_t code = map->qmin_x; code <= map->qmax_x; code++) {
        const double t = (double)reference_clip(map, reference_target(map, code)),
                     e = fabs((double)looked_up(value, code) - t);
        max = fmax(max, e);
        squares += e * e;
    }
    *rms = sqrt(squares / CODES);
    return max;
}

static void take_values(const struct table *table, int64_t *value)
{
    ck_assert_int_eq(table->segment_count, POINTS - 1);
    for (int i = 0; i < POINTS - 1; i++)
        value[i] = table->segments[i].offset;
    value[POINTS - 1] = value[POINTS - 2] + table->segments[POINTS - 2].q_b;
}

static const struct {
    const char *flags;
    double nearest; /* largest error of the nearest values, in LSB */
} known[] = {
    {"sigmoid --in s16:2^-12 --out s16:2^-15", 1.265},
    {"tanh --in s16:2^-12 --out s16:2^-15", 3.798},
    {"gelu --in s16:2^-12 --out s16:2^-12", 1.102},
    {"gelu --in s16:2^-11 --out s16:2^-12", 2.120},
};

START_TEST(values_are_better_than_the_nearest)
{
    static const char *const methods[] = {"minimax", "lsq"};
    int64_t value[POINTS];
    double rms, least_rms = 0, least_max = 0;
    for (int m = 0; m < 2; m++) {
        char flags[FLAGS_SIZE];
        struct fitted fitted;
        snprintf(flags, sizeof flags, "%s --knots points:7 --offset-type s16 --rounding half_up --method %s",
                 known[_i].flags, methods[m]);
        fit_well(flags, &fitted);
        const struct reference_map map = map_of(&fitted.spec);
        const struct certificate *c = &fitted.table.certificate;
        for (int i = 0; m == 0 && i < POINTS; i++)
            value[i] = llrintl(reference_clip(&map, reference_target(&map, map.qmin_x + (int64_t)i * STEP)));
        if (m == 0) {
            least_max = max_err_of(&map, value, &least_rms);
            printf("# %-40s nearest values: max %.5f, RMS %.5f\n", known[_i].flags, least_max, least_rms);
            ck_assert_msg(fabs(least_max - known[_i].nearest) < 1e-3, "nearest values: %.6f", least_max);
        }
        take_values(&fitted.table, value);
        const double max = max_err_of(&map, value, &rms);
        printf("# %-40s %-7s:       max %.5f, RMS %.5f\n", known[_i].flags, methods[m], max, rms);
        ck_assert_msg(fabs(max - c->max_err_lsb) < 1e-6 && fabs(rms - c->rms_err_lsb) < 1e-6,
                      "%s: %.9f, %.9f; says %.9f, %.9f", flags, max, rms, c->max_err_lsb, c->rms_err_lsb);
        ck_assert_int_eq(c->optimal, 1);
        ck_assert(m == 0 ? max < least_max : rms < least_rms);
        fitted_free(&fitted);
    }
}
END_TEST

/* The same text each time, and from the spec that it holds. */
START_TEST(the_text_of_a_table_makes_it_again)
{
    static const char *const asked[] = {
        "tanh --in s8:2^-5 --out s8:2^-7 --knots points --segments 32 --zero free",
        "sigmoid --in u9:2^-5:256 --out u8:2^-8 --knots points --max-err 1.5 --rounding half_even --zero free",
        "gelu --in s10:2^-6 --out s12:2^-8:5 --knots points:3 --max-err 3 --method lsq --rounding half_away --shift "
        "one "
        "--continuous 2 --monotone --zero free",
        "exp --in s6:2^-4 --out u16:2^-8 --knots points --fix 0:1 --zero free",
    };
    struct fitted first, again;
    fit_well(asked[_i], &first);
    fit_well(first.table.spec, &again);
    char *const text = json_of(&first.table), *const other = json_of(&again.table);
    ck_assert_str_eq(text, other);
    ck_assert_ptr_nonnull(strstr(first.table.spec, " --knots points"));
    ck_assert_ptr_null(strstr(first.table.spec, "--segments"));
    ck_assert_ptr_null(strstr(first.table.spec, "--shift"));
    free(text);
    free(other);
    fitted_free(&first);
    fitted_free(&again);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("interpolation");
    TCase *small = tcase_create("small"), *known_case = tcase_create("known");
    tcase_add_loop_test(small, small_tables_are_the_best_of_all_values, 0, TESTS);
    tcase_add_test(small, every_kind_was_drawn);
    tcase_add_loop_test(small, tables_are_provable, 0, 4);
    tcase_add_test(small, the_fewest_segments_are_taken);
    tcase_add_loop_test(known_case, values_are_better_than_the_nearest, 0, sizeof known / sizeof *known);
    tcase_add_loop_test(known_case, the_text_of_a_table_makes_it_again, 0, 4);
    suite_add_tcase(suite, small);
    suite_add_tcase(suite, known_case);
    return run_suite(suite);
}
