/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What certificates claim, of tiny specs with every method and constraint, against a search of all tables that shares
 * no code with the fitter: where a table is said to be optimal no other is better, no bound is above the least error,
 * and where no table is found there is none. `test_claims FIRST LAST [points | steps | offsets | shifts | multiples]`
 * checks the specs of these numbers alone, of values at points, of steps, with --offset-type, --shift-bits or
 * --shift-multiple. */
#include "../reference/every_points.h"
#include "../reference/every_steps.h"
#include "../reference/fixture.h"
#include "../reference/tiny_spec.h"
#include "fit/problem.h"
#include "search/ties/joint_exact.h"

enum { TESTS = 20, SPECS_PER_TEST = 1000 };

/* Targets differ in their last bits, and the search for the largest error ends when one smaller by 1e-9 is out of
 * reach. */
static double hair(double error)
{
    return 1.01e-9 + 1e-9 * error;
}

struct counts {
    int drawn, unusable, without_table, claimed, bounded, of_form[3][4], one_shift, terms, knots, monotone, continuous,
        fixed, weighted, folded, fewest, powers, offset_types, shifts, multiples,
        unclaimed; /* of tables for which a search is complete but for seldom ones */
};

static struct counts counts;

/* A table of the other search: its segments as text. It has the error that this search says. */
struct other {
    struct every_found found;
    char text[EVERY_CODES * 48];
};

static struct other search_all(const struct tiny *tiny, const struct every_spec *every, double limit)
{
    struct other other = {.found = every->shift        ? every_points(every, limit)
                                   : every->step_shift ? every_steps(every, limit)
                                                       : every_table(every, limit)};
    struct segment segments[EVERY_CODES];
    struct table table = {.form = tiny->spec.form,
                          .rounding = tiny->spec.rounding,
                          .in = tiny->spec.in,
                          .out = tiny->spec.out,
                          .has_fold = tiny->spec.fold,
                          .fold_sum = every->sum,
                          .segments = segments};
    struct reference_table reference;
    size_t length = 0;
    table.segment_count = other.found.segments;
    for (int m = 0; m < other.found.segments; m++) {
        const struct every_segment *s = &other.found.segment[m];
        segments[m] = (struct segment){.start = s->start, .q_b = s->q_b, .n = (int)s->n, .offset = s->offset};
        length += (size_t)snprintf(other.text + length, sizeof other.text - length,
                                   " (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ")", s->start, s->q_b, s->n,
                                   s->offset);
    }
    if (!other.found.found)
        return other;
    reference_table_init(&reference, &table);
    const struct tiny_error error = tiny_error(every, &reference, tiny->text);
    const double reached = every->squares ? error.squares : error.max;
    ck_assert_msg(fabs(reached - other.found.least) <= hair(reached) && tiny_keeps_ties(every, &reference),
                  "%s: the other search says %.17g, and it is %.17g, of%s", tiny->text, other.found.least, reached,
                  other.text);
    free(reference.memory);
    return other;
}

static void tally(const struct spec *spec)
{
    const struct constraints *constraints = &spec->constraints;
    counts.claimed++;
    counts.of_form[spec->form][spec->rounding]++;
    counts.one_shift += constraints->one_shift;
    counts.terms += constraints->slope_terms > 0;
    counts.knots += constraints->knots != KNOTS_FREE;
    counts.monotone += constraints->monotone;
    counts.continuous += constraints->continuous;
    counts.fixed += spec->fix_count > 0;
    counts.weighted += spec->weights != NULL;
    counts.folded += spec->fold;
    counts.offset_types += spec->has_offset_type;
    counts.shifts += constraints->shift_bits > 0;
    counts.multiples += constraints->shift_multiple > 0;
}

