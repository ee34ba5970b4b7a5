/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "one_shift.h"

#include "line_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/fixed.h>

/* Gives all lines the longest of their shifts; false where that does not do for some. */
static bool share_shift(const struct points *points, const struct line_rules *rules, int count, const int *knots,
                        struct line *lines)
{
    int n = rules->shift_min;
    for (int m = 0; m < count; m++)
        n = lines[m].n > n ? lines[m].n : n;
    for (int m = 0; m < count; m++) {
        struct line *line = &lines[m];
        const int more = n - line->n;
        if (llabs(line->q_b) > rules->slope_limit >> more ||
            (rules->form == PWL_BIASED && llabs(line->offset) > rules->offset_limit >> more))
            return false;
        line->q_b = pwl_shl64(line->q_b, more);
        line->offset = rules->form == PWL_BIASED ? pwl_shl64(line->offset, more) : line->offset;
        line->n = n;
        if (!line_provable(rules, line, points->cell[knots[m]], points->cell[knots[m + 1]] - 1))
            return false;
    }
    return true;
}

/* Takes a table of the shift n that costs no more than the best one, with knots as near to its; false where none is. */
static int share_knots_at(const struct points *points, const struct line_rules *any, int n,
                          const struct search_bounds *bounds, int *knots, struct line *lines, struct exact *best,
                          bool *shared, struct diag *diag)
{
    enum { RADIUS = 1, STEPS = 1 << 22 };
    struct line_rules rules = *any;
    struct line_program program;
    rules.shift_min = rules.shift_max = n;
    if (search_init(&program, points, &rules, best->segments, diag))
        return diag->code;
    search_take_bounds(&program, bounds);
    search_near(&program, knots, best->segments, RADIUS);
    program.ceiling = just_above(best->cost);
    *shared = search_solve(&program, 0, STEPS) < INFINITY;
    if (program.slopes.out_of_memory)
        diag_set(diag, EXIT_IO, "out of memory for the lines of %d codes", points->count);
    else if (*shared)
        best->segments = search_read(&program, knots, lines);
    search_free(&program);
    return diag->code;
}

/* The same of the likely shift, or the longest that the steepest line can have. */
static int share_knots(const struct points *points, const struct line_rules *any, int likely,
                       const struct search_bounds *bounds, int *knots, struct line *lines, struct exact *best,
                       bool *shared, struct diag *diag)
{
    int longest = any->shift_max;
    for (int m = 0; m < best->segments; m++)
        while (longest > any->shift_min &&
               ldexp((double)llabs(lines[m].q_b), longest - lines[m].n) > (double)any->slope_limit)
            longest--;
    if (share_knots_at(points, any, likely, bounds, knots, lines, best, shared, diag) || *shared || longest == likely)
        return diag->code;
    return share_knots_at(points, any, longest, bounds, knots, lines, best, shared, diag);
}

/* Shifts that are looked at together: as if each segment could have any of them. */
struct shifts {
    int first, last;
    enum exact_stage begin, end;
    const struct search_bounds *known;
    struct search_bounds *found;
    bool done;   /* that says all there is to know of one of them for all segments */
    double cost; /* of the best table, with so many segments; NAN where that is not known */
    int segments;
    double lower_bound; /* no table costs less */
};

/* Takes the best table if it is better than the incumbent and its segments can have one shift. That there is none is
 * no error. */
static int search_shifts(struct squares *table, const struct line_rules *any, int most, struct shifts *shifts,
                         struct diag *diag)
{
    const struct exact incumbent = table->exact;
    struct line_rules rules = *any;
    struct line lines[PWL_MAX_SEGMENTS];
    int knots[PWL_MAX_SEGMENTS + 1];
    struct exact exact = {.first = shifts->begin,
                          .last = shifts->end,
                          .share = incumbent.share,
                          .segments = incumbent.segments,
                          .cost = incumbent.cost,
                          .known = shifts->known,
                          .found = shifts->found};
    rules.shift_min = shifts->first;
    rules.shift_max = shifts->last;
    memcpy(knots, table->knots, ((size_t)incumbent.segments + 1) * sizeof *knots);
    memcpy(lines, table->lines, (size_t)incumbent.segments * sizeof *lines);
    if (exact_improve(table->points, &rules, most, knots, lines, &exact, diag) && diag->code != EXIT_REQUIREMENT)
        return diag->code;
    const bool better = just_above(exact.cost) < incumbent.cost ||
                        (no_more_than(exact.cost, incumbent.cost) && exact.segments < incumbent.segments);
    bool shared = better && share_shift(table->points, any, exact.segments, knots, lines);
    /* A line may have other shifts than the one it was found with. (Wide sums are not searched as they are.) */
    if (better && !shared && shifts->found && exact.optimal && any->accumulator_bits <= 32 &&
        share_knots(table->points, any, table->rules->shift_min, shifts->found, knots, lines, &exact, &shared, diag))
        return diag->code;
    if (shared) {
        table->exact.cost = exact.cost;
        table->exact.segments = exact.segments;
        table->rules->shift_min = table->rules->shift_max = lines[0].n;
        memcpy(table->knots, knots, ((size_t)exact.segments + 1) * sizeof *knots);
        memcpy(table->lines, lines, (size_t)exact.segments * sizeof *lines);
    }
    shifts->cost = exact.complete ? exact.cost : NAN;
    shifts->segments = exact.segments;
    shifts->done = (shifts->first == shifts->last && shifts->end == EXACT_ALL) || (exact.complete && shared == better);
    if (shifts->done) {
        table->exact.optimal &= exact.optimal;
        table->exact.lower_bound = fmin(table->exact.lower_bound, exact.lower_bound);
    }
    shifts->lower_bound = exact.lower_bound;
    return diag->code = EXIT_DONE;
}

