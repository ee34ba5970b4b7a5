/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "follow.h"

#include <math.h>
#include <stdlib.h>

/*
 * Lines of one slope and start that give the same codes so far, but for the constant. Their codes before saturation
 * are v + c, where c is a multiple of `unit`. Biased, n > 0: bias + addend = c * 2^n + phase, low <= phase < high.
 */
struct node {
    int64_t low, high;
    int64_t least, most;         /* offsets within the rules at every code so far */
    bool tied;                   /* its only phase met a tie: followed by its constants alone */
    int64_t free_low, free_high; /* constants that give fixed points their codes without saturation */
    double w, d, dd;             /* sums of mass * (target - v - reference)^(0, 1, 2) */
    int64_t reference, before;   /* before: v at the code before */
    double paid;                 /* cost of being at the limit behind at all codes so far */
    struct single past;          /* the best line that has run into the limit ahead */
    int first, count;            /* its lines in slopes->singles */
};

/* The code of constant c at point k before saturation. */
static int64_t raw_at(const struct slopes *slopes, const struct node *node, int k, int64_t v, int64_t c)
{
    if (!node->tied)
        return v + c;
    const int64_t bias = c * pwl_shl64(1, slopes->n) + node->low - slopes->addend;
    return pwl_shr64(product_at(slopes, k) + bias, slopes->n, (int)slopes->rules->rounding);
}

/* Cost of code y at point k; INFINITY where the point is fixed to another. */
static double cost_at(const struct slopes *slopes, int k, int64_t y)
{
    const struct points *points = slopes->points;
    if (points->fixed && points->fixed[k] != POINT_FREE && points->fixed[k] != y)
        return INFINITY;
    return points_cost(points, k, (double)y);
}

/* Constants that some offset within [least, most] has. */
static void constant_limits(const struct slopes *slopes, const struct node *node, int64_t *low, int64_t *high)
{
    if (slopes->is_safe) {
        *low = -(INT64_C(1) << 50);
        *high = INT64_C(1) << 50;
    } else if (phased(slopes)) {
        *low = -floor_shr(-(node->least + slopes->addend - (node->high - 1)), slopes->n);
        *high = floor_shr(node->most + slopes->addend - node->low, slopes->n);
    } else {
        *low = node->least * slopes->unit;
        *high = node->most * slopes->unit;
    }
}

static int64_t offset_of(const struct slopes *slopes, const struct node *node, int64_t c)
{
    if (!phased(slopes))
        return c / slopes->unit;
    const int64_t offset = c * pwl_shl64(1, slopes->n) + node->low - slopes->addend;
    return offset < node->least ? node->least : offset;
}

static void record(struct slopes *slopes, const struct node *node, int end, int64_t c, double cost)
{
    if (cost < slopes->range[end].cost)
        keep_line(slopes, end, offset_of(slopes, node, c), cost);
}

/* Whether some offset keeps every step within its type at X; narrows the offsets to those. */
static bool provable_at(const struct slopes *slopes, struct node *node, int64_t x)
{
    if (slopes->is_safe)
        return true;
    const struct integers before = {node->least, node->most},
                          provable = line_offsets_at(slopes->rules, slopes->q_b, slopes->n, x, before);
    node->least = provable.low;
    node->most = provable.high;
    return node->least <= node->most;
}

static void push(struct slopes *slopes, struct node *node, int64_t c, double cost)
{
    enum { MOST = 1 << 16 };
    if (node->count == MOST) { /* outputs of many bits, of which few errors are small */
        slopes->complete = false;
        return;
    }
    if (node->first + node->count == slopes->room) {
        const int room = 2 * slopes->room + 256;
        struct single *singles = realloc(slopes->singles, (size_t)room * sizeof *singles);
        if (!singles) {
            slopes->out_of_memory = true;
            return;
        }
        slopes->singles = singles;
        slopes->room = room;
    }
    slopes->singles[node->first + node->count++] = (struct single){c, cost};
}

/* Cost so far of an unsaturated constant. */
static double cost_of(const struct node *node, int64_t c)
{
    const double m = (double)(c - node->reference), cost = node->dd - 2 * m * node->d + m * m * node->w;
    return cost > 0 ? cost : 0;
}

