/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "line_program.h"

#include <stdlib.h>
#include <string.h>

void search_begin(struct search *search)
{
    memcpy(search->ahead, search->ahead_any,
           ((size_t)search->segments + 1) * ((size_t)search->count + 1) * sizeof *search->ahead);
}

static double *any_least(struct search *search, int i)
{
    return entry(search->least_any, search, i, 0);
}

/* What is known of one line over all codes before a point, or from one on, holds for the range. */
static void begin_least(struct search *search)
{
    for (int k = 0; k < search->count; k++) {
        double *first = &any_least(search, 0)[k + 1], *last = &search_least(search, false, UP, k)[search->count];
        *first = larger(*first, *entry(search->before, search, 1, k + 1));
        *last = larger(*last, *entry(search->ahead, search, 1, k));
    }
}

/* A line costs as much on a part of a range, and at least the floor on the rest; from a later start it is the same but
 * for the anchored form. Those that leave a limit are some of those that are not at it. */
static void close_least(struct search *search)
{
    const int count = search->count;
    const double *floor_sum = search->floor_sum;
    for (int k = count - 1; k >= 0; k--) {
        const bool same = search->rules->form != PWL_ANCHORED && k + 1 < count;
        double *any = any_least(search, k), *least = search_least(search, false, UP, k);
        const double *later = any_least(search, k + 1), floor = floor_sum[k + 1] - floor_sum[k];
        for (int j = k + 2; same && j <= count; j++)
            any[j] = larger(any[j], later[j] + floor);
        for (int j = k + 2; j <= count; j++)
            any[j] = larger(any[j], any[j - 1] + (floor_sum[j] - floor_sum[j - 1]));
        for (int j = k + 1; j <= count; j++)
            least[j] = larger(least[j], any[j]);
        for (int j = k + 2; j <= count; j++)
            least[j] = larger(least[j], least[j - 1] + (floor_sum[j] - floor_sum[j - 1]));
        for (enum direction way = UP; !search->slopes.all && way < DIRECTIONS; way++) {
            double *left = search_least(search, true, way, k);
            for (int j = k + 1; j <= count; j++)
                left[j] = larger(left[j], any[j]);
            for (int j = k + 2; j <= count; j++)
                left[j] = larger(left[j], left[j - 1] + (floor_sum[j] - floor_sum[j - 1]));
        }
    }
}

/* The least of a range from k, and of what `rest` says of the codes after it. */
static double least_from(const struct search *search, const double *least, const double *rest, int k)
{
    const double *floor_sum = search->floor_sum;
    double cost = INFINITY;
    for (int j = k + 1; j <= search->count; j++)
        if (search->is_knot[j])
            cost = smaller(cost, larger(least[j], floor_sum[j] - floor_sum[k]) + rest[j]);
    return cost;
}

/* By the number of lines, from the last code on. Lines at a limit since their start are followed to where they leave
 * it, as in search_solve. */
static void raise_ahead(struct search *search)
{
    static const double hair = 1e-11; /* sums in another order differ */
    const int segments = search->segments;
    for (int m = 1; m <= segments; m++) {
        const double *rest = entry(search->ahead, search, m - 1, 0),
                     *before = entry(search->before, search, segments - m, 0),
                     *behind = entry(search->behind, search, segments - m, 0);
        const double *any = entry(search->ahead_any, search, m, 0);
        double *ahead = entry(search->ahead, search, m, 0);
        double at[DIRECTIONS] = {INFINITY,
                                 INFINITY}; /* those that are at the limit, or leave it, from the next point on */
        for (int k = search->count - 1; k >= 0; k--) {
            double least = rest[k];
            for (enum direction way = UP; !search->slopes.all && way < DIRECTIONS; way++) {
                const double limit = (double)(way == UP ? search->rules->qmin_y : search->rules->qmax_y);
                at[way] += points_cost(search->points, k, limit);
                least = smaller(least, at[way]);
                if (any[k] < at[way])
                    at[way] = smaller(at[way],
                                      larger(any[k], least_from(search, search_least(search, true, way, k), rest, k)));
            }
            if (!search->is_knot[k])
                continue;
            if ((k <= search->known_to ? behind[k] : before[k]) + ahead[k] < search->ceiling)
                ahead[k] = larger(ahead[k],
                                  (1 - hair) *
                                      smaller(least, least_from(search, search_least(search, false, UP, k), rest, k)));
            else if (!search->all_starts)
                ahead[k] = INFINITY; /* no better table has so many lines there */
        }
    }
}

void search_look_ahead(struct search *search)
{
    begin_least(search);
    close_least(search);
    raise_ahead(search);
}

void search_give_bounds(struct search *search, struct search_bounds *bounds)
{
    begin_least(search);
    raise_ahead(search);
    *bounds = (struct search_bounds){search->before, search->ahead, search->least, {NULL}};
    search->before = search->ahead = search->least = NULL;
    for (enum direction way = UP; way < DIRECTIONS; way++) {
        bounds->least_left[way] = search->least_left[way];
        search->least_left[way] = NULL;
    }
}

void search_take_bounds(struct search *search, const struct search_bounds *bounds)
{
    const size_t row = (size_t)search->count + 1, layers = ((size_t)search->segments + 1) * row * sizeof(double);
    memcpy(search->before, bounds->before, layers);
    memcpy(search->ahead_any, bounds->ahead, layers);
    search_begin(search);
    memcpy(search->least, bounds->least, row * row * sizeof(double));
    memcpy(search->least_any, bounds->least, row * row * sizeof(double));
    for (enum direction way = UP; way < DIRECTIONS; way++)
        memcpy(search->least_left[way], bounds->least_left[way], row * row * sizeof(double));
}

void search_bounds_free(struct search_bounds *bounds)
{
    free(bounds->before);
    free(bounds->ahead);
    free(bounds->least);
    for (enum direction way = UP; way < DIRECTIONS; way++)
        free(bounds->least_left[way]);
}
