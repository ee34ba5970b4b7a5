/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Problems for the search for integer tables of least squared error. */
#ifndef SEARCH_PROBLEM_H
#define SEARCH_PROBLEM_H

#include "../../reference/fixture.h"
#include "fit/problem.h"
#include "search/line.h"
#include "search/points.h"
#include "search/squares/complete_search.h"
#include "search/squares/line_program.h"
#include "search/squares/program_bounds.h"
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
static inline void jump(struct problem *problem)
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

static inline void problem_init(struct problem *problem, int number)
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

static inline void problem_free(struct problem *problem)
{
    points_free(&problem->points);
    spec_free(&problem->spec);
}

/* A search that knows of no table, below a ceiling. */
static inline void begin(struct line_program *search, const struct problem *problem, double ceiling)
{
    const struct line_rules *rules = &problem->rules;
    struct diag diag;
    ck_assert_int_eq(program_init(search, &problem->points, rules, SEGMENTS, &diag), EXIT_DONE);
    ck_assert_int_eq(integer_bound_suffixes(&problem->points, rules, SEGMENTS, ceiling, search->ahead_any, &diag),
                     EXIT_DONE);
    ck_assert_int_eq(integer_bound_prefixes(&problem->points, rules, SEGMENTS, ceiling, search->before, &diag),
                     EXIT_DONE);
    program_begin_bounds(search);
    search->ceiling = ceiling;
}

/* The least cost of a table, by a search without bounds of ranges that knows what the fitter finds, and the steps that
 * it takes. */
static inline double optimum_of(const struct problem *problem, double *ceiling, int64_t *steps)
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
    const double cost = program_solve(&search, 0, MANY_STEPS);
    ck_assert_msg(cost < INFINITY && search.slopes.work.complete, "%s: no table, or none known", problem->flags);
    *steps = search.slopes.work.steps;
    program_free(&search);
    return cost;
}

static inline double a_little_above(double cost)
{
    return cost * (1 + 1e-9) + 1e-9;
}

#endif
