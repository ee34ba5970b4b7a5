/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "real_knots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Running least squares of a range that grows downwards from its last point, relative to that point, so that no
 * digits are lost far from zero. */
struct running {
    double x0, y0;
    double w, x, y, xx, xy, yy;
};

static void running_start(struct running *r, const struct points *points, int last)
{
    memset(r, 0, sizeof *r);
    r->x0 = points->code[last];
    r->y0 = points->target[last];
}

static void running_add(struct running *r, const struct points *points, int k)
{
    const double w = points->weight[k], x = points->code[k] - r->x0, y = points->target[k] - r->y0;
    r->w += w;
    r->x += w * x;
    r->y += w * y;
    r->xx += w * x * x;
    r->xy += w * x * y;
    r->yy += w * y * y;
}

/* Sum of squared residuals of the best real line. */
static double running_cost(const struct running *r)
{
    if (r->w <= 0)
        return 0;
    const double xx = r->xx - r->x * r->x / r->w, xy = r->xy - r->x * r->y / r->w, yy = r->yy - r->y * r->y / r->w;
    return fmax(0, xx > 0 ? yy - xy * xy / xx : yy);
}

/* Costs of ranges between candidates: row j holds the ranges [i, j) for i in [lowest[j], j). */
struct ranges {
    int candidates; /* candidates are 0..candidates; 0 and the last are the ends */
    int *lowest;
    size_t *row; /* cost of [i, j) is cost[row[j] + (i - lowest[j])] */
    double *cost;
    size_t size, capacity;
};

static void ranges_free(struct ranges *ranges)
{
    free(ranges->lowest);
    free(ranges->row);
    free(ranges->cost);
}

static int ranges_init(struct ranges *ranges, int candidates, struct diag *diag)
{
    memset(ranges, 0, sizeof *ranges);
    ranges->candidates = candidates;
    ranges->lowest = calloc((size_t)candidates + 1, sizeof *ranges->lowest);
    ranges->row = calloc((size_t)candidates + 1, sizeof *ranges->row);
    if (ranges->lowest && ranges->row)
        return EXIT_DONE;
    return diag_set(diag, EXIT_IO, "out of memory for %d knot candidates", candidates);
}

/* Opens row j for ranges that start at lowest or later, their costs still to be written. */
static double *ranges_row(struct ranges *ranges, int j, int lowest)
{
    const size_t length = (size_t)(j - lowest);
    if (ranges->capacity - ranges->size < length) {
        const size_t capacity = 2 * ranges->capacity + length + 1024;
        double *cost = realloc(ranges->cost, capacity * sizeof *cost);
        if (!cost)
            return NULL;
        ranges->cost = cost;
        ranges->capacity = capacity;
    }
    ranges->row[j] = ranges->size;
    ranges->lowest[j] = lowest;
    ranges->size += length;
    return ranges->cost + ranges->row[j];
}

/* Least total cost of covering [0, j) with exactly m ranges, for every m and j so far. */
struct path {
    int segments;
    size_t row;    /* candidates + 1 */
    double *cost;  /* cost[m * row + j] */
    int *from;     /* where the last of the m ranges starts */
    double *least; /* least[j]: over 0 to segments - 1 ranges */
};

static void path_free(struct path *path)
{
    free(path->cost);
    free(path->from);
    free(path->least);
}

static int path_init(struct path *path, int segments, int candidates, struct diag *diag)
{
    const size_t row = (size_t)candidates + 1, cells = row * ((size_t)segments + 1);
    *path = (struct path){.segments = segments, .row = row};
    path->cost = malloc(cells * sizeof *path->cost);
    path->from = malloc(cells * sizeof *path->from);
    path->least = malloc(row * sizeof *path->least);
    if (!path->cost || !path->from || !path->least)
        return diag_set(diag, EXIT_IO, "out of memory for %d segments", segments);
    for (int m = 0; m <= segments; m++)
        path->cost[(size_t)m * row] = m ? INFINITY : 0;
    path->least[0] = 0;
    return EXIT_DONE;
}

