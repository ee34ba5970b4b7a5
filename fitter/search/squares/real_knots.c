/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "real_knots.h"

#include <math.h>
#include <stdlib.h>

#include "moments.h"
#include "search/knot_moves.h"

/* Least squares of a range that grows downwards from its last point. */
struct running {
    const struct points *points;
    int last;
    int begin;               /* the first point that is counted */
    struct moment_sums sums; /* relative to the last point, so that no digits are lost far from zero */
};

static struct running running_from(const struct points *points, int end)
{
    return (struct running){.points = points, .last = end - 1, .begin = end};
}

/* Counts the points from `begin` on, too; returns the sum of squared residuals of the best real line. */
static double running_cost(struct running *r, int begin)
{
    const struct points *points = r->points;
    while (r->begin > begin) {
        const int k = --r->begin;
        moment_sums_add(&r->sums, points->weight[k], points->code[k] - points->code[r->last],
                        points->target[k] - points->target[r->last]);
    }
    const struct moments m = moments_between(&(struct moment_sums){0}, &r->sums);
    return m.w > 0 ? fmax(0, m.xx > 0 ? m.yy - m.xy * m.xy / m.xx : m.yy) : 0;
}

/* Places at equal steps of cumulative bend, at least one apart. */
static void spread_by_bend(const struct points *points, int pieces, int *chosen)
{
    int k = 0;
    for (int m = 0; m <= pieces; m++) {
        const double wanted = (double)m / pieces;
        while (k < points->count && points->bend[k] < wanted)
            k++;
        const int lowest = m == 0 ? 0 : chosen[m - 1] + 1, highest = points_places(points) - (pieces - m);
        chosen[m] = m == 0 ? 0 : k < lowest ? lowest : k > highest ? highest : k;
    }
}

/* Dynamic programming: knots are candidates, on entry those of some table, whose cost is the ceiling, then those of the
 * best one. */
static int solve(const struct points *points, int segments, const int *candidate, int candidates, int *knots,
                 struct diag *diag)
{
    const size_t row = (size_t)candidates + 1, cells = row * ((size_t)segments + 1);
    double *least = malloc(cells * sizeof *least), *range = malloc(row * sizeof *range);
    int *from = malloc(cells * sizeof *from); /* where the last of m segments up to j starts */
    double ceiling = 0;
    if (!least || !range || !from) {
        diag_set(diag, EXIT_IO, "out of memory for %d segments", segments);
        goto done;
    }
    for (int m = 0; m < segments; m++) {
        struct running running = running_from(points, candidate[knots[m + 1]]);
        ceiling += running_cost(&running, candidate[knots[m]]);
    }
    for (int m = 0; m <= segments; m++)
        least[(size_t)m * row] = m ? INFINITY : 0;
    for (int j = 1, given = 0; j <= candidates; j++) {
        /* The cost grows with the range: once above the ceiling, no earlier start can help. The ranges of the table on
         * entry are always kept, so that there is one even where costs are 0 but for rounding. */
        given += knots[given + 1] < j;
        const int kept = knots[given + 1] == j ? knots[given] : j - 1;
        int lowest = j;
        struct running running = running_from(points, candidate[j]);
        do {
            lowest--;
            range[lowest] = running_cost(&running, candidate[lowest]);
        } while (lowest > 0 && (range[lowest] <= ceiling || lowest > kept));
        least[j] = INFINITY;
        for (int m = 1; m <= segments; m++) {
            const double *before = least + (size_t)(m - 1) * row;
            double best = INFINITY;
            int start = 0;
            for (int i = j - 1; i >= lowest && i >= m - 1; i--)
                if (before[i] + range[i] < best) {
                    best = before[i] + range[i];
                    start = i;
                }
            least[(size_t)m * row + (size_t)j] = best;
            from[(size_t)m * row + (size_t)j] = start;
        }
    }
    for (int m = segments; m > 0; m--)
        knots[m - 1] = from[(size_t)m * row + (size_t)knots[m]];
done:
    free(least);
    free(range);
    free(from);
    return diag->code;
}

/* Real least squares between two points. Segments of one end come one after the other, each a little longer. */
static double cost_between(void *context, int m, int begin_move, int end_move, int begin, int end)
{
    struct running *running = context;
    (void)m, (void)begin_move, (void)end_move;
    if (running->last != end - 1 || running->begin < begin)
        *running = running_from(running->points, end);
    return running_cost(running, begin);
}

/* Moves every inner knot to one of some points nearby, by steps that halve. */
static int move_knots(const struct points *points, int segments, int *knots, int step, struct diag *diag)
{
    enum { ROUNDS = 12 };
    enum { STAY = 3 };
    static const int moves[KNOT_MOVES] = {3, 2, 1, [STAY] = 0, -1, -2, -3};
    struct running running = {.points = points, .last = -1};
    const struct knot_moves all = {.segments = segments,
                                   .place = knots,
                                   .end = points_starts(points),
                                   .moves = moves,
                                   .count = KNOT_MOVES,
                                   .stay = STAY,
                                   .cost = cost_between,
                                   .context = &running,
                                   .from = malloc((size_t)segments * sizeof *all.from)};
    if (!all.from)
        return diag_set(diag, EXIT_IO, "out of memory for %d segments", segments);
    for (; step >= 1; step /= 2)
        for (int round = 0; round < ROUNDS && knot_moves_try(&all, step) < INFINITY && knot_moves_take(&all, step);
             round++)
            ;
    free(all.from);
    return diag->code;
}

int knots_least_squares(const struct points *points, int segments, int *knots, struct diag *diag)
{
    enum { CANDIDATES = 1024, PER_SEGMENT = 6, MOST_SOLVED = 1024 };
    int candidates = PER_SEGMENT * segments > CANDIDATES ? PER_SEGMENT * segments : CANDIDATES;
    const int places = points_places(points);
    candidates = points->grid || places < candidates ? places : candidates;
    int *grid = malloc(((size_t)candidates + 1) * sizeof *grid);
    if (!grid)
        return diag_set(diag, EXIT_IO, "out of memory for %d knot candidates", candidates);
    diag->code = EXIT_DONE;
    spread_by_bend(points, candidates, grid);
    for (int m = 0; m <= candidates; m++)
        grid[m] = points_at(points, grid[m]);
    for (int m = 0; m <= segments; m++)
        knots[m] = (int)((int64_t)candidates * m / segments);
    /* Beyond that many segments each is so short that moving them from an even spread of bend finds as much. */
    if (segments <= MOST_SOLVED)
        solve(points, segments, grid, candidates, knots, diag);
    for (int m = 0; !diag->code && m <= segments; m++)
        knots[m] = grid[knots[m]];

    int step = 1;
    for (int a = 0; a < candidates; a++)
        while (grid[a + 1] - grid[a] > 2 * step)
            step *= 2;
    free(grid);
    if (diag->code || points->grid || (segments <= MOST_SOLVED && candidates == places))
        return diag->code;
    return move_knots(points, segments, knots, step, diag);
}
