/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line between two neighbouring values, and its cost. */
#include "interpolation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/fixed.h>

int interpolation_init(struct interpolation *table, const struct points *points, const struct line_rules *rules,
                       struct integers range, const signed char *directions, int shift, struct addends addends,
                       struct diag *diag)
{
    *table = (struct interpolation){
        .points = points,
        .rules = rules,
        .directions = directions,
        .shift = shift,
        .width = (int64_t)1 << shift,
        .addends = addends,
        .by_slant = addends.of[NOT_FALLING] != addends.of[FALLING],
        .intervals = points->count >> shift,
        .range = range,
        .most_steps = (int64_t)(points->effort->share * (double)INTERPOLATION_STEPS),
    };
    const size_t count = (size_t)table->intervals + 1;
    table->value = calloc(count, sizeof *table->value);
    table->nearest = calloc((size_t)points->count, sizeof *table->nearest);
    for (int slant = 0; slant < SLANTS; slant++)
        table->limits[slant] = calloc(count, sizeof *table->limits[slant]);
    if (!table->value || !table->nearest || !table->limits[NOT_FALLING] || !table->limits[FALLING]) {
        interpolation_free(table);
        return diag_set(diag, EXIT_IO, "out of memory for %zu values", count);
    }
    for (int k = 0; k < points->count; k++)
        table->nearest[k] = (int64_t)rint(points->target[k]);
    for (int slant = 0; slant < SLANTS; slant++)
        for (int i = 0; i < table->intervals; i++)
            pair_limits_init(&table->limits[slant][i], rules, shift, points->cell[(int64_t)i * table->width],
                             table->range, addends.of[slant]);
    return EXIT_DONE;
}

void interpolation_free(struct interpolation *table)
{
    free(table->value);
    free(table->nearest);
    for (int slant = 0; slant < SLANTS; slant++) {
        free(table->limits[slant]);
        table->limits[slant] = NULL;
    }
    table->value = table->nearest = NULL;
}

struct line interpolation_line(const struct interpolation *table, int i, int64_t a, int64_t b)
{
    const struct line_rules *rules = table->rules;
    const int64_t start = table->points->cell[(int64_t)i * table->width];
    return (struct line){.q_b = b - a,
                         .n = table->shift,
                         .offset = rules->form == PWL_ANCHORED
                                       ? a
                                       : a * table->width + table->addends.of[slant_between(a, b)] -
                                             (b - a) * (start - rules->zp_x)};
}

/* The output of a sum that is 2^shift times a value, and to which the addend is added already. */
static inline int64_t output_of(const struct interpolation *table, int64_t sum)
{
    const struct line_rules *rules = table->rules;
    return pwl_sat(pwl_shr64(sum, table->shift, (int)rules->rounding), rules->qmin_y, rules->qmax_y);
}

int64_t interpolation_output(const struct interpolation *table, enum slant slant, int64_t sum)
{
    return output_of(table, sum + table->addends.of[slant]);
}

/* The sum at the first code of the line between two values, with its addend. */
static inline int64_t first_sum(const struct interpolation *table, int64_t a, int64_t b)
{
    return a * table->width + table->addends.of[slant_between(a, b)];
}

bool interpolation_by_slope_alone(const struct interpolation *table, int i)
{
    return table->limits[NOT_FALLING][i].by_slope_alone && table->limits[FALLING][i].by_slope_alone;
}

/* The step from the last code of an interval to the next one is to the value between them, whatever follows it. */
static bool keeps_directions(struct interpolation *table, int i, int64_t a, int64_t b)
{
    const int first = (int)(i * table->width);
    const int64_t last = i + 1 < table->intervals ? table->width : table->width - 1;
    int64_t sum = first_sum(table, a, b), before = output_of(table, sum);
    for (int64_t f = 1; f <= last; f++) {
        const int64_t output = output_of(table, sum += b - a);
        table->steps++;
        if ((output - before) * table->directions[first + f] < 0)
            return false;
        before = output;
    }
    return true;
}

bool interpolation_allows(struct interpolation *table, int i, int64_t a, int64_t b)
{
    const struct pair_limits *const limits = &table->limits[slant_between(a, b)][i];
    table->steps++;
    return is_within(table->rules->slopes, b - a) && (limits->by_slope_alone || pair_is_provable(limits, a, b)) &&
           (!table->directions || keeps_directions(table, i, a, b));
}

bool interpolation_spent(const struct interpolation *table, int64_t from, int64_t steps)
{
    return table->steps >= table->most_steps || table->steps - from >= steps || points_out_of_time(table->points);
}

static bool is_missed(const struct points *points, int k, int64_t low, int64_t high)
{
    return points->fixed && points->fixed[k] != POINT_FREE && (points->fixed[k] < low || points->fixed[k] > high);
}

