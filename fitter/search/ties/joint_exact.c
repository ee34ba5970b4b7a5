/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "joint_exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "joint_follow.h"

/* The most that one fit may take: codes, errors that are told apart, and states. */
enum { MOST_CODES = 1 << 12, MOST_ERRORS = 1 << 22, MOST_STATES = 1 << 21 };

/* A step takes as long as looking at so many points. */
enum { STEP_EFFORT = 4 };

/* The first outputs with which a segment may follow a state. */
static struct integers firsts_after(const struct tie_program *program, int position, int value,
                                    const struct reached *state)
{
    const int point = points_at(program->points, position);
    struct integers firsts = program->band[point];
    if (state->start < 0)
        return (struct integers){0, -1};
    if (program->ties->continuous) {
        const struct integers near =
            tie_outputs_near(program->ties, program->points, point, program->value[point].low + value);
        firsts = integers_within(firsts, near.low, near.high);
    }
    return integers_within(firsts, state->after.low, state->after.high);
}

static void find_fewest_before(struct tie_program *program)
{
    const int64_t qmin = program->rules.qmin_y, outputs = program->rules.qmax_y - qmin + 1;
    for (int64_t v = 0; v < outputs; v++)
        program->fewest_before[v] = program->start == 0 ? 0 : program->segments;
    for (int m = 1; program->start > 0 && m < program->segments; m++)
        for (int k = 0; k < program->values; k++) {
            const struct integers firsts =
                firsts_after(program, program->start, k, state_at(program, m, program->start, k));
            for (int64_t v = firsts.low; v <= firsts.high; v++)
                if (program->fewest_before[v - qmin] > m)
                    program->fewest_before[v - qmin] = m;
        }
}

/* The state before a segment that begins with some output. */
static const struct reached *state_before(const struct tie_program *program, int segments, int position, int64_t first)
{
    for (int k = 0; k < program->values; k++) {
        const struct reached *state = state_at(program, segments, position, k);
        const struct integers firsts = firsts_after(program, position, k, state);
        if (is_within(firsts, first))
            return state;
    }
    return NULL;
}

static void take_table(const struct tie_program *program, int segments, struct tie_exact *exact)
{
    const struct reached *state = state_at(program, segments, program->positions, 0);
    exact->segments = segments;
    exact->knots[segments] = program->points->count;
    for (int m = segments; m > 0; m--) {
        exact->lines[m - 1] = state->line;
        exact->knots[m - 1] = points_at(program->points, state->start);
        if (m > 1)
            state = state_before(program, m - 1, state->start, state->begins);
    }
    exact->found = true;
}

/* More than an error, by what rounding does to the ends of bands: the differences that a certificate takes decide. */
static double with_room(double max_err)
{
    return max_err * (1 + 1e-12) + 1e-9;
}

/* The outputs allowed at a point, within the output range. */
static struct integers outputs_within(const struct points *points, const struct line_rules *rules, int k,
                                      double max_err)
{
    const struct band band = band_at(points, rules->qmin_y, rules->qmax_y, k, max_err);
    return integers_within((struct integers){rules->qmin_y, rules->qmax_y}, band.low, band.high);
}

/* The values of the line before a point that allow some output of its band. */
static struct integers values_at(const struct tie_program *program, int point)
{
    const struct integers band = program->band[point];
    const int64_t widest = tie_widest_step(program->ties, program->points, point);
    return integers_within(outputs_apart(program, point), band.low - widest, band.high + widest);
}

/* The outputs within max_err of each target; false where some point has none. */
static bool set_bands(struct tie_program *program, double max_err)
{
    const struct points *points = program->points;
    program->values = 1;
    for (int k = 0; k < points->count; k++) {
        struct integers band = outputs_within(points, &program->rules, k, with_room(max_err));
        while (band.low <= band.high && points_error(points, k, (double)band.low) > max_err)
            band.low++;
        while (band.low <= band.high && points_error(points, k, (double)band.high) > max_err)
            band.high--;
        if (band.low > band.high)
            return false;
        program->band[k] = band;
        if (!program->ties->continuous)
            continue;
        program->value[k] = values_at(program, k);
        const int values = (int)(program->value[k].high - program->value[k].low + 1);
        program->values = values > program->values ? values : program->values;
    }
    return true;
}

/* Finds how many segments must follow each position, by real lines within the bands. */
static bool find_fewest_after(struct tie_program *program, double max_err, struct diag *diag)
{
    const struct points *points = program->points;
    program->fewest_after[program->positions] = 0;
    for (int position = program->positions - 1; position >= 0; position--) {
        const int begin = points_at(points, position);
        struct window any;
        const int real_end = hulls_reach(points, program->rules.qmin_y, program->rules.qmax_y, begin, points->count,
                                         max_err, &any, diag);
        if (real_end < 0)
            return false;
        program->steps += real_end - begin;
        int end = position;
        while (end < program->positions && points_at(points, end + 1) <= real_end &&
               !(points->grid_whole && end > position))
            end++;
        program->real_end[position] = real_end;
        program->fewest_after[position] = end == position ? program->segments + 1 : program->fewest_after[end] + 1;
    }
    return true;
}

/* The slopes with which a segment from the start can be part of a table; false when none can. */
static bool find_window(struct tie_program *program, double max_err, struct window *window, struct diag *diag)
{
    const struct line_rules *rules = &program->rules;
    const int begin = points_at(program->points, program->start), real_end = program->real_end[program->start];
    int fewest = program->segments, end = program->start + 1;
    for (int64_t v = 0; v <= rules->qmax_y - rules->qmin_y; v++)
        fewest = program->fewest_before[v] < fewest ? program->fewest_before[v] : fewest;
    while (end <= program->positions && fewest + 1 + program->fewest_after[end] > program->segments)
        end++;
    if (end > program->positions)
        return false;
    const int nearest = points_at(program->points, end); /* a segment has to come as far */
    program->last_point = real_end < program->points->count ? real_end : program->points->count - 1;
    if (hulls_reach(program->points, rules->qmin_y, rules->qmax_y, begin, nearest, max_err, window, diag) < nearest)
        return false;
    const double slack = 1e-9 * fmax(1, fmax(fabs(window->low), fabs(window->high)));
    window->low -= slack;
    window->high += slack;
    return true;
}

