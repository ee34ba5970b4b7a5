/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "one_shift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/fixed.h>

#include "program_bounds.h"
#include "search/rounding.h"

#define LEAST_SHARE 0x1p-16 /* of the steps: some hundreds, with which a search finds nothing */

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
        if (more > 62 || !is_within(line_slopes(rules, n), line->q_b * ((wide)1 << more)) ||
            (rules->form == PWL_BIASED && llabs(line->offset) > line_offset_limit(rules) >> more))
            return false;
        line->q_b = pwl_shl64(line->q_b, more);
        line->offset = rules->form == PWL_BIASED ? pwl_shl64(line->offset, more) : line->offset;
        line->n = n;
        if (!line_provable(rules, line, points->cell[knots[m]], points->cell[knots[m + 1]] - 1))
            return false;
    }
    return true;
}

/* A search over shifts, and the table it improves. */
struct shifts {
    struct squares *table;
    const struct line_rules *any;
    int most, likely, top;
    int fewest;                   /* segments of a table that costs table->exact.any_shift */
    struct program_bounds bounds; /* of tables that may mix the shifts up to `top` */
    struct line lines[PWL_MAX_SEGMENTS];
    int knots[PWL_MAX_SEGMENTS + 1];
};

/* Searches tables that may mix the shifts from first to last. That there is none is no error. Where that leaves open
 * what tables of one of them cost, the likeliest is searched for itself, and so on with those on either side, as long
 * as there are steps left to search with: without them the bound on tables that mix shifts has to do. */
static int search_shifts(struct shifts *shifts, int first, int last, enum exact_stage end, struct diag *diag)
{
    struct squares *table = shifts->table;
    struct exact *best = &table->exact;
    struct line_rules rules = *shifts->any;
    struct line *lines = shifts->lines;
    int *knots = shifts->knots;
    const bool within = last <= shifts->top && end == EXACT_ALL, known = within && shifts->bounds.memory;
    struct exact exact = {.last = end,
                          .share = best->share / 2,
                          .segments = best->segments,
                          .cost = best->cost,
                          .known = known ? &shifts->bounds : NULL,
                          .found = within && !known ? &shifts->bounds : NULL};
    if (first > last || points_out_of_time(table->points) ||
        (no_more_than(best->cost, best->any_shift) && best->segments <= shifts->fewest))
        return EXIT_DONE;
    rules.shift_min = first;
    rules.shift_max = last;
    memcpy(knots, table->knots, ((size_t)best->segments + 1) * sizeof *knots);
    memcpy(lines, table->lines, (size_t)best->segments * sizeof *lines);
    best->share -= exact.share;
    if (exact_improve(table->points, &rules, shifts->most, knots, lines, &exact, diag) &&
        diag->code != EXIT_REQUIREMENT)
        return diag->code;
    best->share += exact.share; /* what is left of it */
    const bool better = just_above(exact.cost) < best->cost ||
                        (no_more_than(exact.cost, best->cost) && exact.segments < best->segments);
    const bool shared = better && share_shift(table->points, shifts->any, exact.segments, knots, lines);
    if (shared) {
        table->rules->shift_min = table->rules->shift_max = lines[0].n;
        squares_take(table, exact.cost, exact.segments, knots, lines);
    }
    if (exact.found && exact.complete && table->points->count <= EXACT_FEW) {
        best->any_shift = exact.cost;
        shifts->fewest = exact.segments;
    }
    if (end < EXACT_ALL)
        return EXIT_DONE;
    if (first == last || (exact.complete && shared == better) || best->share < LEAST_SHARE) {
        best->lower_bound = fmin(best->lower_bound, exact.lower_bound);
        return EXIT_DONE;
    }
    const int n = first > shifts->likely ? first : last < shifts->likely ? last : shifts->likely;
    return search_shifts(shifts, n, n, end, diag) || search_shifts(shifts, first, n - 1, end, diag) ||
           search_shifts(shifts, n + 1, last, end, diag);
}

int shifts_search(struct squares *table, const struct line_rules *any, int most, struct diag *diag)
{
    struct exact *best = &table->exact;
    const int likely = table->rules->shift_min;
    int first = any->shift_min, last = any->shift_max;
    exact_cut_shifts(any, &first, &last);
    struct shifts shifts = {.table = table,
                            .any = any,
                            .most = most,
                            .likely = likely,
                            .top = table->points->count <= EXACT_FEW ? last : likely};
    best->lower_bound = INFINITY;
    best->any_shift = NAN;
    diag->code = EXIT_DONE;
    const bool failed = search_shifts(&shifts, likely, likely, EXACT_NEAR, diag) ||
                        search_shifts(&shifts, first, shifts.top, EXACT_ALL, diag) ||
                        search_shifts(&shifts, shifts.top + 1, last, EXACT_ALL, diag);
    program_bounds_free(&shifts.bounds);
    best->lower_bound = fmin(best->lower_bound, best->cost);
    if (!failed) /* without a table: with the message of the last shifts */
        diag->code = best->cost < INFINITY ? EXIT_DONE : EXIT_REQUIREMENT;
    return diag->code;
}
