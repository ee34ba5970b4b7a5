/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "best_squares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/fixed.h>

#include "one_shift.h"
#include "real_bound.h"
#include "search/real_line_fit.h"
#include "search/rounding.h"

/* Moves the line's constant before the shift, with a shorter slope where it does not fit there; false where there
 * is none. */
static bool line_to_biased(const struct squares *table, int begin, int end, struct line *line)
{
    const struct points *points = table->points;
    const struct line_rules *rules = table->rules;
    const int64_t first = points->cell[begin], last = points->cell[end] - 1, constant = line->offset;
    if (line->n < 0 && constant % pwl_shl64(1, -line->n) != 0)
        return false;
    for (;; line->q_b = slope_nearest(rules, 0.5 * (double)line->q_b), line->n--) {
        const int n = line->n;
        if (is_within(line_slopes(rules, n), line->q_b) &&
            (n <= 0 || llabs(constant) <= line_offset_limit(rules) >> n)) {
            line->offset = n < 0 ? constant / pwl_shl64(1, -n) : pwl_shl64(constant, n);
            if (line_provable(rules, line, first, last))
                break;
        }
        if (n <= 0 || n <= rules->shift_min)
            return false;
    }
    line->cost = line_cost_below(rules, points, begin, end, line, NULL, INFINITY);
    return true;
}

/* Lines for some knots, to be improved; returns their cost. */
static double start_lines(const struct points *points, const struct line_rules *rules, int count, const int *knots,
                          struct line *lines)
{
    double cost = 0;
    for (int m = 0; m < count; m++) {
        line_fit(rules, points, knots[m], knots[m + 1], LINE_UNLIMITED, LINE_QUICK, &lines[m]);
        cost += lines[m].cost;
    }
    return cost;
}

/* A biased table can do what an absolute one does, which of many points is found sooner: a better one to begin with. */
static int begin_with_absolute(struct squares *table, struct diag *diag)
{
    const int count = table->exact.segments;
    struct line_rules rules = *table->rules;
    struct line lines[PWL_MAX_SEGMENTS];
    int knots[PWL_MAX_SEGMENTS + 1];
    double cost = 0;
    rules.form = PWL_ABSOLUTE;
    memcpy(knots, table->knots, ((size_t)count + 1) * sizeof *knots);
    struct exact exact = {.last = rules.one_shift ? EXACT_SOME : EXACT_NEAR,
                          .share = EXACT_SHARE_ABSOLUTE * table->points->effort->share,
                          .segments = count,
                          .cost = start_lines(table->points, &rules, count, knots, lines)};
    if (exact_improve(table->points, &rules, count, knots, lines, &exact, diag))
        return diag->code == EXIT_REQUIREMENT ? EXIT_DONE : diag->code; /* the biased form may have one */
    for (int m = 0; m < exact.segments; m++) {
        if (!line_to_biased(table, knots[m], knots[m + 1], &lines[m]) &&
            !line_fit(table->rules, table->points, knots[m], knots[m + 1], LINE_UNLIMITED, LINE_THOROUGH, &lines[m]))
            return EXIT_DONE;
        cost += lines[m].cost;
    }
    if (cost < table->exact.cost)
        squares_take(table, cost, exact.segments, knots, lines);
    return EXIT_DONE;
}

/* Where the lines of the incumbent end, or meet a limit of the output, in ascending order: at most three points a
 * segment. */
static int note_bends(const struct squares *table, int *near)
{
    const struct line_rules *rules = table->rules;
    int count = 0;
    for (int m = 0; m < table->exact.segments; m++) {
        bool free_before = false;
        near[count++] = table->knots[m];
        for (int k = table->knots[m]; k < table->knots[m + 1]; k++) {
            const int64_t y = line_output(rules, table->points, table->knots[m], k, &table->lines[m]);
            const bool is_free = y > rules->qmin_y && y < rules->qmax_y;
            if (k > table->knots[m] && is_free != free_before)
                near[count++] = k;
            free_before = is_free;
        }
    }
    near[count++] = table->points->count;
    return count;
}

