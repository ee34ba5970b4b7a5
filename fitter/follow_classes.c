/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "follow.h"

static bool classes_make_room(struct classes *classes, int room)
{
    enum { ARRAYS = 11 };
    if (classes->room >= room)
        return true;
    double *memory = realloc(classes->before, (size_t)room * ARRAYS * sizeof *memory);
    if (!memory)
        return false;
    *classes = (struct classes){.room = room,
                                .before = memory,
                                .d = memory + room,
                                .dd = memory + 2 * room,
                                .past = memory + 3 * room,
                                .past_c = memory + 4 * room,
                                .skip_low = memory + 5 * room,
                                .skip_high = memory + 6 * room,
                                .best = memory + 7 * room,
                                .cost = memory + 8 * room,
                                .low = (int64_t *)(memory + 9 * room),
                                .high = (int64_t *)(memory + 10 * room)};
    return true;
}

/* Copies class `from` to the place of class `to`. */
static void classes_copy(struct classes *classes, int to, int from)
{
    classes->low[to] = classes->low[from];
    classes->high[to] = classes->high[from];
    classes->before[to] = classes->before[from];
    classes->d[to] = classes->d[from];
    classes->dd[to] = classes->dd[from];
    classes->past[to] = classes->past[from];
    classes->past_c[to] = classes->past_c[from];
    classes->skip_low[to] = classes->skip_low[from];
    classes->skip_high[to] = classes->skip_high[from];
}

/* Makes a copy of class c right after it. */
static void classes_double(struct classes *classes, int c)
{
    const size_t size = (size_t)(classes->count++ - c) * sizeof *classes->d;
    memmove(classes->low + c + 1, classes->low + c, size);
    memmove(classes->high + c + 1, classes->high + c, size);
    memmove(classes->before + c + 1, classes->before + c, size);
    memmove(classes->d + c + 1, classes->d + c, size);
    memmove(classes->dd + c + 1, classes->dd + c, size);
    memmove(classes->past + c + 1, classes->past + c, size);
    memmove(classes->past_c + c + 1, classes->past_c + c, size);
    memmove(classes->skip_low + c + 1, classes->skip_low + c, size);
    memmove(classes->skip_high + c + 1, classes->skip_high + c, size);
}

/* Cuts a class in two at a phase, which is left out if it is a tie. Returns the first class from the phase on. */
static int classes_cut(struct classes *classes, int64_t phase, int tie)
{
    int from = 0, to = classes->count;
    while (from < to) {
        const int middle = from + (to - from) / 2;
        if (classes->high[middle] <= phase)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == classes->count || classes->low[from] > phase)
        return from;
    if (classes->low[from] < phase) {
        classes_double(classes, from);
        classes->high[from++] = phase;
    }
    classes->low[from] = phase + tie;
    if (classes->low[from] == classes->high[from]) { /* all of it */
        classes->count--;
        for (int c = from; c < classes->count; c++)
            classes_copy(classes, c, c + 1);
    }
    return from;
}

/* Beyond all constants. */
static const double none = 0x1p40;

/* Drops the classes that are given up. */
static void classes_compact(struct classes *classes)
{
    int kept = 0;
    for (int c = 0; c < classes->count; c++)
        if (classes->dd[c] < INFINITY || classes->past[c] < INFINITY)
            classes_copy(classes, kept++, c);
    classes->count = kept;
}

/* The constant of [low, high] nearest to the best one that is not skipped; what is skipped ends beyond one of the two.
 */
static double class_best(const struct classes *classes, int c, double mean, double low, double high)
{
    const double skip_low = classes->skip_low[c] - 1, skip_high = classes->skip_high[c] + 1;
    double m = nearest(mean);
    m = m < low ? low : m > high ? high : m;
    if (m <= skip_low || m >= skip_high)
        return m;
    return skip_low >= low && (skip_high > high || mean - skip_low < skip_high - mean) ? skip_low : skip_high;
}

static double class_cost(const struct classes *classes, int c, double m, double w)
{
    return classes->dd[c] - 2 * m * classes->d[c] + m * m * w;
}

/* The best of a class's lines whose next code, v, is the first at or beyond the limit ahead, which is `far` for
 * constant 0, when it costs less than that limit from the start on. */
static void class_reach_limit(const struct slopes *slopes, struct classes *classes, int c, double v, double far,
                              double w, double least)
{
    const double before = classes->before[c];
    const double low = slopes->rise > 0 ? far - v : far - before + 1,
                 high = slopes->rise > 0 ? far - before - 1 : far - v;
    if (low > high)
        return;
    const double m = class_best(classes, c, classes->d[c] / w, low, high), cost = class_cost(classes, c, m, w);
    if (low <= m && m <= high && cost < least && cost < classes->past[c]) {
        classes->past[c] = cost > 0 ? cost : 0;
        classes->past_c[c] = m;
    }
}

