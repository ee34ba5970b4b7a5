/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A slope is tried by computing the shifted products of all points once; the best constant for them then follows
 * in closed form, since the squared error is a parabola in it (saturated outputs: a descent from the parabola's
 * minimum). A real solution is thus never rounded: each slope is judged by the codes it gives.
 */
#include "line_trial.h"

#include <math.h>
#include <stdlib.h>

#include "rounding.h"

enum { LANES = 4 }; /* sums side by side, as in points_squares */

/* Cost of shifted + c with saturation; INFINITY when a point misses its band or the cost reaches enough. */
static double cost_saturated(const struct trial *trial, int64_t c, double enough)
{
    const double low = (double)trial->rules->qmin_y, high = (double)trial->rules->qmax_y, added = (double)c;
    double q[LINE_BLOCK], cost = 0;
    for (int from = 0, to; from < trial->count && cost < enough; from = to) {
        to = trial->count - from > LINE_BLOCK ? from + LINE_BLOCK : trial->count;
        for (int k = from; k < to; k++) {
            const double raw = trial->shifted[k] + added, above = raw > low ? raw : low;
            q[k - from] = above < high ? above : high;
        }
        if (!bands_hold(trial->bands ? trial->bands + from : NULL, q, to - from))
            return INFINITY;
        cost += points_squares(trial->points, trial->begin + from, trial->begin + to, q);
    }
    return cost < enough ? cost : INFINITY;
}

void keep_if_better(struct trial *trial, int64_t q_b, int n, int64_t offset, double cost)
{
    const struct line line = {.q_b = q_b, .n = n, .offset = offset, .cost = cost};
    if (!(cost < to_beat(trial)))
        return;
    if (line_provable(trial->rules, &line, trial->first, trial->last))
        trial->best = line;
    else
        trial->refused = true;
}

/* Sums over the points before each, for constants near a reference. */
static void sum_misses(const struct trial *trial, double reference)
{
    const double *target = trial->points->target + trial->begin, *mass = trial->points->mass + trial->begin;
    struct misses sum = {0, 0};
    for (int k = 0; k < trial->count; k++) {
        const double d = target[k] - trial->shifted[k] - reference, wd = mass[k] * d;
        trial->missed[k] = sum;
        sum.sum += wd;
        sum.squares += wd * d + points_apart(trial->points, trial->begin + k);
    }
    trial->missed[trial->count] = sum;
}

