/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every table of a tiny spec has to keep to. */
#include <math.h>
#include <string.h>

#include "tiny_spec.h"

static struct every_output output_at(const struct tiny *tiny, int64_t code)
{
    const struct tensor *in = &tiny->spec.in, *out = &tiny->spec.out;
    if (code < in->qmin || code > in->qmax)
        return (struct every_output){.exists = false};
    const int k = (int)(code - in->qmin);
    const long double step = k > 0 ? tiny->whole[k] - tiny->whole[k - 1] : 0;
    return (struct every_output){
        .exists = true,
        .target = (double)fmaxl((long double)out->qmin, fminl((long double)out->qmax, tiny->whole[k])),
        .weight = tiny->weight[k],
        .fixed = tiny->fixed[k],
        .direction = (step > 0) - (step < 0)};
}

/* Of the inputs and outputs. */
static int width_of_fields(const struct spec *spec)
{
    return spec->in.bits > 8 || spec->out.bits > 8 ? 16 : 8;
}

/* The constants of --offset-type, or those that the fields hold; of points of the biased form, whatever values they do.
 */
static struct integers offsets_of(const struct spec *spec)
{
    const int bits = spec->form == PWL_BIASED || width_of_fields(spec) > 8 ? 32 : 16;
    const int64_t most = (INT64_C(1) << (bits - 1)) - 1;
    const struct tensor *type = &spec->offset_type;
    if (!spec->has_offset_type)
        return (struct integers){-most - 1, most};
    return (struct integers){type->qmin < -most - 1 ? -most - 1 : type->qmin, type->qmax > most ? most : type->qmax};
}

/* How far values at points lie apart; 0: there are none, or --max-err is to find out. */
static int shift_of(const struct tiny *tiny, int segments)
{
    int shift = has_points(&tiny->spec) ? tiny->spec.constraints.point_shift : 0;
    if (shift || !has_points(&tiny->spec) || !segments)
        return shift;
    while (segments << shift < tiny->count)
        shift++;
    return shift;
}

/* segments: of the table; numbered: those that decide where it may have knots. */
static bool may_start(const struct tiny *tiny, const struct every_spec *every, int k, int segments, int numbered)
{
    const struct constraints *constraints = &tiny->spec.constraints;
    const int64_t in_bits = tiny->spec.in.bits, code = every->first_x + k;
    if (code > tiny->spec.in.qmax)
        return false;
    if (constraints->knots == KNOTS_POINTS)
        return (code - tiny->spec.in.qmin) % (INT64_C(1) << every->shift) == 0;
    if (every->step_shift)
        return every_shift(every->rounding, k, every->step_shift) !=
               every_shift(every->rounding, k - 1, every->step_shift);
    if (constraints->knots == KNOTS_UNIFORM) {
        for (int m = 0; m < segments; m++)
            if (k == (tiny->spec.in.qmax - every->first_x + 1) * m / segments)
                return true;
        return false;
    }
    if (constraints->knots == KNOTS_FREE)
        return true;
    /* Without a number, two bits more than number the segments, which a folded table has on half of the codes; all
     * where that is not given. */
    const int halves = tiny->spec.fold ? 2 * numbered : numbered;
    int64_t bits = constraints->index_bits ? constraints->index_bits : numbered ? 2 : in_bits;
    for (int most = 1; !constraints->index_bits && most < halves; most *= 2)
        bits++;
    bits = bits < in_bits ? bits : in_bits;
    return (code - tiny->spec.in.qmin) % (INT64_C(1) << (in_bits - bits)) == 0;
}

/* Of the codes of f(x) and f(-x). */
static int64_t sum_of_halves(const struct spec *spec)
{
    const char *const name = function_name(&spec->function);
    const bool is_complement = !strcmp(name, "sigmoid") || !strcmp(name, "hard_sigmoid");
    return (is_complement ? llrint(1 / spec->out.scale.value) : 0) + 2 * spec->out.zero_point;
}

struct every_spec tiny_every(const struct tiny *tiny, int segments)
{
    const struct spec *spec = &tiny->spec;
    /* Knots of tied segments are on the grid of the number found. */
    const int numbered = spec->segments || !constraints_tie(&spec->constraints) ? spec->segments : segments;
    const int64_t image = 2 * spec->in.zero_point - spec->in.qmin,
                  first = spec->fold ? spec->in.zero_point : spec->in.qmin,
                  last = spec->fold && image > spec->in.qmax ? image : spec->in.qmax;
    const struct integers offsets = offsets_of(spec);
    const int fields = width_of_fields(spec), slope_bits = spec->slope_bits ? spec->slope_bits : 8;
    struct every_spec every = {.form = (enum every_form)spec->form,
                               .rounding = (enum every_rounding)spec->rounding,
                               .first_x = first,
                               .zp_x = spec->in.zero_point,
                               .qmin_y = spec->out.qmin,
                               .qmax_y = spec->out.qmax,
                               .sum_bits = 32,
                               .slope_bits = slope_bits < fields ? slope_bits : fields,
                               .shift_bits = spec->constraints.shift_bits,
                               .shift_multiple = spec->constraints.shift_multiple,
                               .stored_bits = slope_bits,
                               .field_bits = fields,
                               .offset_low = offsets.low,
                               .offset_high = offsets.high,
                               .shift = shift_of(tiny, segments),
                               .half_down = spec->constraints.points_rounding == POINTS_HALF_DOWN,
                               .toward_left = spec->constraints.points_rounding == POINTS_TOWARD_LEFT,
                               .step_shift = spec->constraints.knots == KNOTS_STEPS ? spec->constraints.point_shift : 0,
                               .slope_terms = spec->constraints.slope_terms,
                               .one_shift = spec->constraints.one_shift,
                               .monotone = spec->constraints.monotone,
                               .is_continuous = spec->constraints.continuous,
                               .max_step = spec->constraints.max_step,
                               .segments = spec->segments,
                               .squares = spec->method == METHOD_LSQ,
                               .count = (int)(last - first + 1),
                               .sum = spec->fold ? sum_of_halves(spec) : 0,
                               .start_all = spec->constraints.knots == KNOTS_UNIFORM};
    for (int k = 0; k < every.count; k++) {
        every.output[k] = output_at(tiny, first + k);
        if (spec->fold && k > 0)
            every.mirror[k] = output_at(tiny, first - k);
        every.may_start[k] = k == 0 || may_start(tiny, &every, k, segments, numbered);
    }
    /* Steps to the zero point from below. */
    every.mirror[0].direction = spec->fold ? every.output[0].direction : 0;
    return every;
}
