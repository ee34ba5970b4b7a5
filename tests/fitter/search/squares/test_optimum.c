/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far the fitter's tables are from the best there are: 16-bit tables from what real coefficients can reach,
 * tables of up to 10 bits from the best integer table. */
#include "../../reference/fixture.h"
#include "../../reference/rms_bound.h"
#include "../../reference/tiny_spec.h"

/* What the fitter may lose, of RMS. */
static const double tolerance = 1.02;

/* Ranges of y with headroom, or at whose limits f is flat. */
static const char *const wide_pairs[] = {
    "sigmoid --in s16:2^-12:0 --out s16:2^-15:0",
    "sigmoid --in s16:2^-11:0 --out s16:2^-14:0",
    "sigmoid --in s16:0.000211:-1234 --out u16:0.0000173:77",
    "tanh --in s16:2^-12:0 --out s16:2^-14:0",
    "gelu --in s16:2^-12:0 --out s16:2^-12:0",
    "gelu --in u16:0.000171:30000 --out u16:0.000131:2000",
    "gelu_tanh --in s16:2^-12:0 --out s16:2^-12:0",
    "silu --in s16:2^-12:0 --out s16:2^-12:0",
    "silu --in s16:2^-12:0 --out s16:2^-12:0 --form biased --rounding half_up",
    "softplus --in s16:2^-12:0 --out s16:2^-12:0",
    "mish --in s16:2^-12:0 --out s16:2^-12:0",
    "elu --in s16:2^-13:0 --out s16:2^-13:0",
    "selu --in s16:2^-13:0 --out s16:0.00013:0",
    "exp --in u16:2^-13:65535 --out u16:2^-16:0",
    "log --in u16:2^-12:-256 --out s16:2^-12:0",
    "sqrt --in u16:2^-13:0 --out u16:2^-14:0",
    "atan --in s16:2^-12:0 --out s16:2^-14:0 --form anchored --segments 24",
    "reciprocal --in u16:2^-13:-4096 --out u16:2^-13:0",
    "sin --in s16:2^-13:0 --out s16:2^-14:0",
    "sin --in s16:2^-13:0 --out s16:2^-15:0 --form biased --rounding half_even",
    "sin --in s16:2^-13:0 --out s16:2^-15:0 --shift one --rounding half_up",
    "atan --in s16:2^-12:0 --out s16:2^-14:0",
    "rsqrt --in u16:2^-13:-2048 --out u16:2^-14:0",
    "softsign --in s16:2^-12:0 --out s16:2^-15:0",
    "logsigmoid --in s16:2^-12:0 --out s16:2^-12:0",
};
enum { WIDE_PAIRS = sizeof wide_pairs / sizeof *wide_pairs };

/* f comes near a limit of the output, so that a line that runs into it does the work of two. */
static const char *const limited_pairs[] = {
    "sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1", "sigmoid --in s16:2^-12:0 --out u16:2^-16:0",
    "tanh --in s16:2^-13:0 --out s16:2^-15:0",         "erf --in s16:2^-13:0 --out s16:2^-15:0",
    "cos --in s16:2^-13:0 --out s16:2^-15:0",
};
enum { LIMITED_PAIRS = sizeof limited_pairs / sizeof *limited_pairs, CELL = 8 };

static double bound_of(const struct spec *spec, bool saturating, int segments, double most)
{
    int count;
    double *target = targets_of(spec, &count);
    const double low = saturating ? (double)spec->out.qmin : -INFINITY;
    const double high = saturating ? (double)spec->out.qmax : INFINITY;
    const double bound = rms_bound(target, count, low, high, segments, CELL, most);
    free(target);
    return bound;
}

