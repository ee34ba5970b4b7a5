/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slope_scan.h"

#include <math.h>
#include <stdlib.h>

#include <pwl/fixed.h>

#include "base/numbers.h"
#include "search/rounding.h"
#include "slope_costs.h"

/* Numerators of the grid 2^-n from one on, up to the next that may give one of the points up to k another code. Ties
 * are looked at one by one. */
static int64_t count_alike(const struct slope_scan *slopes, int64_t numerator, int n, int k)
{
    if (n <= 0)
        return 1;
    const int64_t one = pwl_shl64(1, n), half = slopes->rules->rounding != PWL_FLOOR ? one / 2 : 0;
    double least = 0x1p62;
    for (; k >= slopes->from.start - slopes->from.leaves; k--) {
        const int64_t x = (int64_t)slopes->points->code[k] - slopes->from.origin;
        if (fabs((double)numerator * (double)x) >= 0x1p60)
            return 1;
        const int64_t rest = (numerator * x + half) & (one - 1);
        if (half != 0 && rest == 0)
            return 1;
        const double steps = x > 0 ? (double)(one - rest) / (double)x : x < 0 ? (double)rest / (double)-x : least;
        least = steps < least ? steps : least;
        if (least <= 1)
            return 1;
    }
    /* A hair less, for what the division may have rounded up: looking twice is no loss. */
    least = ceil(least * (1 - EXACT_ROUNDING));
    return least >= 0x1p61 ? INT64_MAX / 2 : least < 1 ? 1 : (int64_t)least;
}

/*
 * The same for biased lines of a slope strictly between two fractions whose denominators are below the number of
 * points: all slopes in between give the same sets of codes as their biases vary, and the fractions themselves some of
 * them. A slope of 2^-n itself is no such fraction when its biases differ at all those points, and then each set has a
 * bias that puts no code at a tie, if there are biases between the ties (one bit more, or ties that are apart).
 */
static int64_t count_alike_biased(const struct slope_scan *slopes, int64_t numerator, int n, int k)
{
    const int points = k - slopes->from.start + slopes->from.leaves + 1;
    double least = 0x1p62; /* the next fraction, in numerators */
    if (n <= 0)
        return 1;
    const int64_t one = pwl_shl64(1, n);
    for (int b = 1; b < points; b++) {
        const int64_t rest = (numerator * b) & (one - 1);
        if (rest == 0)
            return 1;
        const double steps = (double)(one - rest) / b;
        least = steps < least ? steps : least;
    }
    least = ceil(least * (1 - EXACT_ROUNDING));
    return least >= 0x1p61 ? INT64_MAX / 2 : least < 1 ? 1 : (int64_t)least;
}

static int64_t count_same(const struct slope_scan *slopes, int64_t numerator, int n, int k)
{
    return slopes->rules->form == PWL_BIASED ? count_alike_biased(slopes, numerator, n, k)
                                             : count_alike(slopes, numerator, n, k);
}

/* Whether products and sums with the addends that rounding adds stay within the accumulator, and offsets below their
 * own limit, over all codes, when the codes that constants aim at are those of the output range, of lines that stay
 * near it. */
static bool is_safe(const struct slope_scan *slopes, int64_t q_b, int n)
{
    const struct line_rules *rules = slopes->rules;
    const struct points *points = slopes->points;
    const double x_max = fmax(fabs(points->code[0] - (double)slopes->from.origin),
                              fabs(points->code[points->count - 1] - (double)slopes->from.origin));
    const double unit = ldexp(1, n), v_max = fabs((double)q_b) * x_max / unit + 2;
    const double y_max = fmax(fabs((double)rules->qmin_y), fabs((double)rules->qmax_y)) + 2;
    const double offset_max = rules->form == PWL_BIASED ? (y_max + 2 * v_max) * fmax(unit, 1) : y_max + 2 * v_max;
    return n >= 0 && offset_max < (double)rules->offsets.high && -offset_max > (double)rules->offsets.low &&
           offset_max + (v_max + 1) * unit < ldexp(1, rules->accumulator_bits - 1);
}

static void cost_lines(struct slope_scan *slopes, const struct line_origin *lines)
{
    note_point(slopes, lines->first);
    if (phased(slopes))
        slope_costs_by_phase(slopes, lines);
    else
        slope_costs_by_offset(slopes, lines);
}

/* Whether a biased line of the slope under trial can lie beyond the near limit: its sum may leave the accumulator
 * before. Then those at that limit cost what the parabola says there too, but of a half. */
