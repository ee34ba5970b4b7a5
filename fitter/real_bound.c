/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "real_bound.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Moments of a set of points about their own means, so that nothing cancels. */
struct moments {
    double w, x, y, xx, xy, yy;
};

/* Source: T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample
 * variances", 1979. */
static struct moments merge(struct moments a, struct moments b)
{
    if (a.w <= 0)
        return b;
    const double w = a.w + b.w, dx = b.x - a.x, dy = b.y - a.y, share = b.w / w, both = a.w * share;
    return (struct moments){.w = w,
                            .x = a.x + dx * share,
                            .y = a.y + dy * share,
                            .xx = a.xx + b.xx + dx * dx * both,
                            .xy = a.xy + b.xy + dx * dy * both,
                            .yy = a.yy + b.yy + dy * dy * both};
}

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

enum { LOW, HIGH, LIMITS };

/* Somewhere a segment may end or meet a limit: cells before `left` come before it, cells from `right` on after it. */
struct place {
    int left, right;
    double first, last; /* the line is at the limit at or before `first`, going down, at or after `last`, going up */
};

struct grid {
    int cells, places;
    int *edge; /* cell c holds the points [edge[c], edge[c + 1]) */
    struct moments *cell;
    struct place *place;
    double limit[LIMITS];
    double reached[LIMITS];   /* values from which on a line is at the limit: for a half it costs apart, and half a code
                               * before it a line may be rounded to it */
    double *at_limit[LIMITS]; /* cost of being at the limit in all cells before one */
    double *nearest[LIMITS];  /* least cost of a point at the limit in the cell or its neighbour at a place */
    double *floor_sum;        /* rounding floor of all cells before one */
    bool integer;             /* lines are rounded, and costs those of their codes at least */
};

static void grid_free(struct grid *grid)
{
    free(grid->edge);
    free(grid->cell);
    free(grid->place);
    free(grid->floor_sum);
    for (int l = 0; l < LIMITS; l++) {
        free(grid->at_limit[l]);
        free(grid->nearest[l]);
    }
}

/* Points from the last one, so that the same program bounds suffixes. */
struct view {
    const struct points *points;
    bool reversed;
};

static int at(const struct view *view, int k)
{
    return view->reversed ? view->points->count - 1 - k : k;
}

static double code_of(const struct view *view, int k)
{
    const double code = view->points->code[at(view, k)];
    return view->reversed ? -code : code;
}

/* Edges of cells whose width is their distance from the nearest of some points, divided by `ratio`; at least 1. */
static int cut_cells(int count, const int *near, int near_count, int ratio, int *edge)
{
    int cells = 0, next = 0;
    edge[0] = 0;
    while (edge[cells] < count) {
        const int k = edge[cells];
        while (next < near_count && near[next] < k)
            next++;
        const int behind = next > 0 ? k - near[next - 1] : count, ahead = next < near_count ? near[next] - k : count;
        /* A cell of width w must end w * ratio before the next of the points. */
        int width = behind / ratio < ahead / (ratio + 1) ? behind / ratio : ahead / (ratio + 1);
        width = width < 1 ? 1 : width;
        edge[++cells] = width < count - k ? k + width : count;
    }
    return cells;
}

static void fill_cells(struct grid *grid, const struct view *view)
{
    for (int c = 0; c < grid->cells; c++) {
        double cost[LIMITS] = {0, 0}, least = 0;
        grid->cell[c] = (struct moments){0};
        for (int k = grid->edge[c]; k < grid->edge[c + 1]; k++) {
            const double w = view->points->mass[at(view, k)], t = view->points->target[at(view, k)];
            const double apart = points_apart(view->points, at(view, k));
            grid->cell[c] = merge(grid->cell[c], (struct moments){.w = w, .x = code_of(view, k), .y = t, .yy = apart});
            least += points_floor(view->points, at(view, k));
            for (int l = 0; l < LIMITS; l++)
                cost[l] += points_cost(view->points, at(view, k), grid->limit[l]);
        }
        grid->floor_sum[c + 1] = grid->floor_sum[c] + least;
        for (int l = 0; l < LIMITS; l++)
            grid->at_limit[l][c + 1] = grid->at_limit[l][c] + cost[l];
    }
}

