/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "real_grid.h"

#include <math.h>
#include <stdlib.h>

void real_grid_free(struct real_grid *grid)
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

static void fill_cells(struct real_grid *grid, const struct view *view)
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

static bool single(const struct real_grid *grid, int c)
{
    return c >= 0 && c < grid->cells && grid->edge[c + 1] - grid->edge[c] == 1;
}

static void add_place(struct real_grid *grid, const struct view *view, int left, int right)
{
    /* Where the limit is left the last point at it lies in the cell or just before it, where it is reached the first
     * one in the cell or just behind it: between cells, and at the edges of larger ones, next to them. */
    const int p = grid->places++, points = view->points->count;
    const int begin = grid->edge[left] > 0 ? grid->edge[left] - 1 : 0;
    const int end = grid->edge[right] < points ? grid->edge[right] : points - 1;
    grid->place[p] = (struct place){left, right, code_of(view, begin), code_of(view, end)};
    for (int l = 0; l < LIMITS; l++) {
        grid->nearest[l][p] = INFINITY;
        for (int k = begin; k <= end; k++)
            grid->nearest[l][p] = fmin(grid->nearest[l][p], points_cost(view->points, at(view, k), grid->limit[l]));
    }
}

/* Place 0 is the beginning and the last one the end; between them, the edges between single points and the insides of
 * larger cells, which also stand for their edges. */
static void add_places(struct real_grid *grid, const struct view *view)
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

int real_grid_init(struct real_grid *grid, const struct view *view, int64_t qmin_y, int64_t qmax_y, const int *near,
                   int near_count, int most, struct diag *diag)
{
    enum { RATIO = 256 };
    const int count = view->points->count;
    const double half = view->points->served ? 0.5 : 0;
    *grid = (struct real_grid){.steepest = INFINITY,
                               .limit = {(double)qmin_y, (double)qmax_y},
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
    real_grid_free(grid);
    return diag_set(diag, EXIT_IO, "out of memory for a bound on %d codes", count);
}

void real_grid_round(struct real_grid *grid, const struct line_rules *rules)
{
    grid->is_rounded = true;
    grid->steepest = line_steepest_of_all(rules);
}
