/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folded tables of tiny formats against brute force, which goes by the definition alone: the lines over the half, the
 * codes from the zero point on and the mirror images of those below it. Of a zero point in the middle one of these is
 * beyond the last code, where no segment starts. Sums S are rounded, and outputs saturate, in one half or in both.
 */
#include "../reference/brute_force.h"
#include "../reference/fixture.h"
#include "../reference/small.h"

/* As in test_minimax.c: the search ends 1e-9 LSB above the least error. */
static const double tolerance = 1.01e-9;

static const char *const forms[] = {"absolute", "biased", "anchored"};
static const char *const roundings[] = {"floor", "half_up", "half_away", "half_even"};

static const struct {
    const char *name;
    bool complement; /* f(-x) = 1 - f(x); else odd */
} functions[] = {{"sigmoid", true}, {"tanh", false}, {"erf", false}, {"sin", false}};

static const struct {
    const char *scale;
    int sum; /* of f and 1 - f, to the nearest code */
} complement_scales[] = {{"2^-5", 32}, {"0.031", 32}, {"0.03", 33}};

static const char *const odd_scales[] = {"2^-4", "0.05", "0.11"};

static const struct {
    const char *name;
    int64_t qmin, qmax;
} outputs[] = {{"s7", -64, 63}, {"s5", -16, 15}, {"u5", 0, 31}};

/* A folded spec, and its half for brute force. */
struct folded {
    char text[200];
    struct spec spec;
    double target[BRUTE_CODES], mirrored[BRUTE_CODES], least[BRUTE_CODES + 1];
    bool starts[BRUTE_CODES];
    struct brute_problem problem;
    struct reference_map map;
};

/* Clipped; NAN where there is no such code. */
static double target_of(const struct folded *folded, int64_t q)
{
    const struct brute_problem *problem = &folded->problem;
    if (q < folded->map.qmin_x || q > folded->map.qmax_x)
        return NAN;
    return fmin(fmax((double)reference_target(&folded->map, q), (double)problem->qmin_y), (double)problem->qmax_y);
}

/* The half of the spec in folded->text, of which the sum is known. */
static void take_folded(struct folded *folded, int64_t sum)
{
    struct diag diag;
    struct spec *spec = &folded->spec;
    ck_assert_msg(spec_from(folded->text, spec, &diag) == EXIT_DONE, "%s: %s", folded->text, diag.text);
    folded->map = map_of(spec);
    const int64_t zp_x = spec->in.zero_point, image = 2 * zp_x - spec->in.qmin, qmax = spec->in.qmax;
    folded->problem = (struct brute_problem){.count = (int)((image > qmax ? image : qmax) - zp_x) + 1,
                                             .target = folded->target,
                                             .mirrored = folded->mirrored,
                                             .sum = sum,
                                             .starts = folded->starts,
                                             .qmin_x = zp_x,
                                             .zp_x = zp_x,
                                             .qmin_y = spec->out.qmin,
                                             .qmax_y = spec->out.qmax,
                                             .form = (enum brute_form)spec->form,
                                             .rounding = (enum brute_rounding)spec->rounding,
                                             .slope_bits = spec->slope_bits,
                                             .offset_bits = spec->form == PWL_BIASED ? 32 : 16,
                                             .accumulator_bits = 32,
                                             .squares = spec->method == METHOD_LSQ};
    for (int k = 0; k < folded->problem.count; k++) {
        folded->target[k] = target_of(folded, zp_x + k);
        folded->mirrored[k] = k > 0 ? target_of(folded, zp_x - k) : NAN;
        folded->starts[k] = zp_x + k <= qmax;
    }
}

static void draw_folded(struct folded *folded, int number, bool squares)
{
    static const char *const in_scales[] = {"2^-2", "2^-1", "0.3", "0.7"};
    const bool in_signed = draw(2), complement = functions[number / 12 % 4].complement;
    const int in_bits = (int)between(3, 5), codes = 1 << in_bits, slope_bits = (int)between(3, 5), out = (int)draw(3),
              scale = (int)draw(3);
    const int64_t zp_x = (in_signed ? -codes / 2 : 0) + between(codes / 4, codes / 2);
    /* f(0) is about in the middle of the outputs. */
    const int64_t zp_y = (draw(2) ? between(-8, 8) : between(-1, 0)) + (outputs[out].qmin + outputs[out].qmax + 1) / 2 -
                         (complement ? 16 : 0);
    snprintf(folded->text, sizeof folded->text,
             "%s --in %c%d:%s:%" PRId64 " --out %s:%s:%" PRId64 " --form %s --rounding %s --slope-bits %d "
             "--symmetry fold --method %s",
             functions[number / 12 % 4].name, in_signed ? 's' : 'u', in_bits, in_scales[draw(4)], zp_x,
             outputs[out].name, complement ? complement_scales[scale].scale : odd_scales[scale], zp_y,
             forms[number % 3], roundings[number / 3 % 4], slope_bits, squares ? "lsq" : "minimax");
    take_folded(folded, (complement ? complement_scales[scale].sum : 0) + 2 * zp_y);
}

