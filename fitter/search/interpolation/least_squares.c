/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The least squared error of interpolated values, by dynamic programming from point to point.
 *
 * A good table first: all values are moved at once, each by a few steps or not at all, as long as that gains; the steps
 * get finer. Then the proof, from coarse to fine. The values that a point may have are parted into ranges, at first
 * one. Between two ranges no pair costs less than the nearest output that each code can have. So the dynamic program
 * over ranges gives, for each of them, what no table through it costs less than:
 *
 *       point i            point i + 1                  before(range) + after(range) >= the best table's cost:
 *     |   12   |---.     |   30   |                     no table through it is better, and it is left out.
 *     |    2   |----\----|    3   |  best path: 2 + 3   The others are halved, down to single values, whose costs are
 *     |    9   |     '---|    8   |                     exact; but not where every code beside them saturates or never
 *                                                       occurs: those costs are exact already.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interpolation.h"
#include "search/rounding.h"

/* --- moving all values --- */

enum { REACH = 3, MOVES = 2 * REACH + 1, ROUNDS = 200 };

/* 0, -1, 1, -2, 2, ...: of equal tables the one that moves least. */
static int64_t move_of(int m)
{
    return m % 2 ? -(m + 1) / 2 : m / 2;
}

struct moves {
    double cost[MOVES]; /* of the best table up to this point */
    signed char before[MOVES];
};

static double cost_of(struct interpolation *table, double max_err)
{
    double cost = 0;
    for (int i = 0; i < table->intervals; i++)
        cost += interpolation_cost(table, i, table->value[i], table->value[i + 1], max_err, INFINITY);
    return cost;
}

static bool in_range(const struct interpolation *table, int64_t value)
{
    return is_within(table->range, value);
}

static void price_moves(struct interpolation *table, int i, int64_t step, double max_err, double enough,
                        const struct moves *left, struct moves *right)
{
    for (int m = 0; m < MOVES; m++) {
        const int64_t b = table->value[i + 1] + step * move_of(m);
        right->cost[m] = INFINITY;
        for (int l = 0; l < MOVES && in_range(table, b); l++) {
            const int64_t a = table->value[i] + step * move_of(l);
            const double most = fmin(enough, right->cost[m]) - left->cost[l];
            if (!(most > 0))
                continue;
            const double cost = left->cost[l] + interpolation_cost(table, i, a, b, max_err, most);
            if (cost >= right->cost[m])
                continue;
            right->cost[m] = cost;
            right->before[m] = (signed char)l;
        }
    }
}

/* Takes the best combination of moves; false where none is better. */
static bool move_all(struct interpolation *table, struct moves *moves, int64_t step, double max_err, double *cost)
{
    const int n = table->intervals;
    for (int m = 0; m < MOVES; m++)
        moves[0].cost[m] = in_range(table, table->value[0] + step * move_of(m)) ? 0 : INFINITY;
    const double enough = *cost + ROUNDING_SHARE(table->points->count) * *cost;
    for (int i = 0; i < n; i++)
        price_moves(table, i, step, max_err, enough, &moves[i], &moves[i + 1]);
    int best = 0;
    for (int m = 1; m < MOVES; m++)
        if (moves[n].cost[m] < moves[n].cost[best])
            best = m;
    if (!(moves[n].cost[best] < *cost - ROUNDING_SHARE(table->points->count) * *cost))
        return false;
    for (int i = n; i >= 0; best = moves[i--].before[best])
        table->value[i] += step * move_of(best);
    *cost = cost_of(table, max_err);
    return true;
}

int interpolation_improve(struct interpolation *table, double max_err, struct diag *diag)
{
    struct moves *moves = calloc((size_t)table->intervals + 1, sizeof *moves);
    if (!moves)
        return diag_set(diag, EXIT_IO, "out of memory for %d values", table->intervals + 1);
    int64_t step = 1;
    for (const double error = interpolation_max_err(table); (double)(2 * REACH * step) < error;)
        step *= 2;
    double cost = cost_of(table, max_err);
    const int64_t from = table->steps, most = table->most_steps / 4;
    for (; step > 0; step /= 2)
        for (int round = 0;
             round < ROUNDS && !interpolation_spent(table, from, most) && move_all(table, moves, step, max_err, &cost);
             round++)
            continue;
    free(moves);
    return EXIT_DONE;
}

/* --- the proof --- */

