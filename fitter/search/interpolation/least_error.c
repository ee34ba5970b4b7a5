/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The least largest error of interpolated values, by bisection over the error E.
 *
 * Within E each code's output has a band, so its sum a * (2^shift - f) + b * f lies between two integers. For a given
 * value a of an interval the values b are then an interval of integers, of which each code cuts off a part. From the
 * first point on
 *
 *   reach(0)     = the values whose own code is in its band
 *   reach(i + 1) = the values b that some a of reach(i) allows
 *
 * and a table within E exists if reach(N) is not empty. The pairs (a, b) of an interval form a convex polygon: where a
 * lower and a higher a of a run allow the same b, each a between them does, and what the run reaches has no gap. Its
 * ends fall as a grows, but where b is bound by the steepest slope: there they rise. So the least and the greatest b
 * that a run reaches are found by bisection, however long it is.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interpolation.h"
#include "search/error_band.h"
#include "search/minimax/minimax.h"

#define MOST_STEPS ((int64_t)1 << 31) /* codes looked at by all of a bisection: some five seconds */
#define STEPS_OF_ONE (MOST_STEPS / 8) /* by one search */
#define ANY_ERROR 0x1p33              /* beyond each difference of two outputs */

/* What the values at all points can be, as runs of integers in order. */
struct reach {
    struct interpolation *table;
    struct integers *sums; /* of each code, that its band allows */
    struct integers *own;  /* of each value, that its own code allows; count: intervals + 1 */
    struct integers *run;
    size_t *first; /* of the runs of each point, and one more */
    size_t count, room;
    int64_t last_step; /* of the search */
    bool short_of_memory, spent;
};

