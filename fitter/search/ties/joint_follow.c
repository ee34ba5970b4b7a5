/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "joint_follow.h"

#include <math.h>
#include <stdlib.h>

#include <pwl/fixed.h>

/* Values that matter to nothing, at the end or without --continuous, are one: 0. */
static int value_index(const struct tie_program *program, int point, int64_t value)
{
    if (!program->ties->continuous || point == program->points->count)
        return 0;
    const struct integers *values = &program->value[point];
    return (int)((value < values->low ? values->low : value > values->high ? values->high : value) - values->low);
}

/* The segment of the start and slope under trial with an offset, as one that ends at a position. */
static void record(struct tie_program *program, int position, int64_t value, int64_t first, int64_t last,
                   int64_t offset)
{
    const int point = points_at(program->points, position);
    const int before = program->fewest_before[first - program->rules.qmin_y];
    if (before + 1 + program->fewest_after[position] > program->segments)
        return;
    struct reached *state = state_at(program, before + 1, position, value_index(program, point, value));
    const struct integers after = outputs_after(program, point, last);
    if (state->start >= 0 && state->after.low <= after.low && state->after.high >= after.high)
        return;
    *state = (struct reached){.after = after,
                              .line = {.q_b = program->q_b, .n = program->n, .offset = offset},
                              .start = program->start,
                              .begins = first};
}

static int64_t shifted(const struct tie_program *program, int64_t sum)
{
    if (program->n >= 0)
        return pwl_shr64(sum, program->n, (int)program->rules.rounding);
    const wide value = (wide)sum * ((wide)1 << -program->n), most = (wide)1 << 62;
    return (int64_t)(value > most ? most : value < -most ? -most : value);
}

/* The slope under trial at one point, where what it gives is a matter of the offset alone. */
struct slope_at {
    const struct tie_program *program;
    int64_t x, product;
    int64_t level; /* the shifted product; biased: not set */
};

static struct slope_at slope_at(const struct tie_program *program, int point)
{
    struct slope_at slope = {.program = program, .x = program->points->cell[point] - program->origin};
    slope.product = program->q_b * slope.x;
    if (program->rules.form != PWL_BIASED)
        slope.level = shifted(program, slope.product);
    return slope;
}

static int64_t output_of(const struct slope_at *slope, int64_t offset)
{
    const struct line_rules *rules = &slope->program->rules;
    const int64_t raw =
        rules->form == PWL_BIASED ? shifted(slope->program, slope->product + offset) : slope->level + offset;
    return pwl_sat(raw, rules->qmin_y, rules->qmax_y);
}

/* The least offset that gives v or more before saturation. */
static int64_t least_offset(const struct slope_at *slope, int64_t v)
{
    const struct tie_program *program = slope->program;
    const int n = program->n;
    if (program->rules.form != PWL_BIASED)
        return v - slope->level;
    if (n <= 0)
        return -pwl_shr64(-v, -n, PWL_FLOOR) - slope->product;
    int64_t sum = v * ((int64_t)1 << n) - (program->rules.rounding == PWL_FLOOR ? 0 : (int64_t)1 << (n - 1));
    sum += shifted(program, sum) < v; /* a tie that goes down */
    return sum - slope->product;
}

/* Whether a segment with this first output may start where the start under trial is. */
static bool may_begin(const struct tie_program *program, int64_t first)
{
    const struct ties *const ties = program->ties;
    if (program->fewest_before[first - program->rules.qmin_y] + program->fewest_after[program->start] >
        program->segments)
        return false;
    return !(program->ties->fold && program->start == 0 && ties->continuous &&
             tie_gap_of_halves(program->ties, program->points, first) > ties->max_step);
}

/* The outputs that matter at a point: those of its band and, where a segment may end, values. Where saturation leaves
 * none beyond these apart, every output beyond has the value at that end. */
static struct integers outputs_looked_at(const struct tie_program *program, int point, bool records)
{
    struct integers outputs = program->band[point];
    if (!records)
        return outputs;
    const struct integers values = program->value[point], apart = outputs_apart(program, point);
    outputs.low = values.low == apart.low ? program->rules.qmin_y : values.low;
    outputs.high = values.high == apart.high ? program->rules.qmax_y : values.high;
    return outputs;
}

/*
 * Splits offsets, whose lines agree in every output so far, by what they give at a point, and goes on with each part to
 * the next point, as long as outputs lie in their bands, do not step against f and are provable. Where the point may be
 * a knot each part is recorded as a segment that ends there. first, last: the outputs at the start and at the point
 * before.
 */
