/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A slope is tried by computing the shifted products of all points once; the best constant for them then follows
 * in closed form, since the squared error is a parabola in it (saturated outputs: a descent from the parabola's
 * minimum). A real solution is thus never rounded: each slope is judged by the codes it gives.
 */
#include "line_trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/fixed.h>

static void shift_all(struct trial *trial, int n)
{
    const int64_t *p = trial->product;
    int64_t *s = trial->shifted;
    const int count = trial->count;
    switch (trial->rules->rounding) {
    case PWL_FLOOR:
        for (int k = 0; k < count; k++)
            s[k] = pwl_shr64(p[k], n, PWL_FLOOR);
        break;
    case PWL_HALF_UP:
        for (int k = 0; k < count; k++)
            s[k] = pwl_shr64(p[k], n, PWL_HALF_UP);
        break;
    case PWL_HALF_AWAY:
        for (int k = 0; k < count; k++)
            s[k] = pwl_shr64(p[k], n, PWL_HALF_AWAY);
        break;
    case PWL_HALF_EVEN:
        for (int k = 0; k < count; k++)
            s[k] = pwl_shr64(p[k], n, PWL_HALF_EVEN);
        break;
    }
}

/* Cost of shifted + c with saturation; INFINITY when a point misses its band or the cost reaches enough. *pull, if
 * asked for, receives how far the points that are not saturated would move c. For halves and others apart, so that the
 * compiler knows which. */
static inline double cost_with(const struct trial *trial, int64_t c, double enough, double *pull, const bool half)
{
    const int64_t low = trial->rules->qmin_y, high = trial->rules->qmax_y;
    const double *target = trial->points->target + trial->begin, *mass = trial->points->mass + trial->begin;
    double cost = 0, sum_w = 0, sum_e = 0;
    for (int k = 0; k < trial->count; k++) {
        const int64_t raw = trial->shifted[k] + c, q = raw < low ? low : raw > high ? high : raw;
        const double e = (double)q - target[k], w = mass[k];
        if (trial->bands && (q < trial->bands[k].low || q > trial->bands[k].high))
            return INFINITY;
        cost += half ? points_cost(trial->points, trial->begin + k, (double)q) : e * e * w;
        if (cost >= enough)
            return INFINITY;
        if (q == raw) {
            sum_w += w;
            sum_e += w * e;
        }
    }
    if (pull)
        *pull = sum_w > 0 ? -sum_e / sum_w : 0;
    return cost;
}

static double cost_saturated(const struct trial *trial, int64_t c, double enough, double *pull)
{
    return trial->points->served ? cost_with(trial, c, enough, pull, true) : cost_with(trial, c, enough, pull, false);
}

static void keep_if_better(struct trial *trial, int64_t q_b, int n, int64_t offset, double cost)
{
    const struct line line = {.q_b = q_b, .n = n, .offset = offset, .cost = cost};
    if (!(cost < to_beat(trial)))
        return;
    if (line_provable(trial->rules, &line, trial->first, trial->last))
        trial->best = line;
    else
        trial->refused = true;
}

/* Constant in [low, high] for shifted products of which some saturate: Newton steps over those that do not, then the
 * neighbours. */
static void descend(struct trial *trial, int64_t q_b, int n, int64_t c, int64_t low, int64_t high)
{
    enum { STEPS = 8, NEIGHBOURS = 3 };
    c = c < low ? low : c > high ? high : c;
    double cost = INFINITY;
    for (int step = 0; step < STEPS; step++) {
        double pull = 0;
        const double next = cost_saturated(trial, c, step ? cost : INFINITY, &pull);
        if (!(next < cost))
            break;
        cost = next;
        keep_if_better(trial, q_b, n, c, cost);
        int64_t moved = c + (int64_t)rint(pull);
        moved = moved < low ? low : moved > high ? high : moved;
        if (moved == c)
            break;
        c = moved;
    }
    if (cost > 4 * to_beat(trial)) /* neighbours cannot make up for that */
        return;
    for (int direction = -1; direction <= 1; direction += 2)
        for (int m = 1; m <= NEIGHBOURS; m++) {
            const int64_t next = c + direction * m;
            if (next < low || next > high)
                break;
            keep_if_better(trial, q_b, n, next, cost_saturated(trial, next, to_beat(trial), NULL));
        }
}