#define MOST_PAIRS ((size_t)1 << 23) /* of ranges, that are kept at one time */
#define MOST_RANGES ((size_t)1 << 20)

struct values {
    struct integers range;
    double before, after; /* what no table costs less than on the left of the point, and on its right */
    bool is_loose;        /* a better table may go through it, of another cost than it has by now */
};

/* Two ranges side by side. */
struct pair {
    double cost;
    bool exact;
};

/* The ranges of all points, those of point i from first[i] to first[i + 1]. */
struct ranges {
    struct values *values;
    size_t *first;
};

struct proof {
    struct interpolation *table;
    struct ranges now, next;
    struct pair *pairs; /* of all intervals, one after the other */
    double max_err;
    double best;  /* cost of the present table */
    double lower; /* no table costs less */
    int64_t from_step, steps;
};

/*
 * Values that need not be looked at, where the slopes alone bind. All of these changes leave them within their limits.
 *
 * - Where a limit is the nearest output to the targets of all codes beside a point, its value is at that limit or
 *   beyond: it may be moved there from within without a larger error anywhere. That fails only beside a neighbour that
 *   the slopes keep away, so far that one code beside it costs more than the best table.
 * - Between two such points it is the limit itself, or one step beyond: all codes beside it come out as the limit in
 *   any case. A neighbour lies beyond by the steepest slope at most, which is one less upwards than downwards.
 *
 * With --monotone a row of such points is moved together. Nothing steps between them; but beside the row lines come to
 * go towards the limit, and away from it, where f must not go the other way.
 */
static bool is_held(const struct proof *proof, int i, int64_t limit)
{
    const struct interpolation *table = proof->table;
    const struct points *points = table->points;
    const struct line_rules *rules = table->rules;
    const int first = (int)((i > 0 ? i - 1 : 0) * table->width),
              end = (int)((i < table->intervals ? i + 1 : table->intervals) * table->width);
    const double error = fmin((double)rules->slopes.high / 2 - 1, (double)(rules->qmax_y - rules->qmin_y)) - 0.5;
    bool held = error > 0 && is_within(table->range, limit);
    for (int k = first; k < end && held; k++)
        held = table->nearest[k] == limit && points->mass[k] * error * error > proof->best &&
               !(points->fixed && points->fixed[k] != POINT_FREE);
    return held;
}

/* Whether f goes the way of `sign` in interval i or to the code behind it. */
static bool goes(const struct interpolation *table, int i, int sign)
{
    const int64_t first = i * table->width, last = first + table->width;
    for (int64_t k = first + 1; table->directions && k <= last && k < table->points->count; k++)
        if (table->directions[k] * sign > 0)
            return true;
    return false;
}

/* Holds the values at all points that must be looked at beside a limit, the upper one where sign is 1. */
static void hold_values(const struct proof *proof, int64_t limit, int sign)
{
    const int points = proof->table->intervals + 1;
    struct values *values = proof->now.values;
    for (int from = 0, to; from < points; from = to + 1) {
        for (to = from; to < points && is_held(proof, to, limit); to++)
            continue;
        if (from == to || (from > 0 && goes(proof->table, from - 1, -sign)) ||
            (to < points && goes(proof->table, to - 1, sign)))
            continue;
        for (int i = from; i < to; i++) {
            const bool between = (i == 0 || i > from) && (i == points - 1 || i + 1 < to);
            struct integers *range = &values[i].range;
            *range = sign > 0 ? integers_within(*range, limit, between ? limit + 1 : range->high)
                              : integers_within(*range, between ? limit - 1 : range->low, limit);
        }
    }
}

static void begin_ranges(struct proof *proof)
{
    const struct interpolation *table = proof->table;
    const int points = table->intervals + 1;
    bool by_slope_alone = true;
    for (int i = 0; i < points; i++) {
        by_slope_alone &= i == table->intervals || interpolation_by_slope_alone(table, i);
        proof->now.values[i] = (struct values){.range = table->range};
        proof->now.first[i] = (size_t)i;
    }
    proof->now.first[points] = (size_t)points;
    if (!by_slope_alone)
        return;
    hold_values(proof, table->rules->qmax_y, 1);
    hold_values(proof, table->rules->qmin_y, -1);
}

static size_t count_pairs(const struct proof *proof)
{
    size_t pairs = 0;
    const size_t *first = proof->now.first;
    for (int i = 0; i < proof->table->intervals; i++)
        pairs += (first[i + 1] - first[i]) * (first[i + 2] - first[i + 1]);
    return pairs;
}

