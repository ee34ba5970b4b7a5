/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the search for integer tables: what is said of ranges is true, also by a search near a table; sums of
 * few bits leave nothing out, nor lines that targets are made of; the best shift is found; and a search cut short does
 * not say that it was complete. */
#include <pwl/fixed.h>

#include "../../reference/brute_force.h"
#include "../../reference/fixture.h"
#include "../../reference/integer_optimum.h"
#include "../../reference/small.h"
#include "search/line.h"
#include "search/points.h"
#include "search/squares/line_program.h"
#include "search/squares/one_shift.h"
#include "search/squares/real_bound.h"

static const char *const formats[] = {
    "sigmoid --in s5:2^-2:0 --out s8:2^-8:-128", "tanh --in s5:2^-2:5 --out s9:2^-8:0",
    "exp --in s5:2^-2:0 --out u8:2^-4:0",        "gelu --in u5:2^-2:15 --out s9:2^-6:0",
    "tanh --in s5:2^0:0 --out s4:2^-3:0",        "cos --in s5:2^0:0 --out s6:2^-5:0 --slope-bits 5",
    "sin --in s5:2^-2:0 --out s7:2^-5:0",        "softplus --in s5:2^-2:0 --out u6:2^-3:0 --slope-bits 4",
};
/* Of more codes than EXACT_FEW. */
static const char *const long_formats[] = {
    "tanh --in s9:2^-6:0 --out s4:2^-3:0 --slope-bits 6",
    "exp --in s9:2^-6:0 --out u4:2^2:0 --slope-bits 6",
};
/* Whose lines have many codes to start at, and meet ties there. */
static const char *const wide_formats[] = {
    "silu --in s8:2^-5:0 --out s10:2^-8:0 --slope-bits 7",
    "erf --in s8:2^-4:0 --out s8:2^-5:0 --slope-bits 7",
    "exp --in s8:2^-6:0 --out s8:2^-4:0 --slope-bits 9",
    "sin --in s7:2^-4:0 --out s6:2^-5:0 --slope-bits 6",
};
enum {
    FORMATS = sizeof formats / sizeof *formats,
    LONG_FORMATS = sizeof long_formats / sizeof *long_formats,
    WIDE_FORMATS = sizeof wide_formats / sizeof *wide_formats,
    NARROW = 4,
    SEGMENTS = 3,
    MANY_STEPS = 1 << 25
};
/* Problems: of each format with each form and rounding; of the one of few codes with targets that jump; of each long
 * one; of each wide one. */
enum { JUMPS = FORMATS * 12, LONG = JUMPS + 12, WIDE = LONG + LONG_FORMATS * 12, ALL = WIDE + WIDE_FORMATS * 12 };

struct problem {
    struct spec spec;
    struct points points;
    struct line_rules rules;
    char flags[FLAGS_SIZE];
};

/* Targets that are at a limit of the output, at the other one for a single code, and between. */
static void jump(struct problem *problem)
{
    const int part = problem->points.count / 4;
    const double low = (double)problem->spec.out.qmin, high = (double)problem->spec.out.qmax,
                 middle = rint((low + high) / 2);
    for (int k = 0; k < problem->points.count; k++)
        problem->points.target[k] = k < part           ? low
                                    : k == part        ? high
                                    : k < 3 * part     ? middle
                                    : k < 4 * part - 1 ? high
                                                       : low;
}

static void problem_init(struct problem *problem, int number)
{
    static const char *const forms[] = {"absolute", "biased", "anchored"};
    static const char *const roundings[] = {"floor", "half_up", "half_away", "half_even"};
    struct diag diag;
    const char *format = number < JUMPS  ? formats[number / 12]
                         : number < LONG ? formats[NARROW]
                         : number < WIDE ? long_formats[(number - LONG) / 12]
                                         : wide_formats[(number - WIDE) / 12];
    snprintf(problem->flags, sizeof problem->flags, "%s --form %s --rounding %s", format, forms[number / 4 % 3],
             roundings[number % 4]);
    ck_assert_int_eq(spec_from(problem->flags, &problem->spec, &diag), EXIT_DONE);
    ck_assert_int_eq(points_build(&problem->spec, &problem->points, &diag), EXIT_DONE);
    line_rules_init(&problem->rules, &problem->spec);
    if (number >= JUMPS && number < LONG)
        jump(problem);
}