static bool passes_limit(const struct slope_scan *slopes)
{
    const double sums = ldexp(1, slopes->rules->accumulator_bits - 1), one = ldexp(1, slopes->trial.n);
    const double near = slopes->trial.rise > 0 ? -(double)slopes->trial.near_y : (double)slopes->trial.near_y + 1;
    return !phased(slopes) || slopes->points->served || near * one < sums;
}

/* Lines of the slope under trial that meet no fixed point, whatever their type. */
static void cost_free_lines(struct slope_scan *slopes)
{
    const double *limit = slopes->trial.ceiling;
    const struct window *leaving = slopes->from.leaving[slopes->trial.rise < 0 ? DOWN : UP];
    const int leave = slopes->trial.rise != 0 && !slopes->from.apart && passes_limit(slopes) ? slopes->trial.leave
                                                                                             : slopes->from.start;
    double paid = 0;
    if (slopes->from.leaves) {
        cost_lines(slopes, &(struct line_origin){.first = slopes->from.start, .leave = true});
        return;
    }
    cost_lines(slopes, &(struct line_origin){.first = slopes->from.start});
    for (int k = slopes->from.start + 1; k <= leave; k++) {
        paid += points_cost(slopes->points, k - 1, (double)slopes->trial.near_y);
        if (!(paid < limit[k]))
            return;
        if (leaving[k].low <= slopes->trial.slope && slopes->trial.slope <= leaving[k].high)
            cost_lines(slopes, &(struct line_origin){k, true, paid});
    }
}

/* Follows one slope from the start. */
static void try_slope(struct slope_scan *slopes, int64_t q_b, int n)
{
    const struct line_rules *rules = slopes->rules;
    slopes->trial.q_b = q_b;
    slopes->trial.n = n;
    slopes->trial.unit = rules->form == PWL_BIASED && n < 0 ? pwl_shl64(1, -n) : 1;
    slopes->trial.addend = phased(slopes) && rules->rounding != PWL_FLOOR ? pwl_shl64(1, n - 1) : 0;
    slopes->trial.rise = (q_b > 0) - (q_b < 0);
    slopes->trial.near_y = slopes->trial.rise < 0 ? rules->qmax_y : rules->qmin_y;
    slopes->trial.far_y = slopes->trial.rise < 0 ? rules->qmin_y : rules->qmax_y;
    slopes->trial.near_first = slopes->trial.near_y + slopes->trial.rise;
    slopes->trial.far_last = slopes->trial.far_y - (slopes->points->served ? slopes->trial.rise : 0);
    slopes->trial.is_safe = is_safe(slopes, q_b, n);
    slopes->found.beyond = false;
    if ((!slopes->trial.is_safe && !phased(slopes)) || slopes->points->fixed || (slopes->points->served && q_b == 0)) {
        slope_costs_by_interval(slopes);
        return;
    }
    for (int k = slopes->from.start - (slopes->from.start > 0); k < slopes->trial.end && !phased(slopes); k++)
        slopes->trial.code[k] = (double)pwl_shr64(product_at(slopes, k), n, (int)rules->rounding);
    cost_free_lines(slopes);
    if (slopes->found.beyond)
        slope_costs_by_interval(slopes);
}

/* Whether a biased slope has one bit to spare. */
static bool has_more_biases(const struct line_rules *rules, int64_t q_b, int n)
{
    return n >= 0 && n < rules->shift_max && is_within(line_slopes(rules, n + 1), 2 * q_b);
}

/*
 * A biased slope in lowest terms, where rounding looks at ties. With one bit more a bias can also lie between the ties.
 * A code at a tie is what a bias a little below or above makes of it, and so a tie by itself adds nothing to those
 * biases; one that comes again 2^n codes later, rounded the other way, does.
 */
static void try_with_ties(struct slope_scan *slopes, int64_t q_b, int n)
{
    const bool longer = has_more_biases(slopes->rules, q_b, n);
    if (longer && n > 0 && q_b % 2 != 0) {
        slopes->trial.ties = TIES_NONE;
        try_slope(slopes, 2 * q_b, n + 1);
        slopes->trial.ties = slopes->found.touched ? TIES_ALL : TIES_AGAIN;
        if (slopes->found.touched || slopes->trial.end - slopes->from.start + slopes->from.leaves > pwl_shl64(1, n))
            try_slope(slopes, q_b, n);
        return;
    }
    slopes->trial.ties = TIES_ALL;
    try_slope(slopes, q_b, n);
    if (longer) /* of whole numbers: each code is at a tie, or none */
        try_slope(slopes, 2 * q_b, n + 1);
}

/* A biased slope of whole numbers makes the same line of a smaller product and bias, in coarser steps. */
static void try_smaller(struct slope_scan *slopes, int64_t q_b, int n)
{
    while (slopes->found.touched && n <= 0 && n > slopes->rules->shift_min && q_b % 2 == 0) {
        q_b /= 2;
        n--;
        slopes->found.touched = false;
        try_slope(slopes, q_b, n);
    }
}