static void assert_near_bound(const char *flags, bool saturating)
{
    struct fitted fitted;
    fit_well(flags, &fitted);
    const double rms = measure_plainly(&fitted.spec, &fitted.table).rms;
    const double bound =
        bound_of(&fitted.spec, saturating, fitted.table.segment_count, saturating ? 1.01 * rms + 0.6 : 2 * rms);
    printf("# %-72s RMS %9.4f, bound %9.4f, ratio %.4f\n", flags, rms, bound, rms / bound);
    ck_assert_msg(rms <= tolerance * bound, "%s: RMS %.6g, the bound is %.6g", flags, rms, bound);
    ck_assert_msg(!saturating || rms >= bound - 0.5, "%s: RMS %.6g is below what any table can have, %.6g", flags, rms,
                  bound - 0.5);
    /* The certificate's bound: as near as that of the plain program here, whose cells are wider. */
    const struct certificate *certificate = &fitted.table.certificate;
    ck_assert_msg(certificate->has_lower_bound && certificate->optimal >= 0, "%s: no bound", flags);
    ck_assert_msg(certificate->lower_bound_lsb <= rms * (1 + 1e-9), "%s: RMS %.6g, lower bound %.6g", flags, rms,
                  certificate->lower_bound_lsb);
    ck_assert_msg(rms <= tolerance * (certificate->lower_bound_lsb + 0.5), "%s: RMS %.6g, lower bound %.6g", flags, rms,
                  certificate->lower_bound_lsb);
    fitted_free(&fitted);
}

START_TEST(wide_tables_are_near_the_bound_of_real_coefficients)
{
    assert_near_bound(wide_pairs[_i], true);
}
END_TEST

/* Without saturation tables would have to be worse. */
START_TEST(tables_at_a_limit_are_near_the_bound_without_saturation)
{
    assert_near_bound(limited_pairs[_i], false);
}
END_TEST

/* The bound itself: published least errors of real lines on these codes, without saturation; and one line, whose
 * least squares are plain. */
START_TEST(the_bound_agrees_with_known_values)
{
    static const struct {
        const char *flags;
        int segments;
        double least;
    } known[] = {{"sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1", 8, 159.4},
                 {"sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1", 16, 41.18},
                 {"sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1", 32, 10.6},
                 {"tanh --in s16:2^-13:0 --out s16:2^-15:0", 16, 44.22}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        struct spec spec;
        struct diag diag;
        ck_assert_int_eq(spec_from(known[k].flags, &spec, &diag), EXIT_DONE);
        const double bound = bound_of(&spec, false, known[k].segments, 2 * known[k].least);
        printf("# %s, %d segments: bound %.4f, known %.4f\n", known[k].flags, known[k].segments, bound, known[k].least);
        /* Below by the cells left out, above by no more than the last digit known. */
        ck_assert_msg(bound > 0.98 * known[k].least && bound < 1.002 * known[k].least,
                      "%s, %d segments: bound %.6g, known %.6g", known[k].flags, known[k].segments, bound,
                      known[k].least);
        spec_free(&spec);
    }
}
END_TEST

/* Squared errors of a saturating line through (at, height), summed before each code. */
enum { SMALL = 24 };
static const double small_low = -3, small_high = 9;

static void sum_errors(const double *target, double at, double height, double slope, double sums[SMALL + 1])
{
    sums[0] = 0;
    for (int k = 0; k < SMALL; k++) {
        const double e = fmin(fmax(height + slope * (k - at), small_low), small_high) - target[k];
        sums[k + 1] = sums[k] + e * e;
    }
}

