/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "real_program.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/integers.h"
#include "base/progress.h"

/* The least-squares line of some points. */
struct fitted {
    double slope, cost;
};

static struct fitted least_squares(const struct moments *m)
{
    const double slope = m->xx > 0 ? m->xy / m->xx : 0, cost = m->yy - m->xy * slope;
    return (struct fitted){slope, cost > 0 ? cost : 0};
}

/* Least squares of the lines that are at or beyond a limit at x; side +1: at or above, -1: at or below. */
static double least_squares_beyond(const struct moments *m, const struct fitted *line, double x, double limit, int side)
{
    const double dx = x - m->x, short_of = side * (limit - m->y - line->slope * dx);
    /* One point alone: some line passes through it and the limit. */
    if (m->xx <= 0 || short_of <= 0)
        return line->cost;
    /* The cost is convex in the line, so the best one allowed passes through (x, limit). */
    return line->cost + short_of * short_of * m->w * m->xx / (m->xx + m->w * dx * dx);
}

/* A line costs this much at least whose real line costs `real`, and when it is rounded `least` itself. */
static double line_bound(const struct real_grid *grid, const struct moments *sums, double real, double least)
{
    return grid->is_rounded ? integer_cost_bound(real, sums->w / 4, least) : real;
}

/* Least squares of the lines that are no steeper than the grid's. */
static double least_squares_limited(const struct real_grid *grid, const struct moments *m, const struct fitted *line)
{
    const double excess = fabs(line->slope) - grid->steepest;
    return excess > 0 ? line->cost + m->xx * excess * excess : line->cost;
}

/* Fills the costs of lines from each place from `from` on. */
static void row_fill(const struct real_grid *grid, int b, int from, double ceiling, struct row *row)
{
    const struct place *end = &grid->place[b];
    struct moments sums = {0};
    int cell = end->left;
    double least = 0; /* that of a part of the cells, and the floor of the others */
    row->lowest = from;
    row->leaves[LOW] = row->leaves[HIGH] = false;
    for (int a = b - 1; a >= from; a--) {
        const struct place *begin = &grid->place[a];
        for (; cell > begin->right; cell--) {
            sums = merge(grid->cell[cell - 1], sums);
            least += grid->floor_sum[cell] - grid->floor_sum[cell - 1];
        }
        const struct fitted line = least_squares(&sums);
        const double limited = least_squares_limited(grid, &sums, &line);
        row->line[a] = least = line_bound(grid, &sums, limited, least);
        for (int l = 0; l < LIMITS; l++) {
            const int side = l == HIGH ? +1 : -1;
            const double limit = grid->reached[l];
            const bool leaves = row->may_leave[l][a];
            row->leaves[l] |= leaves;
            row->from[l][a] = INFINITY;
            if (leaves)
                row->from[l][a] = line_bound(
                    grid, &sums, fmax(limited, least_squares_beyond(&sums, &line, begin->first, limit, side)), least);
            if (row->reaches[l])
                row->to[l][a] = line_bound(
                    grid, &sums, fmax(limited, least_squares_beyond(&sums, &line, end->last, limit, side)), least);
        }
        if (row->line[a] >= ceiling) { /* and more so from further away */
            row->lowest = a;
            break;
        }
    }
}

static const struct state nowhere = {INFINITY, -1};

static struct state better(struct state a, struct state b)
{
    return b.cost < a.cost ? b : a;
}

static struct state dearer(struct state a, double cost)
{
    a.cost += cost;
    return a;
}

/* The least of `count` sums; four at a time, since a comparison waits for the one before it. */
static double least_of(const double *before, const double *cost, int count)
{
    double a = INFINITY, b = INFINITY, c = INFINITY, d = INFINITY;
    for (; count >= 4; count -= 4, before += 4, cost += 4) {
        const double e = before[0] + cost[0], f = before[1] + cost[1], g = before[2] + cost[2], h = before[3] + cost[3];
        a = e < a ? e : a;
        b = f < b ? f : b;
        c = g < c ? g : c;
        d = h < d ? h : d;
    }
    for (int k = 0; k < count; k++)
        a = before[k] + cost[k] < a ? before[k] + cost[k] : a;
    a = b < a ? b : a;
    c = d < c ? d : c;
    return c < a ? c : a;
}

