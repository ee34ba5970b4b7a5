/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exact.h"

#include <math.h>
#include <stdlib.h>

#include "last_line.h"
#include "real_bound.h"
#include "search.h"

int exact_improve(const struct points *points, const struct line_rules *given, int segments, int *knots,
                  struct line *lines, struct exact *exact, struct diag *diag)
{
    enum { FEW_POINTS = 256, FEW_STEPS = 1 << 22 };
    static const double hair = 1e-12; /* what rounding of sums may do */
    const int count = points->count;
    const size_t row = (size_t)count + 1, layers = (size_t)segments + 1;
    struct line_rules rules = *given;
    const bool wide_sums = rules.accumulator_bits > 32;
    if (wide_sums) {
        /* So that every sum below fits 64 bits; what lies beyond is not searched. */
        rules.accumulator_bits = 56;
        rules.shift_min = rules.shift_min > -24 ? rules.shift_min : -24;
        rules.shift_max = rules.shift_max < 24 ? rules.shift_max : 24;
        rules.offset_limit = rules.offset_limit < INT64_C(1) << 54 ? rules.offset_limit : INT64_C(1) << 54;
    }
    struct search search;
    double mass = 0;
    for (int k = 0; k < count; k++)
        mass += points->mass[k];
    const double all = square((double)(rules.qmax_y - rules.qmin_y) + 1) * mass;
    bool known = exact->cost < all;
    exact->cost = known ? exact->cost : all;
    const double ceiling = (exact->cost + hair) * (1 + 1e-9);
    double last[EXACT_POINTS + 1];
    if (last_line_costs(points, &rules, segments, ceiling, last, diag) ||
        search_init(&search, points, &rules, segments, diag))
        return diag->code;
    if (integer_bound_suffixes(points, rules.qmin_y, rules.qmax_y, segments, ceiling, last, search.ahead, diag))
        goto done;
    /* The first of the two is cut a hair for its rounding. */
    exact->lower_bound = fmin(fmax(search.ahead[(layers - 1) * row], search.floor_sum[count]), exact->cost);
    exact->optimal = exact->cost <= exact->lower_bound * (1 + hair);

    /* Some slopes, for a better table; then all. Where that is too much, all below lower ceilings, as a bound. */
    /* Of few points all is soon done, but for ties that are followed one by one. */
    const bool few = count <= FEW_POINTS && !(rules.form == PWL_BIASED && rules.rounding >= PWL_HALF_AWAY);
    const struct {
        double share;
        int samples;
        int64_t steps;
    } passes[] = {{1, few ? 8 : 32, few ? 1 << 18 : 1 << 21}, {1, 0, 1 << 25}, {1.0 / 8, 0, FEW_STEPS}};
    enum { PASSES = sizeof passes / sizeof *passes };
    for (int pass = 0; pass < (exact->quick ? 1 : PASSES); pass++) {
        const double share = passes[pass].share;
        const bool known_optimal = exact->optimal; /* only fewer segments are of interest */
        if (known_optimal && (passes[pass].samples || share < 1))
            continue;
        search.ceiling = share < 1 ? exact->lower_bound + share * (exact->cost - exact->lower_bound)
                                   : exact->cost + hair * (1 + exact->cost);
        const double cost = search_solve(&search, passes[pass].samples, known_optimal ? FEW_STEPS : passes[pass].steps);
        if (search.slopes.out_of_memory) {
            diag_set(diag, EXIT_IO, "out of memory for the lines of %d codes", count);
            break;
        }
        if (cost <= exact->cost + hair * (1 + exact->cost)) { /* of equal tables that of fewest segments */
            exact->cost = fmin(cost, exact->cost);
            search_read(&search, knots, lines, exact);
            known = true;
            exact->optimal = exact->cost <= exact->lower_bound * (1 + hair);
        }
        if (passes[pass].samples || wide_sums || !search.slopes.complete)
            continue;
        /* Nothing below the ceiling, or the best there is. */
        exact->lower_bound = fmin(cost < INFINITY ? cost : search.ceiling, exact->cost);
        exact->optimal = exact->lower_bound >= exact->cost;
        break;
    }
    exact->cost = known ? exact->cost : INFINITY;
    if (!known && !diag->code)
        diag_set(diag, EXIT_REQUIREMENT,
                 "no provable table of %d segments was found; more segments, a smaller zero point or fewer --fix are "
                 "needed",
                 segments);
done:
    search_free(&search);
    return diag->code;
}
