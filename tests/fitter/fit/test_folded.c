/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folded tables of tiny formats against every table, which goes by the definition alone: the lines over the half, the
 * codes from the zero point on and the mirror images of those below it. Of a zero point in the middle one of these is
 * beyond the last code, where no segment starts. Sums S are rounded, and outputs saturate, in one half or in both.
 */
#include "../reference/draw.h"
#include "../reference/fixture.h"
#include "../reference/tiny_spec.h"

/* As in test_minimax.c: the search ends 1e-9 LSB above the least error. */
static const double tolerance = 1.01e-9;

static const char *const forms[] = {"absolute", "biased", "anchored"};
static const char *const roundings[] = {"floor", "half_up", "half_away", "half_even"};

static const struct {
    const char *name;
    bool complement; /* f(-x) = 1 - f(x); else odd */
} functions[] = {{"sigmoid", true}, {"tanh", false}, {"erf", false}, {"sin", false}};

/* The sum of f and 1 - f is 32 or 33 codes. */
static const char *const complement_scales[] = {"2^-5", "0.031", "0.03"};

static const char *const odd_scales[] = {"2^-4", "0.05", "0.11"};

static const struct {
    const char *name;
    int64_t qmin, qmax;
} outputs[] = {{"s7", -64, 63}, {"s5", -16, 15}, {"u5", 0, 31}};

/* A folded spec, and what its half may be. */
struct folded {
    char text[200];
    struct tiny tiny;
    struct every_spec every;
};

static void take_folded(struct folded *folded)
{
    tiny_from_flags(&folded->tiny, folded->text);
    folded->every = tiny_every(&folded->tiny, 0);
    folded->every.segments = folded->every.count;
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
             outputs[out].name, complement ? complement_scales[scale] : odd_scales[scale], zp_y, forms[number % 3],
             roundings[number / 3 % 4], slope_bits, squares ? "lsq" : "minimax");
    take_folded(folded);
}

/* Whether the output ranges of both halves are the same but for one code: then squares are searched completely, else a
 * line that goes on where one half saturates may be counted for less than it costs. */
static bool halves_saturate_alike(const struct folded *folded)
{
    const struct every_spec *every = &folded->every;
    return llabs(every->sum - every->qmin_y - every->qmax_y) <= 1;
}

static int tally; /* of fits to be proven */

enum { MOST_SEGMENTS = 6 };

static void check_folded(struct folded *folded)
{
    struct diag diag;
    const struct every_found best = every_table(&folded->every, INFINITY);
    struct spec *const spec = &folded->tiny.spec;
    const bool squares = folded->every.squares, proven = !squares || halves_saturate_alike(folded);
    tally += proven;
    const double codes = (double)folded->tiny.count;
    for (int segments = 1; segments <= MOST_SEGMENTS && segments <= folded->every.count; segments++) {
        struct table table;
        spec->segments = segments;
        const int status = fit(spec, &table, &diag);
        ck_assert_msg(status == EXIT_DONE, "%s: %d segments: %s", folded->text, segments, diag.text);
        struct reference_table reference;
        reference_table_init(&reference, &table);
        const struct tiny_error errors = tiny_error(&folded->every, &reference, folded->text);
        free(reference.memory);
        const double error = squares ? errors.squares : errors.max, least = best.least_of[segments],
                     bound = table.certificate.lower_bound_lsb, hair = squares ? 1e-9 * (1 + least) : tolerance;
        ck_assert_msg(table.has_fold && table.fold_sum == folded->every.sum, "%s: not folded about %" PRId64,
                      folded->text, folded->every.sum);
        ck_assert_msg(table.segments[table.segment_count - 1].start <= spec->in.qmax,
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
    spec_free(spec);
}

static void check_drawn(int number, bool squares)
{
    struct folded folded;
    draw_from((uint64_t)number);
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
static const char *const at_limits[] = {
    "erf --in s4:0.3:-3 --out u5:0.05:15 --form biased --rounding half_up --slope-bits 3",
    "sin --in u6:0.5:23 --out s4:0.2:-1 --form anchored --rounding half_up --slope-bits 4",
};

START_TEST(lines_at_limits_count_as_they_are)
{
    struct folded folded;
    snprintf(folded.text, sizeof folded.text, "%s --symmetry fold --method lsq", at_limits[_i]);
    take_folded(&folded);
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
