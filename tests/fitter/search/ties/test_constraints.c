/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Constraints against every table of tiny formats: the least error among those that keep to them is reached and proven,
 * and what is made keeps to them. */
#include "../../reference/fixture.h"
#include "../../reference/small.h"
#include "fit/problem.h"
#include "search/ties/joint_exact.h"
#include "search/ties/tied_table.h"

/* The search ends when an error smaller by 1e-9 LSB is out of reach; targets differ in their last bits. */
static const double tolerance = 1.01e-9;

/* What is drawn for a case, besides the format. */
struct demand {
    bool starts[BRUTE_CODES + 1];
    int direction[BRUTE_CODES];
    int index_bits; /* of --knots pow2:B; 0: B is not given */
};

static void starts_pow2(struct small *small, struct demand *demand, int bits)
{
    const int64_t step = (int64_t)1 << (small->spec.in.bits - bits);
    for (int k = 0; k < small->problem.count; k++)
        demand->starts[k] = (small->problem.qmin_x + k) % step == 0;
}

/* Equal widths, or as near as codes allow. */
static void starts_uniform(struct small *small, struct demand *demand, int segments)
{
    memset(demand->starts, 0, sizeof demand->starts);
    for (int m = 0; m < segments; m++)
        demand->starts[small->problem.count * m / segments] = true;
}

static bool draw_knots(struct small *small, struct demand *demand)
{
    char value[16] = "pow2";
    if (draw(3) == 0) {
        small_set(small, "--knots", "uniform");
        small->problem.every_start = true;
    } else if (draw(2)) {
        small_set(small, "--knots", value);
    } else {
        demand->index_bits = (int)between(1, small->spec.in.bits);
        snprintf(value, sizeof value, "pow2:%d", demand->index_bits);
        small_set(small, "--knots", value);
    }
    small->problem.starts = demand->starts;
    return true;
}

/* Where segments of a table of so many may start. */
static void allow_starts(struct small *small, struct demand *demand, int segments)
{
    int bits = demand->index_bits;
    if (small->problem.every_start) {
        starts_uniform(small, demand, segments);
    } else if (small->problem.starts) {
        while (!demand->index_bits && 1 << bits < segments)
            bits++;
        bits += demand->index_bits ? 0 : 2;
        starts_pow2(small, demand, bits < small->spec.in.bits ? bits : small->spec.in.bits);
    }
}

/* False where it is up to rounding whether f rises. */
static bool take_directions(const struct small *small, struct demand *demand)
{
    for (int k = 1; k < small->problem.count; k++) {
        const long double step = small->whole[k] - small->whole[k - 1];
        demand->direction[k] = (step > 0) - (step < 0);
        if (step != 0 && fabsl(step) < 1e-9L)
            return false;
    }
    return small_is_exact(small) || small->spec.function.info;
}

static bool draw_monotone(struct small *small, struct demand *demand)
{
    if (!take_directions(small, demand))
        return false;
    small_set(small, "--monotone", NULL);
    small->problem.direction = demand->direction;
    return true;
}

static bool draw_continuous(struct small *small)
{
    static const char *const steps[] = {"0", "1", "2"};
    small->problem.continuous = true;
    small->problem.max_step = (int)draw(3);
    small_set(small, "--continuous", steps[small->problem.max_step]);
    return true;
}

static bool draw_one(struct small *small, struct demand *demand, int which)
{
    static const char *const terms[] = {"1", "2"};
    switch (which) {
    case 0:
        small->problem.one_shift = true;
        small_set(small, "--shift", "one");
        return true;
    case 1:
        small->problem.slope_terms = (int)between(1, 2);
        small_set(small, "--slope-terms", terms[small->problem.slope_terms - 1]);
        return true;
    case 2:
        return draw_knots(small, demand);
    case 3:
        return draw_monotone(small, demand);
    default:
        return draw_continuous(small);
    }
}

/* Of the constraints from first to last one at least, each of the others in one case of three. */
static bool draw_demand(struct small *small, struct demand *demand, int first, int last)
{
    const int chosen = (int)between(first, last);
    memset(demand, 0, sizeof *demand);
    for (int which = 0; which <= last; which++)
        if ((which == chosen || draw(3) == 0) && !draw_one(small, demand, which))
            return false;
    return true;
}

struct measured {
    double error, squares;
};

