/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "complete_search.h"
#include "follow.h"

enum { GROUPS = SLOPES_GROUPS };

/* Lines of neighbouring slopes and, of biases with phases, of neighbouring phases. At a point they have the codes from
 * `low` to `high`, and what it costs is bounded from below; so they are followed like one line. */
struct bundle {
    enum direction way;
    int64_t first, last; /* numerators */
    int n, groups;       /* groups of phases */
    bool is_phased, ties;
    double one, edge[GROUPS + 1];
    double low[GROUPS], high[GROUPS];        /* codes of constant 0 at the point in hand */
    double least[GROUPS], most[GROUPS];      /* constants, relative to the reference */
    double w[GROUPS], d[GROUPS], dd[GROUPS]; /* sums of weight * (target - code - reference)^(0, 1, 2) */
    double past[GROUPS];                     /* cost of the lines that have run into the limit ahead */
    double reference;
    double off; /* what points are off by where lines are given up */
};

/* The codes of the least and the greatest line; at ties that is whichever way they are rounded. */
static inline void find_codes(const struct slopes *slopes, struct bundle *bundle, int groups, int k)
{
    const int64_t origin = bundle->is_phased ? (int64_t)slopes->points->code[slopes->start] : slopes->origin;
    const int64_t x = (int64_t)slopes->points->code[k] - origin;
    const int64_t p = (x < 0 ? bundle->last : bundle->first) * x, q = (x < 0 ? bundle->first : bundle->last) * x;
    const int64_t half = slopes->rules->rounding != PWL_FLOOR ? pwl_shl64(1, bundle->n - 1) : 0;
    if (!bundle->is_phased) {
        bundle->low[0] = (double)floor_shr(p + half - bundle->ties, bundle->n);
        bundle->high[0] = (double)floor_shr(q + half, bundle->n);
        return;
    }
    const int64_t v = floor_shr(p, bundle->n), u = floor_shr(q, bundle->n), mask = pwl_shl64(1, bundle->n) - 1;
    const double from = (double)(p & mask), to = (double)(q & mask);
    for (int g = 0; g < groups; g++) {
        const double a = from + bundle->edge[g], b = to + bundle->edge[g + 1];
        bundle->low[g] = (double)v + (bundle->ties ? (a > 0) + (a > bundle->one) - 1 : (a >= bundle->one));
        bundle->high[g] = (double)u + (b > bundle->one);
    }
}

/* Lines that begin as the entry says. */
static void bound_constants(const struct slopes *slopes, struct bundle *bundle, int groups)
{
    const double reference = bundle->reference;
    double low[GROUPS], high[GROUPS];
    find_codes(slopes, bundle, groups, slopes->start - 1);
    for (int g = 0; g < groups; g++) {
        low[g] = bundle->low[g] + reference;
        high[g] = bundle->high[g] + reference;
    }
    find_codes(slopes, bundle, groups, slopes->start);
    for (int g = 0; g < groups; g++) {
        const struct span span =
            span_of(slopes->entry, bundle->low[g] + reference, bundle->high[g] + reference, low[g], high[g]);
        bundle->least[g] = span.least;
        bundle->most[g] = span.most;
    }
}

/*
 * A point with codes up to h away from the middle one, e from its target, costs at least (|e| - h)^2, and that is at
 * least (1 - h/r) e^2 + h^2 - h r for any r >= h, as |e| <= e^2/2r + r/2: like a point of lesser weight. It is good for
 * e about r, what points are off by where lines are given up.
 */
static inline void add_codes(const struct slopes *slopes, struct bundle *bundle, int groups, int k)
{
    const double w = slopes->points->mass[k], t = slopes->points->target[k] - bundle->reference, r = bundle->off;
    const double floor = slopes->floor_sum[k + 1] - slopes->floor_sum[k], apart = points_apart(slopes->points, k);
    const double less = 1 / r, widest = larger(0, r - 0.25);
    for (int g = 0; g < groups; g++) {
        const double h = 0.5 * (bundle->high[g] - bundle->low[g]), e = t - 0.5 * (bundle->low[g] + bundle->high[g]);
        const bool good = h <= widest;
        const double weight = good ? w * (1 - h * less) : 0;
        bundle->w[g] += weight;
        bundle->d[g] += weight * e;
        bundle->dd[g] += weight * e * e + (good ? w * h * (h - r) + apart : floor);
    }
}

/* The least cost so far of constants within [low, high] too. */
static inline double cost_within(const struct bundle *bundle, int g, double low, double high)
{
    low = larger(low, bundle->least[g]);
    high = smaller(high, bundle->most[g]);
    const double m = larger(low, smaller(high, nearest(bundle->d[g] / bundle->w[g])));
    return low <= high ? bundle->dd[g] - m * (2 * bundle->d[g] - m * bundle->w[g]) : INFINITY;
}

/* Lines whose code at the point in hand is the first at the limit ahead. */
static inline void reach_limit(struct bundle *bundle, int groups, double far)
{
    for (int g = 0; g < groups; g++) {
        const double cost = bundle->way == UP ? cost_within(bundle, g, far - bundle->high[g], INFINITY)
                                              : cost_within(bundle, g, -INFINITY, far - bundle->low[g]);
        bundle->past[g] = smaller(bundle->past[g], cost);
    }
}