/* Narrows [low, high] to the constants whose unsaturated cost so far is within a limit. */
static void constants_within(const struct node *node, double limit, int64_t *low, int64_t *high)
{
    const double mean = node->d / node->w, least = fmax(0, node->dd - mean * node->d);
    const double reach = sqrt(fmax(0, limit - least) / node->w) + CODE_SLACK;
    /* Beyond 2^62 the ends say nothing. */
    const double first = ceil(mean - reach), last = floor(mean + reach);
    if (first > -0x1p62 && node->reference + (int64_t)first > *low)
        *low = node->reference + (int64_t)first;
    if (last < 0x1p62 && node->reference + (int64_t)last < *high)
        *high = node->reference + (int64_t)last;
}

/* Narrows [low, high] to the constants that are near the target of point k. */
static void constants_near(const struct slopes *slopes, int k, int64_t v, double limit, int64_t *low, int64_t *high)
{
    const double reach = sqrt(fmax(0, limit) / slopes->points->mass[k]) + CODE_SLACK, t = slopes->points->target[k];
    double y_low = fmax(ceil(t - reach), (double)slopes->rules->qmin_y),
           y_high = fmin(floor(t + reach), (double)slopes->rules->qmax_y);
    if (slopes->points->served && points_cost(slopes->points, k, (double)slopes->rules->qmin_y) < limit)
        y_low = (double)slopes->rules->qmin_y;
    if (slopes->points->served && points_cost(slopes->points, k, (double)slopes->rules->qmax_y) < limit)
        y_high = (double)slopes->rules->qmax_y;
    /* In steps of a unit a line may miss a limit and lie beyond it. */
    const int64_t beyond = slopes->unit - 1;
    const int64_t least = (int64_t)y_low - v - (y_low == (double)slopes->rules->qmin_y ? beyond : 0),
                  most = (int64_t)y_high - v + (y_high == (double)slopes->rules->qmax_y ? beyond : 0);
    *low = least > *low ? least : *low;
    *high = most < *high ? most : *high;
}

/* Lines that were at the limit behind at all codes since the start, and leave it at k. */
static void leave_limit(struct slopes *slopes, struct node *node, int k, int64_t v, double limit)
{
    const struct window *window = &slopes->leaving[slopes->rise < 0 ? DOWN : UP][k];
    if ((k == slopes->start) != slopes->leaves || k > slopes->leave || slopes->rise == 0 || !(node->paid < limit) ||
        (!slopes->leaves && !(window->low <= slopes->slope && slopes->slope <= window->high)))
        return;
    /* A tie may move a line by one. */
    const int64_t slack = node->tied;
    int64_t low = slopes->near_first - (slopes->rise > 0 ? v : node->before) - slack,
            high = slopes->near_first - (slopes->rise > 0 ? node->before : v) + slack;
    if (low > high)
        return;
    constants_near(slopes, k, v, limit - node->paid, &low, &high);
    for (int64_t c = low - slack; c <= high + slack && take_step(slopes); c++) {
        const int64_t was = raw_at(slopes, node, k - 1, node->before, c), is = raw_at(slopes, node, k, v, c);
        if (c % slopes->unit == 0 && (slopes->rise > 0 ? was < slopes->near_first && is >= slopes->near_first
                                                       : was > slopes->near_first && is <= slopes->near_first))
            push(slopes, node, c, node->paid);
    }
}

/* Flat lines of a half at its limits, where the cost is no parabola. */
static void stay_at_limits(struct slopes *slopes, struct node *node, int64_t v)
{
    const int64_t unit = slopes->unit, low = slopes->rules->qmin_y - v, high = slopes->rules->qmax_y - v;
    push(slopes, node, low - ((low % unit) + unit) % unit, 0);
    push(slopes, node, high + (unit - ((high % unit) + unit) % unit) % unit, 0);
}

static bool beyond(const struct slopes *slopes, int64_t raw)
{
    return slopes->rise > 0 ? raw > slopes->far_last : slopes->rise < 0 && raw < slopes->far_last;
}

/* Where lines may leave their types the best may be the next to do so: then all are followed. */
static void keep_past(struct slopes *slopes, struct node *node, int64_t c, double cost)
{
    if (!slopes->is_safe)
        push(slopes, node, c, cost);
    else if (cost < node->past.cost)
        node->past = (struct single){c, cost};
}

