/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rms_bound.h"

#include <math.h>
#include <stdlib.h>

/* Moments of a set of codes about their own means, so that nothing cancels. */
struct moments {
    double w, x, y, xx, xy, yy;
};

/* Source: T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample
 * variances", 1979. */
static struct moments merged(struct moments a, struct moments b)
{
    if (a.w == 0)
        return b;
    const double w = a.w + b.w, dx = b.x - a.x, dy = b.y - a.y, share = b.w / w, both = a.w * share;
    return (struct moments){.w = w,
                            .x = a.x + dx * share,
                            .y = a.y + dy * share,
                            .xx = a.xx + b.xx + dx * dx * both,
                            .xy = a.xy + b.xy + dx * dy * both,
                            .yy = a.yy + b.yy + dy * dy * both};
}

static double least_squares(const struct moments *m)
{
    return fmax(0, m->xx > 0 ? m->yy - m->xy * m->xy / m->xx : m->yy);
}

/* Least squares of the lines that are at or beyond a limit at x; side +1: at or above, -1: at or below. */
static double least_squares_beyond(const struct moments *m, double x, double limit, int side)
{
    if (m->w == 0)
        return 0;
    const double dx = x - m->x, dy = limit - m->y, slope = m->xx > 0 ? m->xy / m->xx : 0;
    /* One code alone: some line goes through it and the limit. */
    if (m->xx == 0 || side * (slope * dx - dy) >= 0)
        return least_squares(m);
    /* The cost is convex in the line, so the best one that is allowed goes through (x, limit). */
    const double xx = m->xx + m->w * dx * dx, xy = m->xy + m->w * dx * dy, yy = m->yy + m->w * dy * dy;
    return fmax(0, yy - xy * xy / xx);
}

enum { LOW, HIGH, LIMITS };

/* Knots' cells are numbered from 1; 0 and cells + 1 stand for the ends of the range, where no code is left out. */
struct grid {
    int cells, width, count;
    double limit[LIMITS];
    struct moments *cell;
    double *at_limit[LIMITS]; /* cost of being at the limit in all cells before one */
    double *nearest[LIMITS];  /* least cost of a code of the cell at the limit */
};

static double first_code(const struct grid *grid, int cell)
{
    return (double)cell * grid->width;
}

static double last_code(const struct grid *grid, int cell)
{
    const int end = (cell + 1) * grid->width;
    return (end < grid->count ? end : grid->count) - 1;
}

static void grid_fill(struct grid *grid, const double *target)
{
    for (int c = 0; c < grid->cells; c++) {
        double cost[LIMITS] = {0, 0};
        grid->cell[c] = (struct moments){0};
        for (int l = 0; l < LIMITS; l++)
            grid->nearest[l][c] = INFINITY;
        for (int k = (int)first_code(grid, c); k <= (int)last_code(grid, c); k++) {
            grid->cell[c] = merged(grid->cell[c], (struct moments){.w = 1, .x = k, .y = target[k]});
            for (int l = 0; l < LIMITS; l++) {
                const double e = target[k] - grid->limit[l];
                cost[l] += e * e;
                grid->nearest[l][c] = fmin(grid->nearest[l][c], e * e);
            }
        }
        for (int l = 0; l < LIMITS; l++)
            grid->at_limit[l][c + 1] = grid->at_limit[l][c] + cost[l];
    }
}

/* Costs of the cells between the knot's cell a and the knot's cell b, a in [lowest, b). */
struct row {
    int lowest;
    double *line;         /* a line between two knots */
    double *from[LIMITS]; /* one that leaves a limit in cell a */
    double *to[LIMITS];   /* one that reaches a limit in cell b */
    int reaches[LIMITS];  /* whether it is worth looking at */
};

static void row_fill(const struct grid *grid, int b, double ceiling, struct row *row)
{
    struct moments sums = {0};
    row->lowest = 0;
    for (int l = 0; l < LIMITS; l++)
        row->reaches[l] = b <= grid->cells && grid->nearest[l][b - 1] < ceiling;
    for (int a = b - 1; a >= 0; a--) {
        if (a < b - 1)
            sums = merged(grid->cell[a], sums);
        row->line[a] = least_squares(&sums);
        for (int l = 0; l < LIMITS; l++) {
            const int side = l == HIGH ? +1 : -1;
            row->from[l][a] = a >= 1 && grid->nearest[l][a - 1] < ceiling
                                  ? least_squares_beyond(&sums, first_code(grid, a - 1), grid->limit[l], side)
                                  : INFINITY;
            if (row->reaches[l])
                row->to[l][a] = least_squares_beyond(&sums, last_code(grid, b - 1), grid->limit[l], side);
        }
        if (row->line[a] >= ceiling) { /* and more so from further away */
            row->lowest = a;
            break;
        }
    }
}

