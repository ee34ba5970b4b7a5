/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shifts.h"

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

/* Looks at tables whose segments each have a shift from `first` to `last`, and takes the best if it is better than the
 * one in hand and its segments can have one shift. *done: that is all there is to know of one of these shifts. */
static int search_between(struct squares *table, const struct line_rules *any, int first, int last, int most,
                          double effort, bool *done, struct diag *diag)
{
    static const double hair = 1e-12;
    const struct exact known = table->exact;
    struct line_rules rules = *any;
    struct line lines[PWL_MAX_SEGMENTS];
    int knots[PWL_MAX_SEGMENTS + 1];
    struct exact exact = {.effort = effort, .segments = known.segments, .cost = known.cost};
    rules.shift_min = first;
    rules.shift_max = last;
    memcpy(knots, table->knots, ((size_t)known.segments + 1) * sizeof *knots);
    memcpy(lines, table->lines, (size_t)known.segments * sizeof *lines);
    if (exact_improve(table->points, &rules, most, knots, lines, &exact, diag) && diag->code != EXIT_REQUIREMENT)
        return diag->code;
    const bool better = exact.cost < known.cost * (1 - hair) ||
                        (exact.cost <= known.cost * (1 + hair) && exact.segments < known.segments);
    const bool shared = better && share_shift(table->points, any, exact.segments, knots, lines);
    if (shared) {
        table->exact.cost = exact.cost;
        table->exact.segments = exact.segments;
        table->rules->shift_min = table->rules->shift_max = lines[0].n;
        memcpy(table->knots, knots, ((size_t)exact.segments + 1) * sizeof *knots);
        memcpy(table->lines, lines, (size_t)exact.segments * sizeof *lines);
    }
    *done = first == last || (exact.optimal && shared == better);
    if (*done) {
        table->exact.optimal &= exact.optimal;
        table->exact.lower_bound = fmin(table->exact.lower_bound, exact.lower_bound);
    }
    return EXIT_DONE;
}

int shifts_search(struct squares *table, const struct line_rules *any, int most, struct diag *diag)
{
    static const double alone = 0.6, together = 0.1; /* shares of a search */
    const double effort = table->points->count <= EXACT_FEW ? alone : together;
    const int likely = table->rules->shift_min;
    bool done;
    table->exact.optimal = true;
    table->exact.lower_bound = INFINITY;
    if (search_between(table, any, likely, likely, most, alone, &done, diag))
        return diag->code;
    for (int up = 0; up < 2; up++) {
        int first = up ? likely + 1 : any->shift_min, last = up ? any->shift_max : likely - 1;
        for (done = false; first <= last && !done; first += up, last -= !up) {
            const int n = up ? first : last;
            bool found;
            if (search_between(table, any, first, last, most, first < last ? effort : alone, &done, diag) ||
                (!done && search_between(table, any, n, n, most, alone, &found, diag)))
                return diag->code;
        }
    }
    if (!(table->exact.cost < INFINITY))
        return diag->code; /* of the last one looked at */
    table->exact.lower_bound = fmin(table->exact.lower_bound, table->exact.cost);
    return diag->code = EXIT_DONE;
}
