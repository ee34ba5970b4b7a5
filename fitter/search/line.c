/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "line.h"

#include "base/numbers.h"

#include <pwl/fixed.h>

int line_flat_shift(const struct line_rules *rules)
{
    return rules->shift_min > 0 ? rules->shift_min : rules->shift_max < 0 ? rules->shift_max : 0;
}

double line_steepest_of_all(const struct line_rules *rules)
{
    const double steepest = ldexp(-(double)rules->slopes.low, -rules->shift_min);
    if (rules->shift_multiple == 0)
        return steepest;
    return fmin(steepest, ldexp(1, rules->stored_bits - 1 - line_stored_shift(rules, rules->shift_min)));
}

double line_steepest_needed(const struct line_rules *rules)
{
    double steepest = 8;
    while (steepest / 8 <= (double)(rules->qmax_y - rules->qmin_y))
        steepest *= 2;
    steepest = fmax(steepest, ldexp(1, 1 - rules->shift_max));
    const double steepest_of_all = line_steepest_of_all(rules);
    return line_flat_gives_outputs(rules) ? fmin(steepest, steepest_of_all) : steepest_of_all;
}

static double steepest_target(const struct points *points)
{
    double steepest = 0;
    for (int k = 1; k < points->count; k++) {
        const double slope =
            fabs((points->target[k] - points->target[k - 1]) / (points->code[k] - points->code[k - 1]));
        steepest = slope > steepest ? slope : steepest;
    }
    return steepest;
}

bool line_shift_suffices(const struct line_rules *rules, const struct points *points, int n)
{
    const double slope = 2 * steepest_target(points), first = points->code[0], last = points->code[points->count - 1];
    const double x_max = rules->form == PWL_ANCHORED
                             ? last - first
                             : fmax(fabs(first - (double)rules->zp_x), fabs(last - (double)rules->zp_x));
    const double y_max = fmax(fabs((double)rules->qmin_y), fabs((double)rules->qmax_y)) + 2;
    return n >= rules->shift_min && n <= rules->shift_max && ldexp(slope, n) <= (double)line_slopes(rules, n).high &&
           ldexp(slope * x_max + y_max, n) < ldexp(1, rules->accumulator_bits - 2);
}

int line_finest_shift(const struct line_rules *rules, double steepest)
{
    int n = rules->shift_max;
    while (n > rules->shift_min && ldexp(steepest, n) > (double)line_slopes(rules, n).high)
        n--;
    return n;
}

int line_one_shift(const struct line_rules *rules, const struct points *points, int trial)
{
    const int likely = line_finest_shift(rules, steepest_target(points));
    /* Down and up in turn, then whatever is left on the longer side. */
    const int below = likely - rules->shift_min, above = rules->shift_max - likely,
              shorter = below < above ? below : above;
    if (trial <= 2 * shorter)
        return trial % 2 ? likely - (trial + 1) / 2 : likely + trial / 2;
    const int away = trial - shorter;
    return below > above ? likely - away : likely + away;
}

bool line_rules_of_trial(const struct line_rules *given, const struct points *points, int trial,
                         struct line_rules *rules)
{
    *rules = *given;
    if (!given->one_shift)
        return trial == 0;
    if (trial > given->shift_max - given->shift_min)
        return false;
    rules->shift_min = rules->shift_max = line_one_shift(given, points, trial);
    return true;
}

/* The largest power of two that is at most q, and the least that is at least q; 0 < q <= 2^62. */
static int64_t power_below(int64_t q)
{
    return (int64_t)1 << (63 - __builtin_clzll((unsigned long long)q));
}

static int64_t power_above(int64_t q)
{
    return q == 1 ? 1 : 2 * power_below(q - 1);
}

/* Largest sum of at most `terms` signed powers of two that is at most q, for q > 0. */
static int64_t sum_below(int64_t q, int terms)
{
    const int64_t power = power_below(q);
    if (terms == 1 || q == power)
        return power;
    /* From below by adding to this power of two, or by taking from the next one. */
    const int64_t added = power + power_below(q - power), taken = 2 * power - power_above(2 * power - q);
    return added > taken ? added : taken;
}

static int64_t sum_above(int64_t q, int terms)
{
    const int64_t power = power_above(q);
    if (terms == 1 || q == power)
        return power;
    const int64_t added = power / 2 + power_above(q - power / 2), taken = power - power_below(power - q);
    return added < taken ? added : taken;
}

int64_t slope_above(const struct line_rules *rules, int64_t q_b)
{
    if (rules->slope_terms == 0 || q_b == -1 || q_b == 0)
        return q_b + 1;
    return q_b > 0 ? sum_above(q_b + 1, rules->slope_terms) : -sum_below(-q_b - 1, rules->slope_terms);
}

int64_t slope_nearest(const struct line_rules *rules, double q_b)
{
    const double magnitude = fmin(fabs(q_b), 0x1p60); /* far beyond every limit */
    if (rules->slope_terms == 0 || magnitude < 1)
        return (int64_t)rint(copysign(magnitude, q_b));
    const int64_t below = sum_below((int64_t)magnitude, rules->slope_terms);
    const int64_t above = sum_above((int64_t)magnitude + 1, rules->slope_terms);
    const int64_t nearest = magnitude - (double)below <= (double)above - magnitude ? below : above;
    return q_b < 0 ? -nearest : nearest;
}

