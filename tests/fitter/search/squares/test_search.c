/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the search for integer tables: what is said of ranges is true, also by a search near a table; sums of
 * few bits leave nothing out, nor lines that targets are made of; the best shift is found; and a search cut short does
 * not say that it was complete. */
#include <pwl/fixed.h>

#include "../../reference/draw.h"
#include "../../reference/tiny_spec.h"
#include "fit/problem.h"
#include "search/squares/one_shift.h"
#include "search_problem.h"

/* Whether every line of a problem is soon tried: slopes are short. */
static bool has_reference(const struct problem *problem)
{
    const struct line_rules *rules = &problem->rules;
    return problem->points.count <= 64
               ? rules->slopes.high < 16
               : rules->form == PWL_ABSOLUTE && rules->rounding == PWL_FLOOR && rules->slopes.high < 64;
}

/* The least costs of tables by the rules of a search. `known` is what some table costs. */
static struct every_found reference_of(const struct points *points, const struct line_rules *rules, double known)
{
    struct every_spec every = {.form = (enum every_form)rules->form,
                               .rounding = (enum every_rounding)rules->rounding,
                               .first_x = points->cell[0],
                               .zp_x = rules->zp_x,
                               .qmin_y = rules->qmin_y,
                               .qmax_y = rules->qmax_y,
                               .sum_bits = rules->accumulator_bits,
                               .slope_bits = 1,
                               .segments = SEGMENTS,
                               .squares = true,
                               .count = points->count,
                               .offset_low = rules->offsets.low,
                               .offset_high = rules->offsets.high};
    while (rules->slopes.high >> (every.slope_bits - 1) > 0)
        every.slope_bits++;
    for (int k = 0; k < points->count; k++) {
        every.output[k] =
            (struct every_output){.exists = true, .target = points->target[k], .weight = 1, .fixed = EVERY_FREE};
        every.may_start[k] = true;
    }
    return every_table(&every, known);
}

START_TEST(bounds_of_ranges_hold)
{
    struct problem problem;
    double ceiling;
    int64_t steps;
    problem_init(&problem, _i);
    const double optimum = optimum_of(&problem, &ceiling, &steps);
    if (has_reference(&problem)) {
        const double least = reference_of(&problem.points, &problem.rules, a_little_above(optimum)).least;
        ck_assert_msg(fabs(optimum - least) <= 1e-9 * (1 + least), "%s: the optimum is %.12g, found %.12g",
                      problem.flags, least, optimum);
    }
    /* Below what another search may find, what this one just may and what it may not. */
    const double ceilings[] = {ceiling, a_little_above(optimum), 0.75 * optimum};
    for (int c = 0; c < 3; c++) {
        struct line_program search;
        begin(&search, &problem, ceiling);
        const double *bound = entry(search.ahead, &search, SEGMENTS, 0);
        double before = *bound;
        for (int share = 16; share >= 2; share /= 2) {
            search.ceiling = ceilings[c];
            program_solve(&search, 0, steps / share);
            program_raise_bounds(&search);
            ck_assert_msg(*bound <= a_little_above(optimum), "%s: the optimum is %.12g, its bound after 1/%d %.12g",
                          problem.flags, optimum, share, *bound);
            ck_assert_msg(*bound >= before, "%s: the bound fell from %.12g to %.12g after 1/%d", problem.flags, before,
                          *bound, share);
            before = *bound;
        }
        search.ceiling = a_little_above(optimum);
        const double found = program_solve(&search, 0, MANY_STEPS);
        ck_assert_msg(fabs(found - optimum) <= 1e-9 * (1 + optimum), "%s: the optimum is %.12g, found %.12g",
                      problem.flags, optimum, found);
        program_free(&search);
    }
    problem_free(&problem);
}
END_TEST