/* Skips the constants of the classes, whose codes at k are v and from `cut` on v + 1, which are as good from k on. */
static void classes_skip(struct slopes *slopes, int k, int64_t v, int cut, int64_t reference)
{
    struct classes *classes = &slopes->classes;
    const double spare = slopes->gain - points_apart(slopes->points, k), t = slopes->points->target[k],
                 reach = spare < 0 ? -1 : sqrt(spare / slopes->points->mass[k]);
    const double low = ceil(t - reach), high = floor(t + reach);
    for (int c = 0; c < classes->count; c++) {
        const double zero = (double)(v + reference) + (c >= cut ? 1 : 0);
        /* Those beyond a limit are as good as those at it. */
        classes->skip_low[c] = low <= (double)slopes->rules->qmin_y ? -none : low - zero;
        classes->skip_high[c] = high >= (double)slopes->rules->qmax_y ? none : high - zero;
        if (low > high) {
            classes->skip_low[c] = none;
            classes->skip_high[c] = -none;
        }
    }
}

/* A line of class c and constant m, relative to the reference, if it is the best of a range. */
static void classes_record(struct slopes *slopes, int c, int end, double m, int64_t reference, double cost)
{
    const int64_t constant = (int64_t)m + reference, low = slopes->classes.low[c] - slopes->addend;
    if (cost < slopes->range[end].cost)
        keep_line(slopes, end, phased(slopes) ? constant * pwl_shl64(1, slopes->n) + low : constant, cost);
}

void follow_classes(struct slopes *slopes)
{
    struct classes *classes = &slopes->classes;
    const struct points *points = slopes->points;
    const bool phases = phased(slopes);
    const int tie = phases && slopes->rules->rounding >= PWL_HALF_AWAY;
    const int64_t one = phases ? pwl_shl64(1, slopes->n) : 1;
    int64_t reference = 0;
    double w_sum = 0, paid_ahead = 0;
    bool any_past = false, referred = false;
    if (!classes_make_room(classes, points->count + 2)) {
        slopes->out_of_memory = true;
        return;
    }
    *classes->low = 0;
    *classes->high = one;
    *classes->before = *classes->d = *classes->dd = 0;
    *classes->past = *classes->past_c = INFINITY;
    *classes->skip_low = none;
    *classes->skip_high = -none;
    classes->count = 1;
    for (int k = slopes->gain >= 0 ? slopes->start - 1 : slopes->start; k < slopes->end && classes->count > 0; k++) {
        const double w = points->mass[k], t = points->target[k];
        const double far = (double)slopes->far_y, pays = points_cost(points, k, far), apart = points_apart(points, k);
        const int64_t p = product_at(slopes, k);
        const int64_t v = phases ? floor_shr(p, slopes->n) : pwl_shr64(p, slopes->n, (int)slopes->rules->rounding);
        if (tie && p == v * one)
            classes_cut(classes, 0, tie);
        const int cut = phases ? classes_cut(classes, one - (p - v * one), tie) : 1;
        if (!referred)
            reference = (int64_t)rint(t) - v;
        referred = true;
        if (k < slopes->start) {
            classes_skip(slopes, k, v, cut, reference);
            continue;
        }
        const double limit = slopes->limit[k + 1];
        if (!take_step(slopes))
            return;
        slopes->steps += classes->count / 8;
        slopes->last = k;
        if (k > slopes->start && pays < limit && slopes->rise != 0) {
            for (int c = 0; c < classes->count; c++)
                if (classes->dd[c] < INFINITY)
                    class_reach_limit(slopes, classes, c, (double)v + (c >= cut ? 1 : 0), far - (double)reference,
                                      w_sum, paid_ahead);
            any_past = true;
        }
        w_sum += w;
        paid_ahead += pays;
        /* From here on relative to the reference. */
        const double per_w = 1 / w_sum;
        for (int c = 0; c < classes->count; c++) {
            const double code = (double)v + (c >= cut ? 1 : 0), e = t - (double)reference - code;
            classes->before[c] = code;
            classes->d[c] += w * e;
            classes->dd[c] += w * e * e + apart;
            /* Before the limit ahead. */
            const double end = far - (double)reference - code;
            classes->best[c] = class_best(classes, c, classes->d[c] * per_w, slopes->rise < 0 ? end + 1 : -none,
                                          slopes->rise > 0 ? end - 1 : none);
            classes->cost[c] = class_cost(classes, c, classes->best[c], w_sum);
        }
        int kept = 0;
        for (int c = 0; c < classes->count; c++) {
            const double cost = classes->cost[c] > 0 ? classes->cost[c] : 0;
            if (any_past) {
                classes->past[c] += pays;
                if (classes->past[c] < slopes->range[k + 1].cost)
                    classes_record(slopes, c, k + 1, classes->past_c[c], reference, classes->past[c]);
            }
            if (cost < slopes->range[k + 1].cost)
                classes_record(slopes, c, k + 1, classes->best[c], reference, cost);
            if (!(cost < limit))
                classes->dd[c] = INFINITY;
            if (!(classes->past[c] < limit))
                classes->past[c] = INFINITY;
            kept += classes->dd[c] < INFINITY || classes->past[c] < INFINITY;
        }
        if (4 * kept < 3 * classes->count)
            classes_compact(classes);
    }
}

