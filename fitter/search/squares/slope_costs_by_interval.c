/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/rounding.h"
#include "slope_costs.h"

#include <math.h>
#include <stdlib.h>

/*
 * Lines of one slope and start that give the same codes so far, but for the constant. Their codes before saturation
 * are v + c, where c is a multiple of `unit`. Biased, n > 0: bias + addend = c * 2^n + phase, low <= phase < high.
 */
struct offset_interval {
    int64_t low, high;
    int64_t least, most;         /* offsets within the rules at every code so far */
    bool tied;                   /* its only phase met a tie: followed by its constants alone */
    int64_t free_low, free_high; /* constants that give fixed points their codes without saturation */
    double w, d, dd;             /* sums of mass * (target - v - reference)^(0, 1, 2) */
    int64_t reference, before;   /* before: v at the code before */
    double paid;                 /* cost of being at the near limit at all codes so far */
    struct single_offset past;   /* the best line that has run into the far limit */
    int first, count;            /* its lines in slopes->work.singles */
};

/* The code of constant c at point k before saturation. */
static int64_t raw_at(const struct slope_scan *slopes, const struct offset_interval *interval, int k, int64_t v,
                      int64_t c)
{
    if (!interval->tied)
        return v + c;
    const int64_t bias = c * pwl_shl64(1, slopes->trial.n) + interval->low - slopes->trial.addend;
    return pwl_shr64(product_at(slopes, k) + bias, slopes->trial.n, (int)slopes->rules->rounding);
}

/* Cost of code y at point k; INFINITY where the point is fixed to another. */
static double cost_at(const struct slope_scan *slopes, int k, int64_t y)
{
    const struct points *points = slopes->points;
    if (points->fixed && points->fixed[k] != POINT_FREE && points->fixed[k] != y)
        return INFINITY;
    return points_cost(points, k, (double)y);
}

/* Constants that some offset within [least, most] has. */
static void constant_limits(const struct slope_scan *slopes, const struct offset_interval *interval, int64_t *low,
                            int64_t *high)
{
    if (slopes->trial.is_safe) {
        *low = -(INT64_C(1) << 50);
        *high = INT64_C(1) << 50;
    } else if (phased(slopes)) {
        *low = -floor_shr(-(interval->least + slopes->trial.addend - (interval->high - 1)), slopes->trial.n);
        *high = floor_shr(interval->most + slopes->trial.addend - interval->low, slopes->trial.n);
    } else {
        *low = interval->least * slopes->trial.unit;
        *high = interval->most * slopes->trial.unit;
    }
}

static int64_t offset_of(const struct slope_scan *slopes, const struct offset_interval *interval, int64_t c)
{
    if (!phased(slopes))
        return c / slopes->trial.unit;
    const int64_t offset = c * pwl_shl64(1, slopes->trial.n) + interval->low - slopes->trial.addend;
    return offset < interval->least ? interval->least : offset;
}

static void record(struct slope_scan *slopes, const struct offset_interval *interval, int end, int64_t c, double cost)
{
    if (cost < slopes->from.range[end].cost)
        keep_line(slopes, end, offset_of(slopes, interval, c), cost);
}

/* Whether some offset keeps every step within its type at X; narrows the offsets to those. */
static bool provable_at(const struct slope_scan *slopes, struct offset_interval *interval, int64_t x)
{
    if (slopes->trial.is_safe)
        return true;
    const struct integers before = {interval->least, interval->most},
                          provable = line_offsets_at(slopes->rules, slopes->trial.q_b, slopes->trial.n, x, before);
    interval->least = provable.low;
    interval->most = provable.high;
    return interval->least <= interval->most;
}

static void push(struct slope_scan *slopes, struct offset_interval *interval, int64_t c, double cost)
{
    enum { MOST = 1 << 16 };
    if (interval->count == MOST) { /* outputs of many bits, of which few errors are small */
        slopes->work.complete = false;
        return;
    }
    if (interval->first + interval->count == slopes->work.room) {
        const int room = 2 * slopes->work.room + 256;
        struct single_offset *singles = realloc(slopes->work.singles, (size_t)room * sizeof *singles);
        if (!singles) {
            slopes->work.out_of_memory = true;
            return;
        }
        slopes->work.singles = singles;
        slopes->work.room = room;
    }
    slopes->work.singles[interval->first + interval->count++] = (struct single_offset){c, cost};
}

/* Cost so far of an unsaturated constant. */
static double cost_of(const struct offset_interval *interval, int64_t c)
{
    const double m = (double)(c - interval->reference), cost = interval->dd - 2 * m * interval->d + m * m * interval->w;
    return cost > 0 ? cost : 0;
}