/* Whether the output ranges of both halves are the same but for one code: then squares are searched completely, else a
 * line that goes on where one half saturates may be counted for less than it costs. */
static bool halves_saturate_alike(const struct folded *folded)
{
    const struct brute_problem *problem = &folded->problem;
    return llabs(problem->sum - problem->qmin_y - problem->qmax_y) <= 1;
}

/* The error of a table over all codes, by the definitions alone: the largest, or the sum of squares. */
static double error_of(const struct folded *folded, const struct table *table)
{
    struct reference_table reference;
    double error = 0;
    reference_table_init(&reference, table);
    for (int64_t q = folded->map.qmin_x; q <= folded->map.qmax_x; q++) {
        const struct ref_result result = ref_eval(&reference.table, q);
        ck_assert_msg(result.leaves == REF_FITS, "%s: code %" PRId64 " leaves the accumulator", folded->text, q);
        const double e = fabs((double)result.q_y - target_of(folded, q));
        error = folded->problem.squares ? error + e * e : fmax(error, e);
    }
    free(reference.memory);
    return error;
}

static int tally; /* of fits to be proven */

enum { MOST_SEGMENTS = 6 };

static void check_folded(struct folded *folded)
{
    struct diag diag;
    brute_force(&folded->problem, folded->least);
    const bool squares = folded->problem.squares, proven = !squares || halves_saturate_alike(folded);
    tally += proven;
    const double codes = (double)(folded->map.qmax_x - folded->map.qmin_x + 1);
    for (int segments = 1; segments <= MOST_SEGMENTS && segments <= folded->problem.count; segments++) {
        struct table table;
        folded->spec.segments = segments;
        const int status = fit(&folded->spec, &table, &diag);
        ck_assert_msg(status == EXIT_DONE, "%s: %d segments: %s", folded->text, segments, diag.text);
        const double error = error_of(folded, &table), least = folded->least[segments],
                     bound = table.certificate.lower_bound_lsb, hair = squares ? 1e-9 * (1 + least) : tolerance;
        ck_assert_msg(table.has_fold && table.fold_sum == folded->problem.sum, "%s: not folded about %" PRId64,
                      folded->text, folded->problem.sum);
        ck_assert_msg(table.segments[table.segment_count - 1].start <= folded->map.qmax_x,
                      "%s: %d segments: one starts beyond the last code", folded->text, segments);
        if (!proven && table.certificate.optimal != 1) {
            ck_assert_msg(error >= least - hair && bound * bound * codes <= least + hair,
                          "%s: %d segments: error %.17g, a bound of %.17g, the least is %.17g", folded->text, segments,
                          error, bound, least);
            table_free(&table);
            continue;
        }
        ck_assert_msg(fabs(error - least) <= hair, "%s: %d segments: error %.17g, the least is %.17g", folded->text,
                      segments, error, least);
        ck_assert_msg(table.certificate.optimal == 1 && fabs((squares ? bound * bound * codes : bound) - least) <= hair,
                      "%s: %d segments: not claimed to be optimal, or a bound of %.17g, the least is %.17g",
                      folded->text, segments, bound, least);
        table_free(&table);
    }
    spec_free(&folded->spec);
}

static void check_drawn(int number, bool squares)
{
    struct folded folded;
    struct small seed;
    small_draw(&seed, 900000 + number, true); /* which seeds draw() */
    spec_free(&seed.spec);
    draw_folded(&folded, number, squares);
    check_folded(&folded);
}

enum { CASES_PER_TEST = 48 }; /* each function, form and rounding once */

START_TEST(folded_tables_have_the_least_error)
{
    for (int k = 0; k < CASES_PER_TEST; k++)
        check_drawn(_i * CASES_PER_TEST + k, false);
}
END_TEST

START_TEST(folded_tables_have_the_least_squares)
{
    for (int k = 0; k < CASES_PER_TEST; k++)
        check_drawn(_i * CASES_PER_TEST + k, true);
    ck_assert_int_ge(tally, CASES_PER_TEST / 4);
}
END_TEST

/* Lines of which a part lies at a limit, and no more than that: flat ones, and one that falls from there. */
static const struct {
    const char *text;
    int64_t sum;
} at_limits[] = {
    {"erf --in s4:0.3:-3 --out u5:0.05:15 --form biased --rounding half_up --slope-bits 3", 30},
    {"sin --in u6:0.5:23 --out s4:0.2:-1 --form anchored --rounding half_up --slope-bits 4", -2},
};

START_TEST(lines_at_limits_count_as_they_are)
{
    struct folded folded;
    snprintf(folded.text, sizeof folded.text, "%s --symmetry fold --method lsq", at_limits[_i].text);
    take_folded(&folded, at_limits[_i].sum);
    check_folded(&folded);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("folded");
    TCase *tests = tcase_create("folded");
    tcase_add_loop_test(tests, folded_tables_have_the_least_error, 0, 6);
    tcase_add_loop_test(tests, folded_tables_have_the_least_squares, 0, 6);
    tcase_add_loop_test(tests, lines_at_limits_count_as_they_are, 0, sizeof at_limits / sizeof *at_limits);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