/* Absolute and anchored: the constant is added after the shift. */
static void try_constants(struct trial *trial, int64_t q_b, int n)
{
    const struct points *points = trial->points;
    const double *target = points->target + trial->begin, *weight = points->weight + trial->begin;
    const int64_t qmin = trial->rules->qmin_y, qmax = trial->rules->qmax_y;
    int64_t low = -trial->rules->offset_limit - 1, high = trial->rules->offset_limit;
    /* Extremes over the points inside the output range, clipped at its bottom, and clipped at its top. */
    int64_t least = INT64_MAX, most = INT64_MIN, most_below = INT64_MIN, least_above = INT64_MAX;
    /* Differences are taken from the first one, so that their squares keep their digits. */
    double sum_w = 0, sum_d = 0, sum_dd = 0, reference = 0;
    bool any = false;

    shift_all(trial, n);
    for (int k = 0; k < trial->count; k++) {
        const int64_t s = trial->shifted[k];
        if (weight[k] > 0) {
            least = s < least ? s : least;
            most = s > most ? s : most;
            if (!any)
                reference = rint(target[k] - (double)s);
            any = true;
            const double d = target[k] - (double)s - reference;
            sum_w += weight[k];
            sum_d += weight[k] * d;
            sum_dd += weight[k] * d * d;
            sum_dd += points_apart(points, trial->begin + k);
        } else if (target[k] <= (double)qmin) {
            most_below = s > most_below ? s : most_below;
        } else {
            least_above = s < least_above ? s : least_above;
        }
        if (trial->bands) {
            const struct band *band = &trial->bands[k];
            if (!band->open_low && band->low - s > low)
                low = band->low - s;
            if (!band->open_high && band->high - s < high)
                high = band->high - s;
            if (low > high)
                return;
        }
    }
    if (low > high) {
        trial->refused = !trial->bands;
        return;
    }
    int64_t c = (int64_t)rint(any ? reference + sum_d / sum_w : target[0] - (double)trial->shifted[0]);
    c = c < low ? low : c > high ? high : c;
    /* What a half costs at its limits is no parabola. */
    const int64_t margin = points->served ? 1 : 0;
    const bool as_clipped =
        (most_below == INT64_MIN || most_below + c <= qmin) && (least_above == INT64_MAX || least_above + c >= qmax);
    if (any && least + c >= qmin + margin && most + c <= qmax - margin && as_clipped) {
        const double m = (double)c - reference;
        keep_if_better(trial, q_b, n, c, fmax(0, sum_dd - 2 * m * sum_d + m * m * sum_w));
    } else {
        descend(trial, q_b, n, c, low, high);
    }
}

struct bias_range {
    double low, high;
};

/* The provable line of a bias, kept if it is better; returns its cost, or INFINITY where it reaches what is to beat. */
static double try_bias(struct trial *trial, int64_t q_b, int n, double bias)
{
    struct line line = {.q_b = q_b, .n = n};
    if (fabs(bias) >= 0x1p62)
        return INFINITY;
    line.offset = (int64_t)bias;
    if (!line_provable(trial->rules, &line, trial->first, trial->last)) {
        trial->refused = true;
        return INFINITY;
    }
    const double cost = line_cost_below(trial->rules, trial->points, trial->begin, trial->begin + trial->count, &line,
                                        trial->bands, to_beat(trial));
    keep_if_better(trial, q_b, n, line.offset, cost);
    return cost;
}

/* The biases that may be provable: sums, and what rounding adds to them, have room in the accumulator. */
static struct bias_range provable_biases(const struct trial *trial, int64_t q_b, int n)
{
    const double most = ldexp(1, trial->rules->accumulator_bits - 1),
                 half = n > 0 && trial->rules->rounding != PWL_FLOOR ? ldexp(1, n - 1) : 0,
                 first = (double)q_b * (double)trial->x[0], last = (double)q_b * (double)trial->x[trial->count - 1];
    return (struct bias_range){
        .low = -most + (trial->rules->rounding == PWL_HALF_AWAY ? half + 1 : 0) - fmin(first, last),
        .high = most - 1 - half - fmax(first, last),
    };
}

/*
 * The bias of the range that costs least among 2^n in a row from `bias` on, or of each `1 << coarse` of them the last:
 * as it grows by these, each output steps up once, where the sum passes its rest. What the steps cost is added up in
 * the order of the biases. Ties count as rounded up.
 */
