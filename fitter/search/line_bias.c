/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best bias of a slope. In the biased form the offset is added before the shift, so that each bias rounds the
 * points in another way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/fixed.h>

#include "line_trial.h"
#include "rounding.h"

struct bias_range {
    double low, high;
};

/* The provable line of a bias, kept if it is better. */
static void try_bias(struct trial *trial, int64_t q_b, int n, double bias)
{
    struct line line = {.q_b = q_b, .n = n};
    if (fabs(bias) >= 0x1p62)
        return;
    line.offset = (int64_t)bias;
    if (!line_provable(trial->rules, &line, trial->first, trial->last)) {
        trial->refused = true;
        return;
    }
    keep_if_better(trial, q_b, n, line.offset,
                   line_cost_below(trial->rules, trial->points, trial->begin, trial->begin + trial->count, &line,
                                   trial->bands, to_beat(trial)));
}

/*
 * What a slope costs with each bias of some turns, or of each `1 << coarse` of them with the last. In a turn of 2^n
 * biases each output steps up once, where the sum passes its rest, and from turn to turn at a cost that grows by twice
 * its mass: one pass over the points does for all turns, but for the few that saturate in some of them and step in
 * others. Ties count as rounded up.
 */
enum { MOST_BITS = 12, TURNS = 2 };

struct turns {
    const struct trial *trial;
    int64_t q_b, one, first; /* one: 2^n; first: of turn 0, with what rounding adds */
    int n, coarse, bins;
    int from, inner_from, inner_to, to; /* points that may step; in all turns */
    double cost;                        /* at the beginning of turn 0 */
    double most;                        /* that any step costs or saves */
    struct {
        double cost, growth;
    } step[(1 << MOST_BITS) + 1];
};

static int64_t sum_at(const struct turns *turns, int k)
{
    return turns->q_b * turns->trial->x[k] + turns->first;
}

/* Where in its turns a point steps. */
static int bin_of(const struct turns *turns, int64_t sum)
{
    return (int)((turns->one - (sum & (turns->one - 1))) >> turns->coarse);
}