/* Four at a time, since a comparison waits for the one before it. */
static double least_sum(const double *before, const double *cost, int lowest, int end)
{
    enum { LANES = 4 };
    double least[LANES] = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (; end - lowest >= LANES; lowest += LANES)
        for (int l = 0; l < LANES; l++) {
            const double sum = before[lowest + l] + cost[lowest + l];
            least[l] = sum < least[l] ? sum : least[l];
        }
    for (; lowest < end; lowest++)
        least[0] = fmin(least[0], before[lowest] + cost[lowest]);
    return fmin(fmin(least[0], least[1]), fmin(least[2], least[3]));
}

/* Least costs with at most m segments, by the cell of the last knot or of what segment m does there. */
struct states {
    double *knot;            /* segment m ends */
    double *leaving[LIMITS]; /* segment m, at the limit from its start, leaves it */
    double reached[LIMITS];  /* segment m reached the limit in the cell of the row before */
    double at[LIMITS];       /* segment m reached it earlier and is at it up to the cell of this row */
};

static void advance(const struct grid *grid, const struct row *row, int b, const struct states *before,
                    struct states *state)
{
    /* A segment may begin and end in one cell; it then costs nothing. */
    double least = fmin(before->knot[b], least_sum(before->knot, row->line, row->lowest, b));
    for (int l = 0; l < LIMITS; l++) {
        const double cell_before = b >= 2 ? grid->at_limit[l][b - 1] - grid->at_limit[l][b - 2] : 0;
        double leaving = fmin(before->knot[b], before->knot[b - 1]);
        if (b >= 2)
            leaving = fmin(leaving, state->leaving[l][b - 1] + cell_before);
        state->leaving[l][b] = leaving;
        least = fmin(least, leaving);
        least = fmin(least, least_sum(state->leaving[l], row->from[l], row->lowest, b));

        state->at[l] = fmin(state->at[l] + cell_before, state->reached[l]);
        least = fmin(least, state->at[l]);
        state->reached[l] = INFINITY;
        if (row->reaches[l]) {
            state->reached[l] = fmin(least_sum(before->knot, row->to[l], row->lowest, b),
                                     least_sum(state->leaving[LIMITS - 1 - l], row->to[l], row->lowest, b));
            least = fmin(least, state->reached[l]);
        }
    }
    state->knot[b] = least;
}

static double *some(size_t count)
{
    double *values = malloc(count * sizeof *values);
    if (!values)
        abort();
    for (size_t k = 0; k < count; k++)
        values[k] = INFINITY;
    return values;
}

double rms_bound(const double *target, int count, double low, double high, int segments, int cell, double most)
{
    const double ceiling = most * most * count;
    struct grid grid = {.cells = (count + cell - 1) / cell, .width = cell, .count = count, .limit = {low, high}};
    const size_t places = (size_t)grid.cells + 2;
    struct row row = {.line = some(places)};
    struct states *states = calloc((size_t)segments + 1, sizeof *states);
    grid.cell = calloc(places, sizeof *grid.cell);
    if (!states || !grid.cell)
        abort();
    for (int l = 0; l < LIMITS; l++) {
        grid.at_limit[l] = some(places);
        grid.at_limit[l][0] = 0;
        grid.nearest[l] = some(places);
        row.from[l] = some(places);
        row.to[l] = some(places);
    }
    grid_fill(&grid, target);
    for (int m = 0; m <= segments; m++) {
        states[m].knot = some(places);
        states[m].knot[0] = 0;
        for (int l = 0; l < LIMITS; l++) {
            states[m].leaving[l] = some(places);
            states[m].reached[l] = states[m].at[l] = INFINITY;
        }
    }

    for (int b = 1; b <= grid.cells + 1; b++) {
        row_fill(&grid, b, ceiling, &row);
        for (int m = 1; m <= segments; m++)
            advance(&grid, &row, b, &states[m - 1], &states[m]);
    }
    const double least = fmin(states[segments].knot[grid.cells + 1], ceiling);

    for (int m = 0; m <= segments; m++) {
        free(states[m].knot);
        for (int l = 0; l < LIMITS; l++)
            free(states[m].leaving[l]);
    }
    for (int l = 0; l < LIMITS; l++) {
        free(grid.at_limit[l]);
        free(grid.nearest[l]);
        free(row.from[l]);
        free(row.to[l]);
    }
    free(row.line);
    free(states);
    free(grid.cell);
    return sqrt(least / count);
}
