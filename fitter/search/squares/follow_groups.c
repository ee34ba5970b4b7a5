/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "follow.h"

/*
 * Whether any bias of a slope can be of use, before each is followed for itself. Biases are taken in groups of
 * neighbours. The lines of a group give the same codes but at few points, where they have either of two neighbouring
 * codes; what those points cost is bounded from below, and so a group is followed like one line.
 */
enum { GROUPS = SLOPES_GROUPS };

/* The groups of use, and the last end where they are; returns whether there are any. */
static bool keep_parts(struct slopes *slopes, int count, const int64_t *edge, const bool *of_use, int last_use)
{
    slopes->parts = 0;
    for (int g = 0; g < count; g++) {
        if (!of_use[g] || edge[g] == edge[g + 1])
            continue;
        if (slopes->parts > 0 && slopes->part[slopes->parts - 1].high == edge[g])
            slopes->part[slopes->parts - 1].high = edge[g + 1];
        else
            slopes->part[slopes->parts++] = (struct phases){edge[g], edge[g + 1]};
    }
    slopes->until = last_use;
    return slopes->parts > 0;
}

/* All goes by lines that rise: others are turned over. */
struct groups {
    int count;
    int64_t edge[GROUPS + 1];                /* group g has the phases [edge[g], edge[g + 1]) */
    double from[GROUPS + 1];                 /* the same */
    double low[GROUPS], high[GROUPS];        /* codes of constant 0 at the point in hand */
    double before[GROUPS];                   /* the least of them at the point before */
    double least[GROUPS], most[GROUPS];      /* constants, relative to the reference */
    double w[GROUPS], d[GROUPS], dd[GROUPS]; /* sums of weight * (target - code - reference)^(0, 1, 2) */
    double past[GROUPS];                     /* no line that has run into the limit ahead costs less */
    double cost[GROUPS];                     /* and no line at all */
    double reference, paid_ahead;
    double share, less; /* what a point with two codes counts, see add_codes */
};

/* Edges at phases where codes change, about as many in each group. */
static void choose_edges(const struct slopes *slopes, struct groups *groups, int first)
{
    enum { SHORT = 32, EACH = 2, MOST = EACH * GROUPS - 1 };
    const int64_t one = pwl_shl64(1, slopes->n);
    const int length = slopes->end - first;
    groups->count = length < SHORT ? GROUPS / 2 : GROUPS;
    const int samples = EACH * groups->count - 1;
    int64_t sample[MOST];
    for (int s = 0; s < samples; s++) {
        const int64_t cut = -product_at(slopes, first + length * s / samples) & (one - 1);
        int at = s;
        for (; at > 0 && sample[at - 1] > cut; at--)
            sample[at] = sample[at - 1];
        sample[at] = cut;
    }
    groups->edge[0] = 1;
    for (int g = 1; g < groups->count; g++)
        groups->edge[g] = sample[EACH * g - 1] > 0 ? sample[EACH * g - 1] : 1;
    groups->edge[groups->count] = one + 1;
    for (int g = 0; g <= groups->count; g++)
        groups->from[g] = (double)groups->edge[g];
}

static void find_codes(const struct slopes *slopes, struct groups *groups, int k, double up)
{
    const int64_t p = product_at(slopes, k), v = floor_shr(p, slopes->n), one = pwl_shl64(1, slopes->n);
    const double code = up * (double)v, cut = (double)(one - (p - pwl_shl64(v, slopes->n)));
    const double sure = slopes->ties == TIES_NONE ? cut : cut + 1; /* a tie may be rounded down */
    for (int g = 0; g < groups->count; g++) {
        /* From the phase `cut` on one more. */
        const double first = groups->from[g] >= sure ? up : 0, last = groups->from[g + 1] > cut ? up : 0;
        groups->low[g] = code + smaller(first, last);
        groups->high[g] = code + larger(first, last);
    }
}

/* The least cost so far of constants within [first, last] too. */
static inline double least_cost(const struct groups *groups, int g, double first, double last)
{
    first = larger(first, groups->least[g]);
    last = smaller(last, groups->most[g]);
    const double m = larger(first, smaller(last, nearest(groups->d[g] / groups->w[g])));
    const double none = first > last ? INFINITY : 0;
    return groups->dd[g] - m * (2 * groups->d[g] - m * groups->w[g]) + none;
}

/* Lines that are the first time at or beyond the limit ahead, which cost less than that limit from the start on. */
static void reach_limit(struct groups *groups, double far)
{
    for (int g = 0; g < groups->count; g++) {
        const double first = far - groups->high[g], last = far - groups->before[g] - 1;
        const double cost = least_cost(groups, g, first, last);
        const double dear = cost < groups->paid_ahead ? 0 : INFINITY;
        groups->past[g] = smaller(groups->past[g], cost + dear);
    }
}