/* Whether the table keeps to what was asked for, and its error, by the definitions alone. */
static struct measured check_table(const struct small *small, const struct demand *demand, const struct table *table)
{
    const struct brute_problem *problem = &small->problem;
    struct reference_table reference;
    struct measured measured = {0, 0};
    reference_table_init(&reference, table);
    for (int i = 0; i < table->segment_count; i++) {
        const struct segment *segment = &table->segments[i];
        const int k = (int)(segment->start - problem->qmin_x);
        ck_assert_msg(!problem->one_shift || segment->n == table->segments[0].n, "%s: two shifts", small->text);
        const uint64_t q = (uint64_t)llabs(segment->q_b);
        ck_assert_msg(!problem->slope_terms || __builtin_popcountll(q ^ (3 * q)) <= problem->slope_terms,
                      "%s: slope %" PRId64, small->text, segment->q_b);
        ck_assert_msg(i == 0 || !problem->starts || demand->starts[k], "%s: a segment starts at code %d", small->text,
                      k);
        if (i == 0 || !problem->continuous)
            continue;
        struct ref_table before = reference.table; /* whose last segment goes on */
        before.count = i;
        const int64_t step = ref_eval(&reference.table, segment->start).q_y - ref_eval(&before, segment->start).q_y;
        ck_assert_msg(llabs(step) <= problem->max_step, "%s: a step of %" PRId64 " at code %d", small->text, step, k);
    }
    int64_t last = 0;
    for (int k = 0; k < problem->count; k++) {
        const struct ref_result result = ref_eval(&reference.table, problem->qmin_x + k);
        ck_assert_msg(result.leaves == REF_FITS, "%s: code %d leaves the accumulator", small->text, k);
        ck_assert_msg(small->fixed[k] == BRUTE_FREE || result.q_y == small->fixed[k],
                      "%s: code %d is not the value it was fixed to", small->text, k);
        ck_assert_msg(k == 0 || !problem->direction || problem->direction[k] * (result.q_y - last) >= 0,
                      "%s: a step against f at code %d", small->text, k);
        last = result.q_y;
        const double error = fabs((double)result.q_y - small->target[k]);
        measured.error = fmax(measured.error, error);
        measured.squares += error * error;
    }
    free(reference.memory);
    return measured;
}

static bool is_tied(const struct small *small)
{
    return small->problem.direction || small->problem.continuous;
}

/* Of ties there is a proof for the largest error alone. */
static bool tolerates_no_proof(const struct small *small)
{
    return small->problem.squares && is_tied(small);
}

static void check_proof(const struct small *small, int segments, struct measured measured, const struct table *table)
{
    const struct certificate *certificate = &table->certificate;
    const double least = small->least[segments];
    const double reached = small->problem.squares ? measured.squares : measured.error;
    const double bound = certificate->lower_bound_lsb;
    /* Sums of at most 64 squares, of errors below 2^6, are taken in other orders. */
    const double proven = small->problem.squares ? bound * bound * small->problem.count : bound,
                 precision = 1e-9 + 1e-11 * least;
    ck_assert_msg(table->segment_count <= segments, "%s: %d segments, must be at most %d", small->text,
                  table->segment_count, segments);
    ck_assert_msg(fabs(measured.error - certificate->max_err_lsb) <= 1e-11, "%s: certified %.17g, is %.17g",
                  small->text, certificate->max_err_lsb, measured.error);
    ck_assert_msg(reached >= least - precision, "%s: %d segments: reaches %.17g, the least is %.17g", small->text,
                  segments, reached, least);
    ck_assert_msg(!certificate->has_lower_bound || proven <= least + precision,
                  "%s: %d segments: lower bound %.17g, the least is %.17g", small->text, segments, proven, least);
    if (certificate->optimal != 1 && tolerates_no_proof(small))
        return;
    ck_assert_msg(certificate->optimal == 1, "%s: %d segments: not claimed to be optimal", small->text, segments);
    ck_assert_msg(reached <= least + tolerance + precision, "%s: %d segments: reaches %.17g, the least is %.17g",
                  small->text, segments, reached, least);
    ck_assert_msg(proven >= least - tolerance - precision, "%s: %d segments: lower bound %.17g, the least is %.17g",
                  small->text, segments, proven, least);
}

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
static void check_found(const struct small *small, const struct demand *demand, const struct tie_exact *exact,
                        const struct points *points)
{
    struct segment segments[BRUTE_CODES];
    struct table table = table_of(&small->spec);
    table.segments = segments;
    table.segment_count = exact->segments;
    for (int m = 0; m < exact->segments; m++)
        segments[m] = line_segment(&exact->lines[m], points->cell[exact->knots[m]]);
    table.certificate.max_err_lsb = exact->max_err;
    const double error = check_table(small, demand, &table).error;
    ck_assert_msg(fabs(error - exact->max_err) <= 1e-11, "%s: %.17g claimed, the table found is off by %.17g",
                  small->text, exact->max_err, error);
}

/* The complete search of most tables is left little to find by those before it: alone, it finds the least error of each
 * number of segments. */
