/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "problem.h"

#include <math.h>
#include <stdlib.h>

#include "function/target.h"
#include "search/rounding.h"

_Static_assert(EXACT_POINTS == SPEC_COMPLETE_CODES, "what a spec says of complete searches is what they do");

void line_rules_init(struct line_rules *rules, const struct spec *spec)
{
    const pwl_storage storage = storage_for(spec->in.bits, spec->out.bits);
    const int most_bits = storage_bits(storage), slope_bits = spec->slope_bits ? spec->slope_bits : most_bits,
              bits = slope_bits < most_bits ? slope_bits : most_bits, multiple = spec->constraints.shift_multiple;
    rules->form = spec->form;
    rules->rounding = spec->rounding;
    rules->zp_x = spec->in.zero_point;
    rules->qmin_y = spec->out.qmin;
    rules->qmax_y = spec->out.qmax;
    rules->slopes = (struct integers){code_min(bits, true), code_max(bits, true)};
    rules->shift_multiple = multiple;
    rules->stored_bits = slope_bits;
    rules->accumulator_bits = accumulator_bits(storage);
    rules->slope_terms = spec->constraints.slope_terms;
    rules->one_shift = spec->constraints.one_shift;
    rules->shift_max = rules->accumulator_bits - 1;
    rules->shift_min = -rules->shift_max;
    if (multiple) {
        const int longest = CONSTRAINTS_LONGEST_STORED_SHIFT / multiple * multiple;
        rules->shift_max = longest < rules->shift_max ? longest : rules->shift_max;
        rules->shift_min = multiple - slope_bits + 1; /* 0 or less: spec_check asks for slopes of more bits */
    }
    if (spec->constraints.shift_bits) {
        const struct integers stored = {code_min(spec->constraints.shift_bits, true),
                                        code_max(spec->constraints.shift_bits, true)};
        rules->shift_min = stored.low > rules->shift_min ? (int)stored.low : rules->shift_min;
        rules->shift_max = stored.high < rules->shift_max ? (int)stored.high : rules->shift_max;
    }
    if (spec->constraints.knots == KNOTS_STEPS) {
        rules->slopes = (struct integers){0, 0};
        rules->shift_min = rules->shift_max = 0;
    }
    const int64_t most = (int64_t)(((uint64_t)1 << (offset_bits(storage, spec->form) - 1)) - 1);
    rules->offsets = spec_offsets(spec, (struct integers){-most - 1, most});
}

/* Of f itself: where targets are clipped it still rises or falls. */
static int direction_between(const struct spec *spec, int64_t from, int64_t to)
{
    const struct dd a = target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, from);
    const struct dd b = target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, to);
    return dd_less(a, b) - dd_less(b, a);
}

/* TURN where f starts one way and ends the other. */
static signed char direction_over(const struct spec *spec, int64_t from, int64_t to)
{
    if (to > from + 1 && direction_between(spec, from, from + 1) * direction_between(spec, to - 1, to) < 0)
        return TURN;
    return (signed char)direction_between(spec, from, to);
}

int ties_init(struct ties *ties, const struct spec *spec, const struct points *points, struct diag *diag)
{
    *ties = (struct ties){.monotone = spec->constraints.monotone,
                          .continuous = spec->constraints.continuous,
                          .max_step = spec->constraints.max_step,
                          .fold = spec->is_half && spec->in.zero_point > code_min(spec->in.bits, spec->in.is_signed),
                          .fold_sum = spec->fold_sum,
                          .by_max_err = spec->method == METHOD_MINIMAX,
                          .max_err = isnan(spec->max_err) ? INFINITY : spec->max_err};
    if (!ties->monotone)
        return EXIT_DONE;
    ties->inside = calloc((size_t)points->count, 3);
    ties->run_end = malloc((size_t)points->count * sizeof *ties->run_end);
    if (!ties->inside || !ties->run_end)
        return diag_set(diag, EXIT_IO, "out of memory for %d codes", points->count);
    ties->joint = ties->inside + points->count;
    ties->cell = ties->joint + points->count;
    for (int k = 0; k < points->count; k++) {
        ties->cell[k] = direction_over(spec, points->cell[k], points->cell[k + 1] - 1);
        if (k == 0)
            continue;
        ties->joint[k] = direction_over(spec, points->cell[k] - 1, points->cell[k]);
        ties->inside[k] = direction_over(spec, (int64_t)points->code[k - 1], (int64_t)points->code[k]);
    }
    for (int k = points->count - 1; k >= 0; k--) {
        const bool last = k == points->count - 1 || ties->inside[k + 1] != ties->inside[k];
        ties->run_end[k] = last ? k + 1 : ties->run_end[k + 1];
    }
    return EXIT_DONE;
}

struct addends interpolation_addends(const struct spec *spec, int shift)
{
    const int64_t width = (int64_t)1 << shift;
    const enum points_rounding rounding = spec->constraints.points_rounding;
    if (rounding == POINTS_HALF_DOWN)
        return (struct addends){{[NOT_FALLING] = width / 2 - 1, [FALLING] = width / 2 - 1}};
    return (struct addends){{[FALLING] = rounding == POINTS_TOWARD_LEFT ? width - 1 : 0}};
}

struct integers interpolation_values(const struct spec *spec, const struct line_rules *rules)
{
    const struct integers near = {rules->qmin_y + rules->slopes.low, rules->qmax_y - rules->slopes.low};
    const struct integers fields = rules->form == PWL_ANCHORED ? rules->offsets : near;
    return spec_values(spec, integers_within(near, fields.low, fields.high));
}