/* The cost of a segment's least-squares line, clipped to the output range. */
static double clipped_real_cost(const struct squares *table, int begin, int end)
{
    const struct points *points = table->points;
    const double low = (double)table->rules->qmin_y, high = (double)table->rules->qmax_y;
    struct lsq_line line;
    double cost = 0;
    if (lsq_fit(points->code + begin, points->target + begin, points->weight + begin, (size_t)(end - begin), &line))
        line = (struct lsq_line){.y_mean = points->target[begin]};
    for (int k = begin; k < end; k++)
        cost +=
            points_cost(points, k, fmin(fmax(line.y_mean + line.slope * (points->code[k] - line.x_mean), low), high));
    return cost;
}

/* What rounding costs at least: every target met by its nearest code. */
static double floor_of(const struct points *points)
{
    double floor = 0;
    for (int k = 0; k < points->count; k++)
        floor += points_floor(points, k);
    return floor;
}

/* Real lines that cost more are of no use: those that a better table rounds do not, as a rounded value lies within 1/2
 * of a real one, and the real lines on the knots of the incumbent are better. */
static double real_ceiling(const struct squares *table)
{
    const double mass = points_mass(table->points), root = sqrt(table->exact.cost) + 0.5 * sqrt(mass);
    double cost = 0;
    for (int m = 0; m < table->exact.segments; m++)
        cost += clipped_real_cost(table, table->knots[m], table->knots[m + 1]);
    return fmin(cost, root * root) * (1 + ROUNDING_SHARE(table->points->count));
}

/* Takes lines on other knots if they are better than the incumbent; where points are not all codes, and so leave as
 * much unknown, by a hundredth of the RMS error. */
static bool take_if_better(struct squares *table, const int *knots, int count, struct line *lines)
{
    const double known = table->exact.cost * (table->points->exhaustive ? 1 : 0.98);
    double cost = knots[count - 1] < points_starts(table->points) ? 0 : INFINITY;
    for (int m = 0; m < count && cost < known; m++) {
        line_fit(table->rules, table->points, knots[m], knots[m + 1], LINE_UNLIMITED, LINE_THOROUGH, &lines[m]);
        cost += lines[m].cost;
    }
    if (!(cost < known))
        return false;
    squares_take(table, cost, count, knots, lines);
    return true;
}

/* The knots of the best real lines of all, if lines on them are better. */
static int move_to_real_knots(struct squares *table, struct diag *diag)
{
    const struct points *points = table->points;
    const int count = table->exact.segments;
    int *knots = malloc(((size_t)count + 1) * sizeof *knots);
    struct line *lines = malloc((size_t)count * sizeof *lines);
    struct real_bound bound = {.knots = knots};
    diag->code = EXIT_DONE;
    if (!knots || !lines)
        diag_set(diag, EXIT_IO, "out of memory for %d segments", count);
    else if (!points->grid &&
             !real_bound(points, table->rules->qmin_y, table->rules->qmax_y, count, real_ceiling(table), table->knots,
                         count + 1, points->count, &bound, diag) &&
             bound.found)
        take_if_better(table, knots, bound.segments, lines);
    free(knots);
    free(lines);
    return diag->code;
}

/* Some quick rounds for knots; then one for the bound, where points are all codes and so bound something. On a grid of
 * knots a quick round tells whether real lines, which may start anywhere, come near; else to bound them closely takes
 * long, as little can be left out below the ceiling, and says little. */
