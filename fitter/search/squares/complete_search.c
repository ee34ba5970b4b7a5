/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "complete_search.h"

#include <math.h>

#include "base/numbers.h"
#include "line_program.h"
#include "program_bounds.h"
#include "real_bound.h"

enum { LONGEST_WITH_WIDE_SUMS = 24 };

/*
 * What is searched, one pass after the other, until a table is proven or the steps are used up. A step is a point that
 * a slope is followed to; 2^22 take about a third of a second.
 */
static const struct pass {
    enum exact_stage stage;
    int samples; /* slopes tried from each start; 0: all that can be part of a better table */
    int radius;  /* segments start at most so many codes from the incumbent's knots; 0: anywhere */
    int steps;   /* at most */
} schedule[] = {
    /* A better incumbent: the lower it is, the more each later pass can leave out. */
    {EXACT_SOME, 16, 0, 1 << 21},
    /* Knots of a good table are mostly off by a code or two. Each is repeated as long as it finds a better table. */
    {EXACT_NEAR, 0, 1, 1 << 22},
    {EXACT_NEAR, 0, 2, 1 << 22},
    /* The proof, if that does. Else what it found out about lines raises the bounds of the passes that follow. */
    {EXACT_ALL, 0, 0, 1 << 24},
    /* Further away, with these bounds. */
    {EXACT_NEAR, 0, 4, 1 << 22},
    /* The proof again, with all that is known. */
    {EXACT_ALL, 0, 0, 1 << 25},
};

enum { PASSES = sizeof schedule / sizeof *schedule };

/* Steps of all passes, where a table takes one search; see exact->share. */
static const int BUDGET = 1 << 26;
/* A step takes as long as looking at so many points; what is searched later for the same table then takes less. */
static const int STEP_EFFORT = 8;
/* Once a table is proven only one of fewer segments is of interest. */
static const int FEWER_SEGMENTS = 1 << 22;

/* Bounds all tables before any line is looked at. Where short shifts are cut, lines of the table may be as
 * steep as those of any. */
static int bound_tables(struct line_program *program, double ceiling, struct diag *diag)
{
    struct line_rules rules = *program->rules;
    if (rules.accumulator_bits > 32 && rules.shift_min <= -LONGEST_WITH_WIDE_SUMS)
        rules.shift_min = -63;
    if (integer_bound_suffixes(program->points, &rules, program->segments, ceiling, program->ahead_any, diag))
        return diag->code;
    program_begin_bounds(program);
    return integer_bound_prefixes(program->points, &rules, program->segments, ceiling, program->before, diag);
}

void exact_cut_shifts(const struct line_rules *rules, int *first, int *last)
{
    if (rules->accumulator_bits <= 32)
        return;
    *first = *first > -LONGEST_WITH_WIDE_SUMS ? *first : -LONGEST_WITH_WIDE_SUMS;
    *last = *last < LONGEST_WITH_WIDE_SUMS ? *last : LONGEST_WITH_WIDE_SUMS;
}

/* The rules with sums that all fit 64 bits; lines beyond are not searched. */
static struct line_rules searched_rules(const struct line_rules *given)
{
    struct line_rules rules = *given;
    if (given->accumulator_bits > 32) {
        rules.accumulator_bits = 56;
        exact_cut_shifts(given, &rules.shift_min, &rules.shift_max);
        rules.offsets = integers_within(rules.offsets, -(INT64_C(1) << 54) - 1, INT64_C(1) << 54);
    }
    return rules;
}

/* A search, and the table it improves. */
struct improvement {
    struct line_program program;
    struct exact *exact;
    int *knots;
    struct line *lines;
    bool known;     /* there is a table */
    bool wide_sums; /* there are lines that are not searched, so the search bounds nothing */
    int64_t left;   /* of the steps */
};

static double least_of_all(const struct line_program *program)
{
    return *entry(program->ahead, program, program->segments, 0);
}

static bool is_needed(const struct improvement *work, const struct pass *pass)
{
    const struct exact *exact = work->exact;
    const bool is_short = work->program.count <= EXACT_FEW; /* all is soon searched */
    if (pass->stage > exact->last || (pass->stage == EXACT_SOME && exact->known) ||
        (work->wide_sums && exact->complete))
        return false;
    if (pass->stage == EXACT_NEAR && (is_short || !work->known || work->program.points->grid_whole))
        return false;
    return pass->stage == EXACT_ALL || !exact_is_optimal(exact);
}