/* Some table is known; then those near it are, and the best there is. */
START_TEST(a_search_near_a_table_leaves_the_rest_to_others)
{
    struct problem problem;
    struct line_program search;
    struct line lines[SEGMENTS];
    int knots[SEGMENTS + 1];
    double ceiling, known = 0;
    int64_t steps;
    problem_init(&problem, _i);
    const double optimum = optimum_of(&problem, &ceiling, &steps);
    for (int m = 0; m <= SEGMENTS; m++)
        knots[m] = problem.points.count * m / SEGMENTS;
    for (int m = 0; m < SEGMENTS; m++) {
        ck_assert(
            line_fit(&problem.rules, &problem.points, knots[m], knots[m + 1], LINE_UNLIMITED, LINE_QUICK, &lines[m]));
        known += lines[m].cost;
    }
    begin(&search, &problem, a_little_above(known));
    program_take_lines(&search, knots, lines, SEGMENTS);
    double before = known;
    for (int radius = 0; radius <= 3; radius++) {
        program_place_near(&search, knots, SEGMENTS, radius);
        const double found = program_solve(&search, 0, MANY_STEPS);
        ck_assert_msg(optimum <= a_little_above(found) && found <= a_little_above(before),
                      "%s: the optimum is %.12g, within %d of knots %.12g, within less %.12g", problem.flags, optimum,
                      radius, found, before);
        before = found;
    }
    program_place_anywhere(&search);
    const double found = program_solve(&search, 0, MANY_STEPS);
    ck_assert_msg(search.slopes.work.complete && fabs(found - optimum) <= 1e-9 * (1 + optimum),
                  "%s: the optimum is %.12g, found %.12g", problem.flags, optimum, found);
    program_free(&search);
    problem_free(&problem);
}
END_TEST

