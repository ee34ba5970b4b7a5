/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables around which the search looks for better ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "joint_search.h"

/* The least squares of a line over the points between two positions, and the line. */
static double line_between(const struct tie_search *search, int begin, int end, struct line *line)
{
    return line_fit(search->rules, search->points, points_at(search->points, begin), points_at(search->points, end),
                    LINE_UNLIMITED, LINE_QUICK, line)
               ? line->cost
               : INFINITY;
}

/* The loss of the two segments at knot m by having one line. */
static double loss_without(const struct tie_search *search, const int *position, int m)
{
    struct line line;
    return line_between(search, position[m - 1], position[m + 1], &line) -
           line_between(search, position[m - 1], position[m], &line) -
           line_between(search, position[m], position[m + 1], &line);
}

/* Puts a knot at each extreme of f and drops as many others, each time the one whose two segments lose least by having
 * one line. Returns false, the incumbent being left, when f has no extreme or as many as there are segments. */
static bool start_at_turns(struct tie_search *search)
{
    const struct ties *ties = search->ties;
    const int points = search->points->count;
    int *position = malloc(((size_t)points + 1) * sizeof *position);
    bool *keep = calloc((size_t)search->positions + 1, sizeof *keep);
    double *loss = malloc(((size_t)points + 1) * sizeof *loss);
    int turns = 0, count = 0, last = 0;
    bool moved = false;
    if (!position || !keep || !loss)
        goto done;
    for (int k = 1; k < points; k++) {
        const int direction = ties->joint[k];
        int nearest = 0;
        if (direction * last < 0) {
            while (nearest < search->positions && points_at(search->points, nearest) < k - 1)
                nearest++;
            turns += !keep[nearest];
            keep[nearest] = true;
        }
        last = direction ? direction : last;
    }
    if (turns == 0 || turns >= search->segments || search->points->grid_whole)
        goto done;
    moved = true;
    for (int p = 0, m = 0; p <= search->positions; p++) {
        while (m < search->segments && search->position[m] < p)
            m++;
        if (keep[p] || search->position[m] == p)
            position[count++] = p;
    }
    count--; /* the number of segments */
    for (int m = 1; m < count && count > search->segments; m++)
        loss[m] = keep[position[m]] ? INFINITY : loss_without(search, position, m);
    for (; count > search->segments; count--) {
        int victim = -1;
        for (int m = 1; m < count; m++)
            if (!keep[position[m]] && (victim < 0 || loss[m] < loss[victim]))
                victim = m;
        memmove(position + victim, position + victim + 1, (size_t)(count - victim) * sizeof *position);
        memmove(loss + victim, loss + victim + 1, (size_t)(count - victim) * sizeof *loss);
        for (int m = victim - 1; m <= victim; m++)
            if (m > 0 && m < count - 1 && !keep[position[m]])
                loss[m] = loss_without(search, position, m);
    }
    memcpy(search->position, position, ((size_t)count + 1) * sizeof *position);
    for (int m = 0; m < count; m++)
        line_between(search, position[m], position[m + 1], &search->lines[m]);
done:
    free(position);
    free(keep);
    free(loss);
    return moved;
}

static void copy_table(struct tie_search *to, const struct tie_search *from)
{
    to->segments = from->segments;
    memcpy(to->position, from->position, ((size_t)from->segments + 1) * sizeof *from->position);
    memcpy(to->lines, from->lines, (size_t)from->segments * sizeof *from->lines);
}

/* Searches around another table, which becomes the incumbent if it comes to cost less. */
static void search_from(struct tie_search *search, struct tie_search *other, struct candidate *candidates,
                        struct tie_cost *cost)
{
    struct tie_cost found = tie_table_cost(other);
    tie_descend(other, candidates, &found);
    if (!costs_less(&found, cost))
        return;
    *cost = found;
    copy_table(search, other);
}

/* Splits the longest segments until there are as many as allowed. */
static void split_longest(struct tie_search *search)
{
    int *position = search->position;
    const bool whole = search->points->grid_whole;
    while (search->segments < search->most && !whole) {
        int longest = 0;
        for (int m = 1; m < search->segments; m++)
            if (position[m + 1] - position[m] > position[longest + 1] - position[longest])
                longest = m;
        const int length = position[longest + 1] - position[longest];
        if (length < 2)
            return;
        const size_t after = (size_t)(search->segments - longest);
        memmove(position + longest + 2, position + longest + 1, after * sizeof *position);
        memmove(search->lines + longest + 1, search->lines + longest, after * sizeof *search->lines);
        position[longest + 1] = position[longest] + length / 2;
        if (search->rules->form == PWL_ANCHORED)
            search->lines[longest + 1].offset =
                line_value(search->rules, &search->lines[longest],
                           search->points->cell[points_at(search->points, position[longest])],
                           search->points->cell[points_at(search->points, position[longest + 1])]);
        search->segments++;
    }
}

/* An agreed cover; where an error is given, of that error or little more. */
static bool start_at_agreed_cover(struct tie_search *search, double low)
{
    const struct ties *ties = search->ties;
    bool found;
    if (is_max_err_given(ties))
        found = (!ties->few && agreed_cover_within(search, ties->max_err)) ||
                agreed_cover_within(search, ties->max_err * (1 + 0x1p-5));
    else
        found = agreed_cover_least_error(search, low);
    if (found)
        split_longest(search);
    return found;
}

/* The largest error of a table that keeps to ties is not below the RMS error of one that need not. */
static double rms_error(const struct tie_search *search, const struct tie_cost *cost)
{
    const struct points *points = search->points;
    const double mass = (double)(points->cell[points->count] - points->cell[0]);
    return cost->squares < INFINITY ? sqrt(cost->squares / mass) : 0;
}

/* Whether a table is worse than the best of those that need not keep to ties by a hundredth at most. */
static bool is_near(const struct ties *ties, const struct tie_cost *cost, const struct tie_cost *untied, double low)
{
    if (is_max_err_given(ties) || cost->violation > 0 || !(untied->squares < INFINITY))
        return false;
    return ties->by_max_err ? cost->error <= 1.01 * low : cost->squares <= 1.02 * untied->squares;
}

void tie_search_around(struct tie_search *search, double low, struct candidate *candidates, struct tie_cost *cost)
{
    const struct ties *ties = search->ties;
    const struct tie_cost untied = *cost;
    const double least = fmax(low, rms_error(search, cost));
    struct tie_search other = *search;
    other.position = malloc(((size_t)search->most + 1) * sizeof *other.position);
    other.lines = malloc((size_t)search->most * sizeof *other.lines);
    if (other.position && other.lines) {
        copy_table(&other, search);
        const bool turns = ties->monotone && start_at_turns(&other);
        tie_descend(search, candidates, cost);
        if (turns && !holds_max_err(ties, cost))
            search_from(search, &other, candidates, cost);
        if (ties_bind(ties) && !holds_max_err(ties, cost) && !is_near(ties, cost, &untied, least) &&
            start_at_agreed_cover(&other, least))
            search_from(search, &other, candidates, cost);
    }
    free(other.position);
    free(other.lines);
}