/* Whether there is room for so many states; what they were is lost. */
static bool room_for(struct tie_program *program, size_t states)
{
    if (states <= program->room)
        return true;
    free(program->state);
    program->state = malloc(states * sizeof *program->state);
    program->room = program->state ? states : 0;
    return program->state;
}

/* Whether some table holds an error, which then goes to *exact. */
static bool hold_error(struct tie_program *program, double max_err, struct tie_exact *exact, struct diag *diag)
{
    if (!set_bands(program, max_err))
        return false;
    const size_t states = (size_t)(program->segments + 1) * (size_t)(program->positions + 1) * (size_t)program->values;
    if (states > MOST_STATES) {
        program->gave_up = true;
        return false;
    }
    if (!room_for(program, states)) {
        diag_set(diag, EXIT_IO, "out of memory for %d codes", program->points->count);
        program->gave_up = true;
        return false;
    }
    for (size_t k = 0; k < states; k++)
        program->state[k].start = -1;
    if (!find_fewest_after(program, with_room(max_err), diag))
        program->gave_up = true;
    for (program->start = 0; program->start < program->positions && !program->gave_up; program->start++) {
        struct window window;
        program->gave_up |= points_out_of_time(program->points);
        find_fewest_before(program);
        if (find_window(program, with_room(max_err), &window, diag))
            tie_try_slopes(program, &window);
    }
    for (int m = 1; m <= program->segments && !program->gave_up; m++)
        if (state_at(program, m, program->positions, 0)->start >= 0) {
            take_table(program, m, exact);
            return true;
        }
    return false;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All errors from low to below high that a code can have, in order; at most one for each output. */
static void list_errors(const struct points *points, const struct line_rules *rules, double low, double high,
                        double *errors, size_t *count)
{
    *count = 0;
    for (int k = 0; k < points->count; k++) {
        const struct integers near = outputs_within(points, rules, k, high);
        for (int64_t v = near.low; v <= near.high; v++) {
            const double error = points_error(points, k, (double)v);
            if (error >= low && error < high)
                errors[(*count)++] = error;
        }
    }
    qsort(errors, *count, sizeof *errors, ascending);
}

/* The index of the least error that tables hold of those before `least`, or `least` when there is none. */
static size_t improve(struct tie_program *program, const double *errors, size_t least, struct tie_exact *exact,
                      struct diag *diag)
{
    size_t low = 0;
    for (size_t next = least - 1; low < least && !program->gave_up; next = low + (least - low) / 2) {
        if (hold_error(program, errors[next], exact, diag)) {
            exact->max_err = errors[next];
            least = program->ties->stops_at_max_err ? 0 : next;
        } else {
            low = program->ties->stops_at_max_err ? least : next + 1;
        }
    }
    return least;
}

static void search_all(struct tie_program *program, const struct line_rules *rules, const double *errors, size_t count,
                       struct tie_exact *exact, struct diag *diag)
{
    size_t least = count;
    for (int trial = 0; !program->gave_up && least > 0; trial++) {
        if (!line_rules_of_trial(rules, program->points, trial, &program->rules))
            break;
        least = improve(program, errors, least, exact, diag);
    }
    exact->complete = !program->gave_up;
}

static void program_free(struct tie_program *program)
{
    free(program->position_at);
    free(program->band);
    free(program->value);
    free(program->state);
    free(program->fewest_after);
    free(program->real_end);
    free(program->fewest_before);
}

/* False when memory is short. */
static bool program_init(struct tie_program *program, const struct ties *ties, const struct points *points,
                         int segments, int64_t outputs)
{
    const size_t count = (size_t)points->count + 1;
    *program = (struct tie_program){.ties = ties,
                                    .points = points,
                                    .segments = segments,
                                    .positions = points_places(points),
                                    .most_steps = (int64_t)(points->effort->share * TIE_MOST_STEPS),
                                    .position_at = malloc(count * sizeof *program->position_at),
                                    .band = malloc(count * sizeof *program->band),
                                    .value = malloc(count * sizeof *program->value),
                                    .fewest_after = malloc(count * sizeof *program->fewest_after),
                                    .real_end = malloc(count * sizeof *program->real_end),
                                    .fewest_before = malloc((size_t)outputs * sizeof *program->fewest_before)};
    if (!program->position_at || !program->band || !program->value || !program->fewest_after || !program->real_end ||
        !program->fewest_before)
        return false;
    for (size_t k = 0; k < count; k++)
        program->position_at[k] = -1;
    for (int position = 0; position <= program->positions; position++)
        program->position_at[points_at(points, position)] = position;
    return true;
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
    if (effort_overdrawn(points->effort))
        return EXIT_DONE;
    size_t count;
    struct tie_program program;
    double *errors = malloc((size_t)points->count * (size_t)outputs * sizeof *errors);
    if (program_init(&program, ties, points, segments, outputs) && errors) {
        list_errors(points, rules, low, fmin(high, (double)outputs), errors, &count);
        search_all(&program, rules, errors, count, exact, diag);
    } else {
        diag_set(diag, EXIT_IO, "out of memory for %d codes", points->count);
    }
    points_spend(points, STEP_EFFORT * program.steps);
    program_free(&program);
    free(errors);
    return diag->code;
}