/* error: the largest, or the sum of squares. */
static void check_claims(const struct tiny *tiny, const struct every_spec *every, const struct table *table,
                         double error)
{
    const struct certificate *certificate = &table->certificate;
    double mass = 0;
    for (int k = 0; k < tiny->count; k++)
        mass += tiny->weight[k];
    counts.unclaimed += certificate->optimal != 1 && !constraints_tie(&tiny->spec.constraints) && !tiny->spec.fold &&
                        tiny->spec.zero_is_free;
    if (certificate->optimal != 1 && !certificate->has_lower_bound)
        return;
    const struct other other = search_all(tiny, every, error + hair(error));
    const double least = other.found.least;
    ck_assert_msg(other.found.found, "%s: no table has an error of %.17g", tiny->text, error);
    if (certificate->optimal == 1) {
        ck_assert_msg(least >= error - hair(error), "%s: %.17g is said to be optimal; %.17g have%s", tiny->text, error,
                      least, other.text);
        tally(&tiny->spec);
    }
    if (certificate->has_lower_bound) {
        const double bound = certificate->lower_bound_lsb, proven = every->squares ? bound * bound * mass : bound;
        ck_assert_msg(proven <= least + hair(least), "%s: nothing below %.17g; %.17g have%s", tiny->text, proven, least,
                      other.text);
        ck_assert_msg(certificate->optimal != 1 || proven >= error - hair(error), "%s: optimal, with a bound of %.17g",
                      tiny->text, proven);
        counts.bounded++;
    }
}

/* The codes of each of the segments before the last where these have the same, and a power of two; else 0. */
static int64_t power_width(const struct table *table)
{
    const struct segment *s = table->segments;
    const int64_t width = table->segment_count > 1 ? s[1].start - s[0].start : 0;
    for (int i = 1; i < table->segment_count; i++)
        if (s[i].start - s[i - 1].start != width)
            return 0;
    return (width & (width - 1)) == 0 ? width : 0;
}

/* A table of the fewest segments for an error: of one segment less none keeps to it, nor of fewer equal parts, all of
 * them or, where theirs is one, those whose width is a power of two. The grid of tied segments is that of their number,
 * and says nothing of others. */
static void check_fewest(const struct tiny *tiny, const struct table *table)
{
    const struct constraints *constraints = &tiny->spec.constraints;
    const bool uniform = constraints->knots == KNOTS_UNIFORM,
               free_grid = constraints->knots == KNOTS_POW2 && !constraints->index_bits;
    if (constraints_tie(constraints) && (uniform || free_grid))
        return;
    const int64_t width = uniform ? power_width(table) : 0;
    for (int m = uniform ? 1 : table->segment_count - 1; m > 0 && m < table->segment_count; m++) {
        const int64_t wider = width * table->segment_count / m;
        if (width > 0 && (wider * m != width * table->segment_count || (wider & (wider - 1)) != 0))
            continue;
        counts.powers += width > 0;
        struct every_spec every = tiny_every(tiny, uniform ? m : table->segment_count);
        every.squares = false;
        every.segments = m;
        const struct other fewer = search_all(tiny, &every, tiny->spec.max_err - 1.01e-9);
        ck_assert_msg(!fewer.found.found, "%s: %d segments, fewer serve:%s", tiny->text, table->segment_count,
                      fewer.text);
        counts.fewest++;
    }
}

/* Values farther apart do not keep to the error. */
static void check_farthest(const struct tiny *tiny, struct every_spec every, int shift)
{
    every.squares = false;
    for (every.shift = tiny->spec.in.bits - 1; every.shift > shift; every.shift--) {
        const struct other fewer = search_all(tiny, &every, tiny->spec.max_err - 1.01e-9);
        ck_assert_msg(!fewer.found.found, "%s: values %d bits apart, %d serve:%s", tiny->text, shift, every.shift,
                      fewer.text);
        counts.fewest++;
    }
}