/* The best place to come from, the first of equals. */
static struct state least_sum(const double *before, const struct state *starts, const double *cost, int lowest, int end)
{
    enum { BLOCK = 64 };
    double least = INFINITY;
    int best = -1;
    for (int a = lowest; a < end; a += BLOCK) {
        const double sum = least_of(before + a, cost + a, end - a < BLOCK ? end - a : BLOCK);
        if (sum < least) {
            least = sum;
            best = a;
        }
    }
    if (best < 0)
        return nowhere;
    while (before[best] + cost[best] != least)
        best++;
    return (struct state){least, starts ? starts[best].start : best};
}

/* Leaves out the first places from which even a line up to the row's place, and what is left by one line more, is too
 * much: then so is every longer one. */
static void drop_places(const struct row *row, const double *before, double room, int last, int *first)
{
    *first = *first > row->lowest ? *first : row->lowest;
    while (*first <= last && before[*first] + row->line[*first] >= room)
        ++*first;
}

static void advance(const struct real_grid *grid, struct row *row, int b, struct layer *before, struct layer *layer)
{
    const struct place *place = &grid->place[b];
    const int newest = b - 1 < before->last ? b - 1 : before->last;
    drop_places(row, before->ended, layer->room, newest, &before->first);
    /* A segment may begin and end at one place; it then costs nothing, and is no segment. */
    struct state least = least_sum(before->ended, NULL, row->line, before->first, newest + 1);
    layer->line = least.cost;
    least = better(before->knot[b], least);
    for (int l = 0; l < LIMITS; l++) {
        const double *at_limit = grid->at_limit[l];
        drop_places(row, layer->left[l], layer->room, layer->left_last[l], &layer->left_first[l]);
        /* Cells that are left out at the beginning are not paid: prices are relative to the sum up to there. */
        struct state leaving = dearer(layer->waiting[l], at_limit[place->left]);
        if (place->left < place->right) /* within the cell, one of whose points is at the limit */
            leaving = better(leaving, (struct state){before->ended[b] + grid->nearest[l][b], b});
        layer->leaving[l][b] = leaving.cost < layer->room && grid->nearest[l][b] < layer->room ? leaving : nowhere;
        layer->left[l][b] = layer->leaving[l][b].cost;
        layer->waiting[l] = better(layer->waiting[l], (struct state){before->ended[b] - at_limit[place->right], b});
        least = better(least, layer->leaving[l][b]);
        if (row->leaves[l])
            least = better(least, least_sum(layer->left[l], layer->leaving[l], row->from[l], layer->left_first[l],
                                            layer->left_last[l] + 1));
        least = better(least, dearer(layer->at[l], at_limit[place->left]));
    }
    for (int l = 0; l < LIMITS; l++)
        if (row->reaches[l]) {
            const int from = LIMITS - 1 - l;
            struct state reached = nowhere;
            if (layer->line + grid->nearest[l][b] < layer->room_at_limit)
                reached = least_sum(before->ended, NULL, row->to[l], before->first, newest + 1);
            if (row->leaves[from])
                reached = better(reached, least_sum(layer->left[from], layer->leaving[from], row->to[l],
                                                    layer->left_first[from], layer->left_last[from] + 1));
            layer->at[l] = better(layer->at[l], dearer(reached, -grid->at_limit[l][place->right]));
        }
    for (int l = 0; l < LIMITS; l++)
        if (layer->left[l][b] < INFINITY) {
            layer->left_last[l] = b;
            row->may_leave[l][b] = true;
        }
    layer->knot[b] = least.cost < layer->room_behind ? least : nowhere;
    layer->ended[b] = layer->knot[b].cost;
    if (layer->ended[b] < INFINITY)
        layer->last = b;
}

void real_program_free(struct real_program *program)
{
    free(program->layer);
    free(program->doubles);
    free(program->states);
    free(program->flags);
}