static void problem_free(struct problem *problem)
{
    points_free(&problem->points);
    spec_free(&problem->spec);
}

/* A search that knows of no table, below a ceiling. */
static void begin(struct line_program *search, const struct problem *problem, double ceiling)
{
    const struct line_rules *rules = &problem->rules;
    struct diag diag;
    ck_assert_int_eq(search_init(search, &problem->points, rules, SEGMENTS, &diag), EXIT_DONE);
    ck_assert_int_eq(integer_bound_suffixes(&problem->points, rules, SEGMENTS, ceiling, search->ahead_any, &diag),
                     EXIT_DONE);
    ck_assert_int_eq(integer_bound_prefixes(&problem->points, rules, SEGMENTS, ceiling, search->before, &diag),
                     EXIT_DONE);
    search_begin(search);
    search->ceiling = ceiling;
}

/* Whether every line of a problem is soon tried: slopes are short. */
static bool has_reference(const struct problem *problem)
{
    const struct line_rules *rules = &problem->rules;
    return problem->points.count <= BRUTE_CODES
               ? rules->slope_limit < 16
               : rules->form == PWL_ABSOLUTE && rules->rounding == PWL_FLOOR && rules->slope_limit < 64;
}

static int width_of(int64_t limit)
{
    int bits = 1;
    while (limit >> (bits - 1) > 0)
        bits++;
    return bits;
}

/* The least cost of a table of SEGMENTS segments by enumeration of all lines. `known` is what some table costs. */
static double reference_of(const struct problem *problem, double known)
{
    const struct line_rules *rules = &problem->rules;
    const struct points *points = &problem->points;
    double least[BRUTE_CODES + 1];
    if (points->count > BRUTE_CODES)
        return integer_optimum(&(struct integer_problem){.count = points->count,
                                                         .target = points->target,
                                                         .qmin_x = (int64_t)points->code[0],
                                                         .zp_x = rules->zp_x,
                                                         .qmin_y = rules->qmin_y,
                                                         .qmax_y = rules->qmax_y,
                                                         .slope_bits = width_of(rules->slope_limit),
                                                         .term_c_bits = width_of(rules->offset_limit),
                                                         .segments = SEGMENTS},
                               known);
    brute_force(&(struct brute_problem){.count = points->count,
                                        .target = points->target,
                                        .qmin_x = (int64_t)points->code[0],
                                        .zp_x = rules->zp_x,
                                        .qmin_y = rules->qmin_y,
                                        .qmax_y = rules->qmax_y,
                                        .form = (enum brute_form)(rules->form == PWL_ABSOLUTE ? BRUTE_ABSOLUTE
                                                                  : rules->form == PWL_BIASED ? BRUTE_BIASED
                                                                                              : BRUTE_ANCHORED),
                                        .rounding = (enum brute_rounding)rules->rounding,
                                        .slope_bits = width_of(rules->slope_limit),
                                        .offset_bits = width_of(rules->offset_limit),
                                        .accumulator_bits = rules->accumulator_bits,
                                        .squares = true},
                least);
    return least[SEGMENTS];
}

/* The least cost of a table, by a search without bounds of ranges that knows what the fitter finds, and the steps that
 * it takes. */
static double optimum_of(const struct problem *problem, double *ceiling, int64_t *steps)
{
    struct line_program search;
    struct diag diag;
    struct line lines[SEGMENTS];
    int knots[SEGMENTS + 1] = {0};
    struct exact exact = {.last = EXACT_SOME, .share = 1, .segments = SEGMENTS, .cost = INFINITY};
    ck_assert_int_eq(exact_improve(&problem->points, &problem->rules, SEGMENTS, knots, lines, &exact, &diag),
                     EXIT_DONE);
    *ceiling = 1.1 * exact.cost + 1;
    begin(&search, problem, *ceiling);
    const double cost = search_solve(&search, 0, MANY_STEPS);
    ck_assert_msg(cost < INFINITY && search.slopes.complete, "%s: no table, or none known", problem->flags);
    *steps = search.slopes.steps;
    search_free(&search);
    return cost;
}