int squares_bound(struct squares *table, struct diag *diag)
{
    const int count = table->exact.segments;
    enum { ROUNDS = 3, QUICK_CELLS = 224, CELLS = 1024, LEAST_CELLS = 2048, MOST_CELLS = 16384, NEAR = 4 };
    const struct points *points = table->points;
    const struct line_rules *rules = table->rules;
    const bool movable = !points->grid;
    const int most = points->exhaustive ? ROUNDS : movable ? ROUNDS - 1 : 0, rounds = table->is_trial ? 0 : most;
    const double mass = points_mass(points), floor = floor_of(points);
    int *knots = malloc(((size_t)count + 1) * sizeof *knots);
    int *near = malloc(((size_t)count * 3 + 1) * sizeof *near);
    struct line *lines = malloc((size_t)count * sizeof *lines);
    diag->code = EXIT_DONE;
    if (!knots || !near || !lines) {
        diag_set(diag, EXIT_IO, "out of memory for a bound on %d segments", count);
        goto done;
    }
    table->exact = (struct exact){.segments = count};
    for (int m = 0; m < count; m++)
        table->exact.cost +=
            line_cost_below(rules, points, table->knots[m], table->knots[m + 1], &table->lines[m], NULL, INFINITY);
    table->exact.lower_bound = floor;
    for (int round = movable ? 1 : ROUNDS - 1; round <= rounds && table->exact.lower_bound < table->exact.cost;
         round++) {
        if (points_out_of_time(points))
            break;
        const bool last = round == ROUNDS;
        const int wanted = (last ? CELLS : QUICK_CELLS) * count, least = last ? 4 * LEAST_CELLS : LEAST_CELLS;
        const int cells = wanted < least ? least : wanted < MOST_CELLS ? wanted : MOST_CELLS;
        struct real_bound bound = {.knots = knots};
        if (real_bound(points, rules->qmin_y, rules->qmax_y, count, real_ceiling(table), near, note_bends(table, near),
                       cells, &bound, diag))
            goto done;
        const double lower = integer_cost_bound(bound.cost, mass / 4, floor);
        table->exact.lower_bound = fmax(table->exact.lower_bound, lower);
        if (!movable && NEAR * lower < table->exact.cost)
            break;
        const bool better = bound.found && movable && take_if_better(table, knots, bound.segments, lines);
        table->moved |= better;
        round = better || last ? round : ROUNDS - 1;
    }
    table->exact.lower_bound = fmin(table->exact.lower_bound, table->exact.cost);
done:
    free(knots);
    free(near);
    free(lines);
    return diag->code;
}

/* Better lines on the knots of the incumbent, where the search did not see all. */
static void polish(struct squares *table)
{
    for (int m = 0; m < table->exact.segments; m++) {
        struct line line;
        const struct line_limits limits = {INFINITY, table->lines[m].cost};
        if (!line_fit(table->rules, table->points, table->knots[m], table->knots[m + 1], limits, LINE_THOROUGH, &line))
            continue;
        table->exact.cost += line.cost - table->lines[m].cost;
        table->lines[m] = line;
    }
}

int squares_search(struct squares *table, const struct line_rules *any, struct diag *diag)
{
    const struct points *points = table->points;
    const int count = table->exact.segments;
    struct exact *exact = &table->exact;
    double cost = 0;
    if (!any->one_shift)
        cost = start_lines(points, any, count, table->knots, table->lines);
    for (int m = 0; any->one_shift && m < count; m++)
        cost += table->lines[m].cost;
    /* A biased table of many points begins with an absolute one, from knots of lines that do not saturate, too. */
    const bool is_short = points->count <= EXACT_FEW, begins = any->form == PWL_BIASED && !is_short;
    const double share = (begins ? EXACT_SHARE_BIASED : 1) * points->effort->share;
    *exact = (struct exact){.last = EXACT_ALL, .share = share, .segments = count, .cost = cost};
    if (cost < INFINITY && (is_short || !any->one_shift) && !begins && move_to_real_knots(table, diag))
        return diag->code;
    if (begins && begin_with_absolute(table, diag))
        return diag->code;
    if (any->one_shift)
        return shifts_search(table, any, count, diag);
    if (exact_improve(points, table->rules, count, table->knots, table->lines, exact, diag))
        return diag->code;
    if (!exact_is_optimal(exact))
        polish(table);
    exact->lower_bound = fmin(exact->lower_bound, exact->cost);
    return EXIT_DONE;
}
