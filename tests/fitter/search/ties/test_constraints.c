/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Constraints against every table of tiny formats: the least error among those that keep to them is reached and proven,
 * and what is made keeps to them. */
#include "../../reference/draw.h"
#include "../../reference/fixture.h"
#include "../../reference/tiny_spec.h"
#include "fit/problem.h"
#include "search/ties/joint_exact.h"
#include "search/ties/tied_table.h"

/* The search ends when an error smaller by 1e-9 LSB is out of reach; targets differ in their last bits. */
static const double tolerance = 1.01e-9;

/* A spec, and the least errors of its tables where knots may lie for some number of segments. */
struct small {
    struct tiny tiny;
    struct every_spec every;
    struct every_found best;
};

/* What tables of so many segments are asked to keep to. */
static void search_all(struct small *small, int segments)
{
    small->every = tiny_every(&small->tiny, segments);
    small->every.segments = small->every.count;
    small->best = every_table(&small->every, INFINITY);
}

static void draw_knots(struct tiny *tiny)
{
    char value[16];
    snprintf(value, sizeof value, "pow2:%d", (int)between(1, tiny->spec.in.bits));
    tiny_set(tiny, "--knots", one_in(3) ? "uniform" : one_in(2) ? "pow2" : value);
}

/* False where it is up to rounding whether f rises. */
static bool draw_one(struct tiny *tiny, int which)
{
    static const char *const numbers[] = {"0", "1", "2"};
    switch (which) {
    case 0:
        tiny_set(tiny, "--shift", "one");
        return true;
    case 1:
        tiny_set(tiny, "--slope-terms", numbers[between(1, 2)]);
        return true;
    case 2:
        draw_knots(tiny);
        return true;
    case 3:
        tiny_set(tiny, "--monotone", NULL);
        return !tiny->is_level;
    default:
        tiny_set(tiny, "--continuous", numbers[draw(3)]);
        return true;
    }
}

/* Of the constraints from first to last one at least, each of the others in one case of three. */
static bool draw_demand(struct tiny *tiny, int first, int last)
{
    const int chosen = (int)between(first, last);
    for (int which = 0; which <= last; which++)
        if ((which == chosen || one_in(3)) && !draw_one(tiny, which))
            return false;
    return true;
}

/* The errors of a table that keeps to what was asked for. */
static struct tiny_error check_table(const struct small *small, const struct table *table)
{
    struct reference_table reference;
    reference_table_init(&reference, table);
    ck_assert_msg(tiny_keeps_to_fields(&small->every, table), "%s: a field or a start that is not allowed",
                  small->tiny.text);
    ck_assert_msg(tiny_keeps_ties(&small->every, &reference), "%s: a step that is not allowed", small->tiny.text);
    const struct tiny_error error = tiny_error(&small->every, &reference, small->tiny.text);
    free(reference.memory);
    return error;
}

static bool is_tied(const struct small *small)
{
    return small->every.monotone || small->every.is_continuous;
}

/* Of ties there is a proof for the largest error alone. */
static bool tolerates_no_proof(const struct small *small)
{
    return small->every.squares && is_tied(small);
}

static void check_proof(const struct small *small, int segments, struct tiny_error measured, const struct table *table)
{
    const struct certificate *certificate = &table->certificate;
    const double least = small->best.least_of[segments];
    const double reached = small->every.squares ? measured.squares : measured.max;
    const double bound = certificate->lower_bound_lsb;
    /* Sums of at most 64 squares, of errors below 2^6, are taken in other orders. */
    const double proven = small->every.squares ? bound * bound * small->every.count : bound,
                 precision = 1e-9 + 1e-11 * least;
    ck_assert_msg(table->segment_count <= segments, "%s: %d segments, must be at most %d", small->tiny.text,
                  table->segment_count, segments);
    ck_assert_msg(fabs(measured.max - certificate->max_err_lsb) <= 1e-11, "%s: certified %.17g, is %.17g",
                  small->tiny.text, certificate->max_err_lsb, measured.max);
    ck_assert_msg(reached >= least - precision, "%s: %d segments: reaches %.17g, the least is %.17g", small->tiny.text,
                  segments, reached, least);
    ck_assert_msg(!certificate->has_lower_bound || proven <= least + precision,
                  "%s: %d segments: lower bound %.17g, the least is %.17g", small->tiny.text, segments, proven, least);
    if (certificate->optimal != 1 && tolerates_no_proof(small))
        return;
    ck_assert_msg(certificate->optimal == 1, "%s: %d segments: not claimed to be optimal", small->tiny.text, segments);
    ck_assert_msg(reached <= least + tolerance + precision, "%s: %d segments: reaches %.17g, the least is %.17g",
                  small->tiny.text, segments, reached, least);
    ck_assert_msg(proven >= least - tolerance - precision, "%s: %d segments: lower bound %.17g, the least is %.17g",
                  small->tiny.text, segments, proven, least);
}