static double a_little_above(double cost)
{
    return cost * (1 + 1e-9) + 1e-9;
}

START_TEST(bounds_of_ranges_hold)
{
    struct problem problem;
    double ceiling;
    int64_t steps;
    problem_init(&problem, _i);
    const double optimum = optimum_of(&problem, &ceiling, &steps);
    if (has_reference(&problem)) {
        const double least = reference_of(&problem, a_little_above(optimum));
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
            search_solve(&search, 0, steps / share);
            search_look_ahead(&search);
            ck_assert_msg(*bound <= a_little_above(optimum), "%s: the optimum is %.12g, its bound after 1/%d %.12g",
                          problem.flags, optimum, share, *bound);
            ck_assert_msg(*bound >= before, "%s: the bound fell from %.12g to %.12g after 1/%d", problem.flags, before,
                          *bound, share);
            before = *bound;
        }
        search.ceiling = a_little_above(optimum);
        const double found = search_solve(&search, 0, MANY_STEPS);
        ck_assert_msg(fabs(found - optimum) <= 1e-9 * (1 + optimum), "%s: the optimum is %.12g, found %.12g",
                      problem.flags, optimum, found);
        search_free(&search);
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
    search_know(&search, knots, lines, SEGMENTS);
    double before = known;
    for (int radius = 0; radius <= 3; radius++) {
        search_near(&search, knots, SEGMENTS, radius);
        const double found = search_solve(&search, 0, MANY_STEPS);
        ck_assert_msg(optimum <= a_little_above(found) && found <= a_little_above(before),
                      "%s: the optimum is %.12g, within %d of knots %.12g, within less %.12g", problem.flags, optimum,
                      radius, found, before);
        before = found;
    }
    search_anywhere(&search);
    const double found = search_solve(&search, 0, MANY_STEPS);
    ck_assert_msg(search.slopes.complete && fabs(found - optimum) <= 1e-9 * (1 + optimum),
                  "%s: the optimum is %.12g, found %.12g", problem.flags, optimum, found);
    search_free(&search);
    problem_free(&problem);
}
END_TEST