START_TEST(sums_of_few_bits_leave_nothing_out)
{
    struct tiny tiny;
    struct points points;
    struct line_rules rules;
    struct diag diag;
    tiny_draw_free(&tiny, _i, false);
    tiny.spec.fix_count = 0;
    ck_assert_int_eq(points_build(&tiny.spec, &points, &diag), EXIT_DONE);
    line_rules_init(&rules, &tiny.spec);
    const double x_max =
        fmax(fabs(points.code[0] - (double)rules.zp_x), fabs(points.code[points.count - 1] - (double)rules.zp_x));
    int bits = tiny.spec.out.bits + 1 + _i / 12 % 6;
    while (ldexp(1, bits - 1) <= x_max)
        bits++;
    rules.accumulator_bits = bits;
    rules.shift_max = bits - 1;
    rules.shift_min = 1 - bits;
    rules.offsets = (struct integers){-((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1};
    const struct every_found best = reference_of(&points, &rules, INFINITY);
    for (int segments = 1; segments <= SEGMENTS; segments++) {
        struct line lines[SEGMENTS];
        int knots[SEGMENTS + 1] = {0};
        struct exact exact = {.last = EXACT_ALL, .share = 1, .segments = segments, .cost = INFINITY};
        const double least = best.least_of[segments];
        const int status = exact_improve(&points, &rules, segments, knots, lines, &exact, &diag);
        ck_assert_msg(status == (least < INFINITY ? EXIT_DONE : EXIT_REQUIREMENT), "%s, %d bits, %d segments: exit %d",
                      tiny.text, bits, segments, status);
        ck_assert_msg(!(least < INFINITY) ||
                          (exact_is_optimal(&exact) && fabs(exact.cost - least) <= 1e-9 * (1 + least)),
                      "%s, %d bits, %d segments: the optimum is %.12g, found %.12g", tiny.text, bits, segments, least,
                      exact.cost);
    }
    points_free(&points);
    spec_free(&tiny.spec);
}
END_TEST

/* A line that is just at a step at some code: biased, at a tie. */
static bool draw_line(const struct problem *problem, int begin, int end, struct line *line)
{
    const struct line_rules *rules = &problem->rules;
    const struct points *points = &problem->points;
    const int64_t origin = rules->form == PWL_ANCHORED ? points->cell[begin] : rules->zp_x;
    const int64_t code = points->cell[between(begin, end - 1)];
    const int64_t y =
        draw(3) ? between(rules->qmin_y - 9, rules->qmax_y + 9) : (draw(2) ? 0 : rules->qmax_y) + between(-1, 1);
    *line = (struct line){.q_b = draw(4) ? between(rules->slopes.low, rules->slopes.high) : 0,
                          .n = (int)between(rules->shift_min, rules->shift_max)};
    const int64_t product = line->q_b * (code - origin), half = line->n > 0 ? pwl_shl64(1, line->n) / 2 : 0;
    if (rules->form == PWL_BIASED)
        line->offset = line->n > 0 ? pwl_shl64(y, line->n) - half - product : y - product;
    else
        line->offset = y - pwl_shr64(product, line->n, (int)rules->rounding);
    return line_provable(rules, line, points->cell[begin], points->cell[end] - 1);
}

/* Targets that some lines meet but for less than half a code; returns what these lines cost, and no others less. */
static double aim_at_lines(struct problem *problem, int segments)
{
    struct points *points = &problem->points;
    int begin = 0;
    double cost = 0;
    for (int m = segments; m > 0; m--) {
        const int end = m == 1 ? points->count : (int)between(begin + 1, points->count - m + 1);
        struct line line;
        while (!draw_line(problem, begin, end, &line))
            ;
        for (int k = begin; k < end; k++) {
            const int64_t y = line_output(&problem->rules, points, begin, k, &line);
            const double target = (double)y + uniform(-0.45, 0.45);
            points->target[k] = fmax((double)problem->rules.qmin_y, fmin((double)problem->rules.qmax_y, target));
            cost += points_cost(points, k, (double)y);
        }
        begin = end;
    }
    return cost;
}

/* Begins a search that knows what one over more shifts found out. */
static void begin_within(struct line_program *search, struct problem *problem, double ceiling)
{
    const struct line_rules rules = problem->rules;
    struct program_bounds bounds;
    struct line_program wider;
    problem->rules.shift_min = -3;
    problem->rules.shift_max = 8;
    begin(&wider, problem, ceiling);
    program_solve(&wider, 0, draw(4) ? MANY_STEPS : 1 << 12);
    program_give_bounds(&wider, &bounds);
    program_free(&wider);
    problem->rules = rules;
    begin(search, problem, ceiling);
    program_take_bounds(search, &bounds);
    program_bounds_free(&bounds);
}

START_TEST(no_line_is_left_out)
{
    enum { DRAWS = 80 };
    draw_from((uint64_t)_i);
    for (int draws = 0; draws < DRAWS; draws++) {
        struct problem problem;
        struct line_program search;
        problem_init(&problem, _i % 12 + 12 * draw(FORMATS));
        struct line_rules *rules = &problem.rules;
        rules->slopes.high = between(3, rules->slopes.high < 127 ? rules->slopes.high : 127);
        rules->slopes.low = -1 - rules->slopes.high;
        rules->shift_max = (int)between(0, 7);
        rules->shift_min = draw(2) ? rules->shift_max : -2;
        const double cost = aim_at_lines(&problem, (int)between(1, SEGMENTS));
        const double ceiling = draw(2) ? a_little_above(cost) : a_little_above(cost) + uniform(0, 20);
        if (draw(3))
            begin(&search, &problem, ceiling);
        else
            begin_within(&search, &problem, ceiling);
        const double found = program_solve(&search, 0, MANY_STEPS);
        ck_assert_msg(search.slopes.work.complete && found <= a_little_above(cost),
                      "%s, slopes to %d, shifts %d to %d: lines that cost %.12g are left out, found %.12g",
                      problem.flags, (int)rules->slopes.high, rules->shift_min, rules->shift_max, cost, found);
        program_free(&search);
        problem_free(&problem);
    }
}
END_TEST

/* What a search takes is not left to those after it: all of its share is most of a table's effort. */
START_TEST(steps_count_as_effort)
{
    struct problem problem;
    struct line lines[SEGMENTS];
    int knots[SEGMENTS + 1] = {0};
    struct exact exact = {.last = EXACT_ALL, .share = 1, .segments = SEGMENTS, .cost = INFINITY};
    struct diag diag;
    problem_init(&problem, LONG);
    const struct effort *effort = problem.points.effort;
    ck_assert_int_eq(exact_improve(&problem.points, &problem.rules, SEGMENTS, knots, lines, &exact, &diag), EXIT_DONE);
    const double steps = 1 - exact.share, spent = 1 - (double)effort->left / (double)effort->given;
    ck_assert(steps > 0);
    ck_assert_msg(spent > 0.5 * steps && spent < steps, "%g of the steps, %g of the effort", steps, spent);
    problem_free(&problem);
}
END_TEST

/* The least cost of a table of shift n; INFINITY where there is none. */
static double optimum_of_shift(const struct problem *problem, int n, int *knots, struct line *lines, int *segments)
{
    struct line_rules rules = problem->rules;
    struct exact exact = {.last = EXACT_ALL, .share = 1, .segments = SEGMENTS, .cost = INFINITY};
    struct diag diag;
    rules.shift_min = rules.shift_max = n;
    const int status = exact_improve(&problem->points, &rules, SEGMENTS, knots, lines, &exact, &diag);
    ck_assert_msg(status == EXIT_REQUIREMENT || (!status && exact_is_optimal(&exact)), "%s, shift %d: exit %d",
                  problem->flags, n, status);
    *segments = exact.segments;
    return exact.cost;
}

/* From the best table of some shift, or of none. */
START_TEST(the_best_shift_of_all_is_found)
{
    struct problem problem;
    struct line lines[SEGMENTS], given[SEGMENTS];
    int knots[SEGMENTS + 1] = {0}, given_knots[SEGMENTS + 1] = {0};
    struct diag diag;
    problem_init(&problem, _i);
    problem.rules.one_shift = true;
    /* Of many codes, those around the longest that the function is not too steep for. */
    problem.rules.shift_min = _i < LONG ? -1 : 6;
    problem.rules.shift_max = _i < LONG ? 7 : 9;
    const struct line_rules any = problem.rules;
    struct squares table = {.points = &problem.points,
                            .rules = &problem.rules,
                            .knots = given_knots,
                            .lines = given,
                            .exact = {.last = EXACT_ALL, .share = 1, .segments = SEGMENTS, .cost = INFINITY}};
    double least = INFINITY;
    const int likely = any.shift_min + _i % (any.shift_max - any.shift_min + 1);
    for (int n = any.shift_min; n <= any.shift_max; n++) {
        int segments;
        const double cost = optimum_of_shift(&problem, n, knots, lines, &segments);
        least = fmin(least, cost);
        if (n != likely || _i % 3 == 0 || !(cost < INFINITY))
            continue;
        table.exact.cost = cost;
        table.exact.segments = segments;
        memcpy(given_knots, knots, sizeof knots);
        memcpy(given, lines, sizeof lines);
    }
    problem.rules.shift_min = problem.rules.shift_max = likely;
    ck_assert_int_eq(shifts_search(&table, &any, SEGMENTS, &diag), EXIT_DONE);
    double cost = 0;
    for (int m = 0; m < table.exact.segments; m++) {
        ck_assert_msg(given[m].n == given[0].n, "%s: two shifts", problem.flags);
        cost += line_cost_below(&problem.rules, &problem.points, given_knots[m], given_knots[m + 1], &given[m], NULL,
                                INFINITY);
    }
    ck_assert_msg(exact_is_optimal(&table.exact) && fabs(cost - least) <= 1e-9 * (1 + least),
                  "%s: the best of one shift costs %.12g, found %.12g", problem.flags, least, cost);
    problem_free(&problem);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("search");
    TCase *bounds = tcase_create("bounds");
    tcase_add_loop_test(bounds, bounds_of_ranges_hold, 0, LONG);
    tcase_add_loop_test(bounds, bounds_of_ranges_hold, WIDE, ALL);
    suite_add_tcase(suite, bounds);
    TCase *near = tcase_create("near");
    tcase_add_test(near, steps_count_as_effort);
    tcase_add_loop_test(near, a_search_near_a_table_leaves_the_rest_to_others, 0, JUMPS);
    suite_add_tcase(suite, near);
    TCase *sums = tcase_create("sums");
    tcase_add_loop_test(sums, sums_of_few_bits_leave_nothing_out, 140, 350);
    suite_add_tcase(suite, sums);
    TCase *drawn = tcase_create("drawn");
    tcase_add_loop_test(drawn, no_line_is_left_out, 0, 144);
    suite_add_tcase(suite, drawn);
    TCase *shifts = tcase_create("shifts");
    tcase_add_loop_test(shifts, the_best_shift_of_all_is_found, 0, LONG);
    for (int k = LONG; k < WIDE; k += quick_step(10)) /* every form */
        tcase_add_loop_test(shifts, the_best_shift_of_all_is_found, k, k + 1);
    suite_add_tcase(suite, shifts);
    return run_suite(suite);
}
