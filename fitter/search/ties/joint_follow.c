/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "joint_follow.h"

#include <math.h>
#include <stdlib.h>

#include <pwl/fixed.h>

__extension__ typedef __int128 wide;

/* All offsets between two. */
struct span {
    int64_t low, high;
};

/* The farthest from which the second output of a folded table may come: its first, or that of the mirrored half. */
static int64_t folded_last(const struct tie_program *search, int direction, int64_t first)
{
    const int64_t mirrored = search->ties->fold_sum - first;
    return (direction > 0) == (mirrored > first) ? mirrored : first;
}

/* Where no value counts at a place, its state has the one value 0. */
static int value_index(const struct tie_program *search, int point, int64_t value)
{
    return search->ties->constraints.continuous && point < search->points->count
               ? (int)(value - least_value(search, point))
               : 0;
}

/* The segment in hand with an offset, as one that ends at a place. */
static void reach(struct tie_program *search, int place, int64_t value, int64_t last, int64_t first, int64_t offset)
{
    const int point = points_at(search->points, place), direction = direction_at(search, point);
    const int begun = search->begun[first - search->rules.qmin_y];
    if (begun + 1 + search->need[place] > search->segments)
        return;
    struct state *state = state_at(search, begun + 1, place, value_index(search, point, value));
    if (search->ties->fold && point == 1 && direction)
        last = folded_last(search, direction, last);
    if (state->start >= 0 && !is_backward(direction, state->last, last) && direction)
        return;
    if (state->start >= 0 && !direction)
        return;
    *state = (struct state){.last = last,
                            .line = {.q_b = search->q_b, .n = search->n, .offset = offset},
                            .start = search->start,
                            .begins_at = (int)first};
}

static int64_t shifted(const struct tie_program *search, int64_t sum)
{
    if (search->n >= 0)
        return pwl_shr64(sum, search->n, (int)search->rules.rounding);
    const wide value = (wide)sum * ((wide)1 << -search->n), most = (wide)1 << 62;
    return (int64_t)(value > most ? most : value < -most ? -most : value);
}

/* The output codes of a slope at one point. */
struct rung {
    const struct tie_program *search;
    int64_t product, value; /* value: the shifted product, but for the biased form */
};

static struct rung rung_at(const struct tie_program *search, int point)
{
    struct rung rung = {.search = search, .product = search->q_b * (search->points->cell[point] - search->origin)};
    if (search->rules.form != PWL_BIASED)
        rung.value = shifted(search, rung.product);
    return rung;
}

static int64_t output_of(const struct rung *rung, int64_t offset)
{
    const struct line_rules *rules = &rung->search->rules;
    const int64_t raw =
        rules->form == PWL_BIASED ? shifted(rung->search, rung->product + offset) : rung->value + offset;
    return pwl_sat(raw, rules->qmin_y, rules->qmax_y);
}

/* The least offset with an output of at least v. */
static int64_t least_offset(const struct rung *rung, int64_t v)
{
    const struct tie_program *search = rung->search;
    return search->rules.form == PWL_BIASED ? search->step_up[v - search->rules.qmin_y] - rung->product
                                            : v - rung->value;
}

/* The offsets of an output code among those given. */
static struct span offsets_of(const struct rung *rung, int64_t v, struct span span)
{
    const struct line_rules *rules = &rung->search->rules;
    if (v > rules->qmin_y) {
        const int64_t low = least_offset(rung, v);
        span.low = low > span.low ? low : span.low;
    }
    if (v < rules->qmax_y) {
        const int64_t high = least_offset(rung, v + 1) - 1;
        span.high = high < span.high ? high : span.high;
    }
    return span;
}

/* The offsets among those given with which the point is within the accumulator; as line_provable says of a segment's
 * ends, between which all codes are when the ends are. */