/* The shifts above some, or those below: all of them, then the nearest for itself, and so on with the rest. The
 * steepest part of a function often bounds all above but the nearest, which is then all there is to search. */
static int search_side(struct squares *table, const struct line_rules *any, int most, struct shifts side, bool up,
                       struct diag *diag)
{
    for (; side.first <= side.last; side.first += up, side.last -= !up) {
        const int n = up ? side.first : side.last;
        struct shifts nearest = side, above = {.first = n + 1, .last = side.last, .end = EXACT_BOUND};
        nearest.first = nearest.last = n;
        if (up && !side.known && above.first < above.last) {
            if (search_shifts(table, any, most, &above, diag))
                return diag->code;
            side.last = above.done ? n : side.last;
        }
        if (side.first < side.last && search_shifts(table, any, most, &side, diag))
            return diag->code;
        if (side.done)
            break;
        if (search_shifts(table, any, most, &nearest, diag))
            return diag->code;
    }
    return EXIT_DONE;
}

/* All shifts together, of many points those up to the likely one; then one by one as far as that leaves a question, and
 * those beyond. */
static int search_all(struct squares *table, const struct line_rules *any, int most, struct search_bounds *bounds,
                      struct diag *diag)
{
    const bool is_short = table->points->count <= EXACT_FEW, starts = !(table->exact.cost < INFINITY);
    const int likely = table->rules->shift_min;
    int first = any->shift_min, last = any->shift_max;
    exact_cut_shifts(any, &first, &last);
    struct shifts one = {.first = likely, .last = likely, .end = starts ? EXACT_ALL : EXACT_NEAR};
    struct shifts all = {
        .first = first, .last = is_short ? last : likely, .end = EXACT_ALL, .found = is_short ? bounds : NULL};
    if ((starts || !is_short) && search_shifts(table, any, most, &one, diag))
        return diag->code;
    if (search_shifts(table, any, most, &all, diag))
        return diag->code;
    /* What was searched for all shifts together leaves little to find for some slopes. */
    struct shifts rest = {.begin = is_short ? EXACT_NEAR : EXACT_BOUND, .end = EXACT_ALL, .known = all.found};
    struct shifts below = rest, beyond = rest;
    below.first = first;
    below.last = likely - 1;
    beyond.first = all.last + 1;
    beyond.last = last;
    if (is_short)
        table->exact.any_shift = all.cost;
    if (!all.done && isnan(all.cost)) { /* each alone would be cut short as well */
        table->exact.optimal = false;
        table->exact.lower_bound = fmin(table->exact.lower_bound, all.lower_bound);
    } else if (!all.done) {
        rest.first = rest.last = likely;
        if (!starts && search_shifts(table, any, most, &rest, diag))
            return diag->code;
        /* Else nothing is better with other shifts, or as good with fewer segments. */
        if (!no_more_than(table->exact.cost, all.cost) || table->exact.segments > all.segments) {
            beyond.first = likely + 1;
            if (search_side(table, any, most, below, false, diag))
                return diag->code;
        }
    }
    return search_side(table, any, most, beyond, true, diag);
}

int shifts_search(struct squares *table, const struct line_rules *any, int most, struct diag *diag)
{
    struct search_bounds bounds = {0};
    table->exact.optimal = true;
    table->exact.lower_bound = INFINITY;
    table->exact.any_shift = NAN;
    const int status = search_all(table, any, most, &bounds, diag);
    search_bounds_free(&bounds);
    if (status || !(table->exact.cost < INFINITY))
        return diag->code = status ? status : EXIT_REQUIREMENT; /* with the message of the last ones looked at */
    table->exact.lower_bound = fmin(table->exact.lower_bound, table->exact.cost);
    return diag->code = EXIT_DONE;
}
