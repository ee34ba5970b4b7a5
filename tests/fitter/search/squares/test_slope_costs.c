/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of one biased slope: the best of every bias, or of those that put codes at ties, by the end. */

#include "../../reference/draw.h"
#include "../../reference/fixture.h"
#include "base/numbers.h"
#include "search/squares/slope_costs.h"

enum { CASES = 2000, COUNT = 44, BIASES = 1 << 13, TIES = 3 };

struct problem {
    struct points points;
    struct line_rules rules;
    struct slope_scan slopes;
    struct line_origin lines;
    double code[COUNT], target[COUNT], mass[COUNT], floor_sum[COUNT + 1], limit[COUNT + 1], useful[COUNT + 1];
    struct range range[COUNT + 1];
    double least[COUNT + 1]; /* of the lines that are to be followed, by the end */
    char text[128];
};

static const double MOST_COST = 1e7; /* than any line's */

/* Before saturation. */
static int64_t code_of(const struct problem *problem, int64_t bias, int k)
{
    return pwl_shr64(product_at(&problem->slopes, k) + bias, problem->slopes.trial.n, (int)problem->rules.rounding);
}

static int64_t output_of(const struct problem *problem, int64_t bias, int k)
{
    return pwl_sat(code_of(problem, bias, k), problem->rules.qmin_y, problem->rules.qmax_y);
}

static bool is_tie(const struct problem *problem, int64_t bias, int k)
{
    const int64_t one = (int64_t)1 << problem->slopes.trial.n, sum = product_at(&problem->slopes, k) + bias;
    return problem->rules.rounding >= PWL_HALF_AWAY && (sum & (one - 1)) == one / 2;
}

static void draw_problem(struct problem *problem, int number)
{
    struct slope_scan *slopes = &problem->slopes;
    draw_from((uint64_t)number);
    *problem = (struct problem){.rules = {.form = PWL_BIASED,
                                          .rounding = (enum pwl_rounding)(number % 4),
                                          .accumulator_bits = 32,
                                          .offsets = {INT32_MIN, INT32_MAX},
                                          .qmin_y = between(-24, 0),
                                          .slopes = {-128, 127},
                                          .shift_max = 31}};
    problem->rules.qmax_y = problem->rules.qmin_y + between(3, 40);
    const int n = (int)between(1, 6);
    const int64_t q_b = (2 * between(-40, 39) + 1);
    const double low = (double)problem->rules.qmin_y, high = (double)problem->rules.qmax_y;
    const double slope = ldexp((double)q_b, -n) * uniform(0.7, 1.3), from = uniform(low, high), noise = uniform(0, 2);
    problem->lines.first = (int)between(1, 8);
    const int middle = draw(2) ? problem->lines.first : COUNT / 2;
    for (int k = 0; k < COUNT; k++) {
        const double t = from + slope * (k - middle) + uniform(-noise, noise);
        problem->code[k] = k - COUNT / 2;
        problem->target[k] = fmin(fmax(t, low), high);
        problem->mass[k] = draw(2) ? 1 : uniform(0.1, 2);
    }
    problem->points =
        (struct points){.count = COUNT, .code = problem->code, .target = problem->target, .mass = problem->mass};
    for (int k = 0; k < COUNT; k++)
        problem->floor_sum[k + 1] = problem->floor_sum[k] + points_floor(&problem->points, k);
    *slopes = (struct slope_scan){.points = &problem->points,
                                  .rules = &problem->rules,
                                  .from.range = problem->range,
                                  .floor_sum = problem->floor_sum,
                                  .trial.ceiling = problem->limit,
                                  .trial.useful = problem->useful,
                                  .from.origin = between(-COUNT, COUNT),
                                  .work.most_steps = INT64_MAX,
                                  .trial.q_b = q_b,
                                  .trial.n = n,
                                  .trial.unit = 1,
                                  .trial.addend = problem->rules.rounding == PWL_FLOOR ? 0 : (int64_t)1 << (n - 1),
                                  .trial.rise = q_b > 0 ? 1 : -1,
                                  .trial.near_y = q_b > 0 ? problem->rules.qmin_y : problem->rules.qmax_y,
                                  .trial.far_y = q_b > 0 ? problem->rules.qmax_y : problem->rules.qmin_y,
                                  .trial.is_safe = true};
    slopes->trial.near_first = slopes->trial.near_y + slopes->trial.rise;
    slopes->trial.far_last = slopes->trial.far_y;
    slopes->trial.ties = problem->rules.rounding < PWL_HALF_AWAY ? TIES_NONE : (enum tie_rounding)draw(TIES);
    problem->lines.leave = draw(2) != 0;
    problem->lines.paid = problem->lines.leave ? uniform(0, 4) : 0;
    slopes->from.start = problem->lines.first;
    snprintf(problem->text, sizeof problem->text, "case %d: %lld * 2^-%d, rounding %d, ties %d, leave %d", number,
             (long long)q_b, n, (int)problem->rules.rounding, (int)slopes->trial.ties, problem->lines.leave);
}

