/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What real lines cost at least, against integer lines of known cost. */
#include "../../reference/fixture.h"
#include "search/line.h"
#include "search/points.h"
#include "search/squares/real_bound.h"

enum { MOST = 100, CODES = 6000, LIMIT = 4000, SHIFT = 16 };

/* Half of a folded table, at points that one integer line serves without any error. */
struct half {
    struct points points;
    struct line_rules rules;
    struct line line;
    int64_t cell[MOST + 1];
    double code[MOST], target[MOST], mass[MOST];
    struct served served[MOST][2];
};

static double value_of(const struct half *half, int64_t code)
{
    return ldexp((double)(half->line.q_b * code + half->line.offset), -half->line.n);
}

/* A point whose codes saturate one code apart: at a limit of the half the output of one is a code within it. */
static void add_point(struct half *half, int64_t code, double mass)
{
    const int k = half->points.count++;
    const int64_t low = half->rules.qmin_y, high = half->rules.qmax_y;
    ck_assert_int_lt(k, MOST);
    half->cell[k] = code;
    half->cell[k + 1] = CODES;
    half->code[k] = (double)code;
    half->mass[k] = 2 * mass;
    const double y = (double)line_output(&half->rules, &half->points, 0, k, &half->line);
    half->served[k][0] = (struct served){(double)low, (double)high - 1, fmin(y, (double)high - 1), mass};
    half->served[k][1] = (struct served){(double)low + 1, (double)high, fmax(y, (double)low + 1), mass};
    half->target[k] = 0.5 * (half->served[k][0].target + half->served[k][1].target);
}

/*
 * A line that leaves a limit of the output, sign +1: upwards from the lower, from a quarter of a code beyond it, so
 * that it is rounded to it. Of the other codes those count where the line is almost half a code from its output, now
 * above and now below: no real line is much closer to them. Where one had to be at the limit itself to count as being
 * there, it would be further from them; and one that counts as between the limits misses the codes of the first point,
 * which weighs much, by more than rounding.
 */
static void half_init(struct half *half, int sign)
{
    const double close = 0.005;
    *half = (struct half){
        .rules = {.form = PWL_BIASED,
                  .rounding = PWL_HALF_UP,
                  .qmin_y = sign > 0 ? 0 : -LIMIT,
                  .qmax_y = sign > 0 ? LIMIT : 0,
                  .slopes = {INT32_MIN, INT32_MAX},
                  .accumulator_bits = 64,
                  .offsets = {INT32_MIN, INT32_MAX}},
        .line = {.q_b = sign * 40503, .n = SHIFT, .offset = sign * (1 << (SHIFT - 2))},
    };
    half->points = (struct points){
        .cell = half->cell, .code = half->code, .target = half->target, .mass = half->mass, .served = half->served};
    add_point(half, 0, 30);
    for (int64_t code = 1; code < CODES; code++) {
        const double value = value_of(half, code);
        if (fabs(value - floor(value) - 0.5) < close)
            add_point(half, code, 1);
    }
    ck_assert_int_gt(half->points.count, MOST / 2);
}

START_TEST(a_line_that_is_rounded_to_a_limit_is_at_it)
{
    static struct half half;
    double suffixes[2 * (MOST + 1)], prefixes[2 * (MOST + 1)];
    struct diag diag;
    half_init(&half, _i ? -1 : 1);
    const struct points *points = &half.points;
    const struct line_rules *rules = &half.rules;
    const int count = points->count;
    ck_assert(line_provable(rules, &half.line, 0, CODES - 1));
    const double cost = line_cost_below(rules, points, 0, count, &half.line, NULL, INFINITY);
    ck_assert_msg(cost == 0, "the line costs %.17g", cost);
    ck_assert_int_eq(integer_bound_suffixes(points, rules, 1, 1e9, suffixes, &diag), EXIT_DONE);
    ck_assert_int_eq(integer_bound_prefixes(points, rules, 1, 1e9, prefixes, &diag), EXIT_DONE);
    const double suffix = suffixes[count + 1], prefix = prefixes[2 * count + 1];
    ck_assert_msg(suffix == 0 && prefix == 0, "a line of cost 0; bounds of %.17g and %.17g", suffix, prefix);
}
END_TEST

/* Targets that one line gives without error, which is well beyond each limit at the first code that is at it. */
START_TEST(a_bound_on_cells_is_none_that_a_line_beats)
{
    enum { COUNT = 64 };
    static const int near[] = {0, COUNT};
    const int sign = _i % 2 ? -1 : 1, slope = _i / 2 % 10, cells = 15 + 10 * (_i / 20);
    int coarse = 0;
    for (int step = 1; step + slope < COUNT; step++) {
        double code[COUNT], target[COUNT], mass[COUNT];
        int knots[4];
        struct diag diag;
        struct real_bound bound = {.knots = knots};
        const struct points points = {.count = COUNT, .code = code, .target = target, .mass = mass, .exhaustive = true};
        for (int k = 0; k < COUNT; k++) {
            const double way = (k - step + 0.7) / (slope + 0.4);
            code[k] = k;
            mass[k] = 1;
            target[k] = sign * 100 * fmin(fmax(2 * way - 1, -1), 1);
        }
        ck_assert_int_eq(real_bound(&points, -100, 100, 1, 1e12, near, 2, cells, &bound, &diag), EXIT_DONE);
        ck_assert_msg(bound.cost <= 1e-9,
                      "%d cells: a line costs nothing, the bound is %.17g (limits left at %d, %d codes between them)",
                      cells, bound.cost, step, slope);
        coarse += bound.found;
    }
    ck_assert_int_gt(coarse, COUNT / 2);
}
END_TEST

/* Where f turns at each code, every place may be reached from every other, at cells as fine as codes: nothing is said
 * of such a table, at a cost that is counted. */
START_TEST(a_bound_that_takes_long_is_none)
{
    enum { COUNT = 16384, SEGMENTS = 16 };
    static double code[COUNT], target[COUNT], mass[COUNT];
    const int near[] = {0, COUNT};
    int knots[SEGMENTS + 3];
    struct diag diag;
    struct real_bound bound = {.knots = knots};
    const struct points points = {.count = COUNT, .code = code, .target = target, .mass = mass, .exhaustive = true};
    for (int k = 0; k < COUNT; k++) {
        code[k] = k;
        mass[k] = 1;
        target[k] = k % 2 ? 10 : -10;
    }
    ck_assert_int_eq(real_bound(&points, -100, 100, SEGMENTS, 1e12, near, 2, COUNT, &bound, &diag), EXIT_DONE);
    ck_assert(!bound.found && bound.cost == 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("real_bound");
    TCase *limits = tcase_create("limits");
    tcase_add_loop_test(limits, a_line_that_is_rounded_to_a_limit_is_at_it, 0, 2);
    tcase_add_loop_test(limits, a_bound_on_cells_is_none_that_a_line_beats, 0, 100);
    tcase_add_test(limits, a_bound_that_takes_long_is_none);
    suite_add_tcase(suite, limits);
    return run_suite(suite);
}
