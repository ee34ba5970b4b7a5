/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hulls of bands that grow and shrink: which real lines serve is what all pairs of limits say. */
#include <check.h>
#include <math.h>

#include "../../support/random.h"
#include "../../support/suite.h"
#include "search/error_band.h"
#include "search/hulls.h"

enum { POINTS = 40, QMIN = -60, QMAX = 60 };

struct problem {
    struct points points;
    int64_t cell[POINTS + 1];
    double code[POINTS], target[POINTS];
    double max_err;
    struct band band[POINTS];
};

/* A rough parabola, so that limits of both sides bind; some targets are at the ends of the output range. */
static void problem_draw(struct problem *problem, uint64_t *random)
{
    const double bend = (double)random_in(random, -100, 100) / 1000, slope = (double)random_in(random, -300, 300) / 100;
    const int roughness = (int)random_in(random, 0, 30);
    int64_t code = random_in(random, -100, 100);
    for (int k = 0; k < POINTS; k++) {
        const double x = k - POINTS / 2, rough = (double)random_in(random, -roughness, roughness) / 10;
        problem->cell[k] = code;
        problem->code[k] = (double)code;
        problem->target[k] = fmax(QMIN, fmin(QMAX, bend * x * x + slope * x + rough));
        code += random_in(random, 0, 9) ? 1 : 3;
    }
    problem->cell[POINTS] = code;
    problem->points = (struct points){
        .count = POINTS, .cell = problem->cell, .code = problem->code, .target = problem->target, .exhaustive = true};
    problem->max_err = (double)random_in(random, 0, 60) / 10;
    for (int k = 0; k < POINTS; k++)
        problem->band[k] = band_at(&problem->points, QMIN, QMAX, k, problem->max_err);
}

/* The slopes of the lines that lie below no low limit and above no high one of [begin, end); false when there are none.
 */
static bool slopes_of_pairs(const struct problem *problem, int begin, int end, struct window *window)
{
    *window = (struct window){-INFINITY, INFINITY};
    bool bands = true;
    for (int i = begin; i < end; i++) {
        const struct band a = problem->band[i];
        bands &= a.low <= a.high;
        for (int j = i + 1; j < end; j++) {
            const struct band b = problem->band[j];
            const double width = problem->code[j] - problem->code[i];
            if (!a.open_low && !b.open_high)
                window->high = fmin(window->high, (double)(b.high + 1 - a.low) / width);
            if (!a.open_high && !b.open_low)
                window->low = fmax(window->low, (double)(b.low - a.high - 1) / width);
        }
    }
    return bands && window->low <= window->high;
}

/* What limits of one side at 0 a line of this slope has to meet, over the hull or all points. */
static double binding_of_hull(const struct hull *hull, enum hull_side side, double slope)
{
    double binding = side == HULL_LOW ? -INFINITY : INFINITY;
    for (int k = hull->first; k < hull->last; k++) {
        const double at_zero = (double)hull->corner[k].y - slope * (double)hull->corner[k].x;
        binding = side == HULL_LOW ? fmax(binding, at_zero) : fmin(binding, at_zero);
    }
    return binding;
}

static double binding_of_points(const struct problem *problem, int begin, int end, enum hull_side side, double slope)
{
    double binding = side == HULL_LOW ? -INFINITY : INFINITY;
    for (int k = begin; k < end; k++) {
        const struct band band = problem->band[k];
        const double x = problem->code[k];
        if (side == HULL_LOW && !band.open_low)
            binding = fmax(binding, (double)band.low - slope * x);
        if (side == HULL_HIGH && !band.open_high)
            binding = fmin(binding, (double)(band.high + 1) - slope * x);
    }
    return binding;
}

static void check_hulls(const struct problem *problem, const struct hulls *hulls)
{
    struct window expected;
    ck_assert(slopes_of_pairs(problem, hulls->begin, hulls->end, &expected));
    const struct window window = hulls_slopes(hulls);
    ck_assert_msg(window.low == expected.low && window.high == expected.high,
                  "[%d, %d): slopes from %.17g to %.17g, are from %.17g to %.17g", hulls->begin, hulls->end, window.low,
                  window.high, expected.low, expected.high);
    /* Halves of small integers: exact. */
    for (double slope = -4; slope <= 4; slope += 0.5)
        for (enum hull_side side = HULL_LOW; side < HULL_SIDES; side++)
            ck_assert(binding_of_hull(&hulls->of[side], side, slope) ==
                      binding_of_points(problem, hulls->begin, hulls->end, side, slope));
}

static int stopped;

/* Moves one end, and sees that it stops where it has to and nowhere else. */
static void move(const struct problem *problem, struct hulls *hulls, bool at_end, int point)
{
    struct window unused;
    const bool moved = at_end ? hulls_end_at(hulls, point) : hulls_begin_at(hulls, point);
    check_hulls(problem, hulls);
    if (moved)
        ck_assert_int_eq(at_end ? hulls->end : hulls->begin, point);
    else
        ck_assert(!slopes_of_pairs(problem, hulls->begin - !at_end, hulls->end + at_end, &unused));
    stopped += !moved && hulls->end - hulls->begin > 4;
}

START_TEST(hulls_are_those_of_the_range)
{
    struct problem problem;
    struct hulls hulls;
    uint64_t random = (uint64_t)_i;
    problem_draw(&problem, &random);
    ck_assert(hulls_init(&hulls, &problem.points, QMIN, QMAX, POINTS));
    for (int start = 0; start < 6; start++) {
        hulls_start(&hulls, problem.max_err, (int)random_in(&random, 0, POINTS));
        for (int step = 0; step < 12; step++) {
            const bool at_end = random_in(&random, 0, 2) > 0;
            move(&problem, &hulls, at_end,
                 (int)(at_end ? random_in(&random, hulls.begin, POINTS) : random_in(&random, 0, hulls.begin)));
        }
    }
    hulls_free(&hulls);
}
END_TEST

enum { PROBLEMS = 400 };

START_TEST(most_problems_stop_a_range_of_some_length)
{
    ck_assert_int_ge(stopped, PROBLEMS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hulls");
    TCase *tcase = tcase_create("hulls");
    tcase_add_loop_test(tcase, hulls_are_those_of_the_range, 0, PROBLEMS);
    tcase_add_test(tcase, most_problems_stop_a_range_of_some_length);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
