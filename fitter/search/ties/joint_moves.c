/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "joint_search.h"

/* A number of candidates that are yet to be collected. */
#define STALE (-1)

/* The finest provable line through (code, value) with about that slope. */
static bool line_through(const struct tie_search *search, int begin, int end, double slope, double code, double value,
                         struct line *line)
{
    const struct line_rules *rules = search->rules;
    const struct points *points = search->points;
    const double x = code - (double)line_origin(rules, points->cell[begin]);
    const bool level = slope == 0 || rules->slopes.low == 0;
    /* With a longer shift the slope is beyond its limit. */
    const int longest = level ? rules->shift_max : ilogb((double)rules->slopes.low) - ilogb(slope) + 1;
    for (int n = longest < rules->shift_max ? longest : rules->shift_max; n >= rules->shift_min; n--) {
        const double unit = ldexp(1, n);
        *line = (struct line){.q_b = slope_nearest(rules, slope * unit), .n = n};
        if (!is_within(line_slopes(rules, n), line->q_b))
            continue;
        const double offset = rules->form == PWL_BIASED ? rint(value * unit - (double)line->q_b * x)
                                                        : rint(value - (double)line->q_b / unit * x);
        if (!(fabs(offset) < (double)line_offset_limit(rules)))
            continue;
        line->offset = (int64_t)offset;
        if (line_provable(rules, line, points->cell[begin], points->cell[end] - 1))
            return true;
    }
    return false;
}

/* The value of a line at a code before it is rounded. */
static double real_value(const struct tie_search *search, int begin, const struct line *line, double code)
{
    const double product = (double)line->q_b * (code - (double)line_origin(search->rules, search->points->cell[begin]));
    return search->rules->form == PWL_BIASED ? ldexp(product + (double)line->offset, -line->n)
                                             : ldexp(product, -line->n) + (double)line->offset;
}

/* Two points (x, y) of a real line. */
struct ends {
    double x0, y0, x1, y1;
};

/* The candidates of a segment in the making. */
struct collection {
    const struct tie_search *search;
    const struct tie_cost *incumbent; /* what costs more is left out */
    double shift;                     /* step of the values at the ends */
    struct pieces pieces;
    struct candidate *candidates;
    int count;
};

/* Adds the line through two values at the ends, over a range, unless it is infeasible. */
static void add_line(struct collection *collection, const struct candidate *range, const struct ends *ends, double left,
                     double right)
{
    const double slope = ends->x1 > ends->x0 ? (right - left) / (ends->x1 - ends->x0) : 0;
    struct candidate *candidate = &collection->candidates[collection->count];
    *candidate = *range;
    if (!line_through(collection->search, range->begin, range->end, slope, 0.5 * (ends->x0 + ends->x1),
                      0.5 * (left + right), &candidate->line))
        return;
    tie_find_cost(collection->search, &collection->pieces, candidate, collection->incumbent);
    collection->count += candidate->cost.squares < INFINITY;
}

/* Adds lines through values around those of the ends, each over all these ranges. */
static void add_lines(struct collection *collection, const struct candidate *ranges, int range_count,
                      const struct ends *ends)
{
    for (int i = -VALUES; i <= VALUES; i++)
        for (int j = -VALUES; j <= VALUES; j++)
            for (int r = 0; r < range_count; r++)
                add_line(collection, &ranges[r], ends, ends->y0 + i * collection->shift,
                         ends->y1 + j * collection->shift);
}

/* The mean of what the two lines at knot m give, at a code near the knot. */
static double shared_value(const struct tie_search *search, int m, double code)
{
    double sum = 0;
    int count = 0;
    for (int side = m - 1; side <= m; side++)
        if (side >= 0 && side < search->segments) {
            sum += real_value(search, points_at(search->points, search->position[side]), &search->lines[side], code);
            count++;
        }
    return sum / count;
}