/* The points before those whose products are above a value, of a falling line below it; `with`: those at it count. */
static int points_within(const struct trial *trial, double value, bool with)
{
    const double sign = trial->shifted[trial->count - 1] < trial->shifted[0] ? -1 : 1;
    int from = 0, to = trial->count;
    while (from < to) {
        const int middle = from + (to - from) / 2;
        const double beyond = sign * (trial->shifted[middle] - value);
        if (beyond < 0 || (with && beyond <= 0))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The cost of a constant, but for rounding of the sums, and how far the points that do not saturate would move it. */
struct foreseen {
    double cost, pull;
};

static struct foreseen foresee(const struct trial *trial, double c, double reference)
{
    const double low = (double)trial->rules->qmin_y - c, high = (double)trial->rules->qmax_y - c, m = c - reference;
    const bool falls = trial->shifted[trial->count - 1] < trial->shifted[0];
    const int from = points_within(trial, falls ? high : low, true),
              to = points_within(trial, falls ? low : high, false);
    const struct sums *all = &trial->before[trial->count], *first = &trial->before[from], *last = &trial->before[to];
    const double at_limits =
        falls ? first->at_high + (all->at_low - last->at_low) : first->at_low + (all->at_high - last->at_high);
    if (to <= from)
        return (struct foreseen){at_limits, 0};
    const double w = last->w - first->w, sum = trial->missed[to].sum - trial->missed[from].sum,
                 squares = trial->missed[to].squares - trial->missed[from].squares;
    return (struct foreseen){at_limits + squares - 2 * m * sum + m * m * w, sum / w - m};
}

/* Constant in [low, high] for shifted products of which some saturate: Newton steps over those that do not, then the
 * neighbours; those are priced that may be better. */
static void descend(struct trial *trial, int64_t q_b, int n, int64_t c, int64_t low, int64_t high)
{
    enum { STEPS = 8, NEIGHBOURS = 3 };
    c = c < low ? low : c > high ? high : c;
    const double reference = (double)c;
    double cost = INFINITY;
    sum_misses(trial, reference);
    const struct sums *all = &trial->before[trial->count];
    const double hair =
        ROUNDING_SHARE(trial->count) * (trial->missed[trial->count].squares + all->at_low + all->at_high);
    int64_t candidates[STEPS + 2 * NEIGHBOURS];
    double foreseen[STEPS + 2 * NEIGHBOURS];
    int count = 0;
    for (int step = 0; step < STEPS; step++) {
        const struct foreseen next = foresee(trial, (double)c, reference);
        if (!(next.cost < cost))
            break;
        candidates[count] = c;
        foreseen[count++] = cost = next.cost;
        int64_t moved = c + (int64_t)rint(next.pull);
        moved = moved < low ? low : moved > high ? high : moved;
        if (moved == c)
            break;
        c = moved;
    }
    if (cost <= 4 * to_beat(trial)) /* else neighbours cannot make up for that */
        for (int m = -NEIGHBOURS; m <= NEIGHBOURS; m++)
            if (m && c + m >= low && c + m <= high) {
                candidates[count] = c + m;
                foreseen[count++] = foresee(trial, (double)(c + m), reference).cost;
            }
    while (count-- > 0)
        if (foreseen[count] - hair < to_beat(trial))
            keep_if_better(trial, q_b, n, candidates[count], cost_saturated(trial, candidates[count], to_beat(trial)));
}

/* The outputs of a slope without a constant, not saturated; false where they leave the accumulator. */
static bool shift_all(const struct trial *trial, int64_t q_b, int n)
{
    const struct line line = {.q_b = q_b, .n = n};
    struct line_rules rules = *trial->rules;
    rules.qmin_y = INT64_MIN;
    rules.qmax_y = INT64_MAX;
    if (!line_provable(&rules, &line, trial->first, trial->last))
        return false;
    line_outputs(&rules, trial->points, trial->begin, trial->begin, trial->begin + trial->count, &line, trial->shifted);
    return true;
}

static struct misses add_misses(const struct trial *trial, double reference)
{
    const double *target = trial->points->target + trial->begin, *weight = trial->points->weight + trial->begin;
    double sum[LANES] = {0}, squares[LANES] = {0};
    int k = 0;
    for (; k + LANES <= trial->count; k += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            const double d = target[k + lane] - trial->shifted[k + lane] - reference, wd = weight[k + lane] * d;
            sum[lane] += wd;
            squares[lane] += wd * d;
        }
    for (; k < trial->count; k++) {
        const double d = target[k] - trial->shifted[k] - reference;
        sum[0] += weight[k] * d;
        squares[0] += weight[k] * d * d;
    }
    return (struct misses){.sum = (sum[0] + sum[1]) + (sum[2] + sum[3]),
                           .squares = (squares[0] + squares[1]) + (squares[2] + squares[3]) + trial->apart};
}

/* The extremes of what the slope gives at some points: that at the first or the last of them. */
static double least_at(const struct trial *trial, struct extent points)
{
    return fmin(trial->shifted[points.first], trial->shifted[points.last]);
}

static double most_at(const struct trial *trial, struct extent points)
{
    return fmax(trial->shifted[points.first], trial->shifted[points.last]);
}

/* Narrows the constants to those that the bands allow. */
static void keep_in_bands(const struct trial *trial, double *low, double *high)
{
    double least[LANES], most[LANES];
    int k = 0;
    for (int lane = 0; lane < LANES; lane++) {
        least[lane] = *low;
        most[lane] = *high;
    }
    for (; k + LANES <= trial->count; k += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            least[lane] = larger(trial->low[k + lane] - trial->shifted[k + lane], least[lane]);
            most[lane] = smaller(trial->high[k + lane] - trial->shifted[k + lane], most[lane]);
        }
    for (; k < trial->count; k++) {
        least[0] = larger(trial->low[k] - trial->shifted[k], least[0]);
        most[0] = smaller(trial->high[k] - trial->shifted[k], most[0]);
    }
    *low = larger(larger(least[0], least[1]), larger(least[2], least[3]));
    *high = smaller(smaller(most[0], most[1]), smaller(most[2], most[3]));
}

/* Absolute and anchored: the constant is added after the shift. */
static void try_constants(struct trial *trial, int64_t q_b, int n)
{
    const double *target = trial->points->target + trial->begin;
    const double qmin = (double)trial->rules->qmin_y, qmax = (double)trial->rules->qmax_y;
    const bool any = trial->inside.first >= 0;
    double low = (double)trial->rules->offsets.low, high = (double)trial->rules->offsets.high;
    if (!shift_all(trial, q_b, n)) {
        trial->refused = true;
        return;
    }
    if (trial->bands)
        keep_in_bands(trial, &low, &high);
    if (low > high) {
        trial->refused = !trial->bands;
        return;
    }
    /* Differences are taken from one of them, so that their squares keep their digits. */
    const int one = any ? trial->inside.first : 0;
    const double reference = rint(target[one] - trial->shifted[one]);
    const struct misses misses = any ? add_misses(trial, reference) : (struct misses){0, 0};
    const double best = rint(any ? reference + misses.sum / trial->weight : target[0] - trial->shifted[0]);
    const double c = fmin(fmax(best, low), high);
    /* The cost of a half at its limits is no parabola. */
    const double margin = trial->points->served ? 1 : 0;
    const bool as_clipped = (trial->below.first < 0 || most_at(trial, trial->below) + c <= qmin) &&
                            (trial->above.first < 0 || least_at(trial, trial->above) + c >= qmax);
    if (any && least_at(trial, trial->inside) + c >= qmin + margin &&
        most_at(trial, trial->inside) + c <= qmax - margin && as_clipped) {
        const double m = c - reference;
        keep_if_better(trial, q_b, n, (int64_t)c, fmax(0, misses.squares - 2 * m * misses.sum + m * m * trial->weight));
    } else {
        descend(trial, q_b, n, (int64_t)c, (int64_t)low, (int64_t)high);
    }
}

void try_slope(struct trial *trial, int64_t q_b, int n)
{
    points_spend(trial->points, trial->count);
    const double reach = fabs((double)q_b) * fmax(trial->x_max, 1);
    if (!is_within(line_slopes(trial->rules, n), q_b) || reach >= ldexp(1, trial->rules->accumulator_bits - 1) ||
        reach >= ldexp(1, 62 + (n < 0 ? n : 0))) {
        trial->refused = true;
        return;
    }
    if (trial->rules->form == PWL_BIASED)
        try_biases(trial, q_b, n);
    else
        try_constants(trial, q_b, n);
}

double try_real_slope(struct trial *trial, double slope)
{
    if (trial->best.cost <= trial->least_cost * (1 + ROUNDING_SHARE(trial->count))) /* nothing left to find */
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