static void split(struct tie_program *program, int point, struct integers offsets, int64_t first, int64_t last)
{
    const struct ties *const ties = program->ties;
    const int start = points_at(program->points, program->start), position = program->position_at[point];
    const bool may_end = position >= 0 && point > start;
    if (++program->steps > program->most_steps) {
        program->gave_up = true;
        return;
    }
    if (point == program->points->count || (may_end && !ties->continuous)) {
        record(program, position, 0, first, last, offsets.low);
        if (point == program->points->count || program->points->grid_whole)
            return;
    }
    const bool may_go_on = !(may_end && program->points->grid_whole);
    const bool records = may_end && ties->continuous &&
                         program->fewest_before[first - program->rules.qmin_y] + 1 + program->fewest_after[position] <=
                             program->segments;
    const struct integers band = program->band[point],
                          allowed = point > start ? outputs_after(program, point, last) : band,
                          looked_at = outputs_looked_at(program, point, records);
    const struct slope_at slope = slope_at(program, point);
    const struct integers outputs =
        integers_within((struct integers){output_of(&slope, offsets.low), output_of(&slope, offsets.high)},
                        looked_at.low, looked_at.high);
    int64_t next = outputs.low > program->rules.qmin_y ? least_offset(&slope, outputs.low) : offsets.low; /* of v */
    for (int64_t v = outputs.low; v <= outputs.high && !program->gave_up; v++) {
        const int64_t least = next;
        next = v < program->rules.qmax_y ? least_offset(&slope, v + 1) : offsets.high + 1;
        struct integers part = integers_within(offsets, least, next - 1);
        if (part.low > part.high)
            continue;
        if (records)
            record(program, position, v, first, last, part.low);
        if (!may_go_on || v < band.low || v > band.high || v < allowed.low || v > allowed.high ||
            (point == start && !may_begin(program, v)))
            continue;
        if (part.low < program->safe.low || part.high > program->safe.high)
            part = line_offsets_at(&program->rules, program->q_b, program->n, slope.x, part);
        if (part.low <= part.high)
            split(program, point + 1, part, point == start ? v : first, v);
    }
}

/*
 * Whether n makes no line from the start that n - 1 does not make. Once 2^n is more than eight times each product,
 * products shifted by n are 0 or -1, or 0 to nearest, as those of a slope of +-1 shifted by n - 1 are. Of the biased
 * form, once 2^n is more than eight times the difference of any two products, a line has at most one step, by 1, which
 * the same slope, if it is allowed, puts between the same codes with n - 1.
 */
static bool is_too_flat(const struct tie_program *program)
{
    const struct line_rules *rules = &program->rules;
    const int64_t *cell = program->points->cell;
    if (rules->form == PWL_BIASED && !is_within(line_slopes(rules, program->n - 1), program->q_b))
        return false;
    const int64_t first = cell[points_at(program->points, program->start)], last = cell[program->last_point];
    int64_t largest = last - first;
    if (rules->form == PWL_ABSOLUTE) {
        const int64_t left = llabs(first - rules->zp_x), right = llabs(last - rules->zp_x);
        largest = left > right ? left : right;
    }
    return program->n > 3 && (wide)1 << (program->n - 3) > (wide)llabs(program->q_b) * largest;
}

/* Whether other slopes give every line that this one gives. */
static bool is_redundant(const struct tie_program *program)
{
    const struct line_rules *rules = &program->rules;
    if (program->q_b == 0)
        return program->n != line_flat_shift(rules);
    return line_is_reducible(rules, program->q_b, program->n) ||
           (program->n > rules->shift_min && is_too_flat(program));
}

void tie_try_slopes(struct tie_program *program, const struct window *window)
{
    const struct line_rules *rules = &program->rules;
    const int point = points_at(program->points, program->start);
    /* The code after a segment counts as one of its codes: it is one more that may saturate. */
    const double steepest = line_steepest_needed(rules);
    const double low = fmax(window->low, -steepest), high = fmin(window->high, steepest);
    const int64_t first = program->points->cell[point], last = program->points->cell[program->last_point];
    program->origin = line_origin(rules, first);
    for (program->n = rules->shift_min; program->n <= rules->shift_max; program->n++) {
        const struct integers slopes = line_slopes(rules, program->n);
        const double lowest = (double)slopes.low, highest = (double)slopes.high;
        const int64_t least = (int64_t)fmin(fmax(ceil(ldexp(low, program->n)), lowest), highest + 1),
                      most = (int64_t)fmax(fmin(floor(ldexp(high, program->n)), highest), lowest - 1);
        for (program->q_b = slope_above(rules, least - 1); program->q_b <= most && !program->gave_up;
             program->q_b = slope_above(rules, program->q_b)) {
            if (++program->steps > program->most_steps)
                program->gave_up = true;
            if (program->gave_up || is_redundant(program))
                continue;
            program->safe = line_offsets(rules, program->q_b, program->n, first, last);
            split(program, point, rules->offsets, 0, 0);
        }
    }
}