static bool single(const struct grid *grid, int c)
{
    return c >= 0 && c < grid->cells && grid->edge[c + 1] - grid->edge[c] == 1;
}

static double point_at_limit(const struct grid *grid, const struct view *view, int c, int l)
{
    double least = INFINITY;
    for (int k = grid->edge[c]; k < grid->edge[c + 1]; k++)
        least = fmin(least, points_cost(view->points, at(view, k), grid->limit[l]));
    return least;
}

static void add_place(struct grid *grid, const struct view *view, int left, int right)
{
    const int p = grid->places++;
    /* The neighbours of a place between cells are single points. */
    const int before = left == right ? left - 1 : left, after = left;
    struct place *place = &grid->place[p];
    *place = (struct place){.left = left, .right = right};
    place->first = before >= 0 ? code_of(view, grid->edge[before]) : 0;
    place->last = after < grid->cells ? code_of(view, grid->edge[after + 1] - 1) : 0;
    for (int l = 0; l < LIMITS; l++) {
        const double cost_before = before >= 0 ? point_at_limit(grid, view, before, l) : INFINITY;
        const double cost_after = after < grid->cells ? point_at_limit(grid, view, after, l) : INFINITY;
        grid->nearest[l][p] = fmin(cost_before, cost_after);
    }
}

/* Place 0 is the beginning and the last one the end; between them, the edges between single points and the insides of
 * larger cells, which also stand for their edges. */
static void add_places(struct grid *grid, const struct view *view)
{
    add_place(grid, view, 0, 0);
    for (int c = 0; c < grid->cells; c++) {
        if (c > 0 && single(grid, c - 1) && single(grid, c))
            add_place(grid, view, c, c);
        if (!single(grid, c))
            add_place(grid, view, c, c + 1);
    }
    add_place(grid, view, grid->cells, grid->cells);
}

/* Cells as narrow as can be, at most `most` of them; each point is one when near is null. */
static int grid_init(struct grid *grid, const struct view *view, int64_t qmin_y, int64_t qmax_y, const int *near,
                     int near_count, int most, struct diag *diag)
{
    enum { RATIO = 256 };
    const int count = view->points->count;
    const double half = view->points->served ? 0.5 : 0;
    *grid = (struct grid){.limit = {(double)qmin_y, (double)qmax_y},
                          .reached = {(double)qmin_y + half, (double)qmax_y - half}};
    grid->edge = malloc(((size_t)count + 1) * sizeof *grid->edge);
    if (!grid->edge)
        goto fail;
    grid->cells = count;
    for (int k = 0; k <= count; k++)
        grid->edge[k] = k;
    for (int ratio = RATIO; near && grid->cells > most && ratio >= 1; ratio -= (ratio + 4) / 5)
        grid->cells = cut_cells(count, near, near_count, ratio, grid->edge);
    const size_t room = (size_t)grid->cells + 2;
    grid->cell = malloc(room * sizeof *grid->cell);
    grid->place = malloc(room * sizeof *grid->place);
    for (int l = 0; l < LIMITS; l++) {
        grid->at_limit[l] = calloc(room, sizeof *grid->at_limit[l]);
        grid->nearest[l] = malloc(room * sizeof *grid->nearest[l]);
        if (!grid->at_limit[l] || !grid->nearest[l])
            goto fail;
    }
    grid->floor_sum = calloc(room, sizeof *grid->floor_sum);
    if (!grid->cell || !grid->place || !grid->floor_sum)
        goto fail;
    fill_cells(grid, view);
    add_places(grid, view);
    return EXIT_DONE;
fail:
    grid_free(grid);
    return diag_set(diag, EXIT_IO, "out of memory for a bound on %d codes", count);
}