START_TEST(sums_of_few_bits_leave_nothing_out)
{
    struct small small;
    struct points points;
    struct line_rules rules;
    struct diag diag;
    small_draw(&small, _i, false);
    small.spec.fix_count = 0;
    ck_assert_int_eq(points_build(&small.spec, &points, &diag), EXIT_DONE);
    line_rules_init(&rules, &small.spec);
    const double x_max =
        fmax(fabs(points.code[0] - (double)rules.zp_x), fabs(points.code[points.count - 1] - (double)rules.zp_x));
    int bits = small.spec.out.bits + 1 + _i / 12 % 6;
    while (ldexp(1, bits - 1) <= x_max)
        bits++;
    rules.accumulator_bits = bits;
    rules.shift_max = bits - 1;
    rules.shift_min = 1 - bits;
    rules.offset_limit = ((int64_t)1 << (bits - 1)) - 1;
    small.problem.fixed = NULL;
    small.problem.squares = true;
    small.problem.offset_bits = small.problem.accumulator_bits = bits;
    brute_force(&small.problem, small.least);
    for (int segments = 1; segments <= SEGMENTS; segments++) {
        struct line lines[SEGMENTS];
        int knots[SEGMENTS + 1] = {0};
        struct exact exact = {.last = EXACT_ALL, .share = 1, .segments = segments, .cost = INFINITY};
        const double least = small.least[segments];
        const int status = exact_improve(&points, &rules, segments, knots, lines, &exact, &diag);
        ck_assert_msg(status == (least < INFINITY ? EXIT_DONE : EXIT_REQUIREMENT), "%s, %d bits, %d segments: exit %d",
                      small.text, bits, segments, status);
        ck_assert_msg(!(least < INFINITY) || (exact.optimal && fabs(exact.cost - least) <= 1e-9 * (1 + least)),
                      "%s, %d bits, %d segments: the optimum is %.12g, found %.12g", small.text, bits, segments, least,
                      exact.cost);
    }
    points_free(&points);
    spec_free(&small.spec);
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
    *line = (struct line){.q_b = draw(4) ? between(-rules->slope_limit, rules->slope_limit) : 0,
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
    struct search_bounds bounds;
    struct line_program wider;
    problem->rules.shift_min = -3;
    problem->rules.shift_max = 8;
    begin(&wider, problem, ceiling);
    search_solve(&wider, 0, draw(4) ? MANY_STEPS : 1 << 12);
    search_give_bounds(&wider, &bounds);
    search_free(&wider);
    problem->rules = rules;
    begin(search, problem, ceiling);
    search_take_bounds(search, &bounds);
    search_bounds_free(&bounds);
}

START_TEST(no_line_is_left_out)
{
    enum { DRAWS = 80 };
    struct small small; /* for the numbers it draws */
    small_draw(&small, _i, true);
    spec_free(&small.spec);
    for (int draws = 0; draws < DRAWS; draws++) {
        struct problem problem;
        struct line_program search;
        problem_init(&problem, _i % 12 + 12 * (int)draw(FORMATS));
        struct line_rules *rules = &problem.rules;
        rules->slope_limit = between(3, rules->slope_limit < 127 ? rules->slope_limit : 127);
        rules->shift_max = (int)between(0, 7);
        rules->shift_min = draw(2) ? rules->shift_max : -2;
        const double cost = aim_at_lines(&problem, (int)between(1, SEGMENTS));
        const double ceiling = draw(2) ? a_little_above(cost) : a_little_above(cost) + uniform(0, 20);
        if (draw(3))
            begin(&search, &problem, ceiling);
        else
            begin_within(&search, &problem, ceiling);
        const double found = search_solve(&search, 0, MANY_STEPS);
        ck_assert_msg(search.slopes.complete && found <= a_little_above(cost),
                      "%s, slopes to %d, shifts %d to %d: lines that cost %.12g are left out, found %.12g",
                      problem.flags, (int)rules->slope_limit, rules->shift_min, rules->shift_max, cost, found);
        search_free(&search);
        problem_free(&problem);
    }
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
    ck_assert_msg(status == EXIT_REQUIREMENT || (!status && exact.optimal), "%s, shift %d: exit %d", problem->flags, n,
                  status);
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
    ck_assert_msg(table.exact.optimal && fabs(cost - least) <= 1e-9 * (1 + least),
                  "%s: the best of one shift costs %.12g, found %.12g", problem.flags, least, cost);
    problem_free(&problem);
}
END_TEST

START_TEST(a_search_cut_short_is_not_complete)
{
    struct problem problem;
    double ceiling;
    int64_t steps;
    problem_init(&problem, _i);
    const double optimum = optimum_of(&problem, &ceiling, &steps);
    for (int64_t most = 1; most < 8 * steps; most += 1 + most / 8) {
        struct line_program search;
        begin(&search, &problem, ceiling);
        const double found = search_solve(&search, 0, most);
        ck_assert_msg(!search.slopes.complete || (most >= steps && fabs(found - optimum) <= 1e-9 * (1 + optimum)),
                      "%s: complete after %lld of %lld steps, found %.12g for %.12g", problem.flags, (long long)most,
                      (long long)steps, found, optimum);
        search_free(&search);
    }
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
    for (int k = LONG; k < WIDE; k += quick_step(5)) /* every form */
        tcase_add_loop_test(shifts, the_best_shift_of_all_is_found, k, k + 1);
    suite_add_tcase(suite, shifts);
    TCase *steps = tcase_create("steps");
    tcase_add_loop_test(steps, a_search_cut_short_is_not_complete, 0, 12);
    suite_add_tcase(suite, steps);
    return run_suite(suite);
}