double interpolation_cost(struct interpolation *table, int i, int64_t a, int64_t b, double max_err, double enough)
{
    const struct points *points = table->points;
    const int first = (int)(i * table->width), end = first + (int)table->width;
    int64_t sum = first_sum(table, a, b);
    double cost = 0;
    for (int k = first; k < end; k++, sum += b - a) {
        const int64_t output = output_of(table, sum);
        const double error = fabs((double)output - points->target[k]);
        cost += error * error * points->mass[k];
        if (error > max_err || cost >= enough || is_missed(points, k, output, output)) {
            table->steps += k + 1 - first;
            return INFINITY;
        }
    }
    table->steps += table->width;
    return interpolation_allows(table, i, a, b) ? cost : INFINITY;
}

double interpolation_cost_of_ranges(struct interpolation *table, int i, struct integers a, struct integers b,
                                    double max_err, double enough, bool *exact)
{
    const struct points *points = table->points;
    const int first = (int)(i * table->width), end = first + (int)table->width;
    *exact = true;
    if (a.low == a.high && b.low == b.high)
        return interpolation_cost(table, i, a.low, b.low, max_err, enough);
    const struct integers slopes = table->rules->slopes;
    if (b.low - a.high > slopes.high || b.high - a.low < slopes.low)
        return INFINITY;
    *exact = interpolation_by_slope_alone(table, i) && b.high - a.low <= slopes.high && b.low - a.high >= slopes.low;
    int64_t low_sum = first_sum(table, a.low, b.low), high_sum = first_sum(table, a.high, b.high);
    double cost = 0;
    for (int k = first; k < end; k++, low_sum += b.low - a.low, high_sum += b.high - a.high) {
        const int64_t low = output_of(table, low_sum), high = output_of(table, high_sum);
        const double error = (double)pwl_sat(table->nearest[k], low, high) - points->target[k];
        cost += error * error * points->mass[k];
        *exact &= low == high || (points->mass[k] <= LEAST_WEIGHT && !table->directions && isinf(max_err) &&
                                  !(points->fixed && points->fixed[k] != POINT_FREE));
        if (fabs(error) > max_err || cost >= enough || is_missed(points, k, low, high)) {
            table->steps += k + 1 - first;
            return INFINITY;
        }
    }
    table->steps += table->width;
    if (*exact && table->directions) { /* all pairs give the same outputs, but perhaps for the next value's own */
        *exact = i + 1 == table->intervals || output_of(table, low_sum) == output_of(table, high_sum);
        if (*exact && !keeps_directions(table, i, a.low, b.low))
            return INFINITY;
    }
    return cost;
}

double interpolation_max_err(struct interpolation *table)
{
    double max_err = 0;
    for (int i = 0; i < table->intervals; i++) {
        int64_t sum = first_sum(table, table->value[i], table->value[i + 1]);
        for (int k = (int)(i * table->width); k < (i + 1) * table->width; k++) {
            const double error = fabs((double)output_of(table, sum) - table->points->target[k]);
            if (error > max_err) /* no fmax(), which GCC 12 cannot compile here for aarch64 with -O3 */
                max_err = error;
            sum += table->value[i + 1] - table->value[i];
        }
    }
    return max_err;
}

int64_t interpolation_wanted(const struct interpolation *table, int i)
{
    const struct points *points = table->points;
    const double low = (double)table->range.low, high = (double)table->range.high;
    const int k = (int)(i * table->width), last = points->count - 1;
    const double target = k <= last ? points->target[k] : 2 * points->target[last] - points->target[last - 1];
    return (int64_t)fmin(fmax(floor(target + 0.5), low), high);
}

static bool is_allowed(struct interpolation *table)
{
    for (int i = 0; i < table->intervals; i++)
        if (isinf(interpolation_cost(table, i, table->value[i], table->value[i + 1], INFINITY, INFINITY)))
            return false;
    return true;
}

bool interpolation_nearest(struct interpolation *table)
{
    for (int i = 0; i <= table->intervals; i++)
        table->value[i] = interpolation_wanted(table, i);
    return is_allowed(table);
}

bool interpolation_level(struct interpolation *table)
{
    const struct points *points = table->points;
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < points->count; k++) {
        const bool is_fixed = points->fixed && points->fixed[k] != POINT_FREE;
        low = fmin(low, is_fixed ? (double)points->fixed[k] : points->target[k]);
        high = fmax(high, is_fixed ? (double)points->fixed[k] : points->target[k]);
    }
    const int64_t level = (int64_t)rint(low + (high - low) / 2);
    for (int i = 0; i <= table->intervals; i++)
        table->value[i] = larger_integer(table->range.low, smaller_integer(level, table->range.high));
    return is_allowed(table);
}