/* The best single line found by shrinking steps from the best of a grid. */
static double refine_line(const double *target, double at, double height, double slope)
{
    double sums[SMALL + 1];
    sum_errors(target, at, height, slope, sums);
    double least = sums[SMALL];
    for (double step = 0.25; step > 1e-9; step /= 2)
        for (int move = 0; move < 8; move++) {
            static const int turns[8][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
            const double h = height + step * turns[move][0], s = slope + step * turns[move][1];
            sum_errors(target, at, h, s, sums);
            if (sums[SMALL] < least) {
                least = sums[SMALL];
                height = h;
                slope = s;
                move = -1;
            }
        }
    return least;
}

/* On a small range, a grid of saturating lines holds no table of one or two that is better than the bound; and the
 * best one is not far above it. */
START_TEST(the_bound_is_just_below_real_tables)
{
    enum { TURNS = 96, HEIGHTS = 64 };
    double target[SMALL], sums[SMALL + 1];
    for (int shape = 0; shape < 6; shape++) {
        for (int k = 0; k < SMALL; k++) {
            const double x = (k - 11.5) / 4;
            const double y = shape == 0   ? 14 * tanh(x)
                             : shape == 1 ? -14 * tanh(x)
                             : shape == 2 ? x * x - 2
                             : shape == 3 ? 10 - x * x
                             : shape == 4 ? 10 * sin(2 * x)
                                          : exp(x);
            target[k] = fmin(fmax(y, small_low), small_high);
        }
        double one = INFINITY, two = INFINITY, before[SMALL + 1], after[SMALL + 1];
        for (int k = 0; k <= SMALL; k++)
            before[k] = after[k] = INFINITY;
        for (int turn = 0; turn < TURNS; turn++)
            for (int at = 0; at < SMALL; at++)
                for (int m = 0; m <= HEIGHTS; m++) {
                    const double slope = 3 * tan(3.14159265358979 * ((turn + 0.5) / TURNS - 0.5));
                    const double height = small_low + (small_high - small_low) * m / HEIGHTS;
                    sum_errors(target, at, height, slope, sums);
                    for (int j = 0; j <= SMALL; j++) {
                        before[j] = fmin(before[j], sums[j]);
                        after[j] = fmin(after[j], sums[SMALL] - sums[j]);
                    }
                    if (before[SMALL] < one)
                        one = fmin(before[SMALL], refine_line(target, at, height, slope));
                }
        for (int j = 0; j <= SMALL; j++)
            two = fmin(two, before[j] + after[j]);
        const double bound_one = rms_bound(target, SMALL, small_low, small_high, 1, 1, 100);
        const double bound_two = rms_bound(target, SMALL, small_low, small_high, 2, 1, 100);
        printf("# shape %d: one line %.6f, bound %.6f; two lines on a grid %.6f, bound %.6f\n", shape,
               sqrt(one / SMALL), bound_one, sqrt(two / SMALL), bound_two);
        ck_assert_msg(bound_one <= sqrt(one / SMALL) + 1e-9, "shape %d, one line: %.6g", shape, bound_one);
        ck_assert_msg(bound_two <= sqrt(two / SMALL) + 1e-9, "shape %d, two lines: %.6g", shape, bound_two);
    }
}
END_TEST

static const char *const narrow_pairs[] = {
    "sigmoid --in s8:2^-4:0 --out s8:2^-8:-128",
    "tanh --in s8:2^-5:0 --out s8:2^-7:0",
    "gelu --in s8:2^-5:0 --out s8:2^-5:0",
    "gelu --in s8:0.0472:-3 --out s8:0.0238:-121",
    "silu --in s8:2^-4:0 --out s8:2^-4:0",
    "hard_swish --in s8:2^-4:0 --out s8:2^-4:0",
    "exp --in u8:2^-5:255 --out u8:2^-8:0",
    "mish --in s8:2^-4:0 --out s8:2^-4:0 --segments 6",
    "sigmoid --in s8:2^-4:0 --out s8:2^-8:-128 --segments 8",
    "gelu --in s7:2^-4:0 --out s8:2^-5:0 --segments 5",
    "erf --in s6:2^-3:0 --out s8:2^-7:0 --segments 5",
    "softplus --in s6:2^-3:0 --out u8:2^-5:0 --segments 4",
    "sin --in s7:2^-4:0 --out s8:2^-7:0 --segments 8",
    "silu --in s10:2^-6:0 --out s8:2^-4:0 --slope-bits 8",
    "gelu --in s9:2^-6:0 --out s8:2^-5:0 --slope-bits 8",
};
enum { NARROW_PAIRS = sizeof narrow_pairs / sizeof *narrow_pairs };

START_TEST(narrow_tables_are_near_the_best_integer_table)
{
    struct fitted fitted;
    fit_well(narrow_pairs[_i], &fitted);
    const struct spec *spec = &fitted.spec;
    const double rms = measure_plainly(spec, &fitted.table).rms;
    struct tiny tiny;
    tiny_from_flags(&tiny, narrow_pairs[_i]);
    struct every_spec every = tiny_every(&tiny, 0);
    every.squares = true;
    every.segments = spec->segments ? spec->segments : SPEC_DEFAULT_SEGMENTS;
    const double most = rms * rms * every.count * (1 + 1e-9);
    const double optimum = sqrt(every_table(&every, most).least / every.count);
    printf("# %-60s MSE %.6f, optimum %.6f, ratio of RMS %.4f\n", narrow_pairs[_i], rms * rms, optimum * optimum,
           rms / optimum);
    ck_assert_msg(fitted.table.certificate.optimal == 1, "%s: not claimed to be optimal", narrow_pairs[_i]);
    ck_assert_msg(rms <= (1 + 1e-9) * optimum, "%s: RMS %.6g, the best table has %.6g", narrow_pairs[_i], rms, optimum);
    /* The enumeration holds the fitter's table too. */
    ck_assert_msg(optimum <= rms * (1 + 1e-9), "%s: RMS %.6g is below the best table's %.6g", narrow_pairs[_i], rms,
                  optimum);
    spec_free(&tiny.spec);
    fitted_free(&fitted);
}
END_TEST

/* 10-bit inputs whose search is long: the best RMS that is known, and whether it is known to be the least. */
static const struct {
    const char *flags;
    double rms;
    int optimal;
} long_searches[] = {
    {"tanh --in s10:2^-6:0 --out s16:3.051803681566878e-5:0 --segments 32 --form anchored", 8.26022672, 1},
    {"exp --in s10:2^-6:0 --out s16:0.044781295210845624:-32768 --segments 16 --form biased", 21.535763, 0},
};
enum { LONG_SEARCHES = sizeof long_searches / sizeof *long_searches };

START_TEST(long_searches_find_the_best_known_tables)
{
    struct fitted fitted;
    fit_well(long_searches[_i].flags, &fitted);
    const double rms = measure_plainly(&fitted.spec, &fitted.table).rms;
    const double known = long_searches[_i].rms, digits = 1e-6 * known, bound = fitted.table.certificate.lower_bound_lsb;
    ck_assert_msg(rms <= known + digits, "%s: RMS %.9g, not %.9g", long_searches[_i].flags, rms, known);
    ck_assert_msg(rms >= known - digits, "%s: RMS %.9g, better than %.9g: to be written down", long_searches[_i].flags,
                  rms, known);
    ck_assert_msg(bound <= known + digits, "%s: no table is said to be below %.9g, but one of %.9g is known",
                  long_searches[_i].flags, bound, known);
    ck_assert_int_ge(fitted.table.certificate.optimal, long_searches[_i].optimal);
    fitted_free(&fitted);
}
END_TEST

/* RMS, to be compared with that of a table that may do more. */
static double rms_of(const char *types, const char *choices)
{
    char flags[FLAGS_SIZE];
    struct fitted fitted;
    snprintf(flags, sizeof flags, "%s %s", types, choices);
    fit_well(flags, &fitted);
    const double rms = measure_plainly(&fitted.spec, &fitted.table).rms;
    fitted_free(&fitted);
    return rms;
}

static const char *const growing_types[] = {
    "sigmoid --in s8:2^-4:0 --out s8:2^-8:-128",
    "gelu --in u8:0.0472:131 --out u8:0.0238:9",
    "cos --in s7:2^-4:0 --out s8:2^-6:0",
};
enum { GROWING_TYPES = sizeof growing_types / sizeof *growing_types };

/* Each row may do what the one before may. Biased: not under a rounding that looks at ties, of which a constant after
 * the shift knows more. */
static const char *const growing_choices[][5] = {
    {"--slope-bits 3 --segments 6", "--slope-bits 4 --segments 6", "--slope-bits 5 --segments 6",
     "--slope-bits 6 --segments 6", "--slope-bits 8 --segments 6"},
    {"--segments 2", "--segments 3", "--segments 4", "--segments 7", "--segments 12"},
    {"--segments 4 --shift one --slope-bits 6", "--segments 4 --slope-bits 6",
     "--segments 4 --slope-bits 6 --form biased", "--segments 4 --form biased", "--segments 5 --form biased"},
    {"--segments 4 --form absolute --rounding half_up", "--segments 4 --form biased --rounding half_up",
     "--segments 6 --form biased --rounding half_up", "--segments 9 --form biased --rounding half_up",
     "--segments 10 --form biased --rounding half_up"},
    {"--segments 5 --slope-terms 1 --knots pow2", "--segments 5 --slope-terms 1", "--segments 5 --slope-terms 2",
     "--segments 5", "--segments 6"},
    {"--segments 3 --form anchored --slope-bits 4", "--segments 3 --form anchored --slope-bits 6",
     "--segments 3 --form anchored", "--segments 5 --form anchored", "--segments 8 --form anchored"},
};
enum { GROWING_CHOICES = sizeof growing_choices / sizeof *growing_choices };

START_TEST(a_table_that_may_do_more_is_never_worse)
{
    const char *types = growing_types[_i / GROWING_CHOICES];
    const char *const *choices = growing_choices[_i % GROWING_CHOICES];
    double before = INFINITY;
    for (int k = 0; k < 5; k++) {
        const double rms = rms_of(types, choices[k]);
        ck_assert_msg(rms <= before * (1 + 1e-9), "%s %s: RMS %.9g; %s: %.9g", types, choices[k], rms, choices[k - 1],
                      before);
        before = rms;
    }
}
END_TEST

static const char *const equal_tables[] = {
    "relu --in s8:2^-4:0 --out s8:2^-4:0 --segments 5",
    "silu --in s8:2^-4:0 --out s8:2^-4:0 --segments 32 --form biased",
    "exp --in s7:2^-4:0 --out s8:2^-1:0 --segments 32",
    "elu --in s7:2^-4:0 --out s8:2^-4:0 --segments 20 --form anchored",
    "tanh --in s8:2^-4:0 --out s8:2^-7:0 --segments 32",
};
enum { EQUAL_TABLES = sizeof equal_tables / sizeof *equal_tables };

START_TEST(of_equal_tables_that_of_fewest_segments_is_taken)
{
    char fewer[32];
    struct fitted fitted;
    fit_well(equal_tables[_i], &fitted);
    const double rms = measure_plainly(&fitted.spec, &fitted.table).rms;
    const int count = fitted.table.segment_count;
    ck_assert_int_lt(count, fitted.spec.segments);
    fitted_free(&fitted);
    snprintf(fewer, sizeof fewer, "--segments %d", count - 1);
    if (count > 1)
        ck_assert_msg(rms_of(equal_tables[_i], fewer) > rms * (1 + 1e-9), "%s: RMS %.9g of %d segments needs fewer",
                      equal_tables[_i], rms, count);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("optimum");
    TCase *wide = tcase_create("wide");
    tcase_add_test(wide, the_bound_agrees_with_known_values);
    tcase_add_test(wide, the_bound_is_just_below_real_tables);
    /* Every fourth has each form, roundings, --shift one and scales of any value. */
    for (int k = 0; k < WIDE_PAIRS; k += quick_step(4))
        tcase_add_loop_test(wide, wide_tables_are_near_the_bound_of_real_coefficients, k, k + 1);
    for (int k = 0; k < LIMITED_PAIRS; k += quick_step(4))
        tcase_add_loop_test(wide, tables_at_a_limit_are_near_the_bound_without_saturation, k, k + 1);
    suite_add_tcase(suite, wide);
    TCase *narrow = tcase_create("narrow");
    tcase_add_loop_test(narrow, narrow_tables_are_near_the_best_integer_table, 0, NARROW_PAIRS);
    tcase_add_loop_test(narrow, a_table_that_may_do_more_is_never_worse, 0, GROWING_TYPES * GROWING_CHOICES);
    tcase_add_loop_test(narrow, of_equal_tables_that_of_fewest_segments_is_taken, 0, EQUAL_TABLES);
    suite_add_tcase(suite, narrow);
    TCase *long_case = tcase_create("long");
    tcase_add_loop_test(long_case, long_searches_find_the_best_known_tables, 0, LONG_SEARCHES);
    suite_add_tcase(suite, long_case);
    return run_suite(suite);
}
