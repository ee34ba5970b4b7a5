/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A slope is tried by computing the shifted products of all points once; the best constant for them then follows
 * in closed form, since the squared error is a parabola in it (saturated outputs: a descent from the parabola's
 * minimum). A real solution is thus never rounded: each slope is judged by the codes it gives.
 *
 * How far from the real least-squares slope b a better line may lie: a rounded line differs from the real one by
 * at most 1/2 at each code after its best shift, so its root of cost is at least sqrt(real cost) - sqrt(mass)/2, and
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
    rules->slope_terms = spec->constraints.slope_terms;
    rules->one_shift = spec->constraints.one_shift;
    rules->shift_max = rules->accumulator_bits - 1;
    rules->shift_min = -rules->shift_max;
    const int bits = offset_bits(storage, spec->form);
    rules->offset_limit = (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
}

int line_flat_shift(const struct line_rules *rules)
{
    return rules->shift_min > 0 ? rules->shift_min : rules->shift_max < 0 ? rules->shift_max : 0;
}

int line_one_shift(const struct line_rules *rules, const struct points *points, int trial)
{
    double steepest = 0;
    for (int k = 1; k < points->count; k++)
        steepest =
            fmax(steepest, fabs((points->target[k] - points->target[k - 1]) / (points->code[k] - points->code[k - 1])));
    int likely = rules->shift_max;
    while (likely > rules->shift_min && ldexp(steepest, likely) > (double)rules->slope_limit)
        likely--;
    /* Down and up in turn, then whatever is left on the longer side. */
    const int below = likely - rules->shift_min, above = rules->shift_max - likely,
              shorter = below < above ? below : above;
    if (trial <= 2 * shorter)
        return trial % 2 ? likely - (trial + 1) / 2 : likely + trial / 2;
    const int away = trial - shorter;
    return below > above ? likely - away : likely + away;
}

/* Largest sum of at most `terms` signed powers of two that is at most q, for q > 0. */
static int64_t sum_below(int64_t q, int terms)
{
    int64_t power = 1;
    while (power <= q / 2)
        power *= 2;
    if (terms == 1 || q == power)
        return power;
    /* From below by adding to this power of two, or by taking from the next one. */
    int64_t less = 1;
    while (less < 2 * power - q)
        less *= 2;
    const int64_t added = power + sum_below(q - power, 1), taken = 2 * power - less;
    return added > taken ? added : taken;
}

static int64_t sum_above(int64_t q, int terms)
{
    int64_t power = 1;
    while (power < q)
        power *= 2;
    if (terms == 1 || q == power)
        return power;
    int64_t more = 1;
    while (more < q - power / 2)
        more *= 2;
    const int64_t added = power / 2 + more, taken = power - sum_below(power - q, 1);
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
            const wide half = (wide)1 << (line->n - 1);
            if (!fits(rules, (rules->rounding == PWL_HALF_AWAY && p < 0 ? -p : p) + half))
                return false;
        }
        p = line->n >= 0 ? pwl_shr64((int64_t)p, line->n, (int)rules->rounding) : p * ((wide)1 << -line->n);
        if (!fits(rules, p))
            return false;
        if (rules->form != PWL_BIASED && !fits(rules, p + line->offset))
            return false;
    }
    return true;
}

int64_t line_value(const struct line_rules *rules, const struct line *line, int64_t origin, int64_t code)
{
    return pwl_line64((int)rules->form, (int)rules->rounding, (int32_t)line->q_b, code - origin, line->n, line->offset);
}