/* Takes in the ranges that end at j, once those that end before it are in. */
static void path_extend(struct path *path, const struct ranges *ranges, int j)
{
    const double *range = ranges->cost + ranges->row[j];
    const int lowest = ranges->lowest[j];
    path->cost[j] = path->least[j] = INFINITY;
    for (int m = 1; m <= path->segments; m++) {
        const double *before = path->cost + (size_t)(m - 1) * path->row;
        double best = INFINITY;
        int from = -1;
        for (int i = j - 1; i >= lowest && i >= m - 1; i--) {
            const double total = before[i] + range[i - lowest];
            if (total < best) {
                best = total;
                from = i;
            }
        }
        path->cost[(size_t)m * path->row + (size_t)j] = best;
        path->from[(size_t)m * path->row + (size_t)j] = from;
        if (m < path->segments)
            path->least[j] = fmin(path->least[j], best);
    }
}

/* The candidates of the best path to the last one; chosen has segments + 1 entries. */
static int path_read(const struct path *path, int *chosen, struct diag *diag)
{
    chosen[path->segments] = (int)path->row - 1;
    for (int m = path->segments; m > 0; m--) {
        chosen[m - 1] = path->from[(size_t)m * path->row + (size_t)chosen[m]];
        if (chosen[m - 1] < 0)
            return diag_set(diag, EXIT_REQUIREMENT,
                            "no provable table of %d segments was found; more segments, a smaller zero point or fewer "
                            "--fix are needed",
                            path->segments);
    }
    return EXIT_DONE;
}

/* Places at equal steps of cumulative bend, at least one apart. */
static void spread_by_bend(const struct points *points, int pieces, int *chosen)
{
    int k = 0;
    for (int m = 0; m <= pieces; m++) {
        const double wanted = (double)m / pieces;
        while (k < points->count && points->bend[k] < wanted)
            k++;
        const int lowest = m == 0 ? 0 : chosen[m - 1] + 1, highest = points_starts(points) - (pieces - m);
        chosen[m] = m == 0 ? 0 : k < lowest ? lowest : k > highest ? highest : k;
    }
}

static double real_cost(const struct points *points, int begin, int end)
{
    struct running sums;
    running_start(&sums, points, end - 1);
    for (int k = end - 1; k >= begin; k--)
        running_add(&sums, points, k);
    return running_cost(&sums);
}

/* knots are places on the grid: on entry those of some path, whose cost is the ceiling, then those of the best one. */
static int solve_on_grid(const struct points *points, int segments, const int *grid, int candidates, int *knots,
                         struct diag *diag)
{
    struct ranges ranges = {0};
    struct path path = {0};
    double ceiling = 0;
    int m = 0;
    for (int k = 0; k < segments; k++)
        ceiling += real_cost(points, grid[knots[k]], grid[knots[k + 1]]);
    if (ranges_init(&ranges, candidates, diag) || path_init(&path, segments, candidates, diag))
        goto done;
    for (int j = 1; j <= candidates; j++) {
        /* The cost grows with the range: once above the ceiling, no earlier start can help. The ranges of the path
         * on entry are always kept, so that a path exists even where costs are 0 but for rounding. */
        double *row = ranges_row(&ranges, j, 0);
        struct running sums;
        int i = j - 1;
        if (!row) {
            diag_set(diag, EXIT_IO, "out of memory for %d knot candidates", candidates);
            goto done;
        }
        m += knots[m + 1] < j;
        const int kept = knots[m + 1] == j ? knots[m] : j - 1;
        running_start(&sums, points, grid[j] - 1);
        for (int k = grid[j] - 1; i >= 0; i--) {
            for (; k >= grid[i]; k--)
                running_add(&sums, points, k);
            row[i] = running_cost(&sums);
            if (row[i] > ceiling && i <= kept)
                break;
        }
        const int lowest = i < 0 ? 0 : i;
        memmove(row, row + lowest, (size_t)(j - lowest) * sizeof *row);
        ranges.lowest[j] = lowest;
        ranges.size = ranges.row[j] + (size_t)(j - lowest);
        path_extend(&path, &ranges, j);
    }
    diag->code = path_read(&path, knots, diag);
done:
    path_free(&path);
    ranges_free(&ranges);
    return diag->code;
}