/* Costs of the cells between the places a and b, a in [lowest, b). */
struct row {
    int lowest;
    double *line;            /* a line between two knots */
    double *from[LIMITS];    /* one that leaves a limit at a */
    double *to[LIMITS];      /* one that reaches a limit at b */
    bool reaches[LIMITS];    /* whether it is worth looking at */
    bool leaves[LIMITS];     /* whether any from is finite */
    bool *may_leave[LIMITS]; /* whether some segment may leave the limit at a place */
};

/* Cost of a line where the real line's is at least `real` and, when it is rounded, the line's at least `least`. */
static double line_bound(const struct grid *grid, const struct moments *sums, double real, double least)
{
    return grid->integer ? integer_cost_bound(real, sums->w, least) : real;
}

/* Of the places from `from` on. */
static void row_fill(const struct grid *grid, int b, int from, double ceiling, struct row *row)
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
        row->line[a] = least = line_bound(grid, &sums, line.cost, least);
        for (int l = 0; l < LIMITS; l++) {
            const int side = l == HIGH ? +1 : -1;
            const double limit = grid->reached[l];
            const bool leaves = row->may_leave[l][a];
            row->leaves[l] |= leaves;
            row->from[l][a] =
                leaves ? line_bound(grid, &sums, least_squares_beyond(&sums, &line, begin->first, limit, side), least)
                       : INFINITY;
            if (row->reaches[l])
                row->to[l][a] =
                    line_bound(grid, &sums, least_squares_beyond(&sums, &line, end->last, limit, side), least);
        }
        if (row->line[a] >= ceiling) { /* and more so from further away */
            row->lowest = a;
            break;
        }
    }
}

/* The least cost of what some segment does somewhere, and the place where that segment began. */
struct state {
    double cost;
    int start;
};

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

/* Least costs with at most m segments, by place. */
struct layer {
    struct state *knot;            /* segment m ends; start: where it began */
    double *ended;                 /* the cost of the same */
    const double *least;           /* what it costs at least, if more is known, by the points left; or null */
    int first, last;               /* places where it is finite, and of use still, lie in [first, last] */
    struct state *leaving[LIMITS]; /* segment m, at the limit from its start, leaves it */
    double *left[LIMITS];
    int left_first[LIMITS], left_last[LIMITS]; /* likewise */
    struct state waiting[LIMITS]; /* segment m began and is at the limit; without the cells since the beginning */
    struct state at[LIMITS];      /* segment m has reached the limit; likewise */
    double line;                  /* the least of a line to the place before, and of what lies before it */
    /* Of the place in hand: what is left when segment m ends there, when it goes on, and when it does at a limit, after
     * the point or the cell where it got there. */
    double room_behind, room, room_at_limit;
};

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

static void advance(const struct grid *grid, struct row *row, int b, struct layer *before, struct layer *layer)
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
    if (layer->least && least.cost < layer->least[place->left])
        least.cost = layer->least[place->left];
    layer->knot[b] = least.cost < layer->room_behind ? least : nowhere;
    layer->ended[b] = layer->knot[b].cost;
    if (layer->ended[b] < INFINITY)
        layer->last = b;
}

struct program {
    struct row row;
    struct layer *layer; /* segments + 1 */
    double *doubles;
    struct state *states;
    bool *flags;
};

static void program_free(struct program *program)
{
    free(program->layer);
    free(program->doubles);
    free(program->states);
    free(program->flags);
}