/*
 * Takes in a point. One with two codes, e - 1/2 and e + 1/2 from its target, costs at least (|e| - 1/2)^2, and that is
 * at least (1 - 1/2r) e^2 + 1/4 - r/2 for any r >= 1/2, as |e| <= e^2/2r + r/2: like a point of lesser weight. It is
 * good for e about r, what points are off by where lines are given up. Where that is less than a code or so, the
 * distance to the nearest code is the better bound.
 */
static void add_codes(struct groups *groups, double t, double w, double floor, double apart, double pays)
{
    const double less = groups->share > 0 ? w * groups->less : floor - apart, drop = 1 - groups->share;
    for (int g = 0; g < groups->count; g++) {
        const double both = groups->high[g] - groups->low[g], weight = w * (1 - both * drop);
        const double e = t - groups->reference - 0.5 * (groups->low[g] + groups->high[g]);
        groups->w[g] += weight;
        groups->d[g] += weight * e;
        groups->dd[g] += weight * e * e + both * less + apart;
        groups->past[g] += pays;
        groups->before[g] = groups->low[g];
    }
    groups->paid_ahead += pays;
}

/* What lines cost that are before the limit ahead, or past it; returns the least. */
static double find_costs(struct groups *groups, double far)
{
    double least = INFINITY;
    for (int g = 0; g < groups->count; g++)
        groups->cost[g] = smaller(groups->past[g], least_cost(groups, g, -INFINITY, far - 1 - groups->low[g]));
    for (int g = 0; g < groups->count; g++)
        least = smaller(least, groups->cost[g]);
    return least;
}

/* Whether some line of use may be past the limit ahead. */
static bool any_past(const struct groups *groups, double limit)
{
    double least = INFINITY;
    for (int g = 0; g < groups->count; g++)
        least = smaller(least, groups->past[g]);
    return least < limit;
}

/* Lines that begin as an entry says. */
static void bound_constants(const struct slopes *slopes, struct groups *groups, const struct entry *given, int first,
                            double up)
{
    const struct entry turned = {-given->high, -given->low, -given->high_before, -given->low_before},
                       *entry = up > 0 ? given : &turned;
    double high[GROUPS];
    find_codes(slopes, groups, first - 1, up);
    for (int g = 0; g < groups->count; g++) {
        groups->before[g] = groups->low[g];
        high[g] = groups->high[g] + groups->reference;
    }
    find_codes(slopes, groups, first, up);
    for (int g = 0; g < groups->count; g++) {
        const double reference = groups->reference;
        const struct span span = span_of(entry, groups->low[g] + reference, groups->high[g] + reference,
                                         groups->before[g] + reference, high[g]);
        groups->least[g] = span.least;
        groups->most[g] = span.most;
    }
}

bool follow_groups(struct slopes *slopes, const struct lines *lines)
{
    enum { SELDOM = 4 };
    static const double some = 0x1p-100; /* mass, lest there be none */
    const double up = slopes->rise < 0 ? -1 : 1, far = up * (double)slopes->far_y;
    const int first = lines->first;
    const double off = sqrt(larger(0, slopes->limit[slopes->end]) / (slopes->end - first));
    struct groups groups = {
        .share = off > 0.75 ? 1 - 0.5 / off : 0, .less = 0.25 - 0.5 * off, .paid_ahead = lines->leave ? INFINITY : 0};
    bool of_use[GROUPS] = {false};
    int last_use = first;
    bool ends = false;
    double least = 0;
    choose_edges(slopes, &groups, first);
    for (int g = 0; g < groups.count; g++) {
        groups.w[g] = some;
        groups.dd[g] = lines->paid;
        groups.past[g] = INFINITY;
        groups.least[g] = -INFINITY;
        groups.most[g] = INFINITY;
    }
    find_codes(slopes, &groups, first, up);
    groups.reference = nearest(up * slopes->points->target[first]) - groups.low[0];
    if (lines->entry)
        bound_constants(slopes, &groups, lines->entry, first, up);
    for (int k = first; k < slopes->end; k++) {
        const double w = slopes->points->mass[k], t = up * slopes->points->target[k];
        const double pays = points_cost(slopes->points, k, up * far), apart = points_apart(slopes->points, k);
        const double limit = slopes->limit[k + 1], useful = slopes->useful[k + 1];
        if (!take_step(slopes))
            return false;
        note_point(slopes, k);
        find_codes(slopes, &groups, k, up);
        if ((lines->leave || k > first) && pays < limit)
            reach_limit(&groups, far - groups.reference);
        add_codes(&groups, t, w, slopes->floor_sum[k + 1] - slopes->floor_sum[k], apart, pays);
        ends |= useful > -INFINITY;
        if (!ends && !any_past(&groups, limit))
            slopes->at_once = k + 1;
        /* Costs never fall. */
        if (least >= useful && k % SELDOM != 0)
            continue;
        least = find_costs(&groups, far - groups.reference);
        if (least < useful) {
            for (int g = 0; g < groups.count; g++)
                of_use[g] |= groups.cost[g] < useful;
            last_use = k + 1;
        }
        if (!(least < limit))
            break;
    }
    return keep_parts(slopes, groups.count, groups.edge, of_use, last_use);
}