/* Costs of all pairs, and `before` of all ranges. `after` is still that of the ranges that they are halves of. */
static void price_forward(struct proof *proof)
{
    struct interpolation *table = proof->table;
    const size_t *first = proof->now.first;
    struct values *values = proof->now.values;
    struct pair *pair = proof->pairs;
    for (size_t v = 0; v < first[1]; v++)
        values[v].before = 0;
    for (int i = 0; i < table->intervals; i++)
        for (struct values *b = values + first[i + 1]; b < values + first[i + 2]; b++) {
            b->before = INFINITY;
            for (const struct values *a = values + first[i]; a < values + first[i + 1]; a++, pair++) {
                const double most = proof->best - a->before - b->after;
                *pair = (struct pair){INFINITY, true};
                if (most > 0)
                    pair->cost =
                        interpolation_cost_of_ranges(table, i, a->range, b->range, proof->max_err, most, &pair->exact);
                b->before = fmin(b->before, a->before + pair->cost);
            }
        }
}

static void price_backward(struct proof *proof, size_t pairs)
{
    struct interpolation *table = proof->table;
    const size_t *first = proof->now.first;
    struct values *values = proof->now.values;
    const struct pair *pair = proof->pairs + pairs;
    for (size_t v = 0; v < first[table->intervals + 1]; v++) {
        values[v].after = v < first[table->intervals] ? INFINITY : 0;
        values[v].is_loose = false;
    }
    for (int i = table->intervals - 1; i >= 0; i--)
        for (struct values *b = values + first[i + 2]; b-- > values + first[i + 1];)
            for (struct values *a = values + first[i + 1]; a-- > values + first[i];) {
                pair--;
                a->after = fmin(a->after, pair->cost + b->after);
                if (pair->exact || !(a->before + pair->cost + b->after < proof->best))
                    continue;
                a->is_loose |= a->range.low < a->range.high;
                b->is_loose |= b->range.low < b->range.high;
            }
}

/* How far a range lies beyond the limits of the outputs; 0: not all of it does. */
static int64_t distance_beyond(const struct line_rules *rules, struct integers range)
{
    return range.low > rules->qmax_y ? range.low - rules->qmax_y : larger_integer(rules->qmin_y - range.high, 0);
}

/* Far beyond a limit, a step more or less does little: parts may be as wide as they are far, until others are narrow.
 */
static bool is_fine(const struct line_rules *rules, struct integers range)
{
    return 2 * (range.high - range.low + 1) <= distance_beyond(rules, range);
}

/* The last value of the first part: parts end at a limit, and half way between others. */
static int64_t last_of_first_part(const struct line_rules *rules, struct integers range)
{
    const int64_t middle = range.low + (range.high - range.low) / 2, distance = distance_beyond(rules, range);
    if (distance > 0)
        return range.low > rules->qmax_y ? smaller_integer(middle, range.low + distance - 1)
                                         : larger_integer(middle, range.high - distance);
    if (range.high > rules->qmax_y)
        return rules->qmax_y;
    return range.low < rules->qmin_y ? rules->qmin_y - 1 : middle;
}

/* Keeps the ranges that a better table may go through, and halves the loose ones, in the place of *next. False when
 * there are none, or too many. */
static bool halve(struct proof *proof, size_t *loose, struct diag *diag)
{
    const struct ranges *now = &proof->now;
    struct ranges *next = &proof->next;
    const struct line_rules *rules = proof->table->rules;
    const int points = proof->table->intervals + 1;
    size_t kept = 0, coarse = 0;
    *loose = 0;
    for (size_t v = 0; v < now->first[points]; v++) {
        *loose += now->values[v].is_loose;
        coarse += now->values[v].is_loose && !is_fine(rules, now->values[v].range);
    }
    const size_t room = now->first[points] + *loose;
    struct values *values = *loose > 0 && room <= MOST_RANGES ? realloc(next->values, room * sizeof *values) : NULL;
    if (!values) {
        if (*loose > 0 && room <= MOST_RANGES)
            diag_set(diag, EXIT_IO, "out of memory for %zu ranges of values", room);
        return false;
    }
    next->values = values;
    for (int i = 0; i < points; i++) {
        next->first[i] = kept;
        for (size_t v = now->first[i]; v < now->first[i + 1]; v++) {
            struct values range = now->values[v];
            const int64_t high = range.range.high, middle = last_of_first_part(rules, range.range);
            if (!(range.before + range.after < proof->best))
                continue;
            if (range.is_loose && (coarse == 0 || !is_fine(rules, range.range))) {
                range.range.high = middle;
                values[kept++] = range;
                range.range.low = middle + 1;
                range.range.high = high;
            }
            values[kept++] = range;
        }
    }
    next->first[points] = kept;
    return true;
}