int real_program_init(struct real_program *program, int segments, int places, struct diag *diag)
{
    const size_t layers = (size_t)segments + 1, n = (size_t)places;
    program->layer = calloc(layers, sizeof *program->layer);
    program->doubles = malloc((layers * (1 + LIMITS) + 1 + 2 * LIMITS) * n * sizeof *program->doubles);
    program->states = malloc(layers * (1 + LIMITS) * n * sizeof *program->states);
    program->flags = calloc(LIMITS * n, sizeof *program->flags);
    if (!program->layer || !program->doubles || !program->states || !program->flags) {
        real_program_free(program);
        return diag_set(diag, EXIT_IO, "out of memory for a bound on %d segments", segments);
    }
    double *d = program->doubles;
    struct state *s = program->states;
    for (size_t m = 0; m < layers; m++) {
        struct layer *layer = &program->layer[m];
        layer->knot = s;
        layer->ended = d;
        s += n;
        d += n;
        for (int l = 0; l < LIMITS; l++) {
            layer->leaving[l] = s;
            layer->left[l] = d;
            s += n;
            d += n;
            layer->waiting[l] = layer->at[l] = nowhere;
        }
        for (size_t p = 0; p < n; p++) {
            layer->knot[p] = layer->leaving[LOW][p] = layer->leaving[HIGH][p] = nowhere;
            layer->ended[p] = layer->left[LOW][p] = layer->left[HIGH][p] = INFINITY;
        }
        layer->first = 0;
        layer->knot[0] = (struct state){0, 0};
        layer->ended[0] = 0;
    }
    for (size_t m = 1; m < layers; m++)
        for (int l = 0; l < LIMITS; l++) {
            program->layer[m].leaving[l][0] = program->layer[m].waiting[l] = (struct state){0, 0};
            program->layer[m].left[l][0] = 0;
        }
    program->row.line = d;
    for (int l = 0; l < LIMITS; l++) {
        program->row.may_leave[l] = program->flags + (size_t)l * n;
        program->row.from[l] = d + (1 + (size_t)l) * n;
        program->row.to[l] = d + (1 + LIMITS + (size_t)l) * n;
    }
    return EXIT_DONE;
}

/* The first place from which a line can still belong to a better table. */
static int first_of_use(const struct real_program *program, int segments)
{
    int first = INT_MAX;
    for (int m = 1; m <= segments; m++) {
        const struct layer *layer = &program->layer[m], *before = layer - 1;
        first = before->first <= before->last && before->first < first ? before->first : first;
        for (int l = 0; l < LIMITS; l++)
            if (layer->left_first[l] <= layer->left_last[l] && layer->left_first[l] < first)
                first = layer->left_first[l];
    }
    return first;
}

/* Sets what is left at a place, and whether a segment may reach a limit there. ahead is null when nothing is known. */
static void find_rooms(struct real_program *program, const struct real_grid *grid, int segments, double ceiling,
                       const struct ahead *ahead, int b)
{
    const struct place *place = &grid->place[b];
    const int point = grid->edge[place->right];
    /* A place between cells is followed by a single point. */
    const int next = place->left == place->right && b < grid->places - 1 ? point + 1 : point;
    struct row *row = &program->row;
    row->reaches[LOW] = row->reaches[HIGH] = false;
    for (int m = 1; m <= segments; m++) {
        struct layer *layer = &program->layer[m];
        const double before = fmin(layer->line, program->layer[m - 1].ended[b - 1]); /* costs grow with the place */
        layer->room_behind = ahead ? ceiling - ahead_of(ahead, segments - m, point) : ceiling;
        layer->room = ahead ? ceiling - ahead_of(ahead, segments - m + 1, point) : ceiling;
        layer->room_at_limit = ahead ? ceiling - ahead_of(ahead, segments - m + 1, next) : ceiling;
        for (int l = 0; l < LIMITS; l++)
            row->reaches[l] |= b < grid->places - 1 && grid->nearest[l][b] < ceiling &&
                               (before + grid->nearest[l][b] < layer->room_at_limit ||
                                layer->left_first[LIMITS - 1 - l] <= layer->left_last[LIMITS - 1 - l]);
    }
}

/* Sums that a place takes, where the cost of a line counts as several. */
static int64_t steps_of(const struct real_program *program, int segments, int b)
{
    enum { COST = 16 };
    int64_t steps = 0;
    for (int m = 0; m < segments; m++)
        steps += larger_integer(0, program->layer[m].last - program->layer[m].first + 1);
    return steps + COST * larger_integer(0, b - program->row.lowest);
}

bool real_program_run(struct real_program *program, const struct real_grid *grid, int segments, double ceiling,
                      const struct ahead *ahead)
{
    int64_t steps = 0;
    for (int b = 1; b < grid->places; b++) {
        if (b % 64 == 0)
            progress_step("real lines, for a bound", (uint64_t)b, (uint64_t)grid->places);
        find_rooms(program, grid, segments, ceiling, ahead, b);
        row_fill(grid, b, first_of_use(program, segments), ceiling, &program->row);
        steps += steps_of(program, segments, b);
        if (steps > REAL_PROGRAM_STEPS)
            return false;
        for (int m = 1; m <= segments; m++)
            advance(grid, &program->row, b, &program->layer[m - 1], &program->layer[m]);
    }
    return true;
}