/* Where none is found there is none, except by searches that are not complete. */
static void check_none(const struct tiny *tiny, const char *message)
{
    const struct spec *spec = &tiny->spec;
    const bool given = !isnan(spec->max_err);
    const bool none_is_flat = spec->has_offset_type && spec->constraints.knots != KNOTS_POINTS &&
                              (spec->offset_type.qmin > spec->out.qmin || spec->offset_type.qmax < spec->out.qmax);
    counts.without_table++;
    if (spec->constraints.knots == KNOTS_UNIFORM || (spec->method != METHOD_MINIMAX && spec->method != METHOD_LSQ) ||
        (spec->method == METHOD_LSQ && (constraints_tie(&spec->constraints) || spec->fold || none_is_flat)) ||
        (spec->fold && spec->fix_count > 0))
        return;
    struct every_spec every = tiny_every(tiny, 0);
    if (spec->constraints.knots == KNOTS_POINTS && !every.shift) {
        check_farthest(tiny, every, 0);
        return;
    }
    every.squares &= !given;
    if (given && !every.shift)
        every.segments = every.count;
    const struct other other = search_all(tiny, &every, given ? spec->max_err - 1.01e-9 : 1e99);
    ck_assert_msg(!other.found.found, "%s: %s; %.17g have%s", tiny->text, message, other.found.least, other.text);
}

static void check_table(const struct tiny *tiny, const struct table *table)
{
    const struct spec *spec = &tiny->spec;
    const struct certificate *certificate = &table->certificate;
    struct every_spec every = tiny_every(tiny, table->segment_count);
    struct reference_table reference;
    every.segments = spec->segments ? spec->segments : table->segment_count;
    every.squares = certificate->objective == OBJECTIVE_RMS;
    reference_table_init(&reference, table);
    const struct tiny_error error = tiny_error(&every, &reference, tiny->text);
    if (spec->method == METHOD_LSQ || spec->method == METHOD_MINIMAX) {
        ck_assert_msg(tiny_keeps_to_fields(&every, table), "%s: a field or a start that is not allowed", tiny->text);
        ck_assert_msg(tiny_keeps_ties(&every, &reference), "%s: a step that is not allowed", tiny->text);
        ck_assert_msg(table->segment_count <= every.segments, "%s: too many segments", tiny->text);
        ck_assert_msg(isnan(spec->max_err) || error.max <= spec->max_err + 1e-9, "%s: an error of %.17g", tiny->text,
                      error.max);
        if (certificate->objective != OBJECTIVE_SEGMENTS)
            check_claims(tiny, &every, table, every.squares ? error.squares : error.max);
        if (every.step_shift)
            ck_assert_int_eq(table->segment_count, search_all(tiny, &every, 1e99).found.segments);
        else if (!isnan(spec->max_err) && certificate->optimal == 1 && !every.shift)
            check_fewest(tiny, table);
        else if (!isnan(spec->max_err) && certificate->optimal == 1 && !spec->constraints.point_shift)
            check_farthest(tiny, every, every.shift);
    } else if (spec->method == METHOD_LUT) {
        for (int k = 0; k < every.count; k++) {
            const double q_y = (double)ref_eval(&reference.table, every.first_x + k).q_y;
            ck_assert_msg(fabs(q_y - every.output[k].target) <= 0.5 + 1e-9, "%s: not the nearest code", tiny->text);
        }
        ck_assert_msg(certificate->optimal == 1, "%s: nearest codes are optimal", tiny->text);
    } else {
        ck_assert_msg(certificate->optimal == -1 && !certificate->has_lower_bound, "%s: claims something", tiny->text);
    }
    free(reference.memory);
}

/* Frees the spec. */
static void check_spec(struct tiny *tiny)
{
    struct table table;
    struct diag diag;
    /* Rounding says whether f rises between codes where it nearly stays. */
    const bool is_clear = !tiny->spec.constraints.monotone || !tiny->is_level;
    counts.drawn += is_clear;
    const int status = is_clear ? fit(&tiny->spec, &table, &diag) : EXIT_USAGE;
    ck_assert_msg(status == EXIT_DONE || status == EXIT_USAGE || status == EXIT_REQUIREMENT, "%s: %s", tiny->text,
                  diag.text);
    if (status == EXIT_DONE) {
        check_table(tiny, &table);
        table_free(&table);
    } else if (status == EXIT_REQUIREMENT) {
        check_none(tiny, diag.text);
    } else {
        counts.unusable++;
    }
    spec_free(&tiny->spec);
}