/* Lines that met no limit before and are beyond the one ahead at k. */
static void reach_limit(struct slopes *slopes, struct node *node, int k, int64_t v, double limit)
{
    if (node->tied || slopes->leaves || k == slopes->start || v == node->before)
        return;
    const double pays = cost_at(slopes, k, slopes->far_y);
    if (!(pays < limit))
        return;
    int64_t low = slopes->far_last - (slopes->rise > 0 ? v : node->before) + (slopes->rise > 0),
            high = slopes->far_last - (slopes->rise > 0 ? node->before : v) - (slopes->rise < 0);
    constants_within(node, limit - pays, &low, &high);
    low = low > node->free_low ? low : node->free_low;
    high = high < node->free_high ? high : node->free_high;
    for (int64_t c = low; c <= high && take_step(slopes); c++)
        if (c % slopes->unit == 0)
            keep_past(slopes, node, c, cost_of(node, c));
}

/* The lines that are followed by their constants; the best of them is recorded. */
static double follow_singles(struct slopes *slopes, struct node *node, int k, int64_t v, double limit, int64_t c_low,
                             int64_t c_high)
{
    struct single best = {0, INFINITY};
    int kept = 0;
    for (int s = 0; s < node->count; s++) {
        struct single single = slopes->singles[node->first + s];
        const int64_t raw = raw_at(slopes, node, k, v, single.c);
        if (single.c < c_low || single.c > c_high) {
            slopes->touched = true;
            continue;
        }
        if (slopes->is_safe && beyond(slopes, raw)) {
            keep_past(slopes, node, single.c, single.cost);
            continue;
        }
        single.cost += cost_at(slopes, k, saturated(slopes, raw));
        if (single.cost < limit)
            slopes->singles[node->first + kept++] = single;
        best = single.cost < best.cost ? single : best;
    }
    node->count = kept;
    record(slopes, node, k + 1, best.c, best.cost);
    return best.cost;
}

/* The best unsaturated constant of the codes up to k; false when none is allowed. */
static bool best_constant(struct slopes *slopes, const struct node *node, int64_t low, int64_t high, int64_t *c)
{
    const double unit = (double)slopes->unit, mean = (double)node->reference + node->d / node->w;
    if (fabs(mean) >= 0x1p50)
        return false;
    const double best = unit == 1 ? nearest(mean) : unit * rint(mean / unit);
    low = low > node->free_low ? low : node->free_low;
    high = high < node->free_high ? high : node->free_high;
    if (low > high || (low == high && low % slopes->unit != 0))
        return false;
    *c = best <= (double)low ? low : best >= (double)high ? high : (int64_t)best;
    slopes->touched |= *c != (int64_t)best;
    return true;
}

/* Takes in point k. Returns whether some line can still be part of a better table. */
static bool node_add(struct slopes *slopes, struct node *node, int k, int64_t v)
{
    const struct points *points = slopes->points;
    const double limit = slopes->limit[k + 1], w = points->mass[k], t = points->target[k];
    int64_t low, high, c;
    double least;

    if (points->served && slopes->rise == 0 && k == slopes->start)
        stay_at_limits(slopes, node, v);
    leave_limit(slopes, node, k, v, limit);
    reach_limit(slopes, node, k, v, limit);
    constant_limits(slopes, node, &low, &high);
    least = follow_singles(slopes, node, k, v, limit, low, high);
    if (node->past.cost < INFINITY)
        node->past.cost += cost_at(slopes, k, slopes->far_y);
    if (!node->tied && !slopes->leaves) {
        if (k == slopes->start)
            node->reference = (int64_t)rint(t) - v;
        const double d = t - (double)(v + node->reference);
        node->w += w;
        node->d += w * d;
        node->dd += w * d * d + points_apart(points, k);
        if (points->fixed && points->fixed[k] != POINT_FREE) {
            const int64_t only = points->fixed[k] - v;
            node->free_low = only > node->free_low ? only : node->free_low;
            node->free_high = only < node->free_high ? only : node->free_high;
        }
        if (best_constant(slopes, node, low, high, &c)) {
            const double cost = cost_of(node, c);
            least = cost < least ? cost : least;
            record(slopes, node, k + 1, c, cost);
        }
    }
    if (node->past.cost < least)
        least = node->past.cost;
    record(slopes, node, k + 1, node->past.c, node->past.cost);
    node->before = v;
    if (node->paid < limit)
        node->paid += cost_at(slopes, k, slopes->near_y);
    if (slopes->rise != 0 && k < slopes->leave && node->paid < least)
        least = node->paid;
    return least < limit;
}

