/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tie_search.h"

/* The finest provable line through (code, value) with about that slope. */
static bool line_through(const struct tie_search *search, int begin, int end, double slope, double code, double value,
                         struct line *line)
{
    const struct line_rules *rules = search->rules;
    const struct points *points = search->points;
    const double x = code - (double)origin_of(search, begin);
    for (int n = rules->shift_max; n >= rules->shift_min; n--) {
        const double unit = ldexp(1, n);
        *line = (struct line){.q_b = slope_nearest(rules, slope * unit), .n = n};
        if (llabs(line->q_b) > rules->slope_limit)
            continue;
        const double offset = rules->form == PWL_BIASED ? rint(value * unit - (double)line->q_b * x)
                                                        : rint(value - (double)line->q_b / unit * x);
        if (!(fabs(offset) < (double)rules->offset_limit))
            continue;
        line->offset = (int64_t)offset;
        if (line_provable(rules, line, points->cell[begin], points->cell[end] - 1))
            return true;
    }
    return false;
}

/* The line before it is rounded, at a code. */
static double real_value(const struct tie_search *search, int begin, const struct line *line, double code)
{
    const double product = (double)line->q_b * (code - (double)origin_of(search, begin));
    return search->rules->form == PWL_BIASED ? ldexp(product + (double)line->offset, -line->n)
                                             : ldexp(product, -line->n) + (double)line->offset;
}

/* Two places of a line, real. */
struct ends {
    double x0, y0, x1, y1;
};

/* Lines through the ends and values near them, appraised. Returns how many. */
static int add_lines(const struct tie_search *search, struct option option, const struct ends *ends, double shift,
                     const struct price *enough, struct option *options)
{
    int count = 0;
    for (int i = -VALUES; i <= VALUES; i++)
        for (int j = -VALUES; j <= VALUES; j++) {
            const double left = ends->y0 + i * shift, right = ends->y1 + j * shift;
            const double slope = ends->x1 > ends->x0 ? (right - left) / (ends->x1 - ends->x0) : 0;
            if (!line_through(search, option.begin, option.end, slope, 0.5 * (ends->x0 + ends->x1),
                              0.5 * (left + right), &option.line))
                continue;
            tie_appraise(search, &option, enough);
            if (option.price.squares < INFINITY)
                options[count++] = option;
        }
    return count;
}

/* The value at a knot that its two lines share: the mean of theirs, at a place near the knot. */
static double shared_value(const struct tie_search *search, int m, double code)
{
    double sum = 0;
    int count = 0;
    for (int side = m - 1; side <= m; side++)
        if (side >= 0 && side < search->segments) {
            sum += real_value(search, points_at(search->points, search->place[side]), &search->lines[side], code);
            count++;
        }
    return sum / count;
}

/* The options of segment m around the table in hand: the ends moved by `step` places, the values there by `shift`. */
static int collect_options(const struct tie_search *search, int m, int step, double shift, const struct price *enough,
                           struct option *options)
{
    const struct points *points = search->points;
    const struct line *line = &search->lines[m];
    const int old_begin = points_at(search->points, search->place[m]);
    const bool pinned = points->grid_whole;
    int count = 0;
    for (int a = -REACH; a <= REACH; a++)
        for (int b = -REACH; b <= REACH; b++) {
            const int begin_place = search->place[m] + a * step, end_place = search->place[m + 1] + b * step;
            if ((a && (m == 0 || pinned)) || (b && (m == search->segments - 1 || pinned)) || begin_place < 0 ||
                end_place > search->places || begin_place >= end_place)
                continue;
            struct option option = {.begin = points_at(search->points, begin_place),
                                    .end = points_at(search->points, end_place)};
            if (a == 0 && b == 0) {
                option.line = *line;
                tie_appraise(search, &option, &unaffordable);
                options[count++] = option;
            }
            struct ends ends = {.x0 = (double)points->cell[option.begin], .x1 = (double)points->cell[option.end] - 1};
            ends.y0 = real_value(search, old_begin, line, ends.x0);
            ends.y1 = real_value(search, old_begin, line, ends.x1);
            count += add_lines(search, option, &ends, shift, enough, options + count);
            if (!search->ties->constraints.continuous)
                continue;
            ends.x1 += 1;
            ends.y0 = rint(shared_value(search, m, ends.x0));
            ends.y1 = rint(shared_value(search, m + 1, ends.x1));
            count += add_lines(search, option, &ends, shift, enough, options + count);
        }
    return count;
}

