/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "complete_search.h"

#include <math.h>
#include <stdlib.h>

#include "line_program.h"
#include "real_bound.h"

enum { LONGEST_WITH_WIDE_SUMS = 24 };

/* What is known of all tables before any line is looked at. Where short shifts are cut, lines of the table may be as
 * steep as those of any. */
static int bound_tables(struct search *search, double ceiling, struct diag *diag)
{
    struct line_rules rules = *search->rules;
    if (rules.accumulator_bits > 32 && rules.shift_min <= -LONGEST_WITH_WIDE_SUMS)
        rules.shift_min = -63;
    if (integer_bound_suffixes(search->points, &rules, search->segments, ceiling, search->ahead_any, diag))
        return diag->code;
    search_begin(search);
    return integer_bound_prefixes(search->points, &rules, search->segments, ceiling, search->before, diag);
}

void exact_cut_shifts(const struct line_rules *rules, int *first, int *last)
{
    if (rules->accumulator_bits <= 32)
        return;
    *first = *first > -LONGEST_WITH_WIDE_SUMS ? *first : -LONGEST_WITH_WIDE_SUMS;
    *last = *last < LONGEST_WITH_WIDE_SUMS ? *last : LONGEST_WITH_WIDE_SUMS;
}

int exact_improve(const struct points *points, const struct line_rules *given, int segments, int *knots,
                  struct line *lines, struct exact *exact, struct diag *diag)
{
    enum { MOST_STEPS = 1 << 26 };
    const int count = points->count;
    const size_t row = (size_t)count + 1, layers = (size_t)segments + 1;
    struct line_rules rules = *given;
    const bool wide_sums = rules.accumulator_bits > 32;
    if (wide_sums) {
        /* So that every sum below fits 64 bits; what lies beyond is not searched. */
        rules.accumulator_bits = 56;
        exact_cut_shifts(given, &rules.shift_min, &rules.shift_max);
        rules.offset_limit = rules.offset_limit < INT64_C(1) << 54 ? rules.offset_limit : INT64_C(1) << 54;
    }
    struct search search;
    double mass = 0;
    for (int k = 0; k < count; k++)
        mass += points->mass[k];
    const double all = square((double)(rules.qmax_y - rules.qmin_y) + 1) * mass;
    bool known = exact->cost < all;
    exact->cost = known ? exact->cost : all;
    const double ceiling = (exact->cost + EXACT_HAIR) * (1 + 1e-9);
    if (search_init(&search, points, &rules, segments, diag))
        return diag->code;
    if (exact->known)
        search_take_bounds(&search, exact->known);
    else if (bound_tables(&search, ceiling, diag))
        goto done;
    /* The first of the two is cut a hair for its rounding; above the ceiling no table is as good as the one in hand. */
    const double least = fmax(search.ahead[(layers - 1) * row], search.floor_sum[count]);
    exact->lower_bound = fmin(least, exact->cost);
    exact->optimal = exact->cost <= exact->lower_bound * (1 + EXACT_HAIR);

