/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far from the real least-squares slope b a better line may lie: a rounded line differs from the real one by
 * at most 1/2 at each code after its best shift, so its root of cost is at least sqrt(real cost) - sqrt(mass)/2, and
 * the real cost grows by (slope - b)^2 * Sxx. Slopes outside that window cannot win.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hulls.h"
#include "line_trial.h"
#include "real_line_fit.h"

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
    /* Where all the mass but for a trace lies at one point, any slope will do. */
    const double steepest = line_steepest(trial->rules);
    scan_slopes(trial, fmax(window.low, -steepest), fmin(window.high, steepest), effort);
}

static void search_banded(struct trial *trial, int end, int effort)
{
    struct window slopes;
    struct diag ignored;
    if (hulls_reach(trial->points, trial->rules->qmin_y, trial->rules->qmax_y, trial->begin, end, trial->limits.max_err,
                    &slopes, &ignored) < end)
        return;
    if (isfinite(slopes.low) && isfinite(slopes.high)) {
        /* Only the slopes' own grid may have a member just outside a narrow window, never inside a wider one. */
        scan_slopes(trial, slopes.low, slopes.high, effort);
        try_real_slope(trial, 0.5 * (slopes.low + slopes.high));
        if (trial->quick) /* the least squares would ask for slopes inside, too, or in vain */
            return;
    } else if (isfinite(slopes.low) || isfinite(slopes.high)) {
        /* Into saturation: as steep as the range asks for, or steeper. */
        enum { STEPS = 8 };
        const double base = isfinite(slopes.low) ? slopes.low : slopes.high;
        const double away = isfinite(slopes.low) ? 1 : -1;
        const double codes = (double)(trial->last - trial->first + 1);
        const double unit = (double)(trial->rules->qmax_y - trial->rules->qmin_y) / codes;
        for (int step = -STEPS; step <= STEPS && trial->best.cost == INFINITY; step++)
            try_real_slope(trial, base + away * ldexp(unit, step));
    }
    search_rms(trial, effort);
}

static void extend(struct extent *extent, int k)
{
    extent->first = extent->first < 0 ? k : extent->first;
    extent->last = k;
}

/* The means of codes and targets, which all slopes share. */
static void find_means(struct trial *trial)
{
    const struct points *points = trial->points;
    const double *target = points->target + trial->begin, *weight = points->weight + trial->begin;
    const int last = trial->count - 1;
    double x = 0, y = 0;
    trial->inside = trial->below = trial->above = (struct extent){-1, -1};
    for (int k = 0; k <= last; k++) {
        trial->weight += weight[k];
        x += weight[k] * (double)(trial->x[k] - trial->x[last]);
        y += weight[k] * (target[k] - target[last]);
        if (weight[k] > 0)
            trial->apart += points_apart(points, trial->begin + k);
        extend(weight[k] > 0                               ? &trial->inside
               : target[k] <= (double)trial->rules->qmin_y ? &trial->below
                                                           : &trial->above,
               k);
    }
    trial->x_mean = (double)trial->x[last] + (trial->weight > 0 ? x / trial->weight : 0);
    trial->y_mean = target[last] + (trial->weight > 0 ? y / trial->weight : 0);
}

static void find_sums(struct trial *trial)
{
    trial->before[0] = (struct sums){0};
    for (int k = 0; k < trial->count; k++) {
        const double w = trial->points->mass[trial->begin + k];
        const struct sums *before = &trial->before[k];
        trial->before[k + 1] = (struct sums){
            .w = before->w + w,
            .x = before->x + w * ((double)trial->x[k] - trial->x_mean),
            .y = before->y + w * (trial->points->target[trial->begin + k] - trial->y_mean),
            .at_low = before->at_low + points_cost(trial->points, trial->begin + k, (double)trial->rules->qmin_y),
            .at_high = before->at_high + points_cost(trial->points, trial->begin + k, (double)trial->rules->qmax_y),
        };
    }
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
    const int64_t origin = line_origin(rules, trial.first);
    int64_t *memory = malloc(count * (sizeof *trial.x + 3 * sizeof *trial.shifted + sizeof(struct band)) +
                             (count + 1) * (sizeof *trial.before + sizeof *trial.missed));
    if (!memory)
        return false;
    trial.x = memory;
    trial.shifted = (double *)(memory + count);
    trial.low = trial.shifted + count;
    trial.high = trial.low + count;
    struct band *bands = (struct band *)(trial.high + count);
    trial.before = (struct sums *)(bands + count);
    trial.missed = (struct misses *)(trial.before + count + 1);
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
        if (!banded)
            continue;
        bands[k] = band_at(points, rules->qmin_y, rules->qmax_y, begin + k, limits.max_err);
        trial.low[k] = bands[k].open_low ? -INFINITY : (double)bands[k].low;
        trial.high[k] = bands[k].open_high ? INFINITY : (double)bands[k].high;
    }
    find_means(&trial);
    const double margin = (target_max - target_min) / 8;
    trial.near_limits =
        trial.clipped || target_min - margin < (double)rules->qmin_y || target_max + margin > (double)rules->qmax_y;
    find_sums(&trial);
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
