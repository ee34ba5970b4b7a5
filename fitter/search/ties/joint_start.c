/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables around which one is searched for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "joint_search.h"

/* The costs of a line over the points between two places, and the line. */
static double line_between(const struct tie_search *search, int begin, int end, struct line *line)
{
    return line_fit(search->rules, search->points, points_at(search->points, begin), points_at(search->points, end),
                    LINE_UNLIMITED, LINE_QUICK, line)
               ? line->cost
               : INFINITY;
}

/* Places a knot at each extreme of f and drops as many others, those whose neighbours are served best by one line.
 * Returns false, the table in hand being left, when no extreme is without a knot or there are too many. */
static bool start_at_turns(struct tie_search *search)
{
    const struct ties *ties = search->ties;
    const int points = search->points->count;
    int *place = malloc(((size_t)points + 1) * sizeof *place);
    bool *keep = calloc((size_t)search->places + 1, sizeof *keep);
    int turns = 0, count = 0, last = 0;
    bool moved = false;
    if (!place || !keep)
        goto done;
    for (int k = 1; k < points; k++) {
        const int direction = ties->joint[k];
        int nearest = 0;
        if (direction * last < 0) {
            while (nearest < search->places && points_at(search->points, nearest) < k - 1)
                nearest++;
            turns += !keep[nearest];
            keep[nearest] = true;
        }
        last = direction ? direction : last;
    }
    if (turns == 0 || turns >= search->segments || search->points->grid_whole)
        goto done;
    moved = true;
    for (int p = 0, m = 0; p <= search->places; p++) {
        while (m < search->segments && search->place[m] < p)
            m++;
        if (keep[p] || search->place[m] == p)
            place[count++] = p;
    }
    for (count--; count > search->segments; count--) { /* count is the number of segments */
        double least = INFINITY;
        int victim = -1;
        for (int m = 1; m < count; m++) {
            struct line line;
            if (keep[place[m]])
                continue;
            const double more = line_between(search, place[m - 1], place[m + 1], &line) -
                                line_between(search, place[m - 1], place[m], &line) -
                                line_between(search, place[m], place[m + 1], &line);
            if (victim < 0 || more < least) {
                least = more;
                victim = m;
            }
        }
        memmove(place + victim, place + victim + 1, (size_t)(count - victim) * sizeof *place);
    }
    memcpy(search->place, place, ((size_t)count + 1) * sizeof *place);
    for (int m = 0; m < count; m++)
        line_between(search, place[m], place[m + 1], &search->lines[m]);
done:
    free(place);
    free(keep);
    return moved;
}

static void copy_table(struct tie_search *to, const struct tie_search *from)
{
    to->segments = from->segments;
    memcpy(to->place, from->place, ((size_t)from->segments + 1) * sizeof *from->place);
    memcpy(to->lines, from->lines, (size_t)from->segments * sizeof *from->lines);
}

/* Searches around another table, too, and takes what is found there if it is cheaper. */
static void search_from(struct tie_search *search, struct tie_search *other, struct option *options,
                        struct price *price)
{
    struct price found = tie_price(other);
    tie_descend(other, options, &found);
    if (!cheaper(&found, price))
        return;
    *price = found;
    copy_table(search, other);
}

/* Splits the longest segments, so that there are as many as allowed. */
static void split_longest(struct tie_search *search)
{
    int *place = search->place;
    const bool whole = search->points->grid_whole;
    while (search->segments < search->most && !whole) {
        int longest = 0;
        for (int m = 1; m < search->segments; m++)
            if (place[m + 1] - place[m] > place[longest + 1] - place[longest])
                longest = m;
        const int length = place[longest + 1] - place[longest];
        if (length < 2)
            return;
        const size_t after = (size_t)(search->segments - longest);
        memmove(place + longest + 2, place + longest + 1, after * sizeof *place);
        memmove(search->lines + longest + 1, search->lines + longest, after * sizeof *search->lines);
        place[longest + 1] = place[longest] + length / 2;
        if (search->rules->form == PWL_ANCHORED)
            search->lines[longest + 1].offset = line_value(
                search->rules, &search->lines[longest], search->points->cell[points_at(search->points, place[longest])],
                search->points->cell[points_at(search->points, place[longest + 1])]);
        search->segments++;
    }
}

/* A table whose segments meet; where a given error is asked for, of that error or little more. */
static bool start_where_they_meet(struct tie_search *search, double low)
{
    const struct ties *ties = search->ties;
    bool found;
    if (is_error_given(ties))
        found = (!ties->few && tie_meet_within(search, ties->enough)) ||
                tie_meet_within(search, ties->enough * (1 + 0x1p-5));
    else
        found = tie_meet_least_error(search, low);
    if (found)
        split_longest(search);
    return found;
}

/* The largest error of a table that keeps to ties is not below the RMS error of one that need not. */
static double rms_error(const struct tie_search *search, const struct price *price)
{
    const struct points *points = search->points;
    const double mass = (double)(points->cell[points->count] - points->cell[0]);
    return price->squares < INFINITY ? sqrt(price->squares / mass) : 0;
}

/* Whether a table is as good as those that need not keep to ties, but for a hundredth. */
static bool is_near(const struct ties *ties, const struct price *price, const struct price *untied, double low)
{
    if (is_error_given(ties) || price->violation > 0 || !(untied->squares < INFINITY))
        return false;
    return ties->by_max_err ? price->error <= 1.01 * low : price->squares <= 1.02 * untied->squares;
}

void tie_search_around(struct tie_search *search, double low, struct option *options, struct price *price)
{
    const struct ties *ties = search->ties;
    const struct price untied = *price;
    const double least = fmax(low, rms_error(search, price));
    struct tie_search other = *search;
    other.place = malloc(((size_t)search->most + 1) * sizeof *other.place);
    other.lines = malloc((size_t)search->most * sizeof *other.lines);
    if (other.place && other.lines) {
        copy_table(&other, search);
        const bool turns = ties->constraints.monotone && start_at_turns(&other);
        tie_descend(search, options, price);
        if (turns && !suffices(ties, price))
            search_from(search, &other, options, price);
        if (constraints_tie(&ties->constraints) && !suffices(ties, price) && !is_near(ties, price, &untied, least) &&
            start_where_they_meet(&other, least))
            search_from(search, &other, options, price);
    }
    free(other.place);
    free(other.lines);
}