    const bool is_short = count <= EXACT_FEW; /* all is soon done */
    const int64_t few_steps = is_short ? 1 << 18 : 1 << 22;
    if (known && !is_short)
        search_know(&search, knots, lines, exact->segments);
    /* Some slopes, for a better table; then near the knots in hand for as long as that helps; then all. What that found
     * out of lines bounds the rest (search_look_ahead), and all is searched again. Where that is not done either, it is
     * below a lower ceiling: nothing found there is a bound. With
     * one shift, which takes several searches, more slopes and less near the knots are the sooner way. */
    const bool biased = rules.form == PWL_BIASED, one_shift = rules.one_shift && !is_short;
    const bool soon = is_short || one_shift;
    const int64_t all_steps = soon ? 1 << 25 : biased ? 5 << 22 : 1 << 23;
    const int few_samples = is_short ? 16 : one_shift ? 64 : 32;
    const struct pass {
        double part; /* of what lies between the bound and the table in hand */
        int samples;
        int64_t steps;
        int radius; /* how near; 0: anywhere */
    } passes[] = {
        {1, few_samples, one_shift ? 1 << 22 : 1 << 21, 0},
        {1, 0, 1 << 22, 1},
        {1, 0, 1 << 22, 2},
        {1, 0, all_steps, 0},
        {1, 0, 1 << 22, 4},
        {1, 0, biased && !is_short ? 1 << 24 : 1 << 25, 0},
        {0.25, 0, 1 << 22, 0},
    };
    enum { PASSES = sizeof passes / sizeof *passes, SEEKING = 5 };
    const int64_t share = exact->effort > 0 ? (int64_t)(exact->effort * MOST_STEPS) : MOST_STEPS;
    int64_t left = share, left_near = one_shift ? 1 << 22 : share;
    const int most_passes = least > ceiling ? 0 : exact->effort > 0 ? PASSES : 1;
    for (int p = 0; p < most_passes && !(wide_sums && exact->complete); p++) {
        const struct pass pass = passes[p];
        const int samples = pass.samples, radius = pass.radius;
        if (left <= 0 || (radius > 0 && left_near <= 0))
            continue;
        const bool known_optimal = exact->optimal; /* only fewer segments are of interest */
        const double gap = exact->cost - exact->lower_bound;
        if ((exact->searched && samples > 0) || (exact->near_alone && samples == 0 && radius == 0) ||
            (known_optimal && (samples > 0 || pass.part < 1)) || (radius > 0 && radius <= 2 && exact->near_known) ||
            (radius > 0 && (is_short || !known || known_optimal || points->grid_whole)))
            continue;
        if (radius > 0)
            search_near(&search, knots, exact->segments, radius);
        else
            search_anywhere(&search);
        search.all_starts = exact->found || pass.part < 1;
        search.whole = p >= SEEKING && biased && !soon;
        search.ceiling =
            pass.part < 1 ? exact->lower_bound + pass.part * gap : exact->cost + EXACT_HAIR * (1 + exact->cost);
        const int64_t most = known_optimal ? few_steps : pass.steps;
        const int64_t rest = radius > 0 && left_near < left ? left_near : left;
        const int64_t steps = most < rest ? most : rest;
        const double cost = search_solve(&search, samples, steps);
        left -= search.slopes.steps;
        left_near -= radius > 0 ? search.slopes.steps : 0;
        if (search.slopes.out_of_memory) {
            diag_set(diag, EXIT_IO, "out of memory for the lines of %d codes", count);
            break;
        }
        const bool better = cost < exact->cost * (1 - 1e-9);
        if (cost <= exact->cost + EXACT_HAIR * (1 + exact->cost)) { /* of equal tables that of fewest segments */
            exact->cost = fmin(cost, exact->cost);
            search_read(&search, knots, lines, exact);
            known = true;
            exact->optimal = exact->cost <= exact->lower_bound * (1 + EXACT_HAIR);
        }
        if (radius > 0)
            p -= better; /* once more */
        if (samples > 0 || radius > 0)
            continue;
        exact->complete |= pass.part == 1 && search.slopes.complete;
        if (wide_sums)
            continue;
        double lower = cost < INFINITY ? cost : search.ceiling; /* the best there is, or nothing below the ceiling */
        if (!search.slopes.complete) {
            search_look_ahead(&search);
            lower = search.ahead[(layers - 1) * row];
        }
        exact->lower_bound = fmin(fmax(lower, exact->lower_bound), exact->cost);
        exact->optimal |= exact->lower_bound >= exact->cost;
        if (exact->optimal && (known_optimal || (pass.part == 1 && search.slopes.complete)))
            break;
    }
    exact->complete |= exact->optimal;
    exact->cost = known ? exact->cost : INFINITY;
    if (!known && !diag->code)
        diag_set(diag, EXIT_REQUIREMENT,
                 "no provable table of %d segments was found; more segments, a smaller zero point or fewer --fix are "
                 "needed",
                 segments);
    if (exact->found && !search.slopes.out_of_memory)
        search_give_bounds(&search, exact->found);
done:
    search_free(&search);
    return diag->code;
}