int64_t line_output(const struct line_rules *rules, const struct points *points, int begin, int k,
                    const struct line *line)
{
    const int64_t origin = rules->form == PWL_ANCHORED ? points->cell[begin] : rules->zp_x;
    return pwl_sat(line_value(rules, line, origin, (int64_t)points->code[k]), rules->qmin_y, rules->qmax_y);
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

double line_cost(const struct line_rules *rules, const struct points *points, int begin, int end,
                 const struct line *line)
{
    double cost = 0;
    for (int k = begin; k < end; k++) {
        const int64_t q = line_output(rules, points, begin, k, line);
        if (points->fixed && points->fixed[k] != POINT_FREE && points->fixed[k] != q)
            return INFINITY;
        cost += points_cost(points, k, (double)q);
    }
    return cost;
}

/* One segment's points, and room for one slope's products. */
struct trial {
    const struct line_rules *rules;
    const struct points *points;
    int begin, count;
    int64_t first, last; /* codes of the segment */
    struct line_limits limits;
    double x_max;             /* largest |X| */
    double mass;              /* of all points */
    double least_cost;        /* every target met by its nearest code: no line is better */
    bool clipped;             /* some target was clipped */
    bool near_limits;         /* saturation may serve: targets come close to the ends of the output range */
    const struct band *bands; /* null without a limit or a fixed value */
    int64_t *x, *product, *shifted;
    bool quick; /* fewer biases for each slope */
    struct line best;
    bool refused; /* the last slope met a point's best constant, but no proof */
};

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

/* What a line must beat to be kept. */
static double to_beat(const struct trial *trial)
{
    return fmin(trial->best.cost, trial->limits.cost);
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

    shift_all(trial, n, 0);
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
            shift_all(trial, n, bias);
            const double cost = cost_saturated(trial, 0, to_beat(trial), NULL);
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

int line_shift(const struct line_rules *rules, double slope, double x_max)
{
    const double magnitude = fabs(slope), ceiling = ldexp(1, rules->accumulator_bits - 1);
    x_max = fmax(x_max, 1);
    int n = (int)fmin(rules->shift_max, ceil(log2(x_max)) + 6);
    if (rules->rounding != PWL_FLOOR && n > rules->accumulator_bits - 2)
        n = rules->accumulator_bits - 2;
    if (rules->form == PWL_BIASED) {
        const double y = fmax(fabs((double)rules->qmin_y), fabs((double)rules->qmax_y)) + 1;
        while (n > rules->shift_min && y * ldexp(1, n) >= ceiling)
            n--;
    }
    while (n > rules->shift_min &&
           (magnitude * ldexp(1, n) > (double)rules->slope_limit + 0.5 || magnitude * ldexp(1, n) * x_max >= ceiling))
        n--;
    return n > rules->shift_min ? n : rules->shift_min;
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

/* Slopes in [low, high]: all on the grid when at most `effort`, else evenly spaced and then closer around the best. */
static void scan_slopes(struct trial *trial, double low, double high, int effort)
{
    enum { MOST_PRODUCTS = 1 << 22 };
    const int most = MOST_PRODUCTS / trial->count;
    /* Slopes that move no output by an eighth of the error expected, or of a code, are tried once. */
    const double alike = fmax(1, sqrt(to_beat(trial) / trial->mass)) / (8 * fmax(1, trial->x_max));
    const double even = (high - low) / (effort < most ? effort : most);
    const double stride = isfinite(alike) ? fmax(even, alike) : even;
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

struct window {
    double low, high;
};

/* Tries a real line's slope and widens the window of slopes by those around it that could still win. */
static void widen_window(struct trial *trial, const struct lsq_line *real, const double *weight, struct window *window)
{
    const double *code = trial->points->code + trial->begin;
    double spread = 0;
    for (int k = 0; k < trial->count; k++)
        spread += weight[k] * (code[k] - real->x_mean) * (code[k] - real->x_mean);
    try_real_slope(trial, real->slope);
    const double known = to_beat(trial);
    const double codes = (double)(trial->last - trial->first + 1);
    const double ceiling = known < INFINITY ? sqrt(known) : sqrt(real->sse) + sqrt(trial->mass * codes);
    const double reach = ceiling + 0.5 * sqrt(trial->mass);
    if (spread <= 0 || reach * reach < real->sse)
        return;
    const double half = sqrt((reach * reach - real->sse) / spread);
    window->low = fmin(window->low, real->slope - half);
    window->high = fmax(window->high, real->slope + half);
}

/* Points whose real output is not saturated get their mass as weight, the others 0; returns whether any changed. */
static bool weigh_unsaturated(const struct trial *trial, const struct lsq_line *real, double *weight)
{
    bool changed = false;
    for (int k = 0; k < trial->count; k++) {
        const double z = real->y_mean + real->slope * (trial->points->code[trial->begin + k] - real->x_mean);
        const bool inside = z > (double)trial->rules->qmin_y && z < (double)trial->rules->qmax_y;
        const double w = inside ? trial->points->mass[trial->begin + k] : 0;
        changed |= w != weight[k];
        weight[k] = w;
    }
    return changed;
}

/* Least squares over the points that the line itself does not saturate: from a first set of points, each line decides
 * the set of the next, until it stays. */
static void search_from(struct trial *trial, double *weight, struct window *window)
{
    enum { ROUNDS = 12 };
    const double *code = trial->points->code + trial->begin, *target = trial->points->target + trial->begin;
    struct lsq_line real;
    for (int round = 0; round < ROUNDS; round++) {
        if (lsq_fit(code, target, weight, (size_t)trial->count, &real))
            return;
        if (round == 0)
            widen_window(trial, &real, weight, window);
        else
            try_real_slope(trial, real.slope);
        if (!weigh_unsaturated(trial, &real, weight))
            break;
    }
    if (lsq_fit(code, target, weight, (size_t)trial->count, &real) == 0)
        widen_window(trial, &real, weight, window);
}

/* First sets: the points that are not clipped; all; the middle half, for a steep part between two ends that a line
 * may leave to saturation. */
static void search_rms(struct trial *trial, int effort)
{
    const struct points *points = trial->points;
    double *weight = malloc((size_t)trial->count * sizeof *weight);
    if (!weight)
        return;
    struct window window = {INFINITY, -INFINITY};
    memcpy(weight, points->weight + trial->begin, (size_t)trial->count * sizeof *weight);
    search_from(trial, weight, &window);
    if (trial->near_limits)
        for (int part = 0; part < 2; part++) {
            const int margin = part * trial->count / 4;
            for (int k = 0; k < trial->count; k++)
                weight[k] = k >= margin && k < trial->count - margin ? points->mass[trial->begin + k] : 0;
            search_from(trial, weight, &window);
        }
    free(weight);
    /* Where all the mass but for a trace lies at one point, any slope will do; beyond this one it saturates at once. */
    const double steepest = 2 * (double)(trial->rules->qmax_y - trial->rules->qmin_y + 1);
    scan_slopes(trial, fmax(window.low, -steepest), fmin(window.high, steepest), effort);
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
        if (trial->quick) /* the least squares would ask for slopes inside, too, or in vain */
            return;
    } else if (isfinite(range.slope_min) || isfinite(range.slope_max)) {
        /* Into saturation: as steep as the range asks for, or steeper. */
        enum { STEPS = 8 };
        const double base = isfinite(range.slope_min) ? range.slope_min : range.slope_max;
        const double away = isfinite(range.slope_min) ? 1 : -1;
        const double codes = (double)(trial->last - trial->first + 1);
        const double unit = (double)(trial->rules->qmax_y - trial->rules->qmin_y) / codes;
        for (int step = -STEPS; step <= STEPS && trial->best.cost == INFINITY; step++)
            try_real_slope(trial, base + away * ldexp(unit, step));
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
                          .quick = effort < LINE_THOROUGH,
                          .best = {.cost = INFINITY}};
    const int64_t origin = rules->form == PWL_ANCHORED ? trial.first : rules->zp_x;
    int64_t *memory = malloc(count * (3 * sizeof *memory + sizeof(struct band)));
    if (!memory)
        return false;
    trial.x = memory;
    trial.product = memory + count;
    trial.shifted = memory + 2 * count;
    struct band *bands = (struct band *)(memory + 3 * count);
    const bool banded = isfinite(limits.max_err) || points->fixed;
    bool all_clipped_alike = true;
    double target_min = INFINITY, target_max = -INFINITY;
    for (int k = 0; k < trial.count; k++) {
        trial.x[k] = (int64_t)points->code[begin + k] - origin;
        trial.least_cost += points_floor(points, begin + k);
        trial.mass += points->mass[begin + k];
        target_min = fmin(target_min, points->target[begin + k]);
        target_max = fmax(target_max, points->target[begin + k]);
        trial.clipped |= points->weight[begin + k] <= 0;
        all_clipped_alike &= points->weight[begin + k] <= 0 && points->target[begin + k] == points->target[begin];
        if (banded)
            bands[k] = band_at(points, rules->qmin_y, rules->qmax_y, begin + k, limits.max_err);
    }
    const double margin = (target_max - target_min) / 8;
    trial.near_limits =
        trial.clipped || target_min - margin < (double)rules->qmin_y || target_max + margin > (double)rules->qmax_y;
    trial.bands = banded ? bands : NULL;
    trial.x_max = fmax(fabs((double)trial.first - (double)origin), fabs((double)trial.last - (double)origin));

    try_slope(&trial, 0, line_flat_shift(rules));
    if (!all_clipped_alike && count > 1) {
        if (isfinite(limits.max_err))
            search_banded(&trial, end, (int)effort);
        else
            search_rms(&trial, (int)effort);
    }
    *line = trial.best;
    free(memory);
    return trial.best.cost < INFINITY;
}
