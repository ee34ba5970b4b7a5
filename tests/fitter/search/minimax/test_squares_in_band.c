/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables whose largest error is given: knots and lines of less squared error, within the limit. */
#include "../../reference/fixture.h"
#include "../../../support/suite.h"
#include "fit/problem.h"
#include "search/minimax/minimax.h"
#include "search/minimax/squares_in_band.h"

/* What one knot more to the left or right may gain where the search has ended; LEAST_GAIN there. */
static const double least_gain = 1e-4;

struct case_of {
    const char *flags;
    double max_err;
};

static const struct case_of cases[] = {
    {"gelu --in s8:0.0472:-3 --out s8:0.0238:-121", 1},
    {"gelu --in s8:0.0472:-3 --out s8:0.0238:-121 --form biased --rounding half_even", 1},
    {"sigmoid --in s8:2^-4 --out u8:2^-8 --form anchored", 1.5},
    {"tanh --in s8:2^-5 --out s8:2^-7 --slope-bits 4", 3},
    {"silu --in s8:2^-4 --out s8:2^-4 --slope-terms 1", 1},
    {"sin --in u8:2^-5:128 --out s10:2^-9 --knots pow2:5", 9},
    {"mish --in s10:2^-6 --out s10:2^-6 --fix 0:0", 2},
    {"exp --in s8:2^-5 --out u12:2^-6", 40},
};

static double cost_of(const struct points *points, const struct line_rules *rules, const struct minimax *table,
                      double max_err)
{
    double cost = 0;
    for (int m = 0; m < table->segments; m++) {
        const int begin = table->knots[m], end = table->knots[m + 1];
        ck_assert_msg(begin < end, "segment %d is empty", m);
        ck_assert(line_provable(rules, &table->lines[m], points->cell[begin], points->cell[end] - 1));
        ck_assert_double_le(line_max_err(rules, points, begin, end, &table->lines[m]), max_err);
        cost += line_cost_below(rules, points, begin, end, &table->lines[m], NULL, INFINITY);
    }
    ck_assert(isfinite(cost)); /* each --fix is kept */
    return cost;
}

/* The cost of two segments with the knot between them at another point. */
static double cost_of_move(const struct points *points, const struct line_rules *rules, const struct minimax *table,
                           double max_err, int m, int knot)
{
    const struct line_limits limits = {max_err, INFINITY};
    struct line left, right;
    if (knot <= table->knots[m - 1] || knot >= table->knots[m + 1] ||
        !line_fit(rules, points, table->knots[m - 1], knot, limits, LINE_QUICK, &left) ||
        !line_fit(rules, points, knot, table->knots[m + 1], limits, LINE_QUICK, &right))
        return INFINITY;
    return left.cost + right.cost;
}

START_TEST(no_knot_is_better_elsewhere_and_the_limit_is_kept)
{
    const struct case_of *c = &cases[_i];
    struct spec spec;
    struct diag diag;
    struct points points = {0};
    struct line_rules rules;
    static int knots[PWL_MAX_SEGMENTS + 1];
    static struct line lines[PWL_MAX_SEGMENTS];
    struct minimax table = {.knots = knots, .lines = lines};
    bool fewest;
    ck_assert_msg(spec_from(c->flags, &spec, &diag) == EXIT_DONE, "%s", diag.text);
    line_rules_init(&rules, &spec);
    ck_assert_int_eq(points_build(&spec, &points, &diag), EXIT_DONE);
    if (spec.constraints.knots == KNOTS_POW2)
        ck_assert_int_eq(points_grid_pow2(&points, spec.in.bits - spec.constraints.index_bits, &diag), EXIT_DONE);
    ck_assert_msg(minimax_fewest_segments(&points, &rules, c->max_err, points.count, &table, &fewest, &diag) ==
                      EXIT_DONE,
                  "%s: %s", c->flags, diag.text);
    const int segments = table.segments;
    const double before = cost_of(&points, &rules, &table, c->max_err);
    ck_assert_int_eq(squares_in_band(&points, &rules, c->max_err, &table, &diag), EXIT_DONE);
    const double after = cost_of(&points, &rules, &table, c->max_err);
    ck_assert(table.segments == segments && knots[0] == 0 && knots[segments] == points.count);
    ck_assert_msg(after < before, "%s: %g before, %g after", c->flags, before, after);
    for (int m = 1; m < segments; m++) {
        const int place = points_place_before(&points, knots[m]);
        double now = 0;
        ck_assert_int_eq(points_at(&points, place), knots[m]);
        for (int k = m - 1; k <= m; k++)
            now += line_cost_below(&rules, &points, knots[k], knots[k + 1], &lines[k], NULL, INFINITY);
        for (int d = -1; d <= 1; d += 2) {
            const double moved = cost_of_move(&points, &rules, &table, c->max_err, m, points_at(&points, place + d));
            ck_assert_msg(after - now + moved >= after * (1 - least_gain), "%s: knot %d at %d: %g, at %d: %g", c->flags,
                          m, knots[m], now, points_at(&points, place + d), moved);
        }
    }
    points_free(&points);
    spec_free(&spec);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("squares_in_band");
    TCase *tests = tcase_create("squares_in_band");
    tcase_add_loop_test(tests, no_knot_is_better_elsewhere_and_the_limit_is_kept, 0, sizeof cases / sizeof *cases);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