/* Of lines before the limit ahead, or past it. */
static inline double least_cost(const struct bundle *bundle, int groups, double far)
{
    double least = INFINITY;
    for (int g = 0; g < groups; g++) {
        const double cost = bundle->way == UP ? cost_within(bundle, g, -INFINITY, far - 1 - bundle->low[g])
                                              : cost_within(bundle, g, far + 1 - bundle->high[g], INFINITY);
        least = smaller(least, smaller(cost, bundle->past[g]));
    }
    return least;
}

/* Up to where no line can be of use any more. */
static inline bool follow(struct slopes *slopes, struct bundle *bundle, const int groups, int begin,
                          const double *useful, const double *most)
{
    const double *floor_sum = slopes->floor_sum;
    const double far = (double)(bundle->way == UP ? slopes->rules->qmax_y : slopes->rules->qmin_y),
                 limit_ahead = far - bundle->reference;
    bool of_use = false;
    int k = begin;
    for (; k < slopes->end; k++) {
        const double floor = floor_sum[k + 1] - floor_sum[begin], pays = points_cost(slopes->points, k, far);
        const double limit = most[k + 1] + floor, use = useful[k + 1] + floor;
        find_codes(slopes, bundle, groups, k);
        if ((slopes->leaves || k > slopes->start) && pays < limit) /* else the line is flat */
            reach_limit(bundle, groups, limit_ahead);
        add_codes(slopes, bundle, groups, k);
        bool may_be = false, goes_on = false;
        for (int g = 0; g < groups; g++) {
            /* Real constants cost no more. */
            const double w = bundle->w[g], d = bundle->d[g];
            const double q = larger(bundle->least[g] * w, smaller(bundle->most[g] * w, d)), gain = q * (2 * d - q),
                         dd = gain + fabs(gain) * 1e-12;
            bundle->past[g] += pays;
            goes_on |= (bundle->dd[g] - limit) * w < dd || bundle->past[g] < limit;
            may_be |= (bundle->dd[g] - use) * w < dd || bundle->past[g] < use;
        }
        if (may_be) {
            const double least = least_cost(bundle, groups, limit_ahead) * (1 - 1e-12) - floor;
            of_use = least < useful[k + 1];
        }
        if (of_use || !goes_on)
            break;
    }
    slopes->steps += (k - begin) * (groups > 1 ? groups / 2 : 1) / 2;
    take_step(slopes);
    return of_use;
}

bool follow_bundle(struct slopes *slopes, int64_t low, int64_t high, int n)
{
    enum { SHORT = 32 };
    static const double some = 0x1p-100; /* mass, lest there be none */
    const enum direction way = low < 0 ? DOWN : UP;
    const struct core *core = slopes->core[way];
    const double *floor_sum = slopes->floor_sum;
    const int start = slopes->start, end = slopes->end;
    /* What the points up to an end may cost beyond their floor, and up to there or later. */
    double useful[EXACT_POINTS + 1], most[EXACT_POINTS + 2];
    int begin = start;
    most[end + 1] = -INFINITY;
    for (int j = end; j > start; j--) {
        useful[j] = slopes->useful[j] - (floor_sum[j] - floor_sum[start]);
        most[j] = larger(most[j + 1], useful[j]);
        if (useful[j] > -INFINITY)
            begin = core[j].begin > begin ? core[j].begin : begin;
    }
    /* Of a range whose points may all be at the limit behind nothing is known. */
    for (int k = start + 1; k <= begin; k++)
        if (useful[k] > -INFINITY)
            return true;

    const bool is_phased = slopes->rules->form == PWL_BIASED;
    const double off = sqrt(larger(0, slopes->limit[slopes->end]) / (slopes->end - start));
    struct bundle bundle = {.way = way,
                            .first = low,
                            .last = high,
                            .n = n,
                            .is_phased = is_phased,
                            .groups = !is_phased                    ? 1
                                      : slopes->end - start < SHORT ? GROUPS / 2
                                                                    : GROUPS,
                            .ties = slopes->rules->rounding >= PWL_HALF_AWAY,
                            .one = ldexp(1, n),
                            .off = larger(off, 0x1p-10)};
    for (int g = 0; g <= bundle.groups; g++)
        bundle.edge[g] = bundle.one * g / bundle.groups;
    for (int g = 0; g < bundle.groups; g++) {
        bundle.w[g] = some;
        bundle.past[g] = INFINITY;
        bundle.least[g] = -INFINITY;
        bundle.most[g] = INFINITY;
    }
    find_codes(slopes, &bundle, bundle.groups, begin);
    bundle.reference = nearest(slopes->points->target[begin]) - bundle.low[0];
    if (slopes->entry)
        bound_constants(slopes, &bundle, bundle.groups);
    switch (bundle.groups) {
    case 1:
        return follow(slopes, &bundle, 1, begin, useful, most);
    case GROUPS:
        return follow(slopes, &bundle, GROUPS, begin, useful, most);
    default:
        return follow(slopes, &bundle, GROUPS / 2, begin, useful, most);
    }
}