/* Whether a line is one of those that are followed at all: not at the near limit, and where it leaves that limit, at
 * it before. */
static bool belongs(const struct problem *problem, int64_t bias)
{
    const int first = problem->lines.first;
    const int64_t near = problem->slopes.trial.near_y;
    return output_of(problem, bias, first) != near &&
           (!problem->lines.leave || output_of(problem, bias, first - 1) == near);
}

/* Lowers what is known of every end to what a line costs, where its ties are of those asked for, if that is less than
 * the far limit alone. */
static void add_line(struct problem *problem, int64_t bias)
{
    const struct slope_scan *slopes = &problem->slopes;
    const struct line_origin *lines = &problem->lines;
    const int first = lines->first;
    int ties = lines->leave && is_tie(problem, bias, first - 1);
    double cost = lines->paid, ahead = lines->leave ? INFINITY : 0;
    if (!belongs(problem, bias))
        return;
    for (int k = first; k < COUNT; k++) {
        cost += points_cost(&problem->points, k, (double)output_of(problem, bias, k));
        ahead += points_cost(&problem->points, k, (double)slopes->trial.far_y);
        ties += is_tie(problem, bias, k);
        if (cost < ahead &&
            (slopes->trial.ties == TIES_ALL || (slopes->trial.ties == TIES_NONE ? ties == 0 : ties >= 2)))
            problem->least[k + 1] = smaller(problem->least[k + 1], cost);
    }
}

static double cost_of(const struct problem *problem, int64_t bias, int end)
{
    double cost = problem->lines.paid;
    for (int k = problem->lines.first; k < end; k++)
        cost += points_cost(&problem->points, k, (double)output_of(problem, bias, k));
    return cost;
}

/* Few ends late, many, or all; what they may cost, from nothing to spare to everything. */
static void choose_ends(struct problem *problem)
{
    struct slope_scan *slopes = &problem->slopes;
    const int first = problem->lines.first, from = draw(2) ? (int)between(first + 1, COUNT) : first + 1;
    const int seldom = (int)between(1, 4);
    const double spare = draw(4) ? uniform(1, 1.5) : 1e3;
    double most = -INFINITY;
    slopes->trial.end = COUNT;
    for (int j = COUNT; j > first; j--) {
        const bool of_use = j == COUNT || (j >= from && draw(seldom) == 0);
        problem->useful[j] = of_use ? smaller(spare * problem->least[j] + 1e-6, MOST_COST) : -INFINITY;
        most = larger(most, problem->useful[j] - problem->floor_sum[j]);
        problem->limit[j] = most + problem->floor_sum[j];
        problem->range[j] = (struct range){.cost = INFINITY};
    }
}

START_TEST(the_best_line_of_every_end_is_found)
{
    struct problem problem;
    draw_problem(&problem, _i);
    for (int j = 0; j <= COUNT; j++)
        problem.least[j] = INFINITY;
    for (int64_t bias = -BIASES; bias < BIASES; bias++)
        add_line(&problem, bias);
    choose_ends(&problem);
    slope_costs_by_phase(&problem.slopes, &problem.lines);
    for (int j = problem.lines.first + 1; j <= COUNT; j++) {
        const struct range *range = &problem.range[j];
        if (range->cost < INFINITY) {
            const double cost = cost_of(&problem, range->offset, j);
            ck_assert_msg(cost <= range->cost + 1e-9, "%s: the line to %d costs %.12g, not %.12g", problem.text, j,
                          cost, range->cost);
            ck_assert_msg(!problem.lines.leave || belongs(&problem, range->offset),
                          "%s: the line to %d does not leave the limit", problem.text, j);
        }
        ck_assert_msg(!(problem.least[j] < problem.useful[j]) || range->cost <= problem.least[j] + 1e-9,
                      "%s: the best line to %d costs %.12g, found %.12g", problem.text, j, problem.least[j],
                      range->cost);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("follow");
    TCase *lines = tcase_create("lines");
    tcase_add_loop_test(lines, the_best_line_of_every_end_is_found, 0, CASES);
    suite_add_tcase(suite, lines);
    return run_suite(suite);
}