/* A slope given as a numerator on the finest grid of its size. Returns how many numerators are done with. */
static int64_t try_numerator(struct slope_scan *slopes, int64_t numerator, int n, int64_t most)
{
    const struct line_rules *rules = slopes->rules;
    int64_t q_b = numerator;
    int shift = n;
    /* The shortest fraction is the easiest to prove; its codes are the same. */
    while (shift > 0 && shift > rules->shift_min && q_b % 2 == 0) {
        q_b /= 2;
        shift--;
    }
    slopes->found.touched = false;
    slopes->found.last = slopes->from.start;
    const bool biased = rules->form == PWL_BIASED, ties = biased && rules->rounding >= PWL_HALF_AWAY;
    if (ties)
        try_with_ties(slopes, q_b, shift);
    else
        try_slope(slopes, q_b, shift);
    if (biased)
        try_smaller(slopes, q_b, shift);
    const int points = slopes->found.last - slopes->from.start + slopes->from.leaves + 1;
    const bool between = !ties || has_more_biases(rules, q_b, shift) || (n > 0 && ties_are_apart(q_b, shift, points));
    if (slopes->found.touched || !between)
        return 1;
    const int64_t alike = count_same(slopes, numerator, n, slopes->found.last);
    return alike < most ? alike : most;
}

/* A line serves at an end when it costs less there than the range may, and than its best line does. Up to that end it
 * still pays at least the rounding floor. Sets what lines of a slope may cost to where they can serve; returns whether
 * there is any such end, and up to which slope there are no others. */
static bool set_limits(struct slope_scan *slopes, double slope, double *others)
{
    const enum direction way = slope < 0 ? DOWN : UP;
    const struct window *window = slopes->from.window[way], *leaving = slopes->from.leaving[way];
    const struct range *range = slopes->from.range;
    const double *floor_sum = slopes->floor_sum, *spare = slopes->from.spare;
    double *useful = slopes->trial.useful, *limit = slopes->trial.ceiling;
    const int start = slopes->from.start, furthest = slopes->from.furthest;
    const bool flat = slope == 0, leaves_later = !slopes->from.leaves && !slopes->from.apart && !flat;
    double most = -INFINITY, next = INFINITY;
    int end = start;
    slopes->trial.slope = slope;
    slopes->work.steps += (furthest - start) / 16;
    for (int j = start + 1; j <= furthest; j++) {
        const bool later = !flat && slope < window[j].low, serves_here = flat || (!later && slope <= window[j].high);
        useful[j] = serves_here ? smaller(range[j].cost, spare[j]) : -INFINITY;
        next = smaller(next, later ? window[j].low : INFINITY);
    }
    for (int k = start + 1; leaves_later && k < furthest; k++)
        next = smaller(next, slope < leaving[k].low ? leaving[k].low : INFINITY);
    for (int j = furthest; j > start; j--) {
        most = larger(most, useful[j] - floor_sum[j]);
        limit[j] = most + floor_sum[j];
        end = useful[j] > -INFINITY && end < j ? j : end;
    }
    *others = next;
    slopes->trial.end = end;
    slopes->trial.leave = leaves_later ? slopes->trial.end - 1 : slopes->from.start;
    while (slopes->trial.leave > slopes->from.start &&
           !(leaving[slopes->trial.leave].low <= slope && slope <= leaving[slopes->trial.leave].high))
        slopes->trial.leave--;
    return slopes->trial.end > slopes->from.start;
}

/* The largest numerator of n whose lines are safe, at most `limit`; with one bit more too, where ties ask for it. */
static int64_t safe_numerator(const struct slope_scan *slopes, int n, int64_t limit)
{
    const bool ties = slopes->rules->form == PWL_BIASED && slopes->rules->rounding >= PWL_HALF_AWAY;
    int64_t safe = -1, unsafe = n < 0 ? 0 : limit + 1;
    while (unsafe - safe > 1) {
        const int64_t middle = safe + (unsafe - safe) / 2;
        if (is_safe(slopes, ties ? 2 * middle : middle, n + ties))
            safe = middle;
        else
            unsafe = middle;
    }
    return safe;
}

void slopes_init(struct slope_scan *slopes)
{
    const struct line_rules *rules = slopes->rules;
    slopes->from.origin = rules->zp_x;
    slopes->from.apart = !slopes->all;
    slopes->trial.ties = rules->rounding >= PWL_HALF_AWAY ? TIES_ALL : TIES_NONE;
    for (int n = rules->shift_min; n <= rules->shift_max; n++) {
        const int64_t steepest = -line_slopes(rules, n).low;
        slopes->safe[SLOPES_NO_SHIFT + n] = slopes->all ? steepest : safe_numerator(slopes, n, steepest);
    }
}