/* Takes the table that was found unless it is worse. Returns whether it is better. */
static bool take_table(struct improvement *work, double cost)
{
    struct exact *exact = work->exact;
    const bool better = just_above(cost) < exact->cost;
    if (no_more_than(cost, exact->cost)) { /* of equal tables that of fewest segments */
        exact->cost = fmin(cost, exact->cost);
        exact->segments = program_read(&work->program, work->knots, work->lines);
        work->known = true;
    }
    return better;
}

/* Raises the lower bound by what a search of all lines below the ceiling says. */
static void take_bound(struct improvement *work, double cost)
{
    struct exact *exact = work->exact;
    double lower = cost < INFINITY ? cost : work->program.ceiling;
    if (!work->program.slopes.work.complete) {
        program_raise_bounds(&work->program);
        lower = least_of_all(&work->program);
    }
    exact->lower_bound = fmin(fmax(lower, exact->lower_bound), exact->cost);
}

/* One pass, again as long as one near the knots betters them. Returns whether another can find more. */
static bool run_pass(struct improvement *work, const struct pass *pass)
{
    struct exact *exact = work->exact;
    struct line_program *program = &work->program;
    const bool was_optimal = exact_is_optimal(exact);
    bool again = true;
    while (again && work->left > 0 && !points_out_of_time(program->points)) {
        if (pass->radius > 0)
            program_place_near(program, work->knots, exact->segments, pass->radius);
        else
            program_place_anywhere(program);
        program->ceiling = just_above(exact->cost);
        const int64_t most = was_optimal ? FEWER_SEGMENTS : pass->steps;
        const double cost = program_solve(program, pass->samples, most < work->left ? most : work->left);
        work->left -= program->slopes.work.steps;
        if (program->slopes.work.out_of_memory)
            return false;
        again = take_table(work, cost) && pass->radius > 0 && !exact_is_optimal(exact);
        if (pass->stage != EXACT_ALL)
            continue;
        exact->complete |= program->slopes.work.complete;
        if (!work->wide_sums)
            take_bound(work, cost);
        if (exact_is_optimal(exact) && (was_optimal || program->slopes.work.complete))
            return false;
    }
    return true;
}

int exact_improve(const struct points *points, const struct line_rules *given, int segments, int *knots,
                  struct line *lines, struct exact *exact, struct diag *diag)
{
    const struct line_rules rules = searched_rules(given);
    struct improvement work = {
        .exact = exact, .knots = knots, .lines = lines, .wide_sums = given->accumulator_bits > 32};
    struct line_program *program = &work.program;
    const double all = square((double)(rules.qmax_y - rules.qmin_y) + 1) * points_mass(points);
    work.known = exact->cost < all;
    exact->cost = work.known ? exact->cost : all;
    if (program_init(program, points, &rules, segments, diag))
        return diag->code;
    if (exact->known)
        program_take_bounds(program, exact->known);
    else if (bound_tables(program, just_above(exact->cost), diag))
        goto done;
    /* Above the ceiling no table is as good as the incumbent. */
    const double least = fmax(least_of_all(program), program->floor_sum[points->count]);
    exact->lower_bound = fmin(least, exact->cost);
    if (work.known && points->count > EXACT_FEW)
        program_take_lines(program, knots, lines, exact->segments);
    work.left = (int64_t)(exact->share * BUDGET);
    for (int p = 0; p < PASSES && least <= just_above(exact->cost); p++)
        if (is_needed(&work, &schedule[p]) && !run_pass(&work, &schedule[p]))
            break;
    const double share = fmax(0, (double)work.left / BUDGET);
    points_spend(points, (int64_t)((exact->share - share) * STEP_EFFORT * BUDGET));
    exact->share = share;
    exact->complete |= exact_is_optimal(exact);
    exact->cost = work.known ? exact->cost : INFINITY;
    if (program->slopes.work.out_of_memory)
        diag_set(diag, EXIT_IO, "out of memory for the lines of %d codes", points->count);
    else if (exact->found)
        program_give_bounds(program, exact->found);
    if (!work.known && !diag->code)
        diag_set(diag, EXIT_REQUIREMENT,
                 "no provable table of %d segments was found; more segments, a smaller zero point or fewer --fix are "
                 "needed",
                 segments);
done:
    program_free(program);
    return diag->code;
}
