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
 * lower and a higher a of a run allow the same b, each a between them does, and what the run reaches has no gap. Of the
 * limits of b some fall as a grows, as those of the bands do, and some rise, as the steepest slope does. So the least
 * and the greatest b that a run reaches are found by bisection for where the one kind gives way to the other, however
 * long the run is.
 *
 * What --monotone leaves of them is several polygons (add_against).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interpolation.h"
#include "search/minimax/minimax.h"
#include "sum_bands.h"

#define STEPS_OF_ONE (INTERPOLATION_STEPS / 8)  /* that the search for one error may take */
#define STEPS_OF_FEW (INTERPOLATION_STEPS / 64) /* where the next one asks for less */
#define BEYOND_SUMS ((wide)1 << 62)
#define REACH_STEPS 24 /* that looking from one value takes as long as, beside its bands */
#define PIECE_STEPS 8  /* that beginning a piece takes as long as */
#define RUN_STEPS 4    /* that keeping a run takes as long as */

/* The values that are possible at all points, as runs of integers in order. */
struct reach {
    struct interpolation *table;
    struct sum_bands bands;
    struct integers *run;
    size_t *first; /* of the runs of each point, and one more */
    size_t count, room;
    size_t point;             /* the first run of the point that runs are added to */
    size_t many;              /* runs at which they are merged */
    int64_t from_step, steps; /* where the search began, and how many it may take */
    bool short_of_memory, spent;
};