/* Narrows [low, high] to the constants whose unsaturated cost so far is within a limit. */
static void constants_within(const struct offset_interval *interval, double limit, int64_t *low, int64_t *high)
{
    const double mean = interval->d / interval->w, least = fmax(0, interval->dd - mean * interval->d);
    const double reach = sqrt(fmax(0, limit - least) / interval->w) + CODE_SLACK;
    /* Beyond 2^62 the ends say nothing. */
    const double first = ceil(mean - reach), last = floor(mean + reach);
    if (first > -0x1p62 && interval->reference + (int64_t)first > *low)
        *low = interval->reference + (int64_t)first;
    if (last < 0x1p62 && interval->reference + (int64_t)last < *high)
        *high = interval->reference + (int64_t)last;
}

/* Narrows [low, high] to the constants that are near the target of point k. */
static void constants_near(const struct slope_scan *slopes, int k, int64_t v, double limit, int64_t *low, int64_t *high)
{
    const double reach = sqrt(fmax(0, limit) / slopes->points->mass[k]) + CODE_SLACK, t = slopes->points->target[k];
    double y_low = fmax(ceil(t - reach), (double)slopes->rules->qmin_y),
           y_high = fmin(floor(t + reach), (double)slopes->rules->qmax_y);
    if (slopes->points->served && points_cost(slopes->points, k, (double)slopes->rules->qmin_y) < limit)
        y_low = (double)slopes->rules->qmin_y;
    if (slopes->points->served && points_cost(slopes->points, k, (double)slopes->rules->qmax_y) < limit)
        y_high = (double)slopes->rules->qmax_y;
    /* In steps of a unit a line may miss a limit and lie beyond it. */
    const int64_t beyond = slopes->trial.unit - 1;
    const int64_t least = (int64_t)y_low - v - (y_low == (double)slopes->rules->qmin_y ? beyond : 0),
                  most = (int64_t)y_high - v + (y_high == (double)slopes->rules->qmax_y ? beyond : 0);
    *low = least > *low ? least : *low;
    *high = most < *high ? most : *high;
}

/* Lines that were at the near limit at all codes since the start, and leave it at k. */
static void leave_limit(struct slope_scan *slopes, struct offset_interval *interval, int k, int64_t v, double limit)
{
    const struct window *window = &slopes->from.leaving[slopes->trial.rise < 0 ? DOWN : UP][k];
    if ((k == slopes->from.start) != slopes->from.leaves || k > slopes->trial.leave || slopes->trial.rise == 0 ||
        !(interval->paid < limit) ||
        (!slopes->from.leaves && !(window->low <= slopes->trial.slope && slopes->trial.slope <= window->high)))
        return;
    /* A tie may move a line by one. */
    const int64_t slack = interval->tied;
    int64_t low = slopes->trial.near_first - (slopes->trial.rise > 0 ? v : interval->before) - slack,
            high = slopes->trial.near_first - (slopes->trial.rise > 0 ? interval->before : v) + slack;
    if (low > high)
        return;
    constants_near(slopes, k, v, limit - interval->paid, &low, &high);
    for (int64_t c = low - slack; c <= high + slack && take_step(slopes); c++) {
        const int64_t was = raw_at(slopes, interval, k - 1, interval->before, c),
                      is = raw_at(slopes, interval, k, v, c);
        if (c % slopes->trial.unit == 0 &&
            (slopes->trial.rise > 0 ? was < slopes->trial.near_first && is >= slopes->trial.near_first
                                    : was > slopes->trial.near_first && is <= slopes->trial.near_first))
            push(slopes, interval, c, interval->paid);
    }
}

/* Flat lines at or beyond the limits, where the cost is no parabola: of a half, and in steps of a unit that may miss a
 * limit. Lines that are beyond the far limit at their start are none better. */
static void stay_at_limits(struct slope_scan *slopes, struct offset_interval *interval, int64_t v)
{
    const int64_t unit = slopes->trial.unit, low = slopes->rules->qmin_y - v, high = slopes->rules->qmax_y - v;
    push(slopes, interval, low - ((low % unit) + unit) % unit, 0);
    push(slopes, interval, high + (unit - ((high % unit) + unit) % unit) % unit, 0);
}

static bool beyond(const struct slope_scan *slopes, int64_t raw)
{
    return slopes->trial.rise > 0 ? raw > slopes->trial.far_last
                                  : slopes->trial.rise < 0 && raw < slopes->trial.far_last;
}

/* Where lines may leave their types the best may be the next to do so: then all are followed. */
static void keep_past(struct slope_scan *slopes, struct offset_interval *interval, int64_t c, double cost)
{
    if (!slopes->trial.is_safe)
        push(slopes, interval, c, cost);
    else if (cost < interval->past.cost)
        interval->past = (struct single_offset){c, cost};
}

