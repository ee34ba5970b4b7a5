/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Biased: the constant comes before the shift, and each bias rounds the points another way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/fixed.h>

#include "line_trial.h"

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

void try_biases(struct trial *trial, int64_t q_b, int n)
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