static const char *const known[] = {
    /* Targets reach an odd limit, and outputs are even: one beyond it serves. */
    "leaky_relu --in u3:2^2:2 --out u6:0.31873:0 --form biased --rounding half_even --method lsq --segments 3 "
    "--slope-bits 4 --shift one",
    /* No code is mirrored. */
    "hard_sigmoid --in s2:2^-1:-2 --out u5:0.013547:-34 --form biased --rounding half_even --method minimax "
    "--segments 3 --slope-bits 2 --symmetry fold --continuous 1 --zero free",
    /* Of an output that only one half saturates beyond. */
    "hard_sigmoid --in u2:2^1:1 --out s5:2^-4:-17 --form absolute --rounding half_even --method lsq --segments 1 "
    "--slope-bits 2 --symmetry fold --shift one --fix 4:1 --zero free",
    /* The first line goes on to 0, where the outputs of the other half would saturate. */
    "sigmoid --in u3:2^2:2 --out s5:0.08726:-16 --form biased --rounding half_up --method lsq --segments 2 "
    "--slope-bits 4 --symmetry fold --continuous 2 --zero free",
    /* Values lie beyond the outputs. */
    "sin --in s4:0.13:0 --out s6:2^-5:-9 --rounding half_even --knots points:2 --method minimax --slope-bits 7",
    "relu6 --in s4:1:0 --out u4:2^-1:2 --rounding half_away --knots points:2 --method lsq --offset-type s4",
    /* f turns within an interval. */
    "gelu --in u4:0.13:0 --out s6:2^-6:-32 --rounding half_up --method lsq --monotone --knots points:2",
    /* Lines of the best table step against f where the codes that they serve saturate. */
    "sin --in u4:0.82413:2 --out s5:2^-2:-12 --form biased --rounding floor --method minimax --segments 4 "
    "--slope-bits 3 --symmetry fold --shift one --monotone --zero free",
};

START_TEST(claims_of_known_specs_hold)
{
    struct tiny tiny;
    tiny_from_flags(&tiny, known[_i]);
    check_spec(&tiny);
}
END_TEST

/* The complete search for tied segments is left little to find by those before it: alone, it finds the least error. */
static void check_joints(int number)
{
    struct tiny tiny;
    struct points points;
    struct line_rules rules;
    struct ties ties;
    struct diag diag = {0};
    int knots[EVERY_CODES + 1];
    struct line lines[EVERY_CODES];
    struct tie_exact exact = {.knots = knots, .lines = lines};
    tiny_draw_tied(&tiny, number);
    line_rules_init(&rules, &tiny.spec);
    ck_assert_int_eq(points_build(&tiny.spec, &points, &diag), EXIT_DONE);
    ck_assert_int_eq(ties_init(&ties, &tiny.spec, &points, &diag), EXIT_DONE);
    ck_assert_int_eq(tie_least_error(&ties, &points, &rules, tiny.spec.segments, 0, INFINITY, &exact, &diag),
                     EXIT_DONE);
    const struct every_spec every = tiny_every(&tiny, 0);
    const struct other other = search_all(&tiny, &every, exact.found ? exact.max_err + hair(exact.max_err) : 1e99);
    ck_assert_msg(tiny.is_level || (exact.complete && exact.found == other.found.found), "%s: %s, there is%s",
                  tiny.text, exact.found ? "found" : "not found", other.found.found ? other.text : " none");
    ck_assert_msg(tiny.is_level || !exact.found || fabs(exact.max_err - other.found.least) <= hair(exact.max_err),
                  "%s: the complete search finds %.17g; %.17g have%s", tiny.text, exact.max_err, other.found.least,
                  other.text);
    ties_free(&ties);
    points_free(&points);
    spec_free(&tiny.spec);
}

START_TEST(tied_segments_are_searched_completely)
{
    for (int k = 0; k < SPECS_PER_TEST / quick_step(20); k++) /* twelve have every form and rounding */
        check_joints(_i * SPECS_PER_TEST + k);
}
END_TEST

/* The first specs of a test that one of the functions of tiny_spec.h draws. */
static void check_drawn(void (*draw)(struct tiny *, int), int test, int specs)
{
    for (int k = 0; k < specs; k++) {
        struct tiny tiny;
        draw(&tiny, test * SPECS_PER_TEST + k);
        check_spec(&tiny);
    }
}