static void leaving_keep(struct classes *classes, int to, int from)
{
    classes->low[to] = classes->low[from];
    classes->high[to] = classes->high[from];
    classes->dd[to] = classes->dd[from];
}

/* Makes [low, phase) and [phase, high) of class c; false where there is no room. */
static bool leaving_split(struct slopes *slopes, int c, int64_t phase)
{
    struct classes *classes = &slopes->classes;
    if (classes->count == classes->room) { /* outputs of many bits, of which few errors are small */
        slopes->complete = false;
        return false;
    }
    classes_double(classes, c);
    classes->high[c] = classes->low[c + 1] = phase;
    return true;
}

/* Cuts the classes where their codes at point k differ, and leaves out ties. */
static void leaving_cut(struct slopes *slopes, int k, int tie)
{
    struct classes *classes = &slopes->classes;
    const int64_t p = product_at(slopes, k), one = pwl_shl64(1, slopes->n);
    int kept = 0;
    for (int c = 0; c < classes->count; c++) {
        const int64_t code = floor_shr(p + classes->low[c], slopes->n), next = (code + 1) * one - p;
        if (next < classes->high[c] && !leaving_split(slopes, c, next))
            classes->high[c] = next;
        classes->low[c] += tie && classes->low[c] == next - one;
        if (classes->low[c] < classes->high[c])
            leaving_keep(classes, kept++, c);
    }
    classes->count = kept;
}

/*
 * The lines of the slope in hand that were at the limit behind and leave it at the start, each class with one constant
 * and the offsets in [low, high), less the addend. A line leaves where its codes first reach the limit.
 */
void follow_leaving(struct slopes *slopes)
{
    enum { ROOM = 1 << 12 };
    struct classes *classes = &slopes->classes;
    const struct points *points = slopes->points;
    const struct line_rules *rules = slopes->rules;
    const bool phases = phased(slopes);
    const int tie = phases && rules->rounding >= PWL_HALF_AWAY, n = slopes->n;
    const int64_t one = phases ? pwl_shl64(1, n) : 1, near_y = slopes->near_first + (slopes->rise < 0);
    int64_t before = product_at(slopes, slopes->start - 1), after = product_at(slopes, slopes->start);
    if (!phases) {
        before = pwl_shr64(before, n, (int)rules->rounding);
        after = pwl_shr64(after, n, (int)rules->rounding);
    }
    int64_t low = near_y * one - (slopes->rise > 0 ? after : before);
    const int64_t high = near_y * one - (slopes->rise > 0 ? before : after);
    slopes->last = slopes->start;
    if (slopes->rise == 0 || low >= high)
        return;
    if (!classes_make_room(classes, points->count + 2 > ROOM ? points->count + 2 : ROOM)) {
        slopes->out_of_memory = true;
        return;
    }
    classes->count = 0;
    for (; low < high && classes->count < classes->room; classes->count++) {
        classes->low[classes->count] = low;
        classes->high[classes->count] = low = phases ? high : low + 1;
        classes->d[classes->count] = classes->dd[classes->count] = 0;
    }
    slopes->complete &= low >= high;
    if (phases)
        leaving_cut(slopes, slopes->start - 1, tie);
    for (int k = slopes->start; k < slopes->end && classes->count > 0; k++) {
        const double limit = slopes->limit[k + 1];
        const int64_t p = product_at(slopes, k), v = phases ? 0 : pwl_shr64(p, n, (int)rules->rounding);
        int kept = 0;
        if (!take_step(slopes))
            return;
        if (phases)
            leaving_cut(slopes, k, tie);
        slopes->steps += classes->count / 8;
        slopes->last = k;
        for (int c = 0; c < classes->count; c++) {
            const int64_t raw = phases ? floor_shr(p + classes->low[c], n) : v + classes->low[c];
            classes->dd[c] += points_cost(points, k, (double)saturated(slopes, raw));
            if (classes->dd[c] < slopes->range[k + 1].cost)
                keep_line(slopes, k + 1, classes->low[c] - slopes->addend, classes->dd[c]);
            if (classes->dd[c] < limit)
                leaving_keep(classes, kept++, c);
        }
        classes->count = kept;
    }
}
