/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A slope is tried by computing the shifted products of all points once; the best constant for them then follows
 * in closed form, since the squared error is a parabola in it (saturated outputs: a descent from the parabola's
 * minimum). A real solution is thus never rounded: each slope is judged by the codes it gives.
 *
 * How far from the real least-squares slope b a better line may lie: a rounded line differs from the real one by
 * at most 1/2 at each code after its best shift, so its root of cost is at least sqrt(real cost) - sqrt(codes)/2, and
 * the real cost grows by (slope - b)^2 * Sxx. Slopes outside that window cannot win.
 */
#include "line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/fixed.h>

#include "band.h"
#include "lsq.h"

__extension__ typedef __int128 wide;

void line_rules_init(struct line_rules *rules, const struct spec *spec)
{
    const pwl_storage storage = storage_for(spec->in.bits, spec->out.bits);
    const int slope_bits = spec->slope_bits ? spec->slope_bits : storage_bits(storage);
    rules->form = spec->form;
    rules->rounding = spec->rounding;
    rules->zp_x = spec->in.zero_point;
    rules->qmin_y = spec->out.qmin;
    rules->qmax_y = spec->out.qmax;
    rules->slope_limit = ((int64_t)1 << (slope_bits - 1)) - 1;
    rules->accumulator_bits = accumulator_bits(storage);
    rules->shift_limit = rules->accumulator_bits - 1;
    const int bits = offset_bits(storage, spec->form);
    rules->offset_limit = (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
}

static bool fits(const struct line_rules *rules, wide value)
{
    const wide limit = (wide)1 << (rules->accumulator_bits - 1);
    return -limit <= value && value < limit;
}

/* Every step is monotone in the code, so the two end codes are the extremes. */
bool line_provable(const struct line_rules *rules, const struct line *line, int64_t first, int64_t last)
{
    const wide origin = rules->form == PWL_ANCHORED ? first : rules->zp_x;
    if (line->offset > rules->offset_limit || line->offset < -rules->offset_limit - 1)
        return false;
    for (int end = 0; end < 2; end++) {
        const wide x = (wide)(end ? last : first) - origin;
        wide p = (wide)line->q_b * x;
        if (!fits(rules, x) || !fits(rules, p))
            return false;
        if (rules->form == PWL_BIASED)
            p += line->offset;
        if (!fits(rules, p))
            return false;
        if (line->n > 0 && rules->rounding != PWL_FLOOR) {
            const wide half = (wide)1 << (line->n - 1), magnitude = p < 0 ? -p : p;
            if (!fits(rules, magnitude + half))
                return false;
        }
        p = line->n >= 0 ? p >> line->n : p * ((wide)1 << -line->n);
        if (!fits(rules, p))
            return false;
        if (rules->form != PWL_BIASED && !fits(rules, p + line->offset))
            return false;
    }
    return true;
}

/* One segment's points, and room for one slope's products. */
struct trial {
    const struct line_rules *rules;
    const struct points *points;
    int begin, count;
    int64_t first, last; /* codes of the segment */
    struct line_limits limits;
    double x_max;             /* largest |X| */
    double width;             /* codes in the segment */
    bool clipped;             /* some target was clipped */
    const struct band *bands; /* null without a limit */
    int64_t *x, *product, *shifted;
    struct line best;
    bool refused; /* the last slope met a point's best constant, but no proof */
};

static double codes_at(const struct points *points, int k)
{
    return (double)(points->cell[k + 1] - points->cell[k]);
}

static void shift_all(struct trial *trial, int n, int64_t addend)
{
    const int64_t *p = trial->product;
    int64_t *s = trial->shifted;
    const int count = trial->count;
    switch (trial->rules->rounding) {
    case PWL_FLOOR:
        for (int k = 0; k < count; k++)
            s[k] = pwl_shr64(p[k] + addend, n, PWL_FLOOR);
        break;
    case PWL_HALF_UP:
        for (int k = 0; k < count; k++)
            s[k] = pwl_shr64(p[k] + addend, n, PWL_HALF_UP);
        break;
    case PWL_HALF_AWAY:
        for (int k = 0; k < count; k++)
            s[k] = pwl_shr64(p[k] + addend, n, PWL_HALF_AWAY);
        break;
    case PWL_HALF_EVEN:
        for (int k = 0; k < count; k++)
            s[k] = pwl_shr64(p[k] + addend, n, PWL_HALF_EVEN);
        break;
    }
}

/* Cost of shifted + c with saturation; INFINITY when a point misses its band or the cost reaches enough. */
static double cost_saturated(const struct trial *trial, int64_t c, double enough)
{
    const int64_t low = trial->rules->qmin_y, high = trial->rules->qmax_y;
    const double *target = trial->points->target + trial->begin;
    double cost = 0;
    for (int k = 0; k < trial->count; k++) {
        int64_t q = trial->shifted[k] + c;
        q = q < low ? low : q > high ? high : q;
        const double e = (double)q - target[k];
        if (fabs(e) > trial->limits.max_err)
            return INFINITY;
        cost += e * e * codes_at(trial->points, trial->begin + k);
        if (cost >= enough)
            return INFINITY;
    }
    return cost;
}

static void keep_if_better(struct trial *trial, int64_t q_b, int n, int64_t offset, double cost)
{
    const struct line line = {.q_b = q_b, .n = n, .offset = offset, .cost = cost};
    if (!(cost < trial->best.cost && cost < trial->limits.cost))
        return;
    if (line_provable(trial->rules, &line, trial->first, trial->last))
        trial->best = line;
    else
        trial->refused = true;
}

/* Least-cost integer in [low, high] of a convex function, walking from a start. */
static int64_t descend(const struct trial *trial, int64_t c, int64_t low, int64_t high, double *cost)
{
    enum { LONGEST_WALK = 64 };
    c = c < low ? low : c > high ? high : c;
    *cost = cost_saturated(trial, c, INFINITY);
    for (int direction = -1; direction <= 1; direction += 2)
        for (int step = 0; step < LONGEST_WALK && c + direction >= low && c + direction <= high; step++) {
            const double next = cost_saturated(trial, c + direction, *cost);
            if (!(next < *cost))
                break;
            *cost = next;
            c += direction;
        }
    return c;
}

/* Absolute and anchored: the constant is added after the shift. */
static void try_constants(struct trial *trial, int64_t q_b, int n)
{
    const struct points *points = trial->points;
    const double *target = points->target + trial->begin, *weight = points->weight + trial->begin;
    int64_t low = -trial->rules->offset_limit - 1, high = trial->rules->offset_limit;
    int64_t least = INT64_MAX, most = INT64_MIN;
    /* Differences are taken from the first one, so that their squares keep their digits. */
    double sum_w = 0, sum_d = 0, sum_dd = 0, reference = 0;
    bool any = false;

    shift_all(trial, n, 0);
    for (int k = 0; k < trial->count; k++) {
        const int64_t s = trial->shifted[k];
        least = s < least ? s : least;
        most = s > most ? s : most;
        if (weight[k] > 0) {
            if (!any)
                reference = rint(target[k] - (double)s);
            any = true;
            const double d = target[k] - (double)s - reference;
            sum_w += weight[k];
            sum_d += weight[k] * d;
            sum_dd += weight[k] * d * d;
        }
        if (trial->bands) {
            const struct band *band = &trial->bands[k];
            if (!band->open_low && band->low - s > low)
                low = band->low - s;
            if (!band->open_high && band->high - s < high)
                high = band->high - s;
        }
    }
    if (low > high) {
        trial->refused = !trial->bands;
        return;
    }
    int64_t c = (int64_t)rint(any ? reference + sum_d / sum_w : target[0] - (double)trial->shifted[0]);
    double cost;
    if (!trial->clipped) {
        c = c < low ? low : c > high ? high : c;
        if (least + c >= trial->rules->qmin_y && most + c <= trial->rules->qmax_y) {
            const double m = (double)c - reference;
            cost = fmax(0, sum_dd - 2 * m * sum_d + m * m * sum_w);
            keep_if_better(trial, q_b, n, c, cost);
            return;
        }
    }
    c = descend(trial, c, low, high, &cost);
    keep_if_better(trial, q_b, n, c, cost);
}

/* Biased: the constant is added before the shift, in steps of 2^-n of an output code. */
static void try_biases(struct trial *trial, int64_t q_b, int n)
{
    const struct points *points = trial->points;
    const double *target = points->target + trial->begin, *weight = points->weight + trial->begin;
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
    double step = n > 2 ? unit / 8 : 1;
    for (int round = 0; round < 2; round++) {
        double best = INFINITY, best_centre = centre;
        for (int m = -4; m <= 4; m++) {
            const double b = rint(fmin(fmax(centre + m * step, low), high));
            if (fabs(b) >= 0x1p62)
                continue;
            const int64_t bias = (int64_t)b;
            struct line line = {.q_b = q_b, .n = n, .offset = bias};
            if (!line_provable(trial->rules, &line, trial->first, trial->last)) {
                trial->refused = true;
                continue;
            }
            shift_all(trial, n, bias);
            const double cost = cost_saturated(trial, 0, INFINITY);
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

/* Largest useful right shift for a slope: q_b and the product fit, and the grid is not finer than 2^-6 of a code over
 * the segment's largest |X|. */
static int shift_for(const struct trial *trial, double slope)
{
    const struct line_rules *rules = trial->rules;
    const double magnitude = fabs(slope), x_max = fmax(trial->x_max, 1);
    const double ceiling = ldexp(1, rules->accumulator_bits - 1);
    int n = (int)fmin(rules->shift_limit, ceil(log2(x_max)) + 6);
    if (rules->rounding != PWL_FLOOR && n > rules->shift_limit - 1)
        n = rules->shift_limit - 1;
    if (rules->form == PWL_BIASED) {
        const double y = fmax(fabs((double)rules->qmin_y), fabs((double)rules->qmax_y)) + 1;
        while (n > -rules->shift_limit && y * ldexp(1, n) >= ceiling)
            n--;
    }
    while (n > -rules->shift_limit &&
           (rint(magnitude * ldexp(1, n)) > (double)rules->slope_limit || magnitude * ldexp(1, n) * x_max >= ceiling))
        n--;
    return n;
}

static void try_slope(struct trial *trial, int64_t q_b, int n)
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

/* The slope on its grid; a shorter slope where the longer one has no provable constant. */
static double try_real_slope(struct trial *trial, double slope)
{
    for (int n = shift_for(trial, slope);; n--) {
        const double unit = ldexp(1, -n);
        const int64_t q_b = (int64_t)rint(slope / unit);
        trial->refused = false;
        try_slope(trial, q_b, n);
        if (!trial->refused || q_b == 0 || n <= -trial->rules->shift_limit)
            return ((double)q_b + 1) * unit; /* the next slope worth trying */
    }
}

/* Slopes in [low, high]: all on the grid when at most `effort`, else evenly spaced and then closer around the best. */
static void scan_slopes(struct trial *trial, double low, double high, int effort)
{
    const double stride = (high - low) / effort;
    if (!(high >= low) || !isfinite(stride))
        return;
    for (double slope = low; slope <= high;) {
        const double next = try_real_slope(trial, slope);
        slope = fmax(next, slope + stride);
        if (stride <= 0 && next > high)
            break;
    }
    if (trial->best.cost == INFINITY || effort < LINE_THOROUGH)
        return;
    for (double closer = stride / 4; closer > ldexp(1, -trial->best.n) / 2; closer /= 4) {
        const double centre = ldexp((double)trial->best.q_b, -trial->best.n);
        for (int m = -4; m <= 4; m++)
            if (m)
                try_real_slope(trial, centre + m * closer);
    }
}

/* Least squares of the chosen points: all, or only those that were not clipped. Adds a window around its slope. */
static void search_around(struct trial *trial, const struct lsq_line *real, double spread, int effort)
{
    try_real_slope(trial, real->slope);
    if (spread <= 0)
        return;
    const double known = fmin(trial->best.cost, trial->limits.cost);
    const double ceiling = known < INFINITY ? sqrt(known) : sqrt(real->sse) + trial->width;
    const double reach = ceiling + 0.5 * sqrt(trial->width);
    if (reach * reach < real->sse)
        return;
    const double window = sqrt((reach * reach - real->sse) / spread);
    scan_slopes(trial, real->slope - window, real->slope + window, effort);
}

static double spread_of(const double *x, const double *w, double mean, int count)
{
    double spread = 0;
    for (int k = 0; k < count; k++)
        spread += w[k] * (x[k] - mean) * (x[k] - mean);
    return spread;
}

static void search_rms(struct trial *trial, int effort)
{
    const struct points *points = trial->points;
    const double *code = points->code + trial->begin, *target = points->target + trial->begin;
    struct lsq_line real;
    if (lsq_fit(code, target, points->weight + trial->begin, (size_t)trial->count, &real) == 0)
        search_around(trial, &real, spread_of(code, points->weight + trial->begin, real.x_mean, trial->count), effort);
    if (trial->clipped) {
        double *all = malloc((size_t)trial->count * sizeof *all);
        if (!all)
            return;
        for (int k = 0; k < trial->count; k++)
            all[k] = codes_at(points, trial->begin + k);
        if (lsq_fit(code, target, all, (size_t)trial->count, &real) == 0)
            search_around(trial, &real, spread_of(code, all, real.x_mean, trial->count), effort);
        free(all);
    }
}

static void search_banded(struct trial *trial, int end, int effort)
{
    struct band_range range;
    struct diag ignored;
    if (band_reach(trial->points, trial->rules->qmin_y, trial->rules->qmax_y, trial->begin, end, trial->limits.max_err,
                   &range, &ignored) ||
        range.end < end)
        return;
    if (isfinite(range.slope_min) && isfinite(range.slope_max)) {
        /* Only the slopes' own grid may have a member just outside a narrow window, never inside a wider one. */
        scan_slopes(trial, range.slope_min, range.slope_max, effort);
        try_real_slope(trial, 0.5 * (range.slope_min + range.slope_max));
    }
    search_rms(trial, effort);
}

bool line_fit(const struct line_rules *rules, const struct points *points, int begin, int end,
              struct line_limits limits, enum line_effort effort, struct line *line)
{
    const size_t count = (size_t)(end - begin);
    struct trial trial = {.rules = rules,
                          .points = points,
                          .begin = begin,
                          .count = (int)count,
                          .first = points->cell[begin],
                          .last = points->cell[end] - 1,
                          .limits = limits,
                          .best = {.cost = INFINITY}};
    const int64_t origin = rules->form == PWL_ANCHORED ? trial.first : rules->zp_x;
    int64_t *memory = malloc(count * (3 * sizeof *memory + sizeof(struct band)));
    if (!memory)
        return false;
    trial.x = memory;
    trial.product = memory + count;
    trial.shifted = memory + 2 * count;
    struct band *bands = (struct band *)(memory + 3 * count);
    bool all_clipped_alike = true;
    for (int k = 0; k < trial.count; k++) {
        trial.x[k] = (int64_t)points->code[begin + k] - origin;
        trial.clipped |= points->weight[begin + k] <= 0;
        all_clipped_alike &= points->weight[begin + k] <= 0 && points->target[begin + k] == points->target[begin];
        if (isfinite(limits.max_err))
            bands[k] = band_at(points, rules->qmin_y, rules->qmax_y, begin + k, limits.max_err);
    }
    trial.bands = isfinite(limits.max_err) ? bands : NULL;
    trial.width = (double)(trial.last - trial.first + 1);
    trial.x_max = fmax(fabs((double)trial.first - (double)origin), fabs((double)trial.last - (double)origin));

    try_slope(&trial, 0, 0);
    if (!all_clipped_alike && count > 1) {
        if (trial.bands)
            search_banded(&trial, end, (int)effort);
        else
            search_rms(&trial, (int)effort);
    }
    *line = trial.best;
    free(memory);
    return trial.best.cost < INFINITY;
}
