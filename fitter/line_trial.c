/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A slope is tried by computing the shifted products of all points once; the best constant for them then follows
 * in closed form, since the squared error is a parabola in it (saturated outputs: a descent from the parabola's
 * minimum). A real solution is thus never rounded: each slope is judged by the codes it gives.
 */
#include "line_trial.h"

#include <math.h>
#include <stdlib.h>

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

/* Biased: the constant is added before the shift, in steps of 2^-n of an output code. */
static void try_biases(struct trial *trial, int64_t q_b, int n)
{
    const struct points *points = trial->points;
    const double *target = points->target + trial->begin, *weight = points->weight + trial->begin;
    const int end = trial->begin + trial->count;
    const double unit = ldexp(1, n);
    const double half = n > 0 ? unit / 2 : 0;
    double low = -(double)trial->rules->offset_limit - 1, high = (double)trial->rules->offset_limit;
    double sum_w = 0, sum_d = 0, reference = 0;
    bool any = false;

    for (int k = 0; k < trial->count; k++) {
        const double p = (double)trial->product[k];
        if (weight[k] > 0 || (!any && k == trial->count - 1)) {
            const double w = weight[k] > 0 ? weight[k] : 1;
            if (!any)
                reference = target[k] * unit - p;
            any = true;
            sum_w += w;
            sum_d += w * (target[k] * unit - p - reference);
        }
        if (trial->bands) {
            const double shift = trial->rules->rounding == PWL_FLOOR ? 0 : half;
            const struct band *band = &trial->bands[k];
            if (!band->open_low)
                low = fmax(low, (double)band->low * unit - shift - p);
            if (!band->open_high)
                high = fmin(high, (double)(band->high + 1) * unit - shift - 1 - p);
        }
    }
    if (low > high)
        return;
    double centre = reference + sum_d / sum_w + (trial->rules->rounding == PWL_FLOOR ? half : 0);
    const int rounds = trial->quick ? 1 : 2, reach = trial->quick ? 1 : 4;
    double step = n > 2 ? unit / 8 : 1;
    for (int round = 0; round < rounds; round++) {
        double best = INFINITY, best_centre = centre;
        for (int m = -reach; m <= reach; m++) {
            const double b = rint(fmin(fmax(centre + m * step, low), high));
            if (fabs(b) >= 0x1p62)
                continue;
            const int64_t bias = (int64_t)b;
            struct line line = {.q_b = q_b, .n = n, .offset = bias};
            if (!line_provable(trial->rules, &line, trial->first, trial->last)) {
                trial->refused = true;
                continue;
            }
            const double cost =
                line_cost_below(trial->rules, points, trial->begin, end, &line, trial->bands, to_beat(trial));
            keep_if_better(trial, q_b, n, bias, cost);
            if (cost < best) {
                best = cost;
                best_centre = b;
            }
        }
        if (step <= 1)
            break;
        centre = best_centre;
        step = fmax(1, step / 5);
    }
}

void try_slope(struct trial *trial, int64_t q_b, int n)
{
    const double reach = fabs((double)q_b) * fmax(trial->x_max, 1);
    if (llabs(q_b) > trial->rules->slope_limit || reach >= ldexp(1, trial->rules->accumulator_bits - 1) ||
        reach >= ldexp(1, 62 + (n < 0 ? n : 0))) {
        trial->refused = true;
        return;
    }
    for (int k = 0; k < trial->count; k++)
        trial->product[k] = q_b * trial->x[k];
    if (trial->rules->form == PWL_BIASED)
        try_biases(trial, q_b, n);
    else
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
