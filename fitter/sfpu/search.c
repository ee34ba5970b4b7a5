/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search.h"

#include <math.h>
#include <stdlib.h>

/* About ten seconds. Where errors count in ULP, thousands of slopes may be as good as the best at tens of thousands of
 * small |x|, and each takes a look at all of them. */
#define LEAST_SUM_EVALUATIONS ((int64_t)1 << 28)

/* Slopes and offsets from the first to the last, as places in the list of coefficients. */
struct box {
    int first_a, last_a, first_b, last_b;
};

struct search {
    const struct sfpu_kernel *kernel;
    const struct sfpu_coefficients *coefficients;
    const struct sfpu_point *points;
    int count;
    int *order;   /* of points; those that exclude much move forward */
    double reach; /* the largest |x| */
    enum sfpu_aim aim;
    double limit; /* a pair with an error of this or more is out */
    int64_t left; /* evaluations that the second aim may still make */
    struct sfpu_pair *pair;
    struct sfpu_cost *best;
};

static uint32_t line_at(const struct search *search, int a, int b, uint16_t x)
{
    const uint32_t *const bits = search->coefficients->bits;
    return sfpu_line(search->kernel, bits[a], bits[b], x);
}

/* What pairs of a box miss at a point at least. The line rises with both coefficients, as |x| is not negative, and the
 * result rises with the line or falls; where the sign is retained it turns at 0. */
static double least_missed(const struct search *search, const struct box *box, const struct sfpu_point *point)
{
    const uint32_t lowest = line_at(search, box->first_a, box->first_b, point->x),
                   highest = line_at(search, box->last_a, box->last_b, point->x);
    const uint16_t one = sfpu_finish(search->kernel, lowest, point->x),
                   other = sfpu_finish(search->kernel, highest, point->x);
    const double value = point->target.value;
    uint16_t low = one, high = other;
    if (sfpu_real(low) > sfpu_real(high)) {
        low = other;
        high = one;
    }
    if (search->kernel->sign == SFPU_RETAIN && ((lowest ^ highest) & SFPU_SIGN)) {
        const uint16_t turn = sfpu_finish(search->kernel, 0, point->x);
        *(point->x & 0x8000 ? &high : &low) = turn;
    }
    if (value < sfpu_real(low))
        return sfpu_missed(&point->target, low);
    return value > sfpu_real(high) ? sfpu_missed(&point->target, high) : 0;
}

static bool is_pair(const struct box *box)
{
    return box->first_a == box->last_a && box->first_b == box->last_b;
}

/* Whether pairs that cost as much, or more, are of no use. */
static bool is_excluded(const struct search *search, const struct sfpu_cost *cost)
{
    return cost->largest >= search->limit || (search->aim == SFPU_LEAST_SUM && cost->sum >= search->best->sum);
}

/* What pairs of a box cost at least; of a single pair, what it costs. Ends early where that is too much. */
static struct sfpu_cost least_cost(struct search *search, const struct box *box)
{
    struct sfpu_cost cost = {0};
    for (int k = 0; k < search->count; k++, search->left--) {
        const double missed = least_missed(search, box, &search->points[search->order[k]]);
        cost.largest = fmax(cost.largest, missed);
        cost.sum += missed;
        if (!is_excluded(search, &cost))
            continue;
        if (search->aim == SFPU_LEAST_LARGEST) {
            const int forward = search->order[k / 2];
            search->order[k / 2] = search->order[k];
            search->order[k] = forward;
        }
        break;
    }
    return cost;
}

static void take(struct search *search, const struct box *box, const struct sfpu_cost *cost)
{
    const uint16_t *const codes = search->coefficients->codes;
    *search->pair = (struct sfpu_pair){codes[box->first_a], codes[box->first_b]};
    *search->best = *cost;
    if (search->aim == SFPU_LEAST_LARGEST)
        search->limit = cost->largest;
}

static double coefficient(const struct search *search, int at)
{
    return sfpu_real_of_bits(search->coefficients->bits[at]);
}

/* Both halves of a box, first the one with larger coefficients: along the side that moves the line more, where |x| is
 * largest. */
static void halve(const struct search *search, const struct box *box, struct box halves[2])
{
    const double by_a = search->reach * (coefficient(search, box->last_a) - coefficient(search, box->first_a)),
                 by_b = coefficient(search, box->last_b) - coefficient(search, box->first_b);
    halves[0] = halves[1] = *box;
    if (by_b > by_a || box->first_a == box->last_a) {
        halves[1].last_b = (box->first_b + box->last_b) / 2;
        halves[0].first_b = halves[1].last_b + 1;
    } else {
        halves[1].last_a = (box->first_a + box->last_a) / 2;
        halves[0].first_a = halves[1].last_a + 1;
    }
}

/* Goes into the half that may be better first, so that the other one is more often excluded. */
static void descend(struct search *search, const struct box *box, const struct sfpu_cost *cost)
{
    struct box halves[2];
    struct sfpu_cost costs[2];
    if (is_excluded(search, cost) || (search->aim == SFPU_LEAST_SUM && search->left < 0))
        return;
    if (is_pair(box)) {
        take(search, box, cost);
        return;
    }
    halve(search, box, halves);
    for (int k = 0; k < 2; k++)
        costs[k] = least_cost(search, &halves[k]);
    const int better =
        search->aim == SFPU_LEAST_SUM ? costs[1].sum < costs[0].sum : costs[1].largest < costs[0].largest;
    descend(search, &halves[better], &costs[better]);
    descend(search, &halves[!better], &costs[!better]);
}

/* The last, the first, and then what halves the rest again and again. */
static void order_points(int *order, int count)
{
    int used = 0, step = 1;
    order[used++] = count - 1;
    if (count > 1)
        order[used++] = 0;
    while (step < count)
        step *= 2;
    for (; step > 0; step /= 2)
        for (int at = step; at < count - 1; at += 2 * step)
            order[used++] = at;
}

int sfpu_search(const struct sfpu_kernel *kernel, const struct sfpu_coefficients *coefficients,
                const struct sfpu_point *points, int count, enum sfpu_aim aim, double most, struct sfpu_pair *pair,
                struct sfpu_cost *cost, struct diag *diag)
{
    const struct box all = {0, coefficients->count - 1, 0, coefficients->count - 1};
    struct sfpu_cost best = {.largest = INFINITY, .sum = INFINITY};
    struct search search = {
        .kernel = kernel,
        .coefficients = coefficients,
        .points = points,
        .count = count,
        .order = malloc((size_t)count * sizeof *search.order),
        .aim = aim,
        .limit = nextafter(most, INFINITY),
        .left = LEAST_SUM_EVALUATIONS,
        .pair = pair,
        .best = &best,
    };
    if (!search.order)
        return diag_set(diag, EXIT_IO, "out of memory for %d points", count);
    order_points(search.order, count);
    for (int k = 0; k < count; k++)
        search.reach = fmax(search.reach, fabs(sfpu_real(points[k].x)));
    descend(&search, &all, &(struct sfpu_cost){0});
    free(search.order);
    if (best.largest < INFINITY)
        *cost = best;
    cost->is_least = aim == SFPU_LEAST_LARGEST || search.left >= 0;
    return EXIT_DONE;
}
