/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "program_bounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "search/rounding.h"

static size_t layers_size(const struct line_program *program)
{
    return ((size_t)program->segments + 1) * ((size_t)program->count + 1) * sizeof(double);
}

void program_begin_bounds(struct line_program *program)
{
    memcpy(program->ahead, program->ahead_any, layers_size(program));
}

/* Bounds ranges by what one line costs over all codes before a point, or from one on. */
static void begin_least(struct line_program *program)
{
    for (int k = 0; k < program->count; k++) {
        double *first = &program->least[k + 1], *last = entry(program->least, program, k, program->count);
        *first = larger(*first, *entry(program->before, program, 1, k + 1));
        *last = larger(*last, *entry(program->ahead_any, program, 1, k));
    }
}

/* Raises the bounds on lines from k: a line costs as much on a part of a range, and at least the floor on the rest. */
static void close_row(const struct line_program *program, int k, double *least)
{
    const double *floor_sum = program->floor_sum;
    for (int j = k + 2; j <= program->count; j++)
        least[j] = larger(least[j], least[j - 1] + (floor_sum[j] - floor_sum[j - 1]));
}

/* From a later start a line is the same but for the anchored form, and those that leave a limit are some of those that
 * are not at it. */
static void close_least(struct line_program *program)
{
    const int count = program->count;
    for (int k = count - 1; k >= 0; k--) {
        const double *later = program_least(program, false, UP, k + 1),
                     floor = program->floor_sum[k + 1] - program->floor_sum[k];
        double *least = program_least(program, false, UP, k);
        for (int j = k + 2; program->rules->form != PWL_ANCHORED && j <= count; j++)
            least[j] = larger(least[j], later[j] + floor);
        close_row(program, k, least);
        for (enum direction way = UP; !program->slopes.all && way < DIRECTIONS; way++) {
            double *left = program_least(program, true, way, k);
            for (int j = k + 1; j <= count; j++)
                left[j] = larger(left[j], least[j]);
            close_row(program, k, left);
        }
    }
}

/* The least of a range from k, and of what `rest` says of the codes after it. */
static double least_from(const struct line_program *program, const double *least, const double *rest, int k)
{
    const double *floor_sum = program->floor_sum;
    double cost = INFINITY;
    for (int j = k + 1; j <= program->count; j++)
        if (program->is_knot[j])
            cost = smaller(cost, larger(least[j], floor_sum[j] - floor_sum[k]) + rest[j]);
    return cost;
}

/* By the number of lines, from the last code on. Lines at a limit since their start are followed to where they leave
 * it, as in program_solve. */
static void raise_ahead(struct line_program *program)
{
    const int segments = program->segments;
    for (int m = 1; m <= segments; m++) {
        const double *rest = entry(program->ahead, program, m - 1, 0),
                     *before = entry(program->before, program, segments - m, 0),
                     *any = entry(program->ahead_any, program, m, 0);
        double *ahead = entry(program->ahead, program, m, 0);
        double at[DIRECTIONS] = {INFINITY, INFINITY}; /* of lines at the limit, or that leave it, from the next point */
        for (int k = program->count - 1; k >= 0; k--) {
            double least = rest[k];
            for (enum direction way = UP; !program->slopes.all && way < DIRECTIONS; way++) {
                const double limit = (double)(way == UP ? program->rules->qmin_y : program->rules->qmax_y);
                at[way] += points_cost(program->points, k, limit);
                least = smaller(least, at[way]);
                if (any[k] < at[way])
                    at[way] = smaller(
                        at[way], larger(any[k], least_from(program, program_least(program, true, way, k), rest, k)));
            }
            if (program->is_knot[k] && before[k] + ahead[k] < program->ceiling)
                ahead[k] = larger(
                    ahead[k],
                    just_below(smaller(least, least_from(program, program_least(program, false, UP, k), rest, k))));
        }
    }
}

void program_raise_bounds(struct line_program *program)
{
    begin_least(program);
    close_least(program);
    raise_ahead(program);
}

void program_give_bounds(struct line_program *program, struct program_bounds *bounds)
{
    begin_least(program);
    raise_ahead(program);
    *bounds = (struct program_bounds){.memory = program->memory,
                                      .before = program->before,
                                      .ahead = program->ahead,
                                      .least = program->least,
                                      .least_left = {program->least_left[UP], program->least_left[DOWN]}};
    program->memory = NULL;
}

void program_take_bounds(struct line_program *program, const struct program_bounds *bounds)
{
    const size_t row = (size_t)program->count + 1, ranges = row * row * sizeof(double);
    memcpy(program->before, bounds->before, layers_size(program));
    memcpy(program->ahead_any, bounds->ahead, layers_size(program));
    program_begin_bounds(program);
    memcpy(program->least, bounds->least, ranges);
    for (enum direction way = UP; way < DIRECTIONS; way++)
        memcpy(program->least_left[way], bounds->least_left[way], ranges);
}

void program_bounds_free(struct program_bounds *bounds)
{
    free(bounds->memory);
}
