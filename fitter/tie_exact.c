/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tie_exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/fixed.h>

#include "band.h"

__extension__ typedef __int128 wide;

/* What one fit may take: codes, errors that are told apart, states, and slopes tried and codes looked at. */
enum { MOST_CODES = 1 << 12, MOST_ERRORS = 1 << 22, MOST_STATES = 1 << 21, MOST_STEPS = 1 << 26 };

/* The best segments that end at a place and give a value there. */
struct state {
    int64_t last; /* the output before the place */
    struct line line;
    int start;     /* place where the last segment starts; -1 where the state is out of reach */
    int begins_at; /* the value there of the state before */
};

/* Output codes allowed at a point. */
struct limits {
    int64_t low, high;
};

struct search {
    const struct ties *ties;
    const struct points *points;
    struct line_rules rules; /* with one shift, that of a trial */
    int segments, places;
    int *place_at; /* by point; -1 where no segment may start */
    struct limits *band;
    int64_t margin; /* by which values at a place may lie outside the band */
    int width;      /* values at a place */
    struct state *state;
    int *need;  /* by place: segments that follow it at least */
    int *reach; /* by place: point that a segment from there ends at or before */
    int *begun; /* by first output of a segment from the start in hand: the fewest segments before it */
    int64_t steps;
    bool gave_up;

    int start;    /* place in hand */
    int farthest; /* point that a segment from it may still look at */
    int64_t origin;
    int64_t q_b, *step_up; /* slope in hand; of the biased form the least sum for each output from qmin_y + 1 on */
    int n;
};

/* All offsets between two. */
struct span {
    int64_t low, high;
};

static struct state *state_at(const struct search *search, int segments, int place, int value)
{
    return &search->state[((size_t)segments * (size_t)(search->places + 1) + (size_t)place) * (size_t)search->width +
                          (size_t)value];
}

static int direction_at(const struct search *search, int point)
{
    return search->ties->constraints.monotone && point > 0 && point < search->points->count ? search->ties->joint[point]
                                                                                            : 0;
}

static bool is_backward(int direction, int64_t from, int64_t to)
{
    return direction > 0 ? to < from : direction < 0 ? to > from : false;
}

/* The farthest from which the second output of a folded table may come: its first, or that of the mirrored half. */
static int64_t folded_last(const struct search *search, int direction, int64_t first)
{
    const int64_t mirrored = search->ties->fold_sum - first;
    return (direction > 0) == (mirrored > first) ? mirrored : first;
}

/* The least value of use at a point. */
static int64_t least_value(const struct search *search, int point)
{
    const int64_t value = search->band[point].low - search->margin;
    return value > search->rules.qmin_y ? value : search->rules.qmin_y;
}

/* Where no value counts at a place, its state has the one value 0. */
static int value_index(const struct search *search, int point, int64_t value)
{
    return search->ties->constraints.continuous && point < search->points->count
               ? (int)(value - least_value(search, point))
               : 0;
}

/* The segment in hand with an offset, as one that ends at a place. */
static void reach(struct search *search, int place, int64_t value, int64_t last, int64_t first, int64_t offset)
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

static int64_t shifted(const struct search *search, int64_t sum)
{
    if (search->n >= 0)
        return pwl_shr64(sum, search->n, (int)search->rules.rounding);
    const wide value = (wide)sum * ((wide)1 << -search->n), most = (wide)1 << 62;
    return (int64_t)(value > most ? most : value < -most ? -most : value);
}

/* The output codes of a slope at one point. */
struct rung {
    const struct search *search;
    int64_t product, value; /* value: the shifted product, but for the biased form */
};