static void grow(struct slopes *slopes, struct node *node, int k);

/* A part of a node's phases, followed from k on. */
static void grow_part(struct slopes *slopes, const struct node *node, int64_t low, int64_t high, bool tied, int k)
{
    if (low >= high || slopes->out_of_memory)
        return;
    struct node part = *node;
    part.low = low;
    part.high = high;
    part.first = node->first + node->count;
    part.count = 0;
    for (int s = 0; s < node->count; s++)
        push(slopes, &part, slopes->singles[node->first + s].c, slopes->singles[node->first + s].cost);
    if (tied && !node->tied && !slopes->leaves) {
        /* From here on each constant for itself, those too that a tie may move into the range. */
        int64_t c_low, c_high, v = floor_shr(product_at(slopes, k) + low, slopes->n);
        constant_limits(slopes, &part, &c_low, &c_high);
        if (k > slopes->start) {
            constants_within(node, slopes->limit[k + 1], &c_low, &c_high);
            c_low = c_low > node->free_low ? c_low : node->free_low;
            c_high = c_high < node->free_high ? c_high : node->free_high;
        } else {
            v -= 1;
            constants_near(slopes, k, v, slopes->limit[k + 1], &c_low, &c_high);
            c_low -= 1;
        }
        for (int64_t c = c_low; c <= c_high && take_step(slopes); c++)
            push(slopes, &part, c, k > slopes->start ? cost_of(node, c) : 0);
    }
    part.tied |= tied;
    grow(slopes, &part, k);
}

/* Follows a node from point k to the end, or until none of its lines can be part of a better table. */
static void grow(struct slopes *slopes, struct node *node, int k)
{
    const bool ties = phased(slopes) && slopes->rules->rounding >= PWL_HALF_AWAY;
    const int64_t period = phased(slopes) ? pwl_shl64(1, slopes->n) : 1; /* codes from tie to tie of an odd q_b */
    for (; k < slopes->end && !slopes->out_of_memory; k++) {
        const int64_t x = (int64_t)slopes->points->code[k] - slopes->origin;
        if (!take_step(slopes))
            return;
        if (!provable_at(slopes, node, x)) {
            slopes->touched = true;
            return;
        }
        const int64_t p = slopes->q_b * x;
        int64_t v;
        if (phased(slopes)) {
            const int64_t one = pwl_shl64(1, slopes->n);
            v = floor_shr(p, slopes->n);
            const int64_t split = one - (p - v * one); /* phases from here on give v + 1 */
            const int64_t tie = split & (one - 1);
            if (ties && slopes->ties == TIES_AGAIN && !node->tied && k - slopes->start >= period)
                return;
            if (ties && !node->tied && node->low <= tie && tie < node->high) {
                grow_part(slopes, node, node->low, tie, false, k);
                if (slopes->ties == TIES_ALL || (slopes->ties == TIES_AGAIN && slopes->end - k > period))
                    grow_part(slopes, node, tie, tie + 1, true, k);
                node->low = tie + 1;
            } else if (node->low < split && split < node->high) {
                grow_part(slopes, node, node->low, split, false, k);
                node->low = split;
            }
            if (node->low >= node->high)
                return;
            v += node->low >= split;
        } else {
            v = slopes->n >= 0 ? pwl_shr64(p, slopes->n, (int)slopes->rules->rounding) : p * pwl_shl64(1, -slopes->n);
        }
        note_point(slopes, k);
        if (k < slopes->start)
            node->before = v;
        else if (!node_add(slopes, node, k, v))
            return;
    }
}

void follow_nodes(struct slopes *slopes)
{
    struct node node = {.high = phased(slopes) ? pwl_shl64(1, slopes->n) : 1,
                        .least = -slopes->rules->offset_limit - 1,
                        .most = slopes->rules->offset_limit,
                        .free_low = INT64_MIN / 2,
                        .free_high = INT64_MAX / 2,
                        .paid = slopes->apart && slopes->is_safe && !slopes->leaves ? INFINITY : 0,
                        .past = {0, INFINITY}};
    grow(slopes, &node, slopes->leaves ? slopes->start - 1 : slopes->start);
}