static int64_t least_bias(const struct trial *trial, int64_t q_b, int n, int64_t bias, struct bias_range range)
{
    enum { MOST = 12 };
    const struct points *points = trial->points;
    const int64_t low = trial->rules->qmin_y, high = trial->rules->qmax_y, one = pwl_shl64(1, n);
    const int64_t before = bias + (trial->rules->rounding == PWL_FLOOR ? 0 : one / 2);
    double step[(1 << MOST) + 1], cost = 0, least = range.low <= (double)bias ? 0 : INFINITY;
    int bits = n < MOST ? n : MOST;
    while (bits > 4 && (1 << bits) > 2 * trial->count)
        bits--;
    const int coarse = n - bits, steps = 1 << bits;
    int64_t best = 0;
    memset(step, 0, sizeof *step * ((size_t)steps + 1));
    for (int k = 0; k < trial->count; k++) {
        const int64_t sum = q_b * trial->x[k] + before, q = sum >> n, at = (one - (sum & (one - 1))) >> coarse;
        const int point = trial->begin + k;
        if (q < low || q >= high)
            continue;
        step[at] += points->served ? points_cost(points, point, (double)(q + 1)) - points_cost(points, point, (double)q)
                                   : (2 * ((double)q - points->target[point]) + 1) * points->mass[point];
    }
    for (int at = 0; at < steps; at++) {
        const int64_t further = pwl_shl64(at + 1, coarse) - 1;
        cost += step[at];
        if (cost < least && (double)(bias + further) >= range.low && (double)(bias + further) <= range.high) {
            least = cost;
            best = further;
        }
    }
    return bias + best;
}

/* All biases within half an output code of `centre`. */
static void sweep_biases(struct trial *trial, int64_t q_b, int n, double centre, struct bias_range range)
{
    enum { MOST_MOVES = 4 };
    const struct bias_range provable = provable_biases(trial, q_b, n);
    const int64_t one = pwl_shl64(1, n);
    int64_t first = (int64_t)rint(centre) - one / 2, bias = first;
    trial->refused |= (double)first < provable.low || (double)(first + one) > provable.high;
    range.low = ceil(fmax(range.low, provable.low));
    range.high = floor(fmin(range.high, provable.high));
    if (range.low > range.high)
        return;
    for (int move = 0; move < MOST_MOVES; move++) {
        bias = least_bias(trial, q_b, n, first, range);
        /* Saturation may draw it further. */
        if (bias > first + one / 16 && bias < first + one - one / 16)
            break;
        first = bias - one / 2;
    }
    const int ties = trial->rules->rounding >= PWL_HALF_AWAY;
    for (int m = -ties; m <= ties; m++)
        try_bias(trial, q_b, n, fmin(fmax((double)(bias + m), range.low), range.high));
}

/* Biased: the constant is added before the shift, in steps of 2^-n of an output code. */
static void try_biases(struct trial *trial, int64_t q_b, int n)
{
    const double unit = ldexp(1, n), half = n > 0 ? unit / 2 : 0;
    struct bias_range range = {-(double)trial->rules->offset_limit - 1, (double)trial->rules->offset_limit};
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
    const double centre =
        trial->y_mean * unit - (double)q_b * trial->x_mean + (trial->rules->rounding == PWL_FLOOR ? half : 0);
    if (!trial->quick && n > 2 && fabs(centre) < 0x1p60) {
        sweep_biases(trial, q_b, n, centre, range);
        return;
    }
    const int reach = trial->quick ? 1 : 4;
    const double step = n > 2 ? unit / 8 : 1;
    for (int m = -reach; m <= reach; m++)
        try_bias(trial, q_b, n, rint(fmin(fmax(centre + m * step, range.low), range.high)));
}

void try_slope(struct trial *trial, int64_t q_b, int n)
{
    const double reach = fabs((double)q_b) * fmax(trial->x_max, 1);
    if (llabs(q_b) > trial->rules->slope_limit || reach >= ldexp(1, trial->rules->accumulator_bits - 1) ||
        reach >= ldexp(1, 62 + (n < 0 ? n : 0))) {
        trial->refused = true;
        return;
    }
    if (trial->rules->form == PWL_BIASED) {
        try_biases(trial, q_b, n);
        return;
    }
    for (int k = 0; k < trial->count; k++)
        trial->product[k] = q_b * trial->x[k];
    try_constants(trial, q_b, n);
}

double try_real_slope(struct trial *trial, double slope)
{
    if (trial->best.cost <= trial->least_cost * (1 + 1e-12)) /* nothing left to find */
        return INFINITY;
    for (int n = line_shift(trial->rules, slope, trial->x_max);; n--) {
        const double unit = ldexp(1, -n);
        const int64_t q_b = slope_nearest(trial->rules, slope / unit);
        trial->refused = false;
        try_slope(trial, q_b, n);
        if (!trial->refused || q_b == 0 || n <= trial->rules->shift_min)
            return (double)slope_above(trial->rules, q_b) * unit; /* the next slope worth trying */
    }
}