enum { NEARBY = 3, PLACES = 2 * NEARBY + 1 };

/* Moves every inner knot to one of PLACES positions `step` apart, all chosen together. Returns whether any moved. */
static bool move_knots(const struct points *points, int segments, int *knots, int step)
{
    double before[PLACES], after[PLACES];
    int place[2][PLACES];
    unsigned char(*from)[PLACES] = malloc((size_t)(segments + 1) * sizeof *from);
    if (!from)
        return false;
    int places_before = 1;
    before[0] = 0;
    place[0][0] = knots[0];
    for (int m = 1; m <= segments; m++) {
        int *end_place = place[m & 1], *begin_place = place[(m - 1) & 1];
        const int places = m == segments ? 1 : PLACES;
        for (int e = 0; e < places; e++) {
            const int end = m == segments ? knots[m] : knots[m] + (e - NEARBY) * step;
            end_place[e] = end;
            after[e] = INFINITY;
            from[m][e] = 0;
            if (end < 1 || end <= begin_place[0] || (m < segments && end >= points_starts(points)))
                continue;
            struct running sums;
            running_start(&sums, points, end - 1);
            int k = end - 1;
            for (int b = places_before - 1; b >= 0; b--) {
                if (begin_place[b] >= end || begin_place[b] < 0)
                    continue;
                for (; k >= begin_place[b]; k--)
                    running_add(&sums, points, k);
                const double total = before[b] + running_cost(&sums);
                if (total < after[e]) {
                    after[e] = total;
                    from[m][e] = (unsigned char)b;
                }
            }
        }
        memcpy(before, after, sizeof before);
        places_before = places;
    }
    bool moved = false;
    if (before[0] < INFINITY) {
        int e = from[segments][0];
        for (int m = segments - 1; m >= 1; m--) {
            const int next = from[m][e];
            moved |= e != NEARBY;
            knots[m] += (e - NEARBY) * step;
            e = next;
        }
    }
    free(from);
    return moved;
}

int knots_least_squares(const struct points *points, int segments, int *knots, struct diag *diag)
{
    enum { CANDIDATES = 1024, PER_SEGMENT = 6, MOST_SOLVED = 1024, ROUNDS = 12 };
    int candidates = PER_SEGMENT * segments > CANDIDATES ? PER_SEGMENT * segments : CANDIDATES;
    const int places = points_places(points);
    candidates = points->grid || places < candidates ? places : candidates;
    int *grid = malloc(((size_t)candidates + 1) * sizeof *grid);
    if (!grid)
        return diag_set(diag, EXIT_IO, "out of memory for %d knot candidates", candidates);
    diag->code = EXIT_DONE;
    if (!points->grid)
        spread_by_bend(points, candidates, grid);
    for (int m = 0; m <= candidates; m++)
        grid[m] = points_at(points, points->grid ? m : grid[m]);
    for (int m = 0; m <= segments; m++) /* the grid's own even spread of bend */
        knots[m] = (int)((int64_t)candidates * m / segments);
    /* Beyond that many segments each is so short that moving them from an even spread of bend finds as much. */
    if (segments <= MOST_SOLVED)
        solve_on_grid(points, segments, grid, candidates, knots, diag);
    for (int m = 0; !diag->code && m <= segments; m++)
        knots[m] = grid[knots[m]];

    int step = 1;
    for (int a = 0; a < candidates; a++)
        while (grid[a + 1] - grid[a] > 2 * step)
            step *= 2;
    free(grid);
    if (diag->code || points->grid || (segments <= MOST_SOLVED && candidates == places))
        return diag->code;
    for (; step >= 1; step /= 2)
        for (int round = 0; round < ROUNDS && move_knots(points, segments, knots, step); round++)
            ;
    return EXIT_DONE;
}