/* Takes the best path; of a range that is no single value the one nearest to the present. */
static void take_path(struct proof *proof)
{
    struct interpolation *table = proof->table;
    const struct ranges *now = &proof->now;
    const struct values *b = NULL;
    for (int i = table->intervals; i >= 0; i--) {
        const struct values *from = now->values + now->first[i], *end = now->values + now->first[i + 1], *best = from;
        double least = INFINITY;
        for (const struct values *a = from; a < end; a++) {
            bool exact;
            const double cost =
                a->before +
                (b ? interpolation_cost_of_ranges(table, i, a->range, b->range, proof->max_err, INFINITY, &exact) : 0);
            if (!(cost < least))
                continue;
            least = cost;
            best = a;
        }
        table->value[i] = larger_integer(best->range.low, smaller_integer(table->value[i], best->range.high));
        b = best;
    }
}

/* One level: prices all ranges and takes what they tell. False when nothing is left to be looked at. */
static bool refine(struct proof *proof, double cost, double *better, struct diag *diag)
{
    struct interpolation *table = proof->table;
    const size_t pairs = count_pairs(proof), *first = proof->now.first;
    if (pairs > MOST_PAIRS || interpolation_spent(table, proof->from_step, proof->steps) ||
        (int64_t)pairs * table->width > proof->steps - (table->steps - proof->from_step))
        return false;
    struct pair *room = realloc(proof->pairs, (pairs + 1) * sizeof *room);
    if (!room) {
        diag_set(diag, EXIT_IO, "out of memory for %zu pairs of values", pairs);
        return false;
    }
    proof->pairs = room;
    price_forward(proof);
    price_backward(proof, pairs);
    double least = INFINITY;
    for (size_t v = first[table->intervals]; v < first[table->intervals + 1]; v++)
        least = fmin(least, proof->now.values[v].before);
    /* Tables that were left out cost proof->best at least. */
    proof->lower = fmax(proof->lower, fmin(least, proof->best));
    size_t loose;
    if (halve(proof, &loose, diag)) {
        const struct ranges now = proof->now;
        proof->now = proof->next;
        proof->next = now;
        return true;
    }
    if (loose == 0 && least < proof->best) {
        take_path(proof);
        *better = fmin(cost, cost_of(table, proof->max_err));
    }
    return false;
}

int interpolation_least_squares(struct interpolation *table, double max_err, int64_t steps, double *cost,
                                double *lower_bound, struct diag *diag)
{
    const size_t points = (size_t)table->intervals + 1;
    const double share = ROUNDING_SHARE(table->points->count);
    diag->code = EXIT_DONE;
    *cost = cost_of(table, max_err);
    struct proof proof = {.table = table,
                          .max_err = max_err,
                          .best = *cost * (1 - share),
                          .from_step = table->steps,
                          .steps = smaller_integer(steps, table->most_steps - table->steps)};
    int64_t *present = malloc(points * sizeof *present);
    struct ranges *sides[] = {&proof.now, &proof.next};
    for (int side = 0; side < 2; side++) {
        sides[side]->values = malloc(points * sizeof *sides[side]->values);
        sides[side]->first = malloc((points + 1) * sizeof *sides[side]->first);
    }
    if (present && proof.now.values && proof.now.first && proof.next.values && proof.next.first) {
        double better = *cost;
        memcpy(present, table->value, points * sizeof *present);
        begin_ranges(&proof);
        while (refine(&proof, *cost, &better, diag))
            continue;
        if (better < *cost)
            *cost = better;
        else
            memcpy(table->value, present, points * sizeof *present);
        /* Sums in another order, and codes that never occur, do not make a table better. */
        *lower_bound = *cost - proof.lower <= 4 * share * (1 + *cost) ? *cost : fmin(*cost, proof.lower * (1 - share));
    } else {
        diag_set(diag, EXIT_IO, "out of memory for the values of %zu points", points);
    }
    for (int side = 0; side < 2; side++) {
        free(sides[side]->values);
        free(sides[side]->first);
    }
    free(proof.pairs);
    free(present);
    return diag->code;
}