/* The cheapest table among the options around the one in hand, which it becomes; *price is its price. */
static bool improve(struct tie_search *search, int step, double shift, struct option *options, struct price *price)
{
    const int segments = search->segments;
    int *starts = malloc(((size_t)segments + 1) * sizeof *starts);
    if (!starts)
        return false;
    starts[0] = 0;
    for (int m = 0; m < segments; m++) {
        struct option *mine = options + starts[m];
        const int count = collect_options(search, m, step, shift, price, mine);
        starts[m + 1] = starts[m] + count;
        for (int k = 0; k < count; k++) {
            mine[k].sum = m == 0 ? mine[k].price : unaffordable;
            mine[k].from = -1;
            for (int before = m ? starts[m - 1] : 0; m && before < starts[m]; before++) {
                const struct option *left = &options[before];
                if (left->end != mine[k].begin || !(left->sum.squares < INFINITY))
                    continue;
                const struct price joint = {tie_joint_violation(search->ties, left, &mine[k]), 0, 0};
                struct price sum = together(&left->sum, &mine[k].price);
                sum = together(&sum, &joint);
                if (cheaper(&sum, &mine[k].sum)) {
                    mine[k].sum = sum;
                    mine[k].from = before;
                }
            }
        }
    }
    int best = -1;
    for (int k = starts[segments - 1]; k < starts[segments]; k++)
        if (cheaper(&options[k].sum, price)) {
            *price = options[k].sum;
            best = k;
        }
    free(starts);
    const bool improved = best >= 0;
    if (improved)
        search->place[segments] = search->places;
    for (int m = segments - 1; best >= 0; best = options[best].from, m--) {
        search->lines[m] = options[best].line;
        search->place[m] = points_place_before(search->points, options[best].begin);
    }
    return improved;
}

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

void tie_descend(struct tie_search *search, struct option *options, struct price *price)
{
    enum { ROUNDS = 6 };
    /* Errors of the table in hand, and the width of its segments, are the scale of the first steps. */
    double shift =
        fmax(1, 2 * (search->ties->by_max_err ? price->error : sqrt(price->squares / search->points->count)));
    int step = search->places / search->segments / 4;
    for (; shift >= 0.25; shift /= 2, step /= 2)
        for (int round = 0; round < ROUNDS && improve(search, step > 0 ? step : 1, shift, options, price); round++)
            ;
}

void tie_search_around(struct tie_search *search, struct option *options, struct price *price)
{
    const size_t knots = ((size_t)search->segments + 1) * sizeof *search->place,
                 lines = (size_t)search->segments * sizeof *search->lines;
    int *place = malloc(knots);
    struct line *line = malloc(lines);
    if (place && line) {
        memcpy(place, search->place, knots);
        memcpy(line, search->lines, lines);
    }
    tie_descend(search, options, price);
    if (place && line && search->ties->constraints.monotone) {
        struct tie_search other = *search;
        other.place = place;
        other.lines = line;
        if (start_at_turns(&other)) {
            struct price other_price = tie_price(&other);
            tie_descend(&other, options, &other_price);
            if (cheaper(&other_price, price)) {
                *price = other_price;
                memcpy(search->place, place, knots);
                memcpy(search->lines, line, lines);
            }
        }
    }
    free(place);
    free(line);
}