/* The ranges of segment m when its ends move by `step` positions; returns how many. The first one is its own. */
static int collect_ranges(const struct tie_search *search, int m, int step, struct candidate *ranges)
{
    static const int moves[MOVES] = {0, -1, 1};
    const bool pinned = search->points->grid_whole;
    int count = 0;
    for (int a = 0; a < MOVES; a++)
        for (int b = 0; b < MOVES; b++) {
            const int begin = search->position[m] + moves[a] * step, end = search->position[m + 1] + moves[b] * step;
            if ((a && (m == 0 || pinned)) || (b && (m == search->segments - 1 || pinned)) || begin < 0 ||
                end > search->positions || begin >= end)
                continue;
            ranges[count++] =
                (struct candidate){.begin = points_at(search->points, begin), .end = points_at(search->points, end)};
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

/*
 * The candidates of segment m around the incumbent: the ends moved by `step` positions, the values there by `shift`.
 * Where the ends move far, each range has lines through values at its own ends. Lines near to those are as good where
 * they move little, so all ranges share the lines of the first, and what these cost between the ends is counted once.
 * For --continuous lines are added through whole values that the neighbours share. Returns how many there are.
 */
static int collect_candidates(const struct tie_search *search, int m, int step, double shift,
                              const struct tie_cost *incumbent, struct candidate *candidates)
{
    enum { FAR = 16 }; /* parts of a segment */
    const struct points *points = search->points;
    const struct line *line = &search->lines[m];
    const bool far = step > (search->position[m + 1] - search->position[m]) / FAR;
    struct collection collection = {
        .search = search, .incumbent = incumbent, .shift = shift, .candidates = candidates, .count = 1};
    struct candidate ranges[MOVES * MOVES];
    const int range_count = collect_ranges(search, m, step, ranges), begin = ranges[0].begin;
    for (int r = 0; r < range_count; r++) {
        add_edge(&collection.pieces, ranges[r].begin);
        add_edge(&collection.pieces, ranges[r].end);
    }
    collection.pieces.count--; /* from edges to what lies between them */
    candidates[0] = ranges[0];
    candidates[0].line = *line;
    candidates[0].cost = infeasible;
    if (tie_is_provable(search, &candidates[0]))
        tie_find_cost(search, &collection.pieces, &candidates[0], &infeasible);
    for (int r = 0; r < (far ? range_count : 1); r++) {
        struct ends ends = {.x0 = (double)points->cell[ranges[r].begin], .x1 = (double)points->cell[ranges[r].end] - 1};
        ends.y0 = real_value(search, begin, line, ends.x0);
        ends.y1 = real_value(search, begin, line, ends.x1);
        add_lines(&collection, ranges + r, far ? 1 : range_count, &ends);
    }
    for (int r = 0; search->ties->continuous && r < range_count; r++) {
        struct ends ends = {.x0 = (double)points->cell[ranges[r].begin], .x1 = (double)points->cell[ranges[r].end]};
        ends.y0 = rint(shared_value(search, m, ends.x0));
        ends.y1 = rint(shared_value(search, m + 1, ends.x1));
        add_lines(&collection, ranges + r, 1, &ends);
    }
    return collection.count;
}

/* The candidates of one segment, sorted by their end, and then by the cost of the cheapest table up to there. */
struct paths {
    const struct candidate *candidates;
    const struct candidate *sorted[TIE_CANDIDATES];
    int count;
};

static int compare_paths(const void *a, const void *b)
{
    const struct candidate *x = *(const struct candidate *const *)a, *y = *(const struct candidate *const *)b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return costs_less(&x->sum, &y->sum) ? -1 : costs_less(&y->sum, &x->sum) ? 1 : (x > y) - (x < y);
}

static void paths_sort(struct paths *paths, const struct candidate *candidates, int count)
{
    paths->candidates = candidates;
    paths->count = 0;
    for (int k = 0; k < count; k++)
        if (candidates[k].sum.squares < INFINITY)
            paths->sorted[paths->count++] = &candidates[k];
    qsort(paths->sorted, (size_t)paths->count, sizeof *paths->sorted, compare_paths);
}

/* Candidates that ask the same of the segment before lie together. */
static int compare_starts(const void *a, const void *b)
{
    const struct candidate *x = *(struct candidate *const *)a, *y = *(struct candidate *const *)b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x > y) - (x < y);
}

/* The paths that some candidate may follow which begins at one point with one output: of those that miss ties least,
 * the ones with smaller squares than all of smaller errors. By ascending error, descending squares. */
struct front {
    double violation; /* that of the joint counted */
    const struct candidate *path[TIE_CANDIDATES];
    int count;
};

static void front_add(struct front *front, const struct candidate *path)
{
    int k = front->count;
    while (k > 0 && front->path[k - 1]->sum.error > path->sum.error)
        k--;
    if (k > 0 && front->path[k - 1]->sum.squares <= path->sum.squares)
        return;
    int from = k - (k > 0 && front->path[k - 1]->sum.error == path->sum.error), to = k;
    while (to < front->count && front->path[to]->sum.squares >= path->sum.squares)
        to++;
    memmove(front->path + from + 1, front->path + to, (size_t)(front->count - to) * sizeof *front->path);
    front->path[from] = path;
    front->count += from + 1 - to;
}

/* The front of those from the first one on that end where the candidate begins. */
static void front_find(const struct tie_search *search, const struct paths *left, int first,
                       const struct candidate *candidate, struct front *front)
{
    front->violation = INFINITY;
    front->count = 0;
    int k = first;
    for (; k < left->count && left->sorted[k]->end == candidate->begin; k++) {
        const struct candidate *path = left->sorted[k];
        if (path->sum.violation > front->violation)
            break; /* and so are those that follow */
        const double violation = path->sum.violation + tie_joint_violation(search, path, candidate);
        if (violation < front->violation) {
            front->violation = violation;
            front->count = 0;
        }
        if (violation <= front->violation)
            front_add(front, path);
    }
    points_spend(search->points, k - first);
}

/* The candidate of the segment before with which a candidate costs least, all segments up to there counted. */
static void find_path(const struct paths *left, const struct front *front, struct candidate *candidate)
{
    int k = 0;
    candidate->sum = infeasible;
    candidate->before = -1;
    if (front->count == 0)
        return;
    while (k + 1 < front->count && front->path[k + 1]->sum.error <= candidate->cost.error)
        k++;
    candidate->before = (int)(front->path[k] - left->candidates);
    candidate->sum = cost_sum(&front->path[k]->sum, &candidate->cost);
    candidate->sum.violation = front->violation + candidate->cost.violation;
}

/* Finds the paths through all candidates of segment m. Where no tie binds neighbours their first outputs ask nothing.
 */
static void find_paths(const struct tie_search *search, int m, const struct candidate *left, int left_count,
                       struct candidate *candidates, int count)
{
    const bool tied = ties_bind(search->ties);
    struct candidate *sorted[TIE_CANDIDATES];
    struct paths paths;
    struct front front;
    for (int k = 0; m == 0 && k < count; k++) {
        candidates[k].sum = candidates[k].cost;
        candidates[k].before = -1;
    }
    if (m == 0)
        return;
    paths_sort(&paths, left, left_count);
    for (int k = 0; k < count; k++)
        sorted[k] = &candidates[k];
    qsort(sorted, (size_t)count, sizeof *sorted, compare_starts);
    for (int k = 0, first = 0; k < count; k++) {
        while (first < paths.count && paths.sorted[first]->end < sorted[k]->begin)
            first++;
        if (k == 0 || sorted[k]->begin != sorted[k - 1]->begin || (tied && sorted[k]->first != sorted[k - 1]->first))
            front_find(search, &paths, first, sorted[k], &front);
        find_path(&paths, &front, sorted[k]);
    }
}

/* Makes a candidate segment m of the incumbent; candidates around another knot or line are to be collected anew. */
static void choose(struct tie_search *search, int m, const struct candidate *candidate, int *counts)
{
    struct line *line = &search->lines[m];
    const int begin = points_place_before(search->points, candidate->begin);
    const bool same_knot = begin == search->position[m], same_line = same_knot && line_same(&candidate->line, line);
    /* Knots are shared by two segments; of --continuous the values there are, too. */
    if (!same_line)
        counts[m] = STALE;
    if (m > 0 && (!same_knot || (!same_line && search->ties->continuous)))
        counts[m - 1] = STALE;
    if (m < search->segments - 1 && !same_line && search->ties->continuous)
        counts[m + 1] = STALE;
    *line = candidate->line;
    search->position[m] = begin;
}

/* Makes the cheapest table of all candidates the incumbent; false where it is that already. *cost is the incumbent's.
 * counts: candidates of each segment that are as they were in the last round, or STALE. */
static bool improve(struct tie_search *search, int step, double shift, struct candidate *candidates, int *counts,
                    struct tie_cost *cost)
{
    const int segments = search->segments;
    for (int m = 0; m < segments; m++) {
        struct candidate *mine = candidates + (size_t)m * TIE_CANDIDATES;
        if (counts[m] == STALE)
            counts[m] = collect_candidates(search, m, step, shift, cost, mine);
        find_paths(search, m, m ? mine - TIE_CANDIDATES : NULL, m ? counts[m - 1] : 0, mine, counts[m]);
    }
    const struct candidate *last = candidates + (size_t)(segments - 1) * TIE_CANDIDATES;
    int best = -1;
    for (int k = 0; k < counts[segments - 1]; k++)
        if (costs_less(&last[k].sum, cost)) {
            *cost = last[k].sum;
            best = k;
        }
    if (best < 0)
        return false;
    search->position[segments] = search->positions;
    for (int m = segments - 1; m >= 0; m--) {
        const struct candidate *candidate = &candidates[(size_t)m * TIE_CANDIDATES + (size_t)best];
        best = candidate->before;
        choose(search, m, candidate, counts);
    }
    return true;
}

/* Whether the incumbent may become better, and is looked at still. */
static bool goes_on(const struct tie_search *search, const struct tie_cost *cost)
{
    const struct effort *effort = search->points->effort;
    const int64_t left = effort->left > 0 ? effort->left : 0;
    progress_step("knots and lines together", (uint64_t)(effort->given - left), (uint64_t)effort->given);
    return !holds_max_err(search->ties, cost) &&
           !(cost->violation > 0 ? effort_overdrawn(effort) : effort_spent(effort));
}

void tie_descend(struct tie_search *search, struct candidate *candidates, struct tie_cost *cost)
{
    enum { ROUNDS = 6 };
    int *counts = malloc((size_t)search->segments * sizeof *counts);
    if (!counts)
        return;
    /* Errors of the incumbent, and the width of its segments, are the scale of the first steps. */
    const double error = search->ties->by_max_err ? cost->error : sqrt(cost->squares / search->points->count);
    const double widest =
        (double)(search->rules->qmax_y - search->rules->qmin_y); /* where the incumbent is infeasible */
    double shift = fmin(fmax(1, 2 * error), widest);
    int step = search->positions / search->segments / 4;
    for (; shift >= 0.25 && goes_on(search, cost); shift /= 2, step /= 2) {
        for (int m = 0; m < search->segments; m++)
            counts[m] = STALE;
        for (int round = 0; round < ROUNDS && goes_on(search, cost) &&
                            improve(search, step > 0 ? step : 1, shift, candidates, counts, cost);
             round++)
            ;
    }
    free(counts);
}