static int64_t quotient_below(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t quotient_above(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

/* The least sum that comes out as an output or more. */
static int64_t least_sum(const struct interpolation *table, int64_t output)
{
    const int64_t sum = output * table->width, half = table->width / 2;
    switch (table->rules->rounding) {
    case PWL_FLOOR:
        return sum;
    case PWL_HALF_UP:
        return sum - half;
    case PWL_HALF_AWAY:
        return sum - half + (output <= 0);
    case PWL_HALF_EVEN:
        break;
    }
    return sum - half + (output % 2 != 0);
}

static void find_bands(struct reach *reach, double max_err)
{
    const struct interpolation *table = reach->table;
    const struct line_rules *rules = table->rules;
    const struct integers all = {table->range.low * table->width, table->range.high * table->width};
    for (int k = 0; k < table->points->count; k++) {
        const struct band band = band_at(table->points, rules->qmin_y, rules->qmax_y, k, max_err);
        reach->sums[k] = all;
        if (!band.open_low)
            reach->sums[k].low = larger_integer(all.low, least_sum(table, band.low));
        if (!band.open_high)
            reach->sums[k].high = smaller_integer(all.high, least_sum(table, band.high + 1) - 1);
    }
    for (int i = 0; i < table->intervals; i++) {
        const struct integers *sums = &reach->sums[i * table->width];
        reach->own[i] =
            (struct integers){quotient_above(sums->low, table->width), quotient_below(sums->high, table->width)};
    }
    reach->own[table->intervals] = table->range;
}

/* The values at the other end of interval i that the bands of its codes allow, beside one at its left end, or at its
 * right end. */
static struct integers beside(struct reach *reach, int i, int64_t known, bool at_left)
{
    struct interpolation *table = reach->table;
    const int64_t width = table->width;
    const struct integers *sums = &reach->sums[i * width];
    struct integers other = reach->own[at_left ? i + 1 : i];
    int64_t f = at_left; /* the first code has the left value alone */
    for (; f < width && other.low <= other.high; f++) {
        const int64_t share = at_left ? f : width - f, sum = known * (width - share);
        if (sum + other.low * share < sums[f].low)
            other.low = quotient_above(sums[f].low - sum, share);
        if (sum + other.high * share > sums[f].high)
            other.high = quotient_below(sums[f].high - sum, share);
    }
    table->steps += f;
    return other;
}

static bool is_empty(struct integers values)
{
    return values.low > values.high;
}

static void add_run(struct reach *reach, struct integers run)
{
    if (is_empty(run) || reach->short_of_memory)
        return;
    if (reach->count == reach->room) {
        const size_t room = 2 * reach->room + 64;
        struct integers *runs = realloc(reach->run, room * sizeof *runs);
        if (!runs) {
            reach->short_of_memory = true;
            return;
        }
        reach->run = runs;
        reach->room = room;
    }
    reach->run[reach->count++] = run;
}

static int compare_runs(const void *a, const void *b)
{
    const struct integers *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

/* Puts the runs from `first` on in order, and those that meet together. */
static void merge_runs(struct reach *reach, size_t first)
{
    if (reach->count == first)
        return;
    qsort(reach->run + first, reach->count - first, sizeof *reach->run, compare_runs);
    size_t last = first;
    for (size_t r = first + 1; r < reach->count; r++)
        if (reach->run[r].low <= reach->run[last].high + 1)
            reach->run[last].high = larger_integer(reach->run[last].high, reach->run[r].high);
        else
            reach->run[++last] = reach->run[r];
    reach->count = last + 1;
}

/* Of the values from a to `end` the last that is provable beside a; a is. They are an interval, as the limits of a
 * proof are linear. */
static int64_t last_provable(struct reach *reach, int i, int64_t a, int64_t end)
{
    struct interpolation free = *reach->table;
    free.directions = NULL;
    int64_t good = a, bad = end + (end < a ? -1 : 1);
    while (llabs(bad - good) > 1) {
        const int64_t middle = good + (bad - good) / 2;
        *(interpolation_allows(&free, i, a, middle) ? &good : &bad) = middle;
    }
    return good;
}

/* What the slopes and the proof leave of the values beside a. */
static struct integers provable_beside(struct reach *reach, int i, int64_t a, struct integers values)
{
    const struct interpolation *table = reach->table;
    const struct integers slopes = table->rules->slopes;
    values.low = larger_integer(values.low, a + slopes.low);
    values.high = smaller_integer(values.high, a + slopes.high);
    if (table->all_provable[i] || is_empty(values))
        return values;
    struct interpolation free = *table;
    free.directions = NULL;
    if (!interpolation_allows(&free, i, a, a)) /* the sum of the first code is too large */
        return (struct integers){0, -1};
    values.low = larger_integer(values.low, last_provable(reach, i, a, smaller_integer(a, values.low)));
    values.high = smaller_integer(values.high, last_provable(reach, i, a, larger_integer(a, values.high)));
    return values;
}

/* Adds of the values beside a those that step nowhere against f. A line that steps where it must not mostly does so
 * soon, and lines that go the way of f alone need not be looked at. */
static void add_in_direction(struct reach *reach, int i, int64_t a, struct integers values)
{
    struct interpolation *table = reach->table;
    const signed char *direction = &table->directions[i * table->width];
    const int64_t last = i + 1 < table->intervals ? table->width : table->width - 1;
    bool rises = false, falls = false;
    for (int64_t f = 1; f <= last; f++) {
        rises |= direction[f] > 0;
        falls |= direction[f] < 0;
    }
    const struct integers up = {larger_integer(values.low, a), values.high},
                          down = {values.low, smaller_integer(values.high, a)};
    if (!falls)
        add_run(reach, up);
    if (!rises)
        add_run(reach, down);
    const int64_t from = rises ? values.low : a + 1, to = falls ? values.high : a - 1;
    for (int64_t b = larger_integer(from, values.low); b <= smaller_integer(to, values.high); b++)
        if (interpolation_allows(table, i, a, b))
            add_run(reach, (struct integers){b, b});
}

/* What one value reaches, and which of its ends the steepest slope sets. */
struct reached {
    struct integers values;
    bool low_is_by_slope, high_is_by_slope;
};

static struct reached reach_from(struct reach *reach, int i, int64_t a)
{
    const struct integers bands = beside(reach, i, a, true), values = provable_beside(reach, i, a, bands);
    return (struct reached){values, values.low != bands.low, values.high != bands.high};
}

/* The least value that a run reaches, each of its values reaching some: at the first that is bound by the slope, or the
 * last that is not. */
static int64_t least_reached(struct reach *reach, int i, struct integers run, struct reached from_high)
{
    int64_t bad = run.low - 1, good = run.high, least = from_high.values.low;
    while (from_high.low_is_by_slope && good - bad > 1) {
        const int64_t middle = bad + (good - bad) / 2;
        const struct reached from = reach_from(reach, i, middle);
        least = smaller_integer(least, from.values.low);
        *(from.low_is_by_slope ? &good : &bad) = middle;
    }
    return least;
}

static int64_t greatest_reached(struct reach *reach, int i, struct integers run, struct reached from_low)
{
    int64_t good = run.low, bad = run.high + 1, greatest = from_low.values.high;
    while (from_low.high_is_by_slope && bad - good > 1) {
        const int64_t middle = good + (bad - good) / 2;
        const struct reached from = reach_from(reach, i, middle);
        greatest = larger_integer(greatest, from.values.high);
        *(from.high_is_by_slope ? &good : &bad) = middle;
    }
    return greatest;
}

static void add_values(struct reach *reach, int i, int64_t a, struct integers values)
{
    if (reach->table->directions)
        add_in_direction(reach, i, a, values);
    else
        add_run(reach, values);
}

/* Adds what the values between two of a run reach. */
static void add_between(struct reach *reach, int i, struct integers run, struct reached from_low,
                        struct reached from_high)
{
    const struct interpolation *table = reach->table;
    reach->spent |= table->steps > reach->last_step;
    if (run.high - run.low < 2 || reach->spent)
        return;
    const bool share_one = larger_integer(from_low.values.low, from_high.values.low) <=
                           smaller_integer(from_low.values.high, from_high.values.high);
    const bool by_slope = from_low.low_is_by_slope && from_low.high_is_by_slope && from_high.low_is_by_slope &&
                          from_high.high_is_by_slope; /* then so does what lies between */
    if ((share_one || by_slope) && !table->directions && table->all_provable[i]) {
        add_run(reach, (struct integers){by_slope ? from_low.values.low : least_reached(reach, i, run, from_high),
                                         by_slope ? from_high.values.high : greatest_reached(reach, i, run, from_low)});
        return;
    }
    const int64_t middle = run.low + (run.high - run.low) / 2;
    const struct reached from_middle = reach_from(reach, i, middle);
    add_values(reach, i, middle, from_middle.values);
    add_between(reach, i, (struct integers){run.low, middle}, from_low, from_middle);
    add_between(reach, i, (struct integers){middle, run.high}, from_middle, from_high);
}

static void add_reach(struct reach *reach, int i, struct integers run)
{
    const struct reached from_low = reach_from(reach, i, run.low), from_high = reach_from(reach, i, run.high);
    add_values(reach, i, run.low, from_low.values);
    if (run.low < run.high)
        add_values(reach, i, run.high, from_high.values);
    add_between(reach, i, run, from_low, from_high);
}

/* Takes of a point's runs the value nearest to f beside which interval i is allowed. */
static bool step_back(struct reach *reach, int i)
{
    struct interpolation *table = reach->table;
    const int64_t b = table->value[i + 1], wanted = interpolation_wanted(table, i);
    const struct integers slopes = table->rules->slopes;
    const struct integers values = integers_within(beside(reach, i, b, false), b - slopes.high, b - slopes.low);
    int64_t nearest = INT64_MAX;
    for (size_t r = reach->first[i]; r < reach->first[i + 1]; r++) {
        const struct integers run = integers_within(values, reach->run[r].low, reach->run[r].high);
        const int64_t from = larger_integer(run.low, smaller_integer(wanted, run.high));
        const int64_t most = is_empty(run) ? -1 : larger_integer(run.high - from, from - run.low);
        for (int64_t away = 0; away <= most && llabs(from - wanted) < nearest; away++)
            for (int side = -1; side <= 1; side += 2) {
                const int64_t a = from + side * away;
                if (a < run.low || a > run.high || llabs(a - wanted) >= nearest ||
                    !interpolation_allows(table, i, a, b))
                    continue;
                table->value[i] = a;
                nearest = llabs(a - wanted);
                away = most;
            }
    }
    return nearest < INT64_MAX;
}

/* Of the last point's values the one nearest to f. */
static void take_last(struct reach *reach)
{
    struct interpolation *table = reach->table;
    const int n = table->intervals;
    const int64_t wanted = interpolation_wanted(table, n);
    int64_t nearest = INT64_MAX;
    for (size_t r = reach->first[n]; r < reach->count; r++) {
        const int64_t value = larger_integer(reach->run[r].low, smaller_integer(wanted, reach->run[r].high));
        if (llabs(value - wanted) >= nearest)
            continue;
        table->value[n] = value;
        nearest = llabs(value - wanted);
    }
}

static bool find_within(struct reach *reach)
{
    struct interpolation *table = reach->table;
    const int n = table->intervals;
    add_run(reach, reach->own[0]);
    for (int i = 0; i < n; i++) {
        reach->first[i + 1] = reach->count;
        if (reach->first[i] == reach->count)
            return false;
        for (size_t r = reach->first[i]; r < reach->first[i + 1] && !reach->spent; r++)
            add_reach(reach, i, reach->run[r]);
        merge_runs(reach, reach->first[i + 1]);
        if (reach->short_of_memory)
            return false;
    }
    if (reach->count == reach->first[n])
        return false;
    take_last(reach);
    for (int i = n - 1; i >= 0; i--)
        if (!step_back(reach, i))
            return false;
    return true;
}

int interpolation_within(struct interpolation *table, double max_err, bool *found, bool *decided, struct diag *diag)
{
    const size_t points = (size_t)table->points->count, values = (size_t)table->intervals + 1;
    struct reach reach = {.table = table, .last_step = table->steps + STEPS_OF_ONE};
    reach.sums = malloc(points * sizeof *reach.sums);
    reach.own = malloc(values * sizeof *reach.own);
    reach.first = calloc(values + 1, sizeof *reach.first);
    *found = *decided = false;
    diag->code = EXIT_DONE;
    if (reach.sums && reach.own && reach.first) {
        find_bands(&reach, max_err);
        *found = find_within(&reach);
        *decided = *found || !reach.spent;
    } else {
        reach.short_of_memory = true;
    }
    if (reach.short_of_memory)
        diag_set(diag, EXIT_IO, "out of memory for the values of %zu points", values);
    free(reach.sums);
    free(reach.own);
    free(reach.first);
    free(reach.run);
    return diag->code;
}

int interpolation_any(struct interpolation *table, struct diag *diag)
{
    bool found = interpolation_nearest(table), decided = false;
    diag->code = EXIT_DONE;
    for (double most = 0.5; !found && most <= ANY_ERROR; most *= 2)
        if (interpolation_within(table, most, &found, &decided, diag))
            return diag->code;
    if (found)
        return EXIT_DONE;
    return diag_set(diag, EXIT_REQUIREMENT, "--knots points:%d: no values at the points %s; more segments are needed",
                    table->shift, decided ? "keep to what is asked for" : "that keep to what is asked for were found");
}

int interpolation_least_error(struct interpolation *table, double *max_err, double *lower_bound, struct diag *diag)
{
    const int64_t last_step = table->steps + MOST_STEPS;
    const size_t count = (size_t)table->intervals + 1;
    double missed = 0;
    *lower_bound = 0;
    if (interpolation_any(table, diag))
        return diag->code;
    *max_err = interpolation_max_err(table);
    int64_t *best = malloc(count * sizeof *best);
    if (!best)
        return diag_set(diag, EXIT_IO, "out of memory for %zu values", count);
    memcpy(best, table->value, count * sizeof *best);
    while (*max_err - missed > fmax(MINIMAX_RESOLUTION, *max_err * 1e-12) && table->steps <= last_step) {
        const double middle = missed + (*max_err - missed) / 2;
        bool found, decided;
        if (interpolation_within(table, middle, &found, &decided, diag))
            break;
        if (found) {
            *max_err = fmin(interpolation_max_err(table), middle);
            memcpy(best, table->value, count * sizeof *best);
        } else {
            missed = middle;
            if (decided)
                *lower_bound = middle;
        }
    }
    memcpy(table->value, best, count * sizeof *best);
    free(best);
    if (diag->code)
        return diag->code;
    *max_err = interpolation_max_err(table);
    if (*max_err - *lower_bound <= 2 * fmax(MINIMAX_RESOLUTION, *max_err * 1e-12))
        *lower_bound = *max_err;
    return EXIT_DONE;
}
