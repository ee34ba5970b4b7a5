/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folded tables of tiny formats against brute force. Of an odd or complementary function, with an integer sum S and no
 * output at a limit, a code and its mirror image have the same error: so the least error of a folded table is that of
 * the lines over its half, the codes from the zero point on and the mirror images of those below it. Of a zero point in
 * the middle one of these is beyond the last code, where no segment starts.
 */
#include "brute_force.h"
#include "fixture.h"
#include "small.h"

/* As in test_minimax.c: the search ends 1e-9 LSB above the least error. */
static const double tolerance = 1.01e-9;

static const char *const forms[] = {"absolute", "biased", "anchored"};
static const char *const roundings[] = {"floor", "half_up", "half_away", "half_even"};

static const struct {
    const char *name;
    bool complement; /* f(-x) = 1 - f(x); else odd */
} functions[] = {{"sigmoid", true}, {"tanh", false}, {"erf", false}, {"sin", false}};

/* A folded spec, and its half for brute force. */
struct folded {
    char text[200];
    struct spec spec;
    double target[BRUTE_CODES], least[BRUTE_CODES + 1];
    bool starts[BRUTE_CODES];
    struct brute_problem problem;
    struct reference_map map;
    int64_t sum;
};

static void draw_folded(struct folded *folded, int number)
{
    static const char *const in_scales[] = {"2^-2", "2^-1", "0.3", "0.7"}, *const odd_scales[] = {"2^-4", "0.05",
                                                                                                  "0.11"};
    const bool in_signed = draw(2), complement = functions[number / 12 % 4].complement;
    const int in_bits = (int)between(3, 5), codes = 1 << in_bits, slope_bits = (int)between(3, 5);
    const int64_t qmin = in_signed ? -codes / 2 : 0, zp_x = qmin + between(codes / 4, codes / 2), zp_y = between(-8, 8);
    struct diag diag;
    snprintf(folded->text, sizeof folded->text,
             "%s --in %c%d:%s:%" PRId64 " --out s7:%s:%" PRId64 " --form %s --rounding %s --slope-bits %d "
             "--symmetry fold --method minimax",
             functions[number / 12 % 4].name, in_signed ? 's' : 'u', in_bits, in_scales[draw(4)], zp_x,
             complement ? "2^-5" : odd_scales[draw(3)], zp_y, forms[number % 3], roundings[number / 3 % 4], slope_bits);
    ck_assert_msg(spec_from(folded->text, &folded->spec, &diag) == EXIT_DONE, "%s: %s", folded->text, diag.text);
    folded->map = map_of(&folded->spec);
    folded->sum = (complement ? 32 : 0) + 2 * zp_y;

    const int64_t image = 2 * zp_x - qmin, last = image > folded->map.qmax_x ? image : folded->map.qmax_x;
    folded->problem = (struct brute_problem){.count = (int)(last - zp_x) + 1,
                                             .target = folded->target,
                                             .starts = folded->starts,
                                             .qmin_x = zp_x,
                                             .zp_x = zp_x,
                                             /* what the half may give, so that its mirror image is in range too */
                                             .qmin_y = folded->sum - 63 < -64 ? folded->sum - 63 : -64,
                                             .qmax_y = folded->sum + 64 > 63 ? folded->sum + 64 : 63,
                                             .form = (enum brute_form)(number % 3),
                                             .rounding = (enum brute_rounding)(number / 3 % 4),
                                             .slope_bits = slope_bits,
                                             .offset_bits = number % 3 == 1 ? 32 : 16,
                                             .accumulator_bits = 32};
    for (int k = 0; k < folded->problem.count; k++) {
        folded->target[k] = (double)reference_target(&folded->map, zp_x + k);
        folded->starts[k] = zp_x + k <= folded->map.qmax_x;
    }
}

/* The error of a table over all codes, by the definitions alone. */
static double error_of(const struct folded *folded, const struct table *table)
{
    struct reference_table reference;
    double error = 0;
    reference_table_init(&reference, table);
    for (int64_t q = folded->map.qmin_x; q <= folded->map.qmax_x; q++) {
        const struct ref_result result = ref_eval(&reference.table, q);
        ck_assert_msg(result.leaves == REF_FITS, "%s: code %" PRId64 " leaves the accumulator", folded->text, q);
        error = fmax(error, fabs((double)((long double)result.q_y - reference_target(&folded->map, q))));
    }
    free(reference.memory);
    return error;
}

static void check_folded(int number)
{
    struct folded folded;
    struct small seed;
    struct diag diag;
    small_draw(&seed, 900000 + number, true); /* which seeds draw() */
    spec_free(&seed.spec);
    draw_folded(&folded, number);
    brute_force(&folded.problem, folded.least);
    for (int segments = 1; segments <= 4 && segments <= folded.problem.count; segments++) {
        struct table table;
        folded.spec.segments = segments;
        const int status = fit(&folded.spec, &table, &diag);
        ck_assert_msg(status == EXIT_DONE, "%s: %d segments: %s", folded.text, segments, diag.text);
        const double error = error_of(&folded, &table), least = folded.least[segments];
        ck_assert_msg(table.has_fold && table.fold_sum == folded.sum, "%s: not folded about %" PRId64, folded.text,
                      folded.sum);
        ck_assert_msg(table.segments[table.segment_count - 1].start <= folded.map.qmax_x,
                      "%s: %d segments: one starts beyond the last code", folded.text, segments);
        ck_assert_msg(fabs(error - least) <= tolerance, "%s: %d segments: error %.17g, the least is %.17g", folded.text,
                      segments, error, least);
        ck_assert_msg(table.certificate.optimal == 1 && fabs(table.certificate.lower_bound_lsb - least) <= tolerance,
                      "%s: %d segments: not claimed to be optimal, or a bound of %.17g", folded.text, segments,
                      table.certificate.lower_bound_lsb);
        table_free(&table);
    }
    spec_free(&folded.spec);
}

enum { CASES_PER_TEST = 48 }; /* each function, form and rounding once */

START_TEST(folded_tables_have_the_least_error)
{
    for (int k = 0; k < CASES_PER_TEST; k++)
        check_folded(_i * CASES_PER_TEST + k);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("folded");
    TCase *tests = tcase_create("folded");
    tcase_add_loop_test(tests, folded_tables_have_the_least_error, 0, 4);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
