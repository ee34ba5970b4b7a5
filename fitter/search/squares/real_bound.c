/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "real_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "real_program.h"
#include "search/rounding.h"

/* The knots of the best path, ascending; places that fall together make fewer segments. */
static void read_path(const struct real_program *program, const struct real_grid *grid, int segments,
                      struct real_bound *bound)
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
    real_program_free(&ahead->program);
    free(ahead->place);
}

static int ahead_init(struct ahead *ahead, const struct view *reversed, const struct real_grid *grid, int segments,
                      double ceiling, struct diag *diag)
{
    const int count = reversed->points->count;
    if (real_program_init(&ahead->program, segments, grid->places, diag))
        return diag->code;
    ahead->place = malloc(((size_t)count + 1) * sizeof *ahead->place);
    if (!ahead->place) {
        ahead_free(ahead);
        memset(ahead, 0, sizeof *ahead);
        return diag_set(diag, EXIT_IO, "out of memory for a bound on %d segments", segments);
    }
    ahead->is_known = real_program_run(&ahead->program, grid, segments, ceiling, NULL);
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
    struct real_grid grid = {0}, reversed_grid = {0};
    struct ahead ahead = {0};
    struct real_program program;
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
    if (real_grid_init(&reversed_grid, &reversed, qmin_y, qmax_y, reversed_near, near_count, coarse, diag) ||
        ahead_init(&ahead, &reversed, &reversed_grid, segments, ceiling, diag) || !ahead.is_known ||
        real_grid_init(&grid, &view, qmin_y, qmax_y, near, near_count, fine, diag) ||
        real_program_init(&program, segments, grid.places, diag))
        goto done;
    if (real_program_run(&program, &grid, segments, ceiling, &ahead)) {
        const double least = program.layer[segments].ended[grid.places - 1];
        bound->found = least < ceiling;
        bound->cost = fmin(least, ceiling) * (1 - MOMENTS_ROUNDING);
        if (bound->found)
            read_path(&program, &grid, segments, bound);
    }
    real_program_free(&program);
done:
    real_grid_free(&grid);
    real_grid_free(&reversed_grid);
    ahead_free(&ahead);
    free(reversed_near);
    return diag->code;
}

static int integer_bound(const struct view *view, const struct line_rules *rules, int segments, double ceiling,
                         double *cost, struct diag *diag)
{
    const int count = view->points->count;
    const size_t row = (size_t)count + 1;
    struct ahead ahead;
    struct real_grid grid;
    diag->code = EXIT_DONE;
    if (real_grid_init(&grid, view, rules->qmin_y, rules->qmax_y, NULL, 0, 0, diag))
        return diag->code;
    real_grid_round(&grid, rules);
    if (!ahead_init(&ahead, view, &grid, segments, ceiling, diag)) {
        for (int m = 0; m <= segments; m++)
            for (int k = 0; k <= count; k++)
                cost[(size_t)m * row + (size_t)(view->reversed ? k : count - k)] =
                    ahead.is_known ? ahead_of(&ahead, m, k) : 0;
        ahead_free(&ahead);
    }
    real_grid_free(&grid);
    return diag->code;
}

int integer_bound_suffixes(const struct points *points, const struct line_rules *rules, int segments, double ceiling,
                           double *cost, struct diag *diag)
{
    const struct view reversed = {.points = points, .reversed = true};
    return integer_bound(&reversed, rules, segments, ceiling, cost, diag);
}

int integer_bound_prefixes(const struct points *points, const struct line_rules *rules, int segments, double ceiling,
                           double *cost, struct diag *diag)
{
    const struct view view = {.points = points};
    return integer_bound(&view, rules, segments, ceiling, cost, diag);
}