static void check_complete_search(const struct small *small, const struct demand *demand)
{
    struct points points;
    struct line_rules rules;
    struct ties ties;
    struct diag diag = {0};
    int knots[BRUTE_CODES + 1];
    struct line lines[BRUTE_CODES];
    if (!is_tied(small) || small->problem.starts)
        return;
    line_rules_init(&rules, &small->spec);
    ck_assert_int_eq(points_build(&small->spec, &points, &diag), EXIT_DONE);
    ck_assert_int_eq(ties_init(&ties, &small->spec, &points, &diag), EXIT_DONE);
    for (int segments = 1; segments <= small->problem.count; segments++) {
        struct tie_exact exact = {.knots = knots, .lines = lines};
        const double least = small->least[segments];
        ck_assert_int_eq(tie_least_error(&ties, &points, &rules, segments, 0, INFINITY, &exact, &diag), EXIT_DONE);
        ck_assert_msg(exact.complete && exact.found == isfinite(least), "%s: %d segments: %s, the least is %g",
                      small->text, segments,
                      exact.found      ? "found"
                      : exact.complete ? "none"
                                       : "gave up",
                      least);
        if (!exact.found)
            continue;
        ck_assert_msg(exact.segments <= segments && fabs(exact.max_err - least) <= 1e-9 + 1e-11 * least,
                      "%s: the complete search reaches %.17g with %d segments, the least is %.17g with %d", small->text,
                      exact.max_err, exact.segments, least, segments);
        check_found(small, demand, &exact, &points);
    }
    searched_alone++;
    ties_free(&ties);
    points_free(&points);
}

/* The least error of so many segments, proven. */
static void check_segments(struct small *small, struct demand *demand, int segments)
{
    struct table table;
    struct diag diag;
    allow_starts(small, demand, segments);
    brute_force(&small->problem, small->least);
    const double least = small->least[segments];
    small->spec.segments = segments;
    const int status = fit(&small->spec, &table, &diag);
    checked++;
    if (!small->problem.squares)
        check_complete_search(small, demand);
    if (!isfinite(least) || (status == EXIT_REQUIREMENT && tolerates_no_proof(small))) {
        ck_assert_msg(status == EXIT_REQUIREMENT, "%s: %d segments: exit %d, must be %d", small->text, segments, status,
                      EXIT_REQUIREMENT);
        refused++;
        return;
    }
    ck_assert_msg(status == EXIT_DONE, "%s: %d segments: exit %d, the least is %g: %s", small->text, segments, status,
                  least, diag.text);
    check_proof(small, segments, check_table(small, demand, &table), &table);
    table_free(&table);
}

/* The fewest segments of a table within max_err, 0 when there is none, and small->least on its starts. Tied segments
 * lie on the grid of their number, others on any: the finest has the fewest. */
static int find_fewest(struct small *small, struct demand *demand, double max_err)
{
    const struct brute_problem *problem = &small->problem;
    const bool by_number = problem->every_start || is_tied(small), one_grid = !problem->starts || demand->index_bits;
    const int grids = one_grid ? 1 : by_number ? problem->count : small->spec.in.bits;
    for (int grid = one_grid || by_number ? 1 : grids; grid <= grids; grid++) {
        if (one_grid || by_number)
            allow_starts(small, demand, grid);
        else
            starts_pow2(small, demand, grid);
        brute_force(problem, small->least);
        for (int m = !one_grid && by_number ? grid : 1; m <= (!one_grid && by_number ? grid : problem->count); m++)
            if (small->least[m] <= max_err)
                return m;
    }
    return 0;
}

/* The fewest segments for an error. */
static void check_max_err(struct small *small, struct demand *demand)
{
    struct table table;
    struct diag diag;
    const double max_err = uniform(0.3, 4) + (draw(2) ? 0 : 0.1 * (double)small->spec.out.qmax);
    const int fewest = find_fewest(small, demand, max_err);
    small->spec.segments = 0;
    small->spec.max_err = max_err;
    const int status = fit(&small->spec, &table, &diag);
    if (fewest == 0) {
        ck_assert_msg(status == EXIT_REQUIREMENT, "%s: --max-err %.17g: exit %d, must be %d", small->text, max_err,
                      status, EXIT_REQUIREMENT);
        refused++;
        return;
    }
    ck_assert_msg(status == EXIT_DONE, "%s: --max-err %.17g: exit %d: %s", small->text, max_err, status, diag.text);
    ck_assert_msg(table.segment_count == fewest, "%s: --max-err %.17g: %d segments, the fewest are %d", small->text,
                  max_err, table.segment_count, fewest);
    const struct measured measured = check_table(small, demand, &table);
    if (table.certificate.objective == OBJECTIVE_SEGMENTS)
        ck_assert_msg(measured.error <= max_err && (table.certificate.optimal == 1 || tolerates_no_proof(small)),
                      "%s: --max-err %.17g: reaches %.17g, not claimed to have the fewest segments", small->text,
                      max_err, measured.error);
    else
        check_proof(small, fewest, measured, &table);
    table_free(&table);
}

static void check_case(int number, int first, int last)
{
    struct small small;
    struct demand demand;
    small_draw(&small, number, true);
    if (!small.constant && draw_demand(&small, &demand, first, last)) {
        small.problem.squares = draw(3) == 0;
        small.spec.method = small.problem.squares ? METHOD_LSQ : METHOD_MINIMAX;
        check_segments(&small, &demand, (int)between(1, 4));
        if (!small.problem.squares)
            check_max_err(&small, &demand);
    }
    spec_free(&small.spec);
}

enum { CASES_PER_TEST = 60, FREE_TESTS = 4, TIED_TESTS = 3 };

START_TEST(constrained_lines_have_the_least_error)
{
    for (int k = 0; k < CASES_PER_TEST / quick_step(5); k++) /* twelve have every form and rounding */
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