enum { MOST_CODES = 16 };

static int checked, refused, searched_alone;

/* A table of a spec, without segments; of a half the folded one. */
static struct table table_of(const struct spec *spec)
{
    struct table table = {.form = spec->form,
                          .rounding = spec->rounding,
                          .storage = storage_for(spec->in.bits, spec->out.bits),
                          .in = spec->in,
                          .out = spec->out,
                          .outside = spec->outside,
                          .has_fold = spec->is_half,
                          .fold_sum = spec->fold_sum};
    for (int side = 0; spec->is_half && side < 2; side++) {
        struct tensor *const type = side ? &table.out : &table.in;
        type->qmin = code_min(type->bits, type->is_signed);
        type->qmax = code_max(type->bits, type->is_signed);
    }
    return table;
}

/* What the table found gives, segment by segment as it was asked for. */
static void check_found(const struct small *small, const struct tie_exact *exact, const struct points *points)
{
    struct segment segments[MOST_CODES];
    struct table table = table_of(&small->tiny.spec);
    table.segments = segments;
    table.segment_count = exact->segments;
    for (int m = 0; m < exact->segments; m++)
        segments[m] = line_segment(&exact->lines[m], points->cell[exact->knots[m]]);
    table.certificate.max_err_lsb = exact->max_err;
    const double error = check_table(small, &table).max;
    ck_assert_msg(fabs(error - exact->max_err) <= 1e-11, "%s: %.17g claimed, the table found is off by %.17g",
                  small->tiny.text, exact->max_err, error);
}

/* The complete search of most tables is left little to find by those before it: alone, it finds the least error of each
 * number of segments. */
static void check_complete_search(const struct small *small)
{
    struct points points;
    struct line_rules rules;
    struct ties ties;
    struct diag diag = {0};
    int knots[MOST_CODES + 1];
    struct line lines[MOST_CODES];
    if (!is_tied(small) || small->tiny.spec.constraints.knots != KNOTS_FREE)
        return;
    line_rules_init(&rules, &small->tiny.spec);
    ck_assert_int_eq(points_build(&small->tiny.spec, &points, &diag), EXIT_DONE);
    ck_assert_int_eq(ties_init(&ties, &small->tiny.spec, &points, &diag), EXIT_DONE);
    for (int segments = 1; segments <= small->every.count; segments++) {
        struct tie_exact exact = {.knots = knots, .lines = lines};
        const double least = small->best.least_of[segments];
        ck_assert_int_eq(tie_least_error(&ties, &points, &rules, segments, 0, INFINITY, &exact, &diag), EXIT_DONE);
        ck_assert_msg(exact.complete && exact.found == isfinite(least), "%s: %d segments: %s, the least is %g",
                      small->tiny.text, segments,
                      exact.found      ? "found"
                      : exact.complete ? "none"
                                       : "gave up",
                      least);
        if (!exact.found)
            continue;
        ck_assert_msg(exact.segments <= segments && fabs(exact.max_err - least) <= 1e-9 + 1e-11 * least,
                      "%s: the complete search reaches %.17g with %d segments, the least is %.17g with %d",
                      small->tiny.text, exact.max_err, exact.segments, least, segments);
        check_found(small, &exact, &points);
    }
    searched_alone++;
    ties_free(&ties);
    points_free(&points);
}

/* The least error of so many segments, proven. */
static void check_segments(struct small *small, int segments)
{
    struct table table;
    struct diag diag;
    small->tiny.spec.segments = segments;
    search_all(small, segments);
    const double least = small->best.least_of[segments];
    const int status = fit(&small->tiny.spec, &table, &diag);
    checked++;
    if (!small->every.squares)
        check_complete_search(small);
    if (!isfinite(least) || (status == EXIT_REQUIREMENT && tolerates_no_proof(small))) {
        ck_assert_msg(status == EXIT_REQUIREMENT, "%s: %d segments: exit %d, must be %d", small->tiny.text, segments,
                      status, EXIT_REQUIREMENT);
        refused++;
        return;
    }
    ck_assert_msg(status == EXIT_DONE, "%s: %d segments: exit %d, the least is %g: %s", small->tiny.text, segments,
                  status, least, diag.text);
    check_proof(small, segments, check_table(small, &table), &table);
    table_free(&table);
}