static struct rung rung_at(const struct search *search, int point)
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
    const struct search *search = rung->search;
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
    const struct search *search = rung->search;
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
static void follow(struct search *search, int point, struct span span, int64_t first, int64_t last)
{
    const struct constraints *constraints = &search->ties->constraints;
    const int start = points_at(search->points, search->start), place = search->place_at[point];
    const bool may_end = place >= 0 && point > start;
    if (++search->steps > MOST_STEPS) {
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
static void find_steps(struct search *search)
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

/* The steepest slope of use; the reasons are those of strip.c, where a segment's codes and the one after it count. */
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
static bool is_too_flat(const struct search *search, int64_t q_b, int n)
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
static bool is_reducible(const struct search *search, int64_t q_b, int n)
{
    const struct line_rules *rules = &search->rules;
    if (rules->form == PWL_BIASED && (n <= 0 || (rules->rounding != PWL_FLOOR && rules->rounding != PWL_HALF_UP)))
        return false;
    return q_b % 2 == 0;
}

/* Slopes of which another says the same. */
static bool is_idle(const struct search *search, int64_t q_b, int n)
{
    const struct line_rules *rules = &search->rules;
    if (q_b == 0)
        return n != line_flat_shift(rules);
    return n > rules->shift_min && (is_reducible(search, q_b, n) || is_too_flat(search, q_b, n));
}

/* For each first output how few segments may come before. */
static void begin(struct search *search)
{
    const struct constraints *constraints = &search->ties->constraints;
    const int64_t outputs = search->rules.qmax_y - search->rules.qmin_y + 1;
    const int point = points_at(search->points, search->start), direction = direction_at(search, point);
    for (int64_t v = 0; v < outputs; v++)
        search->begun[v] = search->start == 0 ? 0 : search->segments;
    for (int m = search->start == 0 ? search->segments : 1; m < search->segments; m++)
        for (int k = 0; k < search->width; k++) {
            const struct state *state = state_at(search, m, search->start, k);
            if (state->start < 0)
                continue;
            struct limits firsts = search->band[point];
            if (constraints->continuous) {
                const int64_t value = least_value(search, point) + k;
                firsts.low = value - constraints->max_step > firsts.low ? value - constraints->max_step : firsts.low;
                firsts.high = value + constraints->max_step < firsts.high ? value + constraints->max_step : firsts.high;
            }
            for (int64_t v = firsts.low; v <= firsts.high; v++) {
                int *begun = &search->begun[v - search->rules.qmin_y];
                if (*begun > m && !is_backward(direction, state->last, v))
                    *begun = m;
            }
        }
}

/* The state before a segment that begins with some output. */
static const struct state *state_before(const struct search *search, int segments, int place, int64_t first)
{
    const struct constraints *constraints = &search->ties->constraints;
    const int point = points_at(search->points, place), direction = direction_at(search, point);
    for (int k = 0; k < search->width; k++) {
        const struct state *state = state_at(search, segments, place, k);
        const int64_t value = least_value(search, point) + k;
        if (state->start >= 0 && !is_backward(direction, state->last, first) &&
            !(constraints->continuous && llabs(value - first) > constraints->max_step))
            return state;
    }
    return NULL;
}

static void take(const struct search *search, int segments, struct tie_exact *exact)
{
    const struct state *state = state_at(search, segments, search->places, 0);
    exact->segments = segments;
    exact->knots[segments] = search->points->count;
    for (int m = segments; m > 0; m--) {
        exact->lines[m - 1] = state->line;
        exact->knots[m - 1] = points_at(search->points, state->start);
        if (m > 1)
            state = state_before(search, m - 1, state->start, state->begins_at);
    }
    exact->found = true;
}

/* Those within the output range, but for what rounding does. */
static struct limits codes_near(const struct points *points, const struct line_rules *rules, int k, double max_err)
{
    const struct band band = band_at(points, rules->qmin_y, rules->qmax_y, k, max_err);
    return (struct limits){.low = band.low > rules->qmin_y ? band.low : rules->qmin_y,
                           .high = band.high < rules->qmax_y ? band.high : rules->qmax_y};
}

/* Output codes within max_err of each target; false where some point has none. */
static bool set_bands(struct search *search, double max_err)
{
    const struct points *points = search->points;
    const struct line_rules *rules = &search->rules;
    const int64_t outputs = rules->qmax_y - rules->qmin_y + 1;
    const struct constraints *constraints = &search->ties->constraints;
    int64_t most = 1;
    search->margin = !constraints->continuous ? 0 : constraints->max_step < outputs ? constraints->max_step : outputs;
    for (int k = 0; k < points->count; k++) {
        struct limits *band = &search->band[k];
        *band = codes_near(points, rules, k, max_err);
        /* The differences above are rounded; those of the certificate count. */
        if (band->low > rules->qmin_y && points_error(points, k, (double)(band->low - 1)) <= max_err)
            band->low--;
        if (band->high < rules->qmax_y && points_error(points, k, (double)(band->high + 1)) <= max_err)
            band->high++;
        if (band->low <= band->high && points_error(points, k, (double)band->low) > max_err)
            band->low++;
        if (band->low <= band->high && points_error(points, k, (double)band->high) > max_err)
            band->high--;
        if (points->fixed && points->fixed[k] != POINT_FREE) {
            const int64_t fixed = points->fixed[k];
            if (fixed < band->low || fixed > band->high)
                return false;
            band->low = band->high = fixed;
        }
        if (band->low > band->high)
            return false;
        most = band->high - band->low + 1 > most ? band->high - band->low + 1 : most;
    }
    most += 2 * search->margin;
    search->width = !constraints->continuous ? 1 : (int)(most < outputs ? most : outputs);
    return true;
}

/* Real lines within the bands say how many segments follow each place at least. */
static bool set_needs(struct search *search, double max_err, struct diag *diag)
{
    const struct points *points = search->points;
    search->need[search->places] = 0;
    for (int place = search->places - 1; place >= 0; place--) {
        const int begin = points_at(search->points, place);
        struct band_range range;
        if (band_reach(points, search->rules.qmin_y, search->rules.qmax_y, begin, points->count, max_err, &range, diag))
            return false;
        search->steps += range.end - begin;
        int end = place;
        while (end < search->places && points_at(search->points, end + 1) <= range.end &&
               !(points->grid_whole && end > place))
            end++;
        search->reach[place] = range.end;
        search->need[place] = end == place ? search->segments + 1 : search->need[end] + 1;
    }
    return true;
}

/* The slopes with which a segment from the start in hand can be of use; false when none can. */
static bool find_window(struct search *search, double max_err, struct band_range *window, struct diag *diag)
{
    const struct line_rules *rules = &search->rules;
    int fewest = search->segments, end = search->start + 1;
    for (int64_t v = 0; v <= rules->qmax_y - rules->qmin_y; v++)
        fewest = search->begun[v] < fewest ? search->begun[v] : fewest;
    while (end <= search->places && fewest + 1 + search->need[end] > search->segments)
        end++;
    if (end > search->places)
        return false;
    const int last = points_at(search->points, end), reach = search->reach[search->start];
    search->farthest = reach < search->points->count ? reach : search->points->count - 1;
    if (band_reach(search->points, rules->qmin_y, rules->qmax_y, points_at(search->points, search->start), last,
                   max_err, window, diag) ||
        window->end < last)
        return false;
    const double slack = 1e-9 * fmax(1, fmax(fabs(window->slope_min), fabs(window->slope_max)));
    window->slope_min -= slack;
    window->slope_max += slack;
    return true;
}

/* Every slope of the window from the start in hand. */
static void try_slopes(struct search *search, const struct band_range *window)
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
            if (++search->steps > MOST_STEPS)
                search->gave_up = true;
            else if (!is_idle(search, search->q_b, search->n))
                follow(search, point, (struct span){-rules->offset_limit - 1, rules->offset_limit}, 0, 0);
        }
    }
}

