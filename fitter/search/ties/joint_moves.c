/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "joint_search.h"

/* Options that are yet to be collected. */
#define STALE (-1)

/* The finest provable line through (code, value) with about that slope. */
static bool line_through(const struct tie_search *search, int begin, int end, double slope, double code, double value,
                         struct line *line)
{
    const struct line_rules *rules = search->rules;
    const struct points *points = search->points;
    const double x = code - (double)origin_of(search, begin);
    /* With a longer shift the slope is beyond its limit. */
    const int longest = slope != 0 ? ilogb((double)rules->slope_limit) - ilogb(slope) + 1 : rules->shift_max;
    for (int n = longest < rules->shift_max ? longest : rules->shift_max; n >= rules->shift_min; n--) {
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

/* The line through values at two places, appraised; returns whether it is of use. */
static bool add_line(const struct tie_search *search, const struct ends *ends, double left, double right,
                     const struct price *enough, struct pieces *pieces, struct option *option)
{
    const double slope = ends->x1 > ends->x0 ? (right - left) / (ends->x1 - ends->x0) : 0;
    if (!line_through(search, option->begin, option->end, slope, 0.5 * (ends->x0 + ends->x1), 0.5 * (left + right),
                      &option->line))
        return false;
    tie_appraise(search, pieces, option, enough);
    return option->price.squares < INFINITY;
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

/* The ranges of segment m when its ends move by `step` places; returns how many. The first one is its own. */
static int collect_ranges(const struct tie_search *search, int m, int step, struct option *ranges)
{
    static const int moves[PLACES] = {0, -1, 1};
    const bool pinned = search->points->grid_whole;
    int count = 0;
    for (int a = 0; a < PLACES; a++)
        for (int b = 0; b < PLACES; b++) {
            const int begin = search->place[m] + moves[a] * step, end = search->place[m + 1] + moves[b] * step;
            if ((a && (m == 0 || pinned)) || (b && (m == search->segments - 1 || pinned)) || begin < 0 ||
                end > search->places || begin >= end)
                continue;
            ranges[count++] =
                (struct option){.begin = points_at(search->points, begin), .end = points_at(search->points, end)};
        }
    return count;
}

static void add_edge(struct pieces *pieces, int point)
{
    int i = pieces->count;
    while (i > 0 && pieces->edge[i - 1] > point)
        i--;
    if (i > 0 && pieces->edge[i - 1] == point)
        return;
    memmove(pieces->edge + i + 1, pieces->edge + i, (size_t)(pieces->count - i) * sizeof *pieces->edge);
    pieces->edge[i] = point;
    pieces->count++;
}

/* Lines through values around some at the ends, each over all these ranges; returns how many are of use. */
static int add_lines(const struct tie_search *search, const struct ends *ends, double shift, const struct price *enough,
                     struct pieces *pieces, const struct option *ranges, int range_count, struct option *options)
{
    int count = 0;
    for (int i = -VALUES; i <= VALUES; i++)
        for (int j = -VALUES; j <= VALUES; j++)
            for (int r = 0; r < range_count; r++) {
                options[count] = ranges[r];
                count +=
                    add_line(search, ends, ends->y0 + i * shift, ends->y1 + j * shift, enough, pieces, &options[count]);
            }
    return count;
}

/*
 * The options of segment m around the table in hand: the ends moved by `step` places, the values there by `shift`.
 * Where the ends move far, each range has lines through values at its own ends. Lines near to those are as good where
 * they move little, so all ranges share the lines of the first, and what these cost between the ends is counted once.
 */
static int collect_options(const struct tie_search *search, int m, int step, double shift, const struct price *enough,
                           struct option *options)
{
    enum { FAR = 16 }; /* parts of a segment */
    const struct points *points = search->points;
    const struct line *line = &search->lines[m];
    const bool far = step > (search->place[m + 1] - search->place[m]) / FAR;
    struct option ranges[PLACES * PLACES];
    struct pieces pieces = {0};
    const int range_count = collect_ranges(search, m, step, ranges), begin = ranges[0].begin;
    for (int r = 0; r < range_count; r++) {
        add_edge(&pieces, ranges[r].begin);
        add_edge(&pieces, ranges[r].end);
    }
    pieces.count--; /* from edges to what lies between them */
    options[0] = ranges[0];
    options[0].line = *line;
    tie_appraise(search, &pieces, &options[0], &unaffordable);
    int count = 1;
    for (int r = 0; r < (far ? range_count : 1); r++) {
        struct ends ends = {.x0 = (double)points->cell[ranges[r].begin], .x1 = (double)points->cell[ranges[r].end] - 1};
        ends.y0 = real_value(search, begin, line, ends.x0);
        ends.y1 = real_value(search, begin, line, ends.x1);
        count += add_lines(search, &ends, shift, enough, &pieces, ranges + r, far ? 1 : range_count, options + count);
    }
    for (int r = 0; search->ties->constraints.continuous && r < range_count; r++) {
        struct ends ends = {.x0 = (double)points->cell[ranges[r].begin], .x1 = (double)points->cell[ranges[r].end]};
        ends.y0 = rint(shared_value(search, m, ends.x0));
        ends.y1 = rint(shared_value(search, m + 1, ends.x1));
        count += add_lines(search, &ends, shift, enough, &pieces, ranges + r, 1, options + count);
    }
    return count;
}

/* Options of one segment by their end, and then by what the way there costs. */
struct ways {
    const struct option *options;
    const struct option *sorted[TIE_OPTIONS];
    int count;
};

static int compare_ways(const void *a, const void *b)
{
    const struct option *x = *(const struct option *const *)a, *y = *(const struct option *const *)b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return cheaper(&x->sum, &y->sum) ? -1 : cheaper(&y->sum, &x->sum) ? 1 : (x > y) - (x < y);
}

static void ways_sort(struct ways *ways, const struct option *options, int count)
{
    ways->options = options;
    ways->count = 0;
    for (int k = 0; k < count; k++)
        if (options[k].sum.squares < INFINITY)
            ways->sorted[ways->count++] = &options[k];
    qsort(ways->sorted, (size_t)ways->count, sizeof *ways->sorted, compare_ways);
}

/* The cheapest way to the end of an option by those of the segment before it; of the first segment, its own. */
static void find_way(const struct tie_search *search, const struct ways *left, struct option *option)
{
    option->sum = left ? unaffordable : option->price;
    option->from = -1;
    int k = 0;
    while (left && k < left->count && left->sorted[k]->end < option->begin)
        k++;
    for (; left && k < left->count && left->sorted[k]->end == option->begin; k++) {
        const struct option *before = left->sorted[k];
        struct price sum = together(&before->sum, &option->price);
        if (!cheaper(&sum, &option->sum)) {
            /* Nor are later ones, but for squares where errors before are smaller than the option's. */
            if (sum.violation > option->sum.violation || sum.error > option->sum.error ||
                before->sum.error >= option->price.error)
                break;
            continue;
        }
        const struct price joint = {tie_joint_violation(search->ties, before, option), 0, 0};
        sum = together(&sum, &joint);
        if (cheaper(&sum, &option->sum)) {
            option->sum = sum;
            option->from = (int)(before - left->options);
        }
    }
}

/* The same for all options of segment m. Where no tie binds neighbours, all that begin at one knot go on from the same
 * option. */
static void find_ways(const struct tie_search *search, int m, const struct option *left, int left_count,
                      struct option *options, int count)
{
    const bool alike = m > 0 && !search->ties->by_max_err && !constraints_tie(&search->ties->constraints);
    int seen[PLACES], knots = 0; /* an option of each knot */
    struct ways ways;
    if (m > 0)
        ways_sort(&ways, left, left_count);
    for (int k = 0; k < count; k++) {
        struct option *option = &options[k];
        int s = 0;
        while (s < knots && options[seen[s]].begin != option->begin)
            s++;
        if (s == knots) {
            find_way(search, m > 0 ? &ways : NULL, option);
            if (alike && knots < PLACES)
                seen[knots++] = k;
        } else {
            option->from = options[seen[s]].from;
            option->sum = option->from < 0 ? unaffordable : together(&left[option->from].sum, &option->price);
        }
    }
}

/* Takes the option of segment m; options around another knot or line are to be collected anew. */
static void choose(struct tie_search *search, int m, const struct option *option, int *counts)
{
    struct line *line = &search->lines[m];
    const int begin = points_place_before(search->points, option->begin);
    const bool same_knot = begin == search->place[m], same_line = same_knot && line_same(&option->line, line);
    /* Knots are shared by two segments; of --continuous the values there are, too. */
    if (!same_line)
        counts[m] = STALE;
    if (m > 0 && (!same_knot || (!same_line && search->ties->constraints.continuous)))
        counts[m - 1] = STALE;
    if (m < search->segments - 1 && !same_line && search->ties->constraints.continuous)
        counts[m + 1] = STALE;
    *line = option->line;
    search->place[m] = begin;
}

/* The cheapest table among the options around the one in hand, which it becomes; *price is its price. counts: options
 * of each segment that are as they were in the last round, or STALE. */
static bool improve(struct tie_search *search, int step, double shift, struct option *options, int *counts,
                    struct price *price)
{
    const int segments = search->segments;
    for (int m = 0; m < segments; m++) {
        struct option *mine = options + (size_t)m * TIE_OPTIONS;
        if (counts[m] == STALE)
            counts[m] = collect_options(search, m, step, shift, price, mine);
        find_ways(search, m, m ? mine - TIE_OPTIONS : NULL, m ? counts[m - 1] : 0, mine, counts[m]);
    }
    const struct option *last = options + (size_t)(segments - 1) * TIE_OPTIONS;
    int best = -1;
    for (int k = 0; k < counts[segments - 1]; k++)
        if (cheaper(&last[k].sum, price)) {
            *price = last[k].sum;
            best = k;
        }
    if (best < 0)
        return false;
    search->place[segments] = search->places;
    for (int m = segments - 1; m >= 0; m--) {
        const struct option *option = &options[(size_t)m * TIE_OPTIONS + (size_t)best];
        best = option->from;
        choose(search, m, option, counts);
    }
    return true;
}

void tie_descend(struct tie_search *search, struct option *options, struct price *price)
{
    enum { ROUNDS = 6 };
    int *counts = malloc((size_t)search->segments * sizeof *counts);
    if (!counts)
        return;
    /* Errors of the table in hand, and the width of its segments, are the scale of the first steps. */
    const double error = search->ties->by_max_err ? price->error : sqrt(price->squares / search->points->count);
    const double widest = (double)(search->rules->qmax_y - search->rules->qmin_y); /* that of an unaffordable one */
    double shift = fmin(fmax(1, 2 * error), widest);
    int step = search->places / search->segments / 4;
    for (; shift >= 0.25 && !suffices(search->ties, price); shift /= 2, step /= 2) {
        for (int m = 0; m < search->segments; m++)
            counts[m] = STALE;
        for (int round = 0; round < ROUNDS && improve(search, step > 0 ? step : 1, shift, options, counts, price);
             round++)
            ;
    }
    free(counts);
}