double slopes_unsafe(const struct slope_scan *slopes)
{
    const struct line_rules *rules = slopes->rules;
    double least = INFINITY;
    for (int n = rules->shift_min; n <= rules->shift_max; n++)
        if (slopes->safe[SLOPES_NO_SHIFT + n] < -line_slopes(rules, n).low)
            least = fmin(least, ldexp((double)slopes->safe[SLOPES_NO_SHIFT + n] + 1, -n));
    return least;
}

void slopes_try_flat(struct slope_scan *slopes)
{
    const int n = line_flat_shift(slopes->rules);
    double others;
    if (!set_limits(slopes, 0, &others))
        return;
    slopes->found.touched = false;
    try_slope(slopes, 0, n);
    if (slopes->rules->form == PWL_BIASED)
        try_smaller(slopes, 0, n);
}

/* The largest shift that can serve, at most `most`. Sums of a bias fit the accumulator: the codes at the start are no
 * larger than the shift leaves of it, which may be too far from its target. */
static int largest_shift(const struct slope_scan *slopes, int most)
{
    const struct line_rules *rules = slopes->rules;
    const double target = slopes->points->target[slopes->from.start];
    double spare = -INFINITY;
    for (int j = slopes->from.start + 1; j <= slopes->from.furthest; j++)
        spare = larger(spare, slopes->from.spare[j]);
    for (; rules->form == PWL_BIASED && !slopes->points->served && most > rules->shift_min; most--) {
        const double largest = ldexp(1, rules->accumulator_bits - 1 - most) + 1;
        const double near = larger(-largest, smaller(largest, target)),
                     y = larger((double)rules->qmin_y, smaller((double)rules->qmax_y, near));
        if (points_cost(slopes->points, slopes->from.start, y) < spare)
            break;
    }
    return most;
}

/* All slopes in a window, or some at even steps. */
void slopes_try_all(struct slope_scan *slopes, struct window window, double stride)
{
    const struct line_rules *rules = slopes->rules;
    const double x_max = fmax(fabs(slopes->points->code[0] - (double)slopes->from.origin),
                              fabs(slopes->points->code[slopes->points->count - 1] - (double)slopes->from.origin));
    /* From 2^n above twice every product on, only the product's sign counts. */
    const int enough = ceil_log2(-4 * (double)rules->slopes.low * fmax(x_max, (double)slopes->points->count));
    const int most = enough > rules->shift_min ? enough : rules->shift_min;
    const int finest = largest_shift(slopes, most < rules->shift_max ? most : rules->shift_max);
    for (int n = finest; n >= rules->shift_min; n--) {
        const double unit = ldexp(1, -n);
        const int64_t safe = slopes->safe[SLOPES_NO_SHIFT + n];
        const struct integers here = line_slopes(rules, n), finer = line_slopes(rules, n + 1);
        for (int sign = -1; sign <= 1; sign += 2) {
            const int64_t limit = sign > 0 ? here.high : -here.low;
            /* Slopes of at most half the finer grid's largest numerator belong to it; flat lines have been tried. */
            int64_t from = n == finest ? 1 : (sign > 0 ? finer.high : -finer.low) / 2 + 1;
            double low = sign > 0 ? window.low : -window.high, high = sign > 0 ? window.high : -window.low;
            if (low / unit > (double)from)
                from = low / unit > (double)limit ? limit + 1 : (int64_t)ceil(low / unit);
            int64_t last = high / unit < (double)limit ? (int64_t)floor(high / unit) : limit;
            if (slopes->from.apart)
                last = last < safe ? last : safe;
            else if (!slopes->all)
                from = from > safe ? from : safe + 1;
            /* In ascending order of the slope, so that what is skipped lies ahead. */
            int64_t q = slope_above(rules, (sign > 0 ? from : -last) - 1);
            const int64_t end = sign > 0 ? last : -from;
            const int64_t step = stride > unit ? (int64_t)fmin(stride / unit, (double)limit + 1) : 1;
            while (q <= end && slopes->work.steps < slopes->work.most_steps && !slopes->work.out_of_memory) {
                double others;
                const bool serves_here = set_limits(slopes, (double)q * unit, &others);
                const int64_t left = (int64_t)fmax(1, fmin(ceil(others / unit) - (double)q, 0x1p60));
                const int64_t done = serves_here ? try_numerator(slopes, q, n, left) : left;
                q = slope_above(rules, q + (done > step ? done : step) - 1);
            }
            slopes->work.complete &= q > end;
        }
    }
}