START_TEST(claims_of_tied_folds_hold)
{
    check_drawn(tiny_draw_tied_fold, _i, SPECS_PER_TEST / 4 / quick_step(20));
}
END_TEST

START_TEST(claims_of_points_hold)
{
    if (_i == 0)
        counts = (struct counts){0};
    check_drawn(tiny_draw_points, _i, SPECS_PER_TEST / quick_step(20));
}
END_TEST

START_TEST(every_kind_of_points_was_checked)
{
    const int drawn = TESTS * SPECS_PER_TEST / quick_step(20);
    ck_assert_int_ge(counts.drawn, drawn * 19 / 20);
    ck_assert_int_ge(counts.claimed, drawn / 2); /* --max-err claims numbers */
    for (int rounding = 0; rounding < 4; rounding++)
        ck_assert_int_ge(counts.of_form[rounding < 2 ? PWL_ANCHORED : PWL_BIASED][rounding], drawn / 10);
    const int kinds[] = {counts.monotone,     counts.fixed,         counts.weighted,
                         counts.fewest,       counts.without_table, counts.offset_types / 10,
                         counts.multiples / 2};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        ck_assert_int_ge(kinds[kind], drawn / 40);
    ck_assert_int_eq(counts.unclaimed, 0);
}
END_TEST

START_TEST(claims_of_steps_hold)
{
    if (_i == 0)
        counts = (struct counts){0};
    check_drawn(tiny_draw_steps, _i, SPECS_PER_TEST / quick_step(20));
}
END_TEST

START_TEST(every_kind_of_step_was_checked)
{
    const int drawn = TESTS * SPECS_PER_TEST / quick_step(20);
    ck_assert_int_ge(counts.drawn, drawn * 19 / 20);
    ck_assert_int_ge(counts.claimed, drawn * 2 / 3);
    for (int form = 0; form < 3; form++)
        for (int rounding = 0; rounding < 4; rounding++)
            ck_assert_int_ge(counts.of_form[form][rounding], drawn / 24);
    const int kinds[] = {counts.fixed, counts.weighted, counts.offset_types, counts.without_table};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        ck_assert_int_ge(kinds[kind], drawn / 40);
    ck_assert_int_eq(counts.unclaimed, 0);
}
END_TEST

START_TEST(claims_with_offset_types_hold)
{
    check_drawn(tiny_draw_offsets, _i, SPECS_PER_TEST / 4 / quick_step(20));
}
END_TEST

START_TEST(claims_with_multiples_hold)
{
    if (_i == 0)
        counts = (struct counts){0};
    check_drawn(tiny_draw_multiples, _i, SPECS_PER_TEST / 2 / quick_step(20));
}
END_TEST

START_TEST(claims_with_shift_bits_hold)
{
    if (_i == 0)
        counts = (struct counts){0};
    check_drawn(tiny_draw_shifts, _i, SPECS_PER_TEST / 2 / quick_step(20));
}
END_TEST

START_TEST(every_kind_of_shift_bits_was_checked)
{
    const int drawn = TESTS * SPECS_PER_TEST / 2 / quick_step(20);
    ck_assert_int_ge(counts.shifts, drawn * 11 / 20);
    const int kinds[] = {counts.one_shift, counts.terms,  counts.knots,    counts.monotone, counts.continuous,
                         counts.fixed,     counts.folded, counts.weighted, counts.fewest,   counts.multiples};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        ck_assert_int_ge(kinds[kind], drawn / 50);
}
END_TEST

START_TEST(every_kind_of_multiple_was_checked)
{
    const int drawn = TESTS * SPECS_PER_TEST / 2 / quick_step(20);
    ck_assert_int_ge(counts.drawn, drawn * 19 / 20);
    ck_assert_int_ge(counts.multiples, drawn * 11 / 20);
    for (int form = 0; form < 3; form++)
        for (int rounding = 0; rounding < 4; rounding++)
            ck_assert_int_ge(counts.of_form[form][rounding], drawn / 30);
    const int kinds[] = {counts.one_shift, counts.terms,  counts.knots,    counts.monotone, counts.continuous,
                         counts.fixed,     counts.folded, counts.weighted, counts.fewest,   counts.offset_types};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        ck_assert_int_ge(kinds[kind], drawn / 50);
}
END_TEST

