/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search for integer tables that is cut short, at whatever slope and point, does not say that it was complete. */
#include "search_problem.h"

/* Every number of steps near 1 and near those that a search takes, so that it is cut between any two slopes, after the
 * last point of one and within one; of the others some. */
static int64_t next_number_of_steps(int64_t most, int64_t steps)
{
    enum { NEAR = 500 };
    const int64_t next = most + 1 + most / 8;
    if (most < NEAR || (most >= steps - NEAR && most < steps + NEAR))
        return most + 1;
    return most < steps - NEAR && next > steps - NEAR ? steps - NEAR : next;
}

START_TEST(a_search_cut_short_is_not_complete)
{
    struct problem problem;
    double ceiling;
    int64_t steps;
    problem_init(&problem, _i);
    const double optimum = optimum_of(&problem, &ceiling, &steps);
    for (int64_t most = 1; most < 8 * steps; most = next_number_of_steps(most, steps)) {
        struct line_program search;
        begin(&search, &problem, ceiling);
        const double found = program_solve(&search, 0, most);
        ck_assert_msg(!search.slopes.work.complete || (most >= steps && fabs(found - optimum) <= 1e-9 * (1 + optimum)),
                      "%s: complete after %lld of %lld steps, found %.12g for %.12g", problem.flags, (long long)most,
                      (long long)steps, found, optimum);
        program_free(&search);
    }
    problem_free(&problem);
}
END_TEST

/* The steps of a search whose starts have so many each; 0 when it says that it is not complete. */
static int64_t steps_of_shares(const struct problem *problem, double ceiling, int64_t share)
{
    struct line_program search;
    const int knots[SEGMENTS + 1] = {0};
    begin(&search, problem, ceiling);
    program_place_near(&search, knots, SEGMENTS, problem->points.count); /* anywhere */
    program_solve(&search, 0, share * search.shares);
    const int64_t steps = search.slopes.work.complete ? search.slopes.work.steps : 0;
    program_free(&search);
    return steps;
}

/* At whatever slope and point the start that takes most steps is cut, and no other one. */
START_TEST(a_start_cut_short_is_not_complete)
{
    enum { NEAR = 200 };
    struct problem problem;
    double ceiling;
    int64_t steps, few = 1;
    problem_init(&problem, _i);
    optimum_of(&problem, &ceiling, &steps);
    const int64_t all = steps_of_shares(&problem, ceiling, steps);
    ck_assert_int_gt(all, 0);
    for (int64_t enough = steps; enough - few > 1;) {
        const int64_t middle = few + (enough - few) / 2;
        *(steps_of_shares(&problem, ceiling, middle) ? &enough : &few) = middle;
    }
    for (int64_t share = few > NEAR ? few - NEAR : 1; share < few + NEAR; share++) {
        const int64_t taken = steps_of_shares(&problem, ceiling, share);
        ck_assert_msg(taken == 0 || taken == all, "%s: complete after %lld of %lld steps, %lld a start", problem.flags,
                      (long long)taken, (long long)all, (long long)share);
    }
    problem_free(&problem);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("complete");
    TCase *steps = tcase_create("steps");
    tcase_add_loop_test(steps, a_search_cut_short_is_not_complete, 0, 12);
    tcase_add_loop_test(steps, a_start_cut_short_is_not_complete, 0, 12);
    suite_add_tcase(suite, steps);
    return run_suite(suite);
}