/* With q_b = odd * 2^s they lie at (2^(n - 1) - offset) / 2^s / odd modulo 2^(n - s), if that is whole. */
struct line_halfway line_halfway(const struct line_rules *rules, const struct line *line)
{
    const struct line_halfway none = {0};
    if (line->n <= 0)
        return none;
    const uint64_t modulus = (uint64_t)1 << line->n, q_b = (uint64_t)line->q_b & (modulus - 1);
    const uint64_t bias = rules->form == PWL_BIASED ? (uint64_t)line->offset : 0;
    const uint64_t rest = (modulus / 2 - bias) & (modulus - 1);
    const uint64_t power = q_b ? q_b & -q_b : modulus;
    if (rest % power != 0)
        return none;
    const uint64_t odd = q_b / power;
    uint64_t inverse = odd; /* modulo 2^3; each step doubles the bits */
    for (int bits = 3; bits < line->n; bits *= 2)
        inverse *= 2 - odd * inverse;
    const uint64_t period = modulus / power;
    return (struct line_halfway){.first = rest / power * inverse & (period - 1), .period = period};
}

struct integers line_offsets_at(const struct line_rules *rules, int64_t q_b, int n, int64_t x, struct integers offsets)
{
    const struct integers none = {0, -1};
    const wide limit = (wide)1 << (rules->accumulator_bits - 1), product = (wide)q_b * x;
    const wide half = n > 0 && rules->rounding != PWL_FLOOR ? (wide)1 << (n - 1) : 0;
    /* Sums that may be shifted: rounding adds `half` to them, half_away to the magnitude; to the left they grow. */
    wide low = half && rules->rounding == PWL_HALF_AWAY ? half - limit + 1 : -limit, high = limit - 1 - half;
    if (n < 0) {
        low = -(limit >> -n);
        high = (limit - 1) >> -n;
    }
    if (x < -limit || x >= limit || product < -limit || product >= limit)
        return none;
    if (rules->form == PWL_BIASED) {
        low -= product;
        high -= product;
    } else {
        if (product < low || product > high)
            return none;
        const wide shifted = n >= 0 ? pwl_shr64((int64_t)product, n, (int)rules->rounding) : product * ((wide)1 << -n);
        low = -limit - shifted;
        high = limit - 1 - shifted;
    }
    return integers_within(offsets, low, high);
}

/* Every step is monotone in the code, so the two end codes are the extremes. */
struct integers line_offsets(const struct line_rules *rules, int64_t q_b, int n, int64_t first, int64_t last)
{
    const int64_t origin = line_origin(rules, first);
    const struct integers at_first = line_offsets_at(rules, q_b, n, first - origin, rules->offsets);
    return line_offsets_at(rules, q_b, n, last - origin, at_first);
}

bool line_provable(const struct line_rules *rules, const struct line *line, int64_t first, int64_t last)
{
    const struct integers offsets = line_offsets(rules, line->q_b, line->n, first, last);
    return is_within(offsets, line->offset);
}

int64_t line_value(const struct line_rules *rules, const struct line *line, int64_t origin, int64_t code)
{
    return pwl_line64((int)rules->form, (int)rules->rounding, (int32_t)line->q_b, code - origin, line->n, line->offset);
}

int64_t line_code(const struct line_rules *rules, const struct line *line, int64_t origin, int64_t code)
{
    return pwl_sat(line_value(rules, line, origin, code), rules->qmin_y, rules->qmax_y);
}

int64_t line_output(const struct line_rules *rules, const struct points *points, int begin, int k,
                    const struct line *line)
{
    return line_code(rules, line, line_origin(rules, points->cell[begin]), (int64_t)points->code[k]);
}

double line_max_err(const struct line_rules *rules, const struct points *points, int begin, int end,
                    const struct line *line)
{
    double error = 0;
    for (int k = begin; k < end; k++) {
        const int64_t q = line_output(rules, points, begin, k, line);
        error = fmax(error, points_error(points, k, (double)q));
    }
    return error;
}

/* The largest |q_b| of a shift, of the sign of a slope. */
static double largest_slope(const struct line_rules *rules, double slope, int n)
{
    const struct integers slopes = line_slopes(rules, n);
    return slope < 0 ? -(double)slopes.low : (double)slopes.high;
}

int line_shift(const struct line_rules *rules, double slope, double x_max)
{
    const double magnitude = fabs(slope), ceiling = ldexp(1, rules->accumulator_bits - 1);
    x_max = fmax(x_max, 1);
    int n = (int)fmin(rules->shift_max, ceil_log2(x_max) + 6);
    if (rules->rounding != PWL_FLOOR && n > rules->accumulator_bits - 2)
        n = rules->accumulator_bits - 2;
    if (rules->form == PWL_BIASED) {
        const double y = fmax(fabs((double)rules->qmin_y), fabs((double)rules->qmax_y)) + 1;
        while (n > rules->shift_min && y * ldexp(1, n) >= ceiling)
            n--;
    }
    while (n > rules->shift_min && (magnitude * ldexp(1, n) > largest_slope(rules, slope, n) + 0.5 ||
                                    magnitude * ldexp(1, n) * x_max >= ceiling))
        n--;
    return n > rules->shift_min ? n : rules->shift_min;
}