static bool is_empty(struct integers values)
{
    return values.low > values.high;
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

static void add_run(struct reach *reach, struct integers run)
{
    if (is_empty(run) || reach->short_of_memory)
        return;
    reach->table->steps += RUN_STEPS;
    if (reach->count == reach->many) {
        merge_runs(reach, reach->point);
        reach->many = 2 * reach->count + 1024;
    }
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

/* Pairs that are looked at together: of some slopes, all of one slant where addends differ by it, and within two limits
 * that fall. */
struct piece {
    struct integers slopes;
    enum slant slant;
    struct pair_limit limit[2];
};

/* The values that one value reaches, by the limits that fall as it grows, and by those that rise. */
struct reached {
    struct integers values, falling, rising;
};

static struct reached reach_from(struct reach *reach, int i, int64_t a, const struct piece *piece)
{
    const struct pair_limits *limits = &reach->table->limits[piece->slant][i];
    const struct integers slopes = {a + piece->slopes.low, a + piece->slopes.high};
    struct integers falling = sum_bands_beside(&reach->bands, piece->slant, i, a, true, &reach->table->steps);
    reach->table->steps += REACH_STEPS;
    for (int side = 0; side < 2; side++)
        falling = pair_within(&piece->limit[side], a, true, falling);
    if (!limits->by_slope_alone)
        falling = pair_provable_beside(limits, LIMITS_FALLING, a, true, falling);
    const struct integers rising =
        limits->by_slope_alone ? slopes : pair_provable_beside(limits, LIMITS_RISING, a, true, slopes);
    const struct integers values = {larger_integer(falling.low, rising.low),
                                    smaller_integer(falling.high, rising.high)};
    return (struct reached){values, falling, rising};
}

static bool is_low_by_rising(const struct reached *from)
{
    return from->rising.low > from->falling.low;
}

static bool is_high_by_rising(const struct reached *from)
{
    return from->rising.high < from->falling.high;
}

/* By how much the least value is too large: at most, if real numbers count, and then two more at most than it is. */
static double gap_of(const struct reached *from)
{
    return (double)from->values.low - (double)from->values.high;
}

/* Whether nothing is reached from the values up to `length` away from one, as the gap is convex: it falls there by no
 * more than it rises on the other side, as far as to one that is `away`. */
static bool nothing_is_reached(const struct reached *here, int64_t length, const struct reached *behind, int64_t away)
{
    const double gap = gap_of(here) - 2, rise = (gap_of(behind) - gap) / (double)away;
    return gap > 0 && gap < 0x1p60 && gap - rise * (double)length > 0; /* beyond, it is that of no limit */
}

/* The least value that a run reaches, each of its values reaching some: at the first that is bound by what rises, or
 * the last that is not. */
static int64_t least_reached(struct reach *reach, int i, struct integers run, const struct piece *piece,
                             const struct reached *from_high)
{
    int64_t bad = run.low - 1, good = run.high, least = from_high->values.low;
    while (is_low_by_rising(from_high) && good - bad > 1) {
        const int64_t middle = bad + (good - bad) / 2;
        const struct reached from = reach_from(reach, i, middle, piece);
        least = smaller_integer(least, from.values.low);
        *(is_low_by_rising(&from) ? &good : &bad) = middle;
    }
    return least;
}

static int64_t greatest_reached(struct reach *reach, int i, struct integers run, const struct piece *piece,
                                const struct reached *from_low)
{
    int64_t good = run.low, bad = run.high + 1, greatest = from_low->values.high;
    while (is_high_by_rising(from_low) && bad - good > 1) {
        const int64_t middle = good + (bad - good) / 2;
        const struct reached from = reach_from(reach, i, middle, piece);
        greatest = larger_integer(greatest, from.values.high);
        *(is_high_by_rising(&from) ? &good : &bad) = middle;
    }
    return greatest;
}

static bool is_spent(struct reach *reach)
{
    reach->spent |= reach->short_of_memory || interpolation_spent(reach->table, reach->from_step, reach->steps);
    return reach->spent;
}

/* Adds what the values between two of a run reach. */
static void add_between(struct reach *reach, int i, struct integers run, const struct piece *piece,
                        const struct reached *from_low, const struct reached *from_high)
{
    if (run.high - run.low < 2 || is_spent(reach))
        return;
    const bool share_one = larger_integer(from_low->values.low, from_high->values.low) <=
                           smaller_integer(from_low->values.high, from_high->values.high);
    /* By the slopes alone, so that what lies between reaches as many, each one farther on. */
    const bool by_slope = reach->table->limits[piece->slant][i].by_slope_alone && is_low_by_rising(from_low) &&
                          is_high_by_rising(from_high) && !is_empty(from_low->values) && !is_empty(from_high->values);
    if (share_one || by_slope) {
        add_run(reach, (struct integers){least_reached(reach, i, run, piece, from_high),
                                         greatest_reached(reach, i, run, piece, from_low)});
        return;
    }
    const int64_t middle = run.low + (run.high - run.low) / 2;
    const struct reached from_middle = reach_from(reach, i, middle, piece);
    add_run(reach, from_middle.values);
    const int64_t left = middle - run.low, right = run.high - middle;
    if (!nothing_is_reached(&from_middle, left, from_high, right))
        add_between(reach, i, (struct integers){run.low, middle}, piece, from_low, &from_middle);
    if (!nothing_is_reached(&from_middle, right, from_low, left))
        add_between(reach, i, (struct integers){middle, run.high}, piece, &from_middle, from_high);
}

/* Adds what a run reaches by the pairs of a piece. */
static void add_piece(struct reach *reach, int i, struct integers run, struct piece piece)
{
    piece.slopes = integers_within(reach->table->rules->slopes, piece.slopes.low, piece.slopes.high);
    if (reach->table->by_slant)
        run = pair_end_within(&reach->table->limits[piece.slant][i], true, run);
    for (int side = 0; side < 2; side++)
        if (piece.limit[side].q == 0)
            run = pair_within(&piece.limit[side], 0, false, run);
    if (is_empty(piece.slopes) || is_empty(run) || is_spent(reach))
        return;
    const struct reached from_low = reach_from(reach, i, run.low, &piece),
                         from_high = reach_from(reach, i, run.high, &piece);
    add_run(reach, from_low.values);
    if (run.low < run.high)
        add_run(reach, from_high.values);
    add_between(reach, i, run, &piece, &from_low, &from_high);
}

/* Where f goes one way, of the codes of an interval behind the first and the one behind them. */
struct way {
    int64_t first, last; /* no code: last is 0 */
    bool has_gaps;
};

static struct way way_of(const struct interpolation *table, int i, int sign)
{
    const signed char *direction = &table->directions[i * table->width];
    const int64_t last = i + 1 < table->intervals ? table->width : table->width - 1;
    struct way way = {0, 0, false};
    for (int64_t f = 1; f <= last; f++)
        if (direction[f] * sign > 0) {
            way.has_gaps |= way.last > 0 && way.last < f - 1;
            way.first = way.last > 0 ? way.first : f;
            way.last = f;
        }
    return way;
}

/* Adds one by one what the pairs of a piece reach that keep to the directions. */
static void add_single_pairs(struct reach *reach, int i, struct integers run, struct piece piece)
{
    piece.slopes = integers_within(reach->table->rules->slopes, piece.slopes.low, piece.slopes.high);
    for (int64_t a = run.low; a <= run.high && !is_spent(reach); a++) {
        const struct integers values = reach_from(reach, i, a, &piece).values;
        for (int64_t b = values.low; b <= values.high && !is_spent(reach); b++)
            if (interpolation_allows(reach->table, i, a, b))
                add_run(reach, (struct integers){b, b});
    }
}

#define STEEPEST ((int64_t)1 << 40) /* as none is */

static struct integers slopes_of(int sign)
{
    return sign < 0 ? (struct integers){-STEEPEST, -1} : (struct integers){1, STEEPEST};
}

static enum slant slant_of_sign(int sign)
{
    return sign < 0 ? FALLING : NOT_FALLING;
}

/* Adds what a run reaches by lines of a sign that stay at output y from the code before the first of a way of f to the
 * last. */
static void add_at_output(struct reach *reach, int i, struct integers run, struct way way, int sign, int64_t y)
{
    const struct interpolation *table = reach->table;
    const struct line_rules *rules = table->rules;
    const int64_t width = table->width, high = sign < 0 ? way.first - 1 : way.last,
                  low = sign < 0 ? way.last : way.first - 1;
    const enum slant of = slant_of_sign(sign);
    const wide least = y == rules->qmin_y ? -BEYOND_SUMS : sum_of_output(table, of, y),
               most = y == rules->qmax_y ? BEYOND_SUMS : sum_of_output(table, of, y + 1) - 1;
    reach->table->steps += PIECE_STEPS;
    add_piece(reach, i, run,
              (struct piece){slopes_of(sign),
                             of,
                             {{width - low, low, least, BEYOND_SUMS}, {width - high, high, -BEYOND_SUMS, most}}});
}

/*
 * Adds what a run reaches by lines that fall, where f rises: sign = -1; or the other way round. From the code before
 * the first of the way of f to the last such a line must stay at one output y, and each y makes a piece:
 *
 *     a .
 *        '.____________                 sum at the last code          >= the least one of y, if y is not qmin_y
 *          y           '. b             sum before the first code     <= the greatest one of y, if y is not qmax_y
 *          first-1 .. last
 *
 * Where codes lie between at which f stays, the line may step there: such pairs are tried one by one.
 */
static void add_against(struct reach *reach, int i, struct integers run, struct way way, int sign)
{
    const struct interpolation *table = reach->table;
    const struct line_rules *rules = table->rules;
    const int64_t width = table->width;
    if (way.has_gaps) {
        add_single_pairs(reach, i, run, (struct piece){slopes_of(sign), slant_of_sign(sign), {{0}}});
        return;
    }
    const struct integers outputs = sum_bands_shared(&reach->bands, slant_of_sign(sign), i, way.first - 1, way.last);
    /* At a limit a line may be as steep as any; at another output it is flat, and so the output is near its values. */
    const struct integers near = sign < 0 ? integers_within(outputs, run.low - width - 2, run.high + 1)
                                          : integers_within(outputs, run.low - 1, run.high + width + 2);
    for (int64_t y = near.low; y <= near.high && !is_spent(reach); y++)
        add_at_output(reach, i, run, way, sign, y);
    for (int side = 0; side < 2; side++) {
        const int64_t limit = side ? rules->qmax_y : rules->qmin_y;
        if (is_within(outputs, limit) && !is_within(near, limit))
            add_at_output(reach, i, run, way, sign, limit);
    }
}

static void add_reach(struct reach *reach, int i, struct integers run)
{
    const struct interpolation *table = reach->table;
    struct integers slopes = table->rules->slopes;
    if (table->directions) {
        const struct way up = way_of(table, i, 1), down = way_of(table, i, -1);
        if (up.last > 0) {
            slopes.low = 0;
            add_against(reach, i, run, up, -1);
        }
        if (down.last > 0) {
            slopes.high = 0;
            add_against(reach, i, run, down, 1);
        }
    }
    if (!table->by_slant) {
        add_piece(reach, i, run, (struct piece){slopes, NOT_FALLING, {{0}}});
        return;
    }
    add_piece(reach, i, run, (struct piece){integers_within(slopes, 0, STEEPEST), NOT_FALLING, {{0}}});
    add_piece(reach, i, run, (struct piece){integers_within(slopes, -STEEPEST, -1), FALLING, {{0}}});
}

/* The values at the left end of interval i that its codes allow beside the one at its right end, by lines of a slant.
 */
static struct integers values_before(struct reach *reach, enum slant slant, int i)
{
    struct interpolation *table = reach->table;
    const int64_t b = table->value[i + 1];
    const struct integers values =
        pair_provable_beside(&table->limits[slant][i], LIMITS_ALL, b, false,
                             sum_bands_beside(&reach->bands, slant, i, b, false, &table->steps));
    if (!table->by_slant)
        return values;
    return slant == FALLING ? integers_within(values, b + 1, INT64_MAX) : integers_within(values, INT64_MIN, b);
}

/* Takes of a point's runs the value nearest to f, as far as it is nearer than some are, that interval i is allowed
 * with; of lines of a slant. False where too many steps are taken. */
static bool step_back_by(struct reach *reach, enum slant slant, int i, int64_t *nearest)
{
    struct interpolation *table = reach->table;
    const int64_t b = table->value[i + 1], wanted = interpolation_wanted(table, i);
    const struct integers values = values_before(reach, slant, i);
    for (size_t r = reach->first[i]; r < reach->first[i + 1]; r++) {
        const struct integers run = integers_within(values, reach->run[r].low, reach->run[r].high);
        const int64_t from = larger_integer(run.low, smaller_integer(wanted, run.high));
        const int64_t most = is_empty(run) ? -1 : larger_integer(run.high - from, from - run.low);
        for (int64_t away = 0; away <= most && llabs(from - wanted) < *nearest; away++)
            for (int side = -1; side <= 1; side += 2) {
                const int64_t a = from + side * away;
                if (table->steps - reach->from_step > 2 * reach->steps)
                    return false;
                if (a < run.low || a > run.high || llabs(a - wanted) >= *nearest ||
                    !interpolation_allows(table, i, a, b))
                    continue;
                table->value[i] = a;
                *nearest = llabs(a - wanted);
                away = most;
            }
    }
    return true;
}

static bool step_back(struct reach *reach, int i)
{
    int64_t nearest = INT64_MAX;
    bool goes_on = true;
    for (int slant = 0; slant < reach->bands.slants && goes_on; slant++)
        goes_on = step_back_by(reach, (enum slant)slant, i, &nearest);
    return goes_on && nearest < INT64_MAX;
}

/* Takes the last point's value that is nearest to f. */
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
    add_run(reach, reach->bands.own[0]);
    for (int i = 0; i < n; i++) {
        reach->point = reach->first[i + 1] = reach->count;
        reach->many = reach->count + 1024;
        if (reach->first[i] == reach->count)
            return false;
        for (size_t r = reach->first[i]; r < reach->first[i + 1] && !is_spent(reach); r++)
            add_reach(reach, i, reach->run[r]);
        merge_runs(reach, reach->point);
        if (reach->short_of_memory)
            return false;
    }
    if (reach->count == reach->first[n])
        return false;
    take_last(reach);
    for (int i = n - 1; i >= 0; i--)
        if (!step_back(reach, i)) {
            reach->spent = true;
            return false;
        }
    return true;
}

static int find_steps(struct interpolation *table, double max_err, int64_t steps, bool *found, bool *decided,
                      struct diag *diag)
{
    const size_t values = (size_t)table->intervals + 1;
    struct reach reach = {.table = table, .from_step = table->steps, .steps = steps};
    *found = *decided = false;
    diag->code = EXIT_DONE;
    reach.first = calloc(values + 1, sizeof *reach.first);
    if (reach.first && !sum_bands_init(&reach.bands, table, diag)) {
        sum_bands_set(&reach.bands, max_err);
        *found = find_within(&reach);
        *decided = *found || !reach.spent;
    }
    if (!reach.first || reach.short_of_memory)
        diag_set(diag, EXIT_IO, "out of memory for the values of %zu points", values);
    sum_bands_free(&reach.bands);
    free(reach.first);
    free(reach.run);
    return diag->code;
}

int interpolation_within(struct interpolation *table, double max_err, bool *found, bool *decided, struct diag *diag)
{
    return find_steps(table, max_err, STEPS_OF_ONE, found, decided, diag);
}

int interpolation_any(struct interpolation *table, struct diag *diag)
{
    const double any_error = (double)(table->rules->qmax_y - table->rules->qmin_y + 1);
    bool found = interpolation_nearest(table), decided = false;
    diag->code = EXIT_DONE;
    for (double error = 0.5; !found && error < 2 * any_error; error *= 2)
        if (find_steps(table, error, error < any_error ? STEPS_OF_FEW : STEPS_OF_ONE, &found, &decided, diag))
            return diag->code;
    if (found || (!decided && interpolation_level(table)))
        return EXIT_DONE;
    return diag_set(diag, EXIT_REQUIREMENT, "--knots points:%d: no values at the points %s; more segments are needed",
                    table->shift, decided ? "keep to what is asked for" : "that keep to what is asked for were found");
}

int interpolation_least_error(struct interpolation *table, double *max_err, double *lower_bound, struct diag *diag)
{
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
    while (*max_err - missed > fmax(MINIMAX_RESOLUTION, *max_err * 1e-12) &&
           !interpolation_spent(table, table->steps, 1)) {
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
