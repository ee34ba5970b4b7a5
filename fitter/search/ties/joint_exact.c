/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "joint_exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "joint_follow.h"
#include "search/error_band.h"

/* What one fit may take: codes, errors that are told apart, and states. */
enum { MOST_CODES = 1 << 12, MOST_ERRORS = 1 << 22, MOST_STATES = 1 << 21 };

/* For each first output how few segments may come before. */
static void begin(struct tie_program *search)
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
static const struct state *state_before(const struct tie_program *search, int segments, int place, int64_t first)
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

static void take(const struct tie_program *search, int segments, struct tie_exact *exact)
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
static bool set_bands(struct tie_program *search, double max_err)
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
static bool set_needs(struct tie_program *search, double max_err, struct diag *diag)
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
static bool find_window(struct tie_program *search, double max_err, struct band_range *window, struct diag *diag)
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

/* Whether tables hold an error; the one found goes to *exact. */
static bool holds(struct tie_program *search, double max_err, struct tie_exact *exact, struct diag *diag)
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
            tie_try_slopes(search, &window);
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
static size_t improve(struct tie_program *search, const double *errors, size_t least, struct tie_exact *exact,
                      struct diag *diag)
{
    size_t low = 0;
    for (size_t next = least - 1; low < least && !search->gave_up; next = low + (least - low) / 2) {
        if (holds(search, errors[next], exact, diag)) {
            exact->max_err = errors[next];
            least = search->ties->only_enough ? 0 : next;
        } else {
            low = search->ties->only_enough ? least : next + 1;
        }
    }
    return least;
}

static void search_all(struct tie_program *search, const struct line_rules *rules, const double *errors, size_t count,
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
    struct tie_program search = {.ties = ties,
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