static struct span provable_offsets(const struct rung *rung, int point, struct span span)
{
    const struct tie_program *search = rung->search;
    const struct line_rules *rules = &search->rules;
    const wide limit = (wide)1 << (rules->accumulator_bits - 1);
    const wide half = search->n > 0 && rules->rounding != PWL_FLOOR ? (wide)1 << (search->n - 1) : 0;
    const wide x = (wide)search->points->cell[point] - search->origin, p = rung->product;
    const struct span none = {0, -1};
    /* of what is shifted */
    wide low = -limit, high = limit - 1 - half;
    if (half && rules->rounding == PWL_HALF_AWAY)
        low = half - limit + 1;
    if (search->n < 0) {
        low = -(limit >> -search->n);
        high = (limit - 1) >> -search->n;
    }
    if (x < -limit || x >= limit || p < -limit || p >= limit)
        return none;
    if (rules->form == PWL_BIASED) {
        low -= p;
        high -= p;
    } else {
        if (p < low || p > high)
            return none;
        low = -limit - rung->value;
        high = limit - 1 - rung->value;
    }
    span.low = low > span.low ? (int64_t)low : span.low;
    span.high = high < span.high ? (int64_t)high : span.high;
    return span;
}

/* Goes on at a point with the offsets that have given the same outputs so far, the last of them `last`. */
static void follow(struct tie_program *search, int point, struct span span, int64_t first, int64_t last)
{
    const struct constraints *constraints = &search->ties->constraints;
    const int start = points_at(search->points, search->start), place = search->place_at[point];
    const bool may_end = place >= 0 && point > start;
    if (++search->steps > TIE_MOST_STEPS) {
        search->gave_up = true;
        return;
    }
    if (point == search->points->count || (may_end && !constraints->continuous)) {
        reach(search, place, 0, last, first, span.low);
        if (point == search->points->count || search->points->grid_whole)
            return;
    }
    const bool may_go_on = !(may_end && search->points->grid_whole);
    const bool looks = may_end && constraints->continuous &&
                       search->begun[first - search->rules.qmin_y] + 1 + search->need[place] <= search->segments;
    const int direction = direction_at(search, point);
    const struct limits *band = &search->band[point];
    const struct rung rung = rung_at(search, point);
    const int64_t low = output_of(&rung, span.low), high = output_of(&rung, span.high);
    const int64_t around = looks ? search->margin : 0;
    const int64_t from = low > band->low - around ? low : band->low - around;
    const int64_t to = high < band->high + around ? high : band->high + around;
    if (search->ties->fold && point == 1 && start == 0 && direction)
        last = folded_last(search, direction, last);
    for (int64_t v = from; v <= to && !search->gave_up; v++) {
        struct span part = offsets_of(&rung, v, span);
        if (part.low > part.high)
            continue;
        if (looks)
            reach(search, place, v, last, first, part.low);
        if (!may_go_on || v < band->low || v > band->high || (point > start && is_backward(direction, last, v)))
            continue;
        if (point == start &&
            (search->begun[v - search->rules.qmin_y] + search->need[search->start] > search->segments ||
             (search->ties->fold && point == 0 && constraints->continuous &&
              llabs(2 * v - search->ties->fold_sum) > constraints->max_step)))
            continue;
        part = provable_offsets(&rung, point, part);
        if (part.low <= part.high)
            follow(search, point + 1, part, point == start ? v : first, v);
    }
}

/* The least sum that is shifted to each output but the first. */
static void find_steps(struct tie_program *search)
{
    const struct line_rules *rules = &search->rules;
    for (int64_t v = rules->qmin_y + 1; v <= rules->qmax_y; v++) {
        int64_t *least = &search->step_up[v - rules->qmin_y];
        if (search->n <= 0) {
            const int64_t unit = (int64_t)1 << -search->n;
            *least = v > 0 ? (v + unit - 1) / unit : -(-v / unit);
            continue;
        }
        *least = v * ((int64_t)1 << search->n);
        if (rules->rounding == PWL_FLOOR)
            continue;
        *least -= (int64_t)1 << (search->n - 1);
        *least += shifted(search, *least) < v; /* a tie may go down */
    }
}