/* Lines that met no limit before and are beyond the one ahead at k. */
static void reach_limit(struct slope_scan *slopes, struct offset_interval *interval, int k, int64_t v, double limit)
{
    if (interval->tied || slopes->from.leaves || k == slopes->from.start || v == interval->before)
        return;
    const double pays = cost_at(slopes, k, slopes->trial.far_y);
    if (!(pays < limit))
        return;
    int64_t low = slopes->trial.far_last - (slopes->trial.rise > 0 ? v : interval->before) + (slopes->trial.rise > 0),
            high = slopes->trial.far_last - (slopes->trial.rise > 0 ? interval->before : v) - (slopes->trial.rise < 0);
    constants_within(interval, limit - pays, &low, &high);
    low = low > interval->free_low ? low : interval->free_low;
    high = high < interval->free_high ? high : interval->free_high;
    for (int64_t c = low; c <= high && take_step(slopes); c++)
        if (c % slopes->trial.unit == 0)
            keep_past(slopes, interval, c, cost_of(interval, c));
}

/* The lines that are followed by their constants; the best of them is recorded. */
static double cost_single_offsets(struct slope_scan *slopes, struct offset_interval *interval, int k, int64_t v,
                                  double limit, int64_t c_low, int64_t c_high)
{
    struct single_offset best = {0, INFINITY};
    int kept = 0;
    for (int s = 0; s < interval->count; s++) {
        struct single_offset single = slopes->work.singles[interval->first + s];
        const int64_t raw = raw_at(slopes, interval, k, v, single.c);
        if (single.c < c_low || single.c > c_high) {
            slopes->found.touched = true;
            continue;
        }
        if (slopes->trial.is_safe && beyond(slopes, raw)) {
            keep_past(slopes, interval, single.c, single.cost);
            continue;
        }
        single.cost += cost_at(slopes, k, saturated(slopes, raw));
        if (single.cost < limit)
            slopes->work.singles[interval->first + kept++] = single;
        best = single.cost < best.cost ? single : best;
    }
    interval->count = kept;
    record(slopes, interval, k + 1, best.c, best.cost);
    return best.cost;
}

/* The best unsaturated constant of the codes up to k; false when none is allowed. */
static bool best_constant(struct slope_scan *slopes, const struct offset_interval *interval, int64_t low, int64_t high,
                          int64_t *c)
{
    const double unit = (double)slopes->trial.unit, mean = (double)interval->reference + interval->d / interval->w;
    if (fabs(mean) >= 0x1p50)
        return false;
    const double best = unit == 1 ? nearest(mean) : unit * rint(mean / unit);
    low = low > interval->free_low ? low : interval->free_low;
    high = high < interval->free_high ? high : interval->free_high;
    if (low > high || (low == high && low % slopes->trial.unit != 0))
        return false;
    *c = best <= (double)low ? low : best >= (double)high ? high : (int64_t)best;
    slopes->found.touched |= *c != (int64_t)best;
    return true;
}

/* Takes in point k. Returns whether some line can still be part of a better table. */
static bool interval_add(struct slope_scan *slopes, struct offset_interval *interval, int k, int64_t v)
{
    const struct points *points = slopes->points;
    const double limit = slopes->trial.ceiling[k + 1], w = points->mass[k], t = points->target[k];
    int64_t low, high, c;
    double least;

    if ((points->served || slopes->trial.unit > 1) && slopes->trial.rise == 0 && k == slopes->from.start)
        stay_at_limits(slopes, interval, v);
    leave_limit(slopes, interval, k, v, limit);
    reach_limit(slopes, interval, k, v, limit);
    constant_limits(slopes, interval, &low, &high);
    least = cost_single_offsets(slopes, interval, k, v, limit, low, high);
    if (interval->past.cost < INFINITY)
        interval->past.cost += cost_at(slopes, k, slopes->trial.far_y);
    if (!interval->tied && !slopes->from.leaves) {
        if (k == slopes->from.start)
            interval->reference = (int64_t)rint(t) - v;
        const double d = t - (double)(v + interval->reference);
        interval->w += w;
        interval->d += w * d;
        interval->dd += w * d * d + points_apart(points, k);
        if (points->fixed && points->fixed[k] != POINT_FREE) {
            const int64_t only = points->fixed[k] - v;
            interval->free_low = only > interval->free_low ? only : interval->free_low;
            interval->free_high = only < interval->free_high ? only : interval->free_high;
        }
        if (best_constant(slopes, interval, low, high, &c)) {
            const double cost = cost_of(interval, c);
            least = cost < least ? cost : least;
            record(slopes, interval, k + 1, c, cost);
        }
    }
    if (interval->past.cost < least)
        least = interval->past.cost;
    record(slopes, interval, k + 1, interval->past.c, interval->past.cost);
    interval->before = v;
    if (interval->paid < limit)
        interval->paid += cost_at(slopes, k, slopes->trial.near_y);
    if (slopes->trial.rise != 0 && k < slopes->trial.leave && interval->paid < least)
        least = interval->paid;
    return least < limit;
}