static void (*drawn)(struct tiny *tiny, int number) = tiny_draw;

START_TEST(claims_of_a_number_hold)
{
    struct tiny tiny;
    drawn(&tiny, _i);
    check_spec(&tiny);
}
END_TEST

START_TEST(claims_hold)
{
    for (int k = 0; k < SPECS_PER_TEST / quick_step(20); k++) { /* 96 have every form, rounding and method */
        struct tiny tiny;
        tiny_draw(&tiny, _i * SPECS_PER_TEST + k);
        check_spec(&tiny);
    }
}
END_TEST

START_TEST(every_kind_of_claim_was_checked)
{
    const int drawn = TESTS * SPECS_PER_TEST / quick_step(20);
    ck_assert_int_ge(counts.drawn, drawn * 19 / 20);
    ck_assert_int_ge(counts.claimed, drawn * 2 / 3);
    for (int form = 0; form < 3; form++)
        for (int rounding = 0; rounding < 4; rounding++)
            ck_assert_int_ge(counts.of_form[form][rounding], drawn / 24); /* half of an equal share */
    const int kinds[] = {counts.one_shift, counts.terms,  counts.knots,    counts.monotone, counts.continuous,
                         counts.fixed,     counts.folded, counts.weighted, counts.fewest};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        ck_assert_int_ge(kinds[kind], drawn / 40);
    ck_assert_int_ge(counts.powers, drawn / 400);
    ck_assert_int_le(counts.unclaimed, drawn / 400);
    ck_assert_int_ge(counts.without_table, drawn / 200);
    ck_assert_int_le(counts.unusable, drawn / 8);
}
END_TEST

static void add_cases(Suite *suite, const char *name, const TTest *test, int from, int to)
{
    TCase *tcase = tcase_create(name);
    tcase_add_loop_test(tcase, test, from, to);
    suite_add_tcase(suite, tcase);
}

static void add_case(Suite *suite, const char *name, const TTest *test, int runs)
{
    add_cases(suite, name, test, 0, runs);
}

int main(int argc, char **argv)
{
    Suite *suite = suite_create("claims");
    if (argc == 3 || argc == 4) {
        if (argc == 4)
            drawn = !strcmp(argv[3], "points")    ? tiny_draw_points
                    : !strcmp(argv[3], "steps")   ? tiny_draw_steps
                    : !strcmp(argv[3], "offsets") ? tiny_draw_offsets
                    : !strcmp(argv[3], "shifts")  ? tiny_draw_shifts
                                                  : tiny_draw_multiples;
        add_cases(suite, "claims", claims_of_a_number_hold, atoi(argv[1]), atoi(argv[2]));
        return run_suite(suite);
    }
    add_case(suite, "known", claims_of_known_specs_hold, sizeof known / sizeof *known);
    add_case(suite, "joints", tied_segments_are_searched_completely, TESTS);
    add_case(suite, "claims", claims_hold, TESTS);
    add_case(suite, "kinds", every_kind_of_claim_was_checked, 1);
    add_case(suite, "folds", claims_of_tied_folds_hold, TESTS); /* behind what counts the kinds */
    add_case(suite, "points", claims_of_points_hold, TESTS);
    add_case(suite, "kinds of points", every_kind_of_points_was_checked, 1);
    add_case(suite, "steps", claims_of_steps_hold, TESTS);
    add_case(suite, "kinds of steps", every_kind_of_step_was_checked, 1);
    add_case(suite, "offsets", claims_with_offset_types_hold, TESTS);
    add_case(suite, "shift bits", claims_with_shift_bits_hold, TESTS);
    add_case(suite, "kinds of shift bits", every_kind_of_shift_bits_was_checked, 1);
    add_case(suite, "multiples", claims_with_multiples_hold, TESTS);
    add_case(suite, "kinds of multiples", every_kind_of_multiple_was_checked, 1);
    return run_suite(suite);
}