/* The steepest slope of use; the reasons are those of integer_line_in_band.c, where a segment's codes and the one after it count. */
static double steepest(const struct line_rules *rules)
{
    double steepest = 8;
    while (steepest / 8 <= (double)(rules->qmax_y - rules->qmin_y))
        steepest *= 2;
    return fmax(steepest, ldexp(1, 1 - rules->shift_max));
}

static int64_t steepest_of(const struct line_rules *rules, int n)
{
    return (int64_t)fmin(ldexp(steepest(rules), n), (double)rules->slope_limit);
}

/*
 * Whether n makes no line from the start in hand that n - 1 does not make. Once 2^n is more than eight times each
 * product, products shifted by n are 0 or -1, or 0 to nearest, as those shifted by n - 1 are. Of the biased form, once
 * 2^n is more than eight times the difference of any two products, a line has at most one step, by 1, which n - 1 puts
 * between the same codes.
 */
static bool is_too_flat(const struct tie_program *search, int64_t q_b, int n)
{
    const struct line_rules *rules = &search->rules;
    const int64_t *cell = search->points->cell;
    const wide first = cell[points_at(search->points, search->start)], last = cell[search->farthest], q = llabs(q_b);
    wide largest = last - first;
    if (rules->form == PWL_ABSOLUTE) {
        const wide a = first - rules->zp_x, b = last - rules->zp_x;
        const wide left = a < 0 ? -a : a, right = b < 0 ? -b : b;
        largest = left > right ? left : right;
    }
    return n > 3 && (wide)1 << (n - 3) > q * largest;
}

/* Of even q_b the half does as well with n - 1. So too of the biased form where sums are shifted to the right: the last
 * bit of an odd sum decides nothing under floor and half_up, but under the other roundings it keeps sums from being
 * ties. */
static bool is_reducible(const struct tie_program *search, int64_t q_b, int n)
{
    const struct line_rules *rules = &search->rules;
    if (rules->form == PWL_BIASED && (n <= 0 || (rules->rounding != PWL_FLOOR && rules->rounding != PWL_HALF_UP)))
        return false;
    return q_b % 2 == 0;
}

/* Slopes of which another says the same. */
static bool is_idle(const struct tie_program *search, int64_t q_b, int n)
{
    const struct line_rules *rules = &search->rules;
    if (q_b == 0)
        return n != line_flat_shift(rules);
    return n > rules->shift_min && (is_reducible(search, q_b, n) || is_too_flat(search, q_b, n));
}

void tie_try_slopes(struct tie_program *search, const struct band_range *window)
{
    const struct line_rules *rules = &search->rules;
    const int point = points_at(search->points, search->start);
    search->origin = rules->form == PWL_ANCHORED ? search->points->cell[point] : rules->zp_x;
    for (search->n = rules->shift_min; search->n <= rules->shift_max; search->n++) {
        const double steep = (double)steepest_of(rules, search->n);
        const int64_t least = (int64_t)fmin(fmax(ceil(ldexp(window->slope_min, search->n)), -steep), steep + 1),
                      most = (int64_t)fmax(fmin(floor(ldexp(window->slope_max, search->n)), steep), -steep - 1);
        if (least <= most && rules->form == PWL_BIASED)
            find_steps(search);
        for (search->q_b = slope_above(rules, least - 1); search->q_b <= most && !search->gave_up;
             search->q_b = slope_above(rules, search->q_b)) {
            if (++search->steps > TIE_MOST_STEPS)
                search->gave_up = true;
            else if (!is_idle(search, search->q_b, search->n))
                follow(search, point, (struct span){-rules->offset_limit - 1, rules->offset_limit}, 0, 0);
        }
    }
}