/* The fewest segments of a table within max_err, 0 when there is none, and what such tables keep to. Uniform knots and
 * those of tied segments are of their number. */
static int find_fewest(struct small *small, double max_err)
{
    const struct constraints *constraints = &small->tiny.spec.constraints;
    const bool by_number = constraints->knots == KNOTS_UNIFORM ||
                           (constraints->knots == KNOTS_POW2 && !constraints->index_bits && is_tied(small));
    const int count = small->every.count;
    for (int m = 1; m <= count; m++) {
        if (by_number || m == 1)
            search_all(small, m);
        if (small->best.least_of[m] <= max_err)
            return m;
    }
    return 0;
}

/* Whether equal segments whose width is a power of two are the fewest such ones for an error. */
static bool is_fewest_of_powers(struct small *small, const struct table *table, double max_err)
{
    const int count = table->segment_count;
    const int64_t width = count > 1 ? table->segments[1].start - table->segments[0].start : 0;
    if (small->tiny.spec.constraints.knots != KNOTS_UNIFORM || width < 1 || (width & (width - 1)) != 0)
        return false;
    for (int m = 1; m < count; m++) {
        const int64_t wider = width * count / m;
        if (wider * m != width * count || (wider & (wider - 1)) != 0)
            continue;
        search_all(small, m);
        if (small->best.least_of[m] <= max_err)
            return false;
    }
    return true;
}

/* The fewest segments for an error. */
static void check_max_err(struct small *small)
{
    struct table table;
    struct diag diag;
    const double max_err = uniform(0.3, 4) + (one_in(2) ? 0 : 0.1 * (double)small->tiny.spec.out.qmax);
    small->tiny.spec.segments = 0;
    small->tiny.spec.max_err = max_err;
    const int fewest = find_fewest(small, max_err);
    const int status = fit(&small->tiny.spec, &table, &diag);
    if (fewest == 0) {
        ck_assert_msg(status == EXIT_REQUIREMENT, "%s: --max-err %.17g: exit %d, must be %d", small->tiny.text, max_err,
                      status, EXIT_REQUIREMENT);
        refused++;
        return;
    }
    ck_assert_msg(status == EXIT_DONE, "%s: --max-err %.17g: exit %d: %s", small->tiny.text, max_err, status,
                  diag.text);
    const bool of_powers = table.segment_count != fewest && is_fewest_of_powers(small, &table, max_err);
    ck_assert_msg(table.segment_count == fewest || of_powers, "%s: --max-err %.17g: %d segments, the fewest are %d",
                  small->tiny.text, max_err, table.segment_count, fewest);
    if (of_powers)
        search_all(small, table.segment_count);
    const struct tiny_error measured = check_table(small, &table);
    if (table.certificate.objective == OBJECTIVE_SEGMENTS)
        ck_assert_msg(measured.max <= max_err && (table.certificate.optimal == 1 || tolerates_no_proof(small)),
                      "%s: --max-err %.17g: reaches %.17g, not claimed to have the fewest segments", small->tiny.text,
                      max_err, measured.max);
    else
        check_proof(small, table.segment_count, measured, &table);
    table_free(&table);
}

static void check_case(int number, int first, int last)
{
    struct small small;
    tiny_draw_free(&small.tiny, number, true);
    if (!small.tiny.is_constant && draw_demand(&small.tiny, first, last)) {
        const bool squares = one_in(3);
        small.tiny.spec.method = squares ? METHOD_LSQ : METHOD_MINIMAX;
        check_segments(&small, (int)between(1, 4));
        if (!squares)
            check_max_err(&small);
    }
    spec_free(&small.tiny.spec);
}

enum { CASES_PER_TEST = 60, FREE_TESTS = 4, TIED_TESTS = 3 };

START_TEST(constrained_lines_have_the_least_error)
{
    for (int k = 0; k < CASES_PER_TEST / quick_step(2); k++) /* twelve have every form and rounding */
        check_case(1100000 + _i * CASES_PER_TEST + k, 0, 2);
}
END_TEST

START_TEST(tied_segments_have_the_least_error)
{
    for (int k = 0; k < CASES_PER_TEST / quick_step(5); k++) /* twelve have every form and rounding */
        check_case(1200000 + _i * CASES_PER_TEST + k, 3, 4);
}
END_TEST

START_TEST(most_cases_are_checked)
{
    ck_assert_int_ge(checked, (FREE_TESTS + TIED_TESTS) * CASES_PER_TEST / quick_step(5) * 2 / 3);
    ck_assert_int_ge(refused, 10 / quick_step(5));
    ck_assert_int_ge(searched_alone, 50 / quick_step(5));
}
END_TEST