/* The points before those whose outputs have come to q, of a falling line have left it, at the beginning. */
static int points_before(const struct turns *turns, int64_t q)
{
    int from = 0, to = turns->trial->count;
    while (from < to) {
        const int middle = from + (to - from) / 2;
        if ((sum_at(turns, middle) >> turns->n < q) == (turns->q_b >= 0))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void find_inner(struct turns *turns)
{
    const struct trial *trial = turns->trial;
    const int64_t low = trial->rules->qmin_y, high = trial->rules->qmax_y;
    const bool rises = turns->q_b >= 0;
    turns->from = points_before(turns, rises ? low - TURNS : high + TURNS);
    turns->inner_from = points_before(turns, rises ? low + TURNS : high - TURNS);
    turns->inner_to = points_before(turns, rises ? high - TURNS : low + TURNS);
    turns->to = points_before(turns, rises ? high + TURNS : low - TURNS);
    if (trial->points->served) { /* they saturate within the range, too */
        turns->from = 0;
        turns->inner_from = turns->inner_to = turns->to = trial->count;
    } else if (turns->inner_to < turns->inner_from) {
        turns->inner_to = turns->inner_from;
    }
}

static void add_steps(struct turns *turns)
{
    const struct trial *trial = turns->trial;
    const double *target = trial->points->target + trial->begin, *mass = trial->points->mass + trial->begin;
    double cost = 0, most = 0;
    memset(turns->step, 0, sizeof *turns->step * ((size_t)turns->bins + 1));
    for (int k = turns->inner_from; k < turns->inner_to; k++) {
        const int64_t sum = sum_at(turns, k);
        const int bin = bin_of(turns, sum);
        const double w = mass[k], e = (double)(sum >> turns->n) - target[k], step = (2 * e + 1) * w,
                     any = fabs(step) + 2 * TURNS * w;
        cost += e * e * w;
        most = any > most ? any : most;
        turns->step[bin].cost += step;
        turns->step[bin].growth += 2 * w;
    }
    for (int k = 0; k < trial->count; k++) {
        if (k == turns->inner_from)
            k = turns->inner_to;
        if (k < trial->count)
            cost +=
                points_cost(trial->points, trial->begin + k,
                            (double)pwl_sat(sum_at(turns, k) >> turns->n, trial->rules->qmin_y, trial->rules->qmax_y));
    }
    turns->cost = cost;
    turns->most = most;
}

/* Adds what the points [from, to) step by in a turn. */
static void add_outer(struct turns *turns, int turn, int from, int to, double *steps)
{
    const struct trial *trial = turns->trial;
    for (int k = from; k < to; k++) {
        const int64_t sum = sum_at(turns, k), q = (sum >> turns->n) + turn;
        if (q < trial->rules->qmin_y || q >= trial->rules->qmax_y)
            continue;
        const double step = points_cost(trial->points, trial->begin + k, (double)(q + 1)) -
                            points_cost(trial->points, trial->begin + k, (double)q);
        steps[bin_of(turns, sum)] += step;
        turns->most = fmax(turns->most, fabs(step));
    }
}

/* A bias, counted from the first one, and its cost. */
struct best {
    int64_t bias;
    double cost;
};

/* The best bias in a turn, its cost relative to that at the turn's beginning; *sum is the cost at the end, relative to
 * the same. */
static struct best best_of_turn(struct turns *turns, int turn, struct bias_range range, double *sum)
{
    double step[(1 << MOST_BITS) + 1], cost = 0;
    struct best best = {0, INFINITY};
    for (int at = 0; at <= turns->bins; at++)
        step[at] = turns->step[at].cost + turn * turns->step[at].growth;
    add_outer(turns, turn, turns->from, turns->inner_from, step);
    add_outer(turns, turn, turns->inner_to, turns->to, step);
    for (int at = 0; at < turns->bins; at++) {
        const int64_t bias = turn * turns->one + pwl_shl64(at + 1, turns->coarse) - 1;
        cost += step[at];
        if (cost < best.cost && (double)bias >= range.low && (double)bias <= range.high)
            best = (struct best){bias, cost};
    }
    *sum = cost + step[turns->bins];
    return best;
}

/* The best bias of the first turn and, as long as it lies close to the end of those looked at, of further turns below
 * and above. range: counted from the first bias. */
static struct best best_of_turns(struct turns *turns, struct bias_range range)
{
    const int64_t near = turns->one / 16;
    double sum, begin = turns->cost, end = begin;
    struct best best = {0, INFINITY};
    for (int low = 0, high = -1;;) { /* turns that were looked at */
        const bool up = high < 0 || best.bias > (high + 1) * turns->one - near;
        if (up ? high == TURNS : low == -TURNS || best.bias > low * turns->one + near)
            return best;
        struct best next = best_of_turn(turns, up ? ++high : --low, range, &sum);
        next.cost += up ? end : begin - sum;
        end += up ? sum : 0;
        begin -= up ? 0 : sum;
        if (next.cost < best.cost)
            best = next;
        if (!(best.cost < INFINITY))
            return best;
    }
}

/* At most so many points are at a tie with one bias. */
static double most_ties(const struct trial *trial, int64_t q_b, int n)
{
    while (n > 0 && q_b % 2 == 0) {
        q_b /= 2;
        n--;
    }
    return floor(ldexp((double)(trial->last - trial->first), -n)) + 1;
}

/* Tries the best of all provable biases within half an output code of `centre`, and of some beyond. */
static void sweep_biases(struct trial *trial, int64_t q_b, int n, double centre, struct bias_range range)
{
    const struct integers any = {INT64_MIN, INT64_MAX},
                          at_first = line_offsets_at(trial->rules, q_b, n, trial->x[0], any),
                          provable = line_offsets_at(trial->rules, q_b, n, trial->x[trial->count - 1], at_first);
    const int64_t one = pwl_shl64(1, n), first = (int64_t)rint(centre) - one / 2;
    const bool ties = trial->rules->rounding >= PWL_HALF_AWAY;
    struct turns turns; /* of which steps are set to 0 as far as they are needed */
    trial->refused |= first < provable.low || first + one > provable.high;
    range.low = ceil(fmax(range.low, (double)provable.low)) - (double)first;
    range.high = floor(fmin(range.high, (double)provable.high)) - (double)first;
    if (range.low > range.high)
        return;
    turns.trial = trial;
    turns.q_b = q_b;
    turns.n = n;
    turns.one = one;
    turns.first = first + (trial->rules->rounding == PWL_FLOOR ? 0 : one / 2);
    int bits = n < MOST_BITS ? n : MOST_BITS;
    while (bits > 4 && (1 << bits) > 2 * trial->count)
        bits--;
    turns.coarse = n - bits;
    turns.bins = 1 << bits;
    find_inner(&turns);
    add_steps(&turns);
    struct best best = best_of_turns(&turns, range);
    if (!(best.cost < INFINITY)) /* the range is further away: its nearer end */
        best = (struct best){0, 0};
    /* Codes are at a tie that are 2^n apart, or closer for an even slope. Rounded down they may save their steps. */
    const double spared = ties ? turns.most * most_ties(trial, q_b, n) : 0;
    if (best.cost - spared > to_beat(trial) * (1 + ROUNDING_SHARE(trial->count)))
        return;
    for (int m = -ties; m <= ties; m++)
        try_bias(trial, q_b, n, (double)first + fmin(fmax((double)(best.bias + m), range.low), range.high));
}

/* How many points come before the line of a slope through the means reaches a value, counted from the mean; of a
 * falling line, before it has left the value. */
static int points_up_to(const struct trial *trial, double slope, double value)
{
    int from = 0, to = trial->count;
    while (from < to) {
        const int middle = from + (to - from) / 2;
        const bool below = slope * ((double)trial->x[middle] - trial->x_mean) < value;
        if (below == (slope >= 0))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The constant of the real line of a slope: that of the points that are not clipped; where lines may saturate, by
 * Newton steps that of the points that do not. */
static double least_constant(const struct trial *trial, double slope)
{
    enum { STEPS = 8 };
    static const double near = 0.25;
    const double low = (double)trial->rules->qmin_y - trial->y_mean,
                 high = (double)trial->rules->qmax_y - trial->y_mean;
    double c = 0; /* about the means */
    for (int step = 0; trial->near_limits && step < STEPS; step++) {
        const struct sums *from = &trial->before[points_up_to(trial, slope, (slope >= 0 ? low : high) - c)];
        const struct sums *to = &trial->before[points_up_to(trial, slope, (slope >= 0 ? high : low) - c)];
        if (!(to->w > from->w))
            break;
        const double last = c;
        c = (to->y - from->y - slope * (to->x - from->x)) / (to->w - from->w);
        if (fabs(c - last) < near)
            break;
    }
    return trial->y_mean + c - slope * trial->x_mean;
}

void try_biases(struct trial *trial, int64_t q_b, int n)
{
    const double unit = ldexp(1, n), half = n > 0 ? unit / 2 : 0;
    struct bias_range range = {(double)trial->rules->offsets.low, (double)trial->rules->offsets.high};
    for (int k = 0; trial->bands && k < trial->count; k++) {
        const double p = (double)(q_b * trial->x[k]);
        const double shift = trial->rules->rounding == PWL_FLOOR ? 0 : half;
        const struct band *band = &trial->bands[k];
        if (!band->open_low)
            range.low = fmax(range.low, (double)band->low * unit - shift - p);
        if (!band->open_high)
            range.high = fmin(range.high, (double)(band->high + 1) * unit - shift - 1 - p);
    }
    if (range.low > range.high)
        return;
    const double c = least_constant(trial, (double)q_b / unit);
    const double centre = c * unit + (trial->rules->rounding == PWL_FLOOR ? half : 0);
    if (!trial->quick && n > 2 && fabs(centre) < 0x1p60) {
        sweep_biases(trial, q_b, n, centre, range);
        return;
    }
    const int reach = trial->quick ? 1 : 4;
    const double step = n > 2 ? unit / 8 : 1;
    for (int m = -reach; m <= reach; m++)
        try_bias(trial, q_b, n, rint(fmin(fmax(centre + m * step, range.low), range.high)));
}