static void grow(struct slope_scan *slopes, struct offset_interval *interval, int k);

/* A part of a interval's phases, followed from k on. */
static void grow_part(struct slope_scan *slopes, const struct offset_interval *interval, int64_t low, int64_t high,
                      bool tied, int k)
{
    if (low >= high || slopes->work.out_of_memory)
        return;
    struct offset_interval part = *interval;
    part.low = low;
    part.high = high;
    part.first = interval->first + interval->count;
    part.count = 0;
    for (int s = 0; s < interval->count; s++)
        push(slopes, &part, slopes->work.singles[interval->first + s].c,
             slopes->work.singles[interval->first + s].cost);
    if (tied && !interval->tied && !slopes->from.leaves) {
        /* From here on each constant for itself, those too that a tie may move into the range. */
        int64_t c_low, c_high, v = floor_shr(product_at(slopes, k) + low, slopes->trial.n);
        constant_limits(slopes, &part, &c_low, &c_high);
        if (k > slopes->from.start) {
            constants_within(interval, slopes->trial.ceiling[k + 1], &c_low, &c_high);
            c_low = c_low > interval->free_low ? c_low : interval->free_low;
            c_high = c_high < interval->free_high ? c_high : interval->free_high;
        } else {
            v -= 1;
            constants_near(slopes, k, v, slopes->trial.ceiling[k + 1], &c_low, &c_high);
            c_low -= 1;
        }
        for (int64_t c = c_low; c <= c_high && take_step(slopes); c++)
            push(slopes, &part, c, k > slopes->from.start ? cost_of(interval, c) : 0);
    }
    part.tied |= tied;
    grow(slopes, &part, k);
}

/* Follows a interval from point k to the end, or until none of its lines can be part of a better table. */
static void grow(struct slope_scan *slopes, struct offset_interval *interval, int k)
{
    const bool ties = phased(slopes) && slopes->rules->rounding >= PWL_HALF_AWAY;
    const int64_t period = phased(slopes) ? pwl_shl64(1, slopes->trial.n) : 1; /* codes from tie to tie of an odd q_b */
    for (; k < slopes->trial.end && !slopes->work.out_of_memory; k++) {
        const int64_t x = (int64_t)slopes->points->code[k] - slopes->from.origin;
        if (!take_step(slopes))
            return;
        if (!provable_at(slopes, interval, x)) {
            slopes->found.touched = true;
            return;
        }
        const int64_t p = slopes->trial.q_b * x;
        int64_t v;
        if (phased(slopes)) {
            const int64_t one = pwl_shl64(1, slopes->trial.n);
            v = floor_shr(p, slopes->trial.n);
            const int64_t split = one - (p - v * one); /* phases from here on give v + 1 */
            const int64_t tie = split & (one - 1);
            if (ties && slopes->trial.ties == TIES_AGAIN && !interval->tied && k - slopes->from.start >= period)
                return;
            if (ties && !interval->tied && interval->low <= tie && tie < interval->high) {
                grow_part(slopes, interval, interval->low, tie, false, k);
                if (slopes->trial.ties == TIES_ALL ||
                    (slopes->trial.ties == TIES_AGAIN && slopes->trial.end - k > period))
                    grow_part(slopes, interval, tie, tie + 1, true, k);
                interval->low = tie + 1;
            } else if (interval->low < split && split < interval->high) {
                grow_part(slopes, interval, interval->low, split, false, k);
                interval->low = split;
            }
            if (interval->low >= interval->high)
                return;
            v += interval->low >= split;
        } else {
            v = slopes->trial.n >= 0 ? pwl_shr64(p, slopes->trial.n, (int)slopes->rules->rounding)
                                     : p * pwl_shl64(1, -slopes->trial.n);
        }
        note_point(slopes, k);
        if (k < slopes->from.start)
            interval->before = v;
        else if (!interval_add(slopes, interval, k, v))
            return;
    }
}

void slope_costs_by_interval(struct slope_scan *slopes)
{
    struct offset_interval interval = {
        .high = phased(slopes) ? pwl_shl64(1, slopes->trial.n) : 1,
        .least = slopes->rules->offsets.low,
        .most = slopes->rules->offsets.high,
        .free_low = INT64_MIN / 2,
        .free_high = INT64_MAX / 2,
        .paid = slopes->from.apart && slopes->trial.is_safe && !slopes->from.leaves ? INFINITY : 0,
        .past = {0, INFINITY}};
    grow(slopes, &interval, slopes->from.leaves ? slopes->from.start - 1 : slopes->from.start);
}