/* A search that may look at no more points ends with a table that keeps the ties; one that goes on finds a better one.
 */
START_TEST(a_search_that_is_spent_keeps_the_ties)
{
    enum { SEGMENTS = 6 };
    struct spec spec;
    struct points points;
    struct line_rules rules;
    struct ties ties;
    struct diag diag = {0};
    double error[2];
    ck_assert_int_eq(
        spec_from("sigmoid --in s12:2^-8 --out s12:2^-11 --method minimax --monotone --continuous 1", &spec, &diag),
        EXIT_DONE);
    ck_assert_int_eq(points_build(&spec, &points, &diag), EXIT_DONE);
    line_rules_init(&rules, &spec);
    for (int spent = 0; spent < 2; spent++) {
        int knots[SEGMENTS + 1];
        struct line lines[SEGMENTS];
        struct tied tied = {.segments = SEGMENTS, .most = SEGMENTS, .knots = knots, .lines = lines};
        ck_assert_int_eq(ties_init(&ties, &spec, &points, &diag), EXIT_DONE);
        if (spent)
            points.effort->left = 0;
        for (int m = 0; m <= SEGMENTS; m++)
            knots[m] = points.count * m / SEGMENTS;
        for (int m = 0; m < SEGMENTS; m++)
            ck_assert(line_fit(&rules, &points, knots[m], knots[m + 1], LINE_UNLIMITED, LINE_QUICK, &lines[m]));
        ck_assert_int_eq(tie_segments(&ties, &points, &rules, 0, &tied, &diag), EXIT_DONE);
        ck_assert(effort_spent(points.effort) == spent);
        error[spent] = 0;
        for (int m = 0, k = 0, before = 0; m < tied.segments; m++)
            for (; k < knots[m + 1]; k++) {
                const int output = (int)line_output(&rules, &points, knots[m], k, &lines[m]);
                ck_assert_msg(k == 0 || output >= before, "steps down at point %d", k);
                before = output;
                error[spent] = fmax(error[spent], points_error(&points, k, output));
                if (k + 1 == knots[m + 1] && m + 1 < tied.segments) {
                    const int64_t next = line_code(&rules, &lines[m], rules.zp_x, points.cell[k + 1]),
                                  first = line_output(&rules, &points, knots[m + 1], k + 1, &lines[m + 1]);
                    ck_assert_msg(llabs(next - first) <= 1, "a gap at point %d", k + 1);
                }
            }
        ties_free(&ties);
    }
    ck_assert_msg(error[0] < error[1], "%g, and %g when it is spent", error[0], error[1]);
    points_free(&points);
    spec_free(&spec);
}
END_TEST

/* What a note asks is searched with a share of the table's effort, which no single search uses up. */
START_TEST(a_complete_search_takes_its_share)
{
    enum { SEGMENTS = 6 };
    struct spec spec;
    struct points points;
    struct line_rules rules;
    struct ties ties;
    struct diag diag = {0};
    int knots[SEGMENTS + 1];
    struct line lines[SEGMENTS];
    struct tie_exact exact = {.knots = knots, .lines = lines};
    ck_assert_int_eq(spec_from("softsign --in u12:2^-8:2048 --out s8:0.00859375:-9 --form biased --method minimax "
                               "--slope-bits 4 --continuous 2",
                               &spec, &diag),
                     EXIT_DONE);
    spec.effort = 0.0625;
    ck_assert_int_eq(points_build(&spec, &points, &diag), EXIT_DONE);
    line_rules_init(&rules, &spec);
    ck_assert_int_eq(ties_init(&ties, &spec, &points, &diag), EXIT_DONE);
    ck_assert_int_eq(tie_least_error(&ties, &points, &rules, SEGMENTS, 3.75, 3.77, &exact, &diag), EXIT_DONE);
    ck_assert(!exact.complete && points.effort->left < points.effort->given);
    ck_assert_msg(!effort_spent(points.effort), "%lld points of %lld are left", (long long)points.effort->left,
                  (long long)points.effort->given);
    ties_free(&ties);
    points_free(&points);
    spec_free(&spec);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("constraints");
    TCase *tcase = tcase_create("constraints");
    tcase_add_loop_test(tcase, constrained_lines_have_the_least_error, 0, FREE_TESTS);
    tcase_add_loop_test(tcase, tied_segments_have_the_least_error, 0, TIED_TESTS);
    tcase_add_test(tcase, a_search_that_is_spent_keeps_the_ties);
    tcase_add_test(tcase, a_complete_search_takes_its_share);
    tcase_add_test(tcase, most_cases_are_checked);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