/* Whether tables hold an error; the one found goes to *exact. */
static bool holds(struct search *search, double max_err, struct tie_exact *exact, struct diag *diag)
{
    if (!set_bands(search, max_err))
        return false;
    const size_t states = (size_t)(search->segments + 1) * (size_t)(search->places + 1) * (size_t)search->width;
    if (states > MOST_STATES) {
        search->gave_up = true;
        return false;
    }
    for (size_t k = 0; k < states; k++)
        search->state[k].start = -1;
    /* A little more, as differences are rounded there: what real lines say need not be sharp. */
    const double wider = max_err * (1 + 1e-12) + 1e-9;
    if (!set_needs(search, wider, diag))
        search->gave_up = true;
    for (search->start = 0; search->start < search->places && !search->gave_up; search->start++) {
        struct band_range window;
        begin(search);
        if (find_window(search, wider, &window, diag))
            try_slopes(search, &window);
    }
    for (int m = 1; m <= search->segments && !search->gave_up; m++)
        if (state_at(search, m, search->places, 0)->start >= 0) {
            take(search, m, exact);
            return true;
        }
    return false;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All errors from low to below high that a code can have, in order. Null when there are too many, or no memory. */
static double *list_errors(const struct points *points, const struct line_rules *rules, double low, double high,
                           size_t *count)
{
    double *errors = malloc(MOST_ERRORS * sizeof *errors);
    *count = 0;
    for (int k = 0; errors && k < points->count; k++) {
        const struct limits near = codes_near(points, rules, k, high);
        for (int64_t v = near.low; v <= near.high; v++) {
            const double error = points_error(points, k, (double)v);
            if (error < low || error >= high)
                continue;
            if (*count == MOST_ERRORS) {
                free(errors);
                return NULL;
            }
            errors[(*count)++] = error;
        }
    }
    if (errors)
        qsort(errors, *count, sizeof *errors, ascending);
    return errors;
}

/* The index of the least error that tables hold of those before `least`, or `least` when there is none. */
static size_t improve(struct search *search, const double *errors, size_t least, struct tie_exact *exact,
                      struct diag *diag)
{
    size_t low = 0;
    for (size_t next = least - 1; low < least && !search->gave_up; next = low + (least - low) / 2) {
        if (holds(search, errors[next], exact, diag)) {
            exact->max_err = errors[next];
            least = next;
        } else {
            low = next + 1;
        }
    }
    return least;
}

static void search_all(struct search *search, const struct line_rules *rules, const double *errors, size_t count,
                       struct tie_exact *exact, struct diag *diag)
{
    const int trials = rules->one_shift ? rules->shift_max - rules->shift_min + 1 : 1;
    size_t least = count;
    for (int trial = 0; trial < trials && !search->gave_up; trial++) {
        search->rules = *rules;
        if (rules->one_shift)
            search->rules.shift_min = search->rules.shift_max = line_one_shift(rules, search->points, trial);
        if (least > 0)
            least = improve(search, errors, least, exact, diag);
    }
    exact->complete = !search->gave_up;
}

int tie_least_error(const struct ties *ties, const struct points *points, const struct line_rules *rules, int segments,
                    double low, double high, struct tie_exact *exact, struct diag *diag)
{
    const int64_t outputs = rules->qmax_y - rules->qmin_y + 1;
    exact->found = exact->complete = false;
    diag->code = EXIT_DONE;
    if (!points->exhaustive || points->count > MOST_CODES || points->units || rules->accumulator_bits > 32 ||
        outputs > 1 << 16 || (double)points->count * (double)outputs > MOST_ERRORS)
        return EXIT_DONE;
    size_t count;
    double *errors = list_errors(points, rules, low, fmin(high, (double)outputs), &count);
    struct search search = {.ties = ties,
                            .points = points,
                            .segments = segments,
                            .places = points_places(points),
                            .place_at = malloc(((size_t)points->count + 1) * sizeof *search.place_at),
                            .band = malloc((size_t)points->count * sizeof *search.band),
                            .state = malloc(MOST_STATES * sizeof *search.state),
                            .need = malloc(((size_t)points->count + 1) * sizeof *search.need),
                            .reach = malloc(((size_t)points->count + 1) * sizeof *search.reach),
                            .begun = malloc((size_t)outputs * sizeof *search.begun),
                            .step_up = malloc((size_t)outputs * sizeof *search.step_up)};
    const bool has_room = errors && search.place_at && search.band && search.state && search.need && search.reach &&
                          search.begun && search.step_up;
    if (has_room) {
        for (int k = 0; k <= points->count; k++)
            search.place_at[k] = -1;
        for (int place = 0; place <= search.places; place++)
            search.place_at[points_at(points, place)] = place;
        search_all(&search, rules, errors, count, exact, diag);
    }
    free(errors);
    free(search.place_at);
    free(search.band);
    free(search.state);
    free(search.need);
    free(search.reach);
    free(search.begun);
    free(search.step_up);
    return has_room ? diag->code : diag_set(diag, EXIT_IO, "out of memory for %d codes", points->count);
}