static int program_init(struct program *program, int segments, int places, struct diag *diag)
{
    const size_t layers = (size_t)segments + 1, n = (size_t)places;
    program->layer = calloc(layers, sizeof *program->layer);
    program->doubles = malloc((layers * (1 + LIMITS) + 1 + 2 * LIMITS) * n * sizeof *program->doubles);
    program->states = malloc(layers * (1 + LIMITS) * n * sizeof *program->states);
    program->flags = calloc(LIMITS * n, sizeof *program->flags);
    if (!program->layer || !program->doubles || !program->states || !program->flags) {
        program_free(program);
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

/* Sums in another order differ by rounding. */
static const double rounding_share = 1e-9;

/* What the points from one on cost at least, by lines left: a program that ran from the last point. */
struct ahead {
    struct program program;
    int *place; /* of each point */
};

static double ahead_of(const struct ahead *ahead, int m, int point)
{
    return ahead->program.layer[m].ended[ahead->place[point]] * (1 - rounding_share);
}

/* The first place from which a line may still be of use. */
static int first_of_use(const struct program *program, int segments)
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
static void find_rooms(struct program *program, const struct grid *grid, int segments, double ceiling,
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

static void program_run(struct program *program, const struct grid *grid, int segments, double ceiling,
                        const struct ahead *ahead)
{
    for (int b = 1; b < grid->places; b++) {
        find_rooms(program, grid, segments, ceiling, ahead, b);
        row_fill(grid, b, first_of_use(program, segments), ceiling, &program->row);
        for (int m = 1; m <= segments; m++)
            advance(grid, &program->row, b, &program->layer[m - 1], &program->layer[m]);
    }
}

/* The knots of the best path, ascending; places that fall together make fewer segments. */
static void read_path(const struct program *program, const struct grid *grid, int segments, struct real_bound *bound)
{
    int p = grid->places - 1, m = segments, knots = 0;
    bound->knots[knots++] = grid->edge[grid->cells];
    while (p > 0 && m > 0) {
        const struct state *state = &program->layer[m].knot[p];
        while (m > 1 && program->layer[m - 1].ended[p] <= state->cost) /* no need of segment m */
            state = &program->layer[--m].knot[p];
        p = state->start;
        m--;
        const struct place *place = &grid->place[p];
        const int k = p == 0 ? 0 : (grid->edge[place->left] + grid->edge[place->right]) / 2;
        if (k < bound->knots[knots - 1])
            bound->knots[knots++] = k;
    }
    if (bound->knots[knots - 1] != 0)
        bound->knots[knots - 1] = 0;
    for (int a = 0, b = knots - 1; a < b; a++, b--) {
        const int swap = bound->knots[a];
        bound->knots[a] = bound->knots[b];
        bound->knots[b] = swap;
    }
    bound->segments = knots - 1;
}

static void ahead_free(struct ahead *ahead)
{
    program_free(&ahead->program);
    free(ahead->place);
}

static int ahead_init(struct ahead *ahead, const struct view *reversed, const struct grid *grid, int segments,
                      double ceiling, const double *last, struct diag *diag)
{
    const int count = reversed->points->count;
    if (program_init(&ahead->program, segments, grid->places, diag))
        return diag->code;
    ahead->place = malloc(((size_t)count + 1) * sizeof *ahead->place);
    if (!ahead->place) {
        ahead_free(ahead);
        memset(ahead, 0, sizeof *ahead);
        return diag_set(diag, EXIT_IO, "out of memory for a bound on %d segments", segments);
    }
    if (segments > 0)
        ahead->program.layer[1].least = last;
    program_run(&ahead->program, grid, segments, ceiling, NULL);
    int p = 0;
    for (int k = count; k >= 0; k--) {
        /* The last place with all the points before it among the count - k last ones: a part costs no more. */
        while (p + 1 < grid->places && grid->edge[grid->place[p + 1].left] <= count - k)
            p++;
        ahead->place[k] = p;
    }
    return EXIT_DONE;
}

int real_bound(const struct points *points, int64_t qmin_y, int64_t qmax_y, int segments, double ceiling,
               const int *near, int near_count, int cells, struct real_bound *bound, struct diag *diag)
{
    /* Memory of the programs, in places and layers. */
    enum { ROOM = 1 << 20 }; /* of a program, in cells and layers */
    const int count = points->count, room = ROOM / (segments + 1), fine = cells < room ? cells : room,
              coarse = fine / 6;
    const struct view view = {.points = points}, reversed = {.points = points, .reversed = true};
    struct grid grid = {0}, reversed_grid = {0};
    struct ahead ahead = {0};
    struct program program;
    int *reversed_near = malloc((size_t)near_count * sizeof *reversed_near);
    *bound = (struct real_bound){.knots = bound->knots};
    diag->code = EXIT_DONE;
    if (!reversed_near) {
        diag_set(diag, EXIT_IO, "out of memory for a bound on %d segments", segments);
        goto done;
    }
    if (coarse < near_count) /* too many segments to tell real lines from none */
        goto done;
    for (int k = 0; k < near_count; k++)
        reversed_near[k] = count - near[near_count - 1 - k];
    if (grid_init(&reversed_grid, &reversed, qmin_y, qmax_y, reversed_near, near_count, coarse, diag) ||
        ahead_init(&ahead, &reversed, &reversed_grid, segments, ceiling, NULL, diag) ||
        grid_init(&grid, &view, qmin_y, qmax_y, near, near_count, fine, diag) ||
        program_init(&program, segments, grid.places, diag))
        goto done;
    program_run(&program, &grid, segments, ceiling, &ahead);
    const double least = program.layer[segments].ended[grid.places - 1];
    bound->found = least < ceiling;
    bound->cost = fmin(least, ceiling) * (1 - rounding_share);
    if (bound->found)
        read_path(&program, &grid, segments, bound);
    program_free(&program);
done:
    grid_free(&grid);
    grid_free(&reversed_grid);
    ahead_free(&ahead);
    free(reversed_near);
    return diag->code;
}

static int integer_bound(const struct view *view, int64_t qmin_y, int64_t qmax_y, int segments, double ceiling,
                         const double *last, double *cost, struct diag *diag)
{
    const int count = view->points->count;
    const size_t row = (size_t)count + 1;
    struct ahead ahead;
    struct grid grid;
    diag->code = EXIT_DONE;
    if (grid_init(&grid, view, qmin_y, qmax_y, NULL, 0, 0, diag))
        return diag->code;
    grid.integer = true;
    if (!ahead_init(&ahead, view, &grid, segments, ceiling, last, diag)) {
        for (int m = 0; m <= segments; m++)
            for (int k = 0; k <= count; k++)
                cost[(size_t)m * row + (size_t)(view->reversed ? k : count - k)] = ahead_of(&ahead, m, k);
        ahead_free(&ahead);
    }
    grid_free(&grid);
    return diag->code;
}

int integer_bound_suffixes(const struct points *points, int64_t qmin_y, int64_t qmax_y, int segments, double ceiling,
                           const double *last, double *cost, struct diag *diag)
{
    const struct view reversed = {.points = points, .reversed = true};
    return integer_bound(&reversed, qmin_y, qmax_y, segments, ceiling, last, cost, diag);
}

int integer_bound_prefixes(const struct points *points, int64_t qmin_y, int64_t qmax_y, int segments, double ceiling,
                           double *cost, struct diag *diag)
{
    const struct view view = {.points = points};
    return integer_bound(&view, qmin_y, qmax_y, segments, ceiling, NULL, cost, diag);
}

double *rounding_floor_sums(const struct points *points)
{
    double *sum = malloc(((size_t)points->count + 1) * sizeof *sum);
    if (!sum)
        return NULL;
    sum[0] = 0;
    for (int k = 0; k < points->count; k++)
        sum[k + 1] = sum[k] + points_floor(points, k);
    return sum;
}

double integer_cost_bound(double real, double mass, double floor)
{
    const double root = sqrt(real) - 0.5 * sqrt(mass);
    return fmax(floor, root > 0 ? root * root : 0);
}
