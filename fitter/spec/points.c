/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Specs of values at evenly spaced codes: --knots points, and steps. */
#include <math.h>

#include "spec.h"

/* Rounded down. */
static int log2_of(int64_t number)
{
    return unsigned_bits(number) - 1;
}

int spec_points_shift(const struct spec *spec)
{
    if (spec->constraints.point_shift)
        return spec->constraints.point_shift;
    if (!spec->segments && !isnan(spec->max_err))
        return 0;
    const int bits = spec->in.bits, segment_bits = log2_of(spec->segments ? spec->segments : SPEC_DEFAULT_SEGMENTS);
    return segment_bits < bits ? bits - segment_bits : 1;
}

/* Under floor and half_up a value at the start may as well be added after the shift; others round away from zero, or to
 * even, what has the value in it, and a half is rounded down, or a line towards its left value, by what is added. */
static pwl_form form_of(const struct spec *spec)
{
    const bool is_anchored = spec->rounding == PWL_FLOOR || spec->rounding == PWL_HALF_UP;
    return is_anchored && spec->constraints.points_rounding == POINTS_AS_TABLE ? PWL_ANCHORED : PWL_BIASED;
}

void spec_settle_form(struct spec *spec)
{
    if (spec->constraints.knots == KNOTS_POINTS && !spec->has_form)
        spec->form = form_of(spec);
}

static int check_number(const struct spec *spec, struct diag *diag)
{
    const int bits = spec->in.bits, shift = spec->constraints.point_shift, least = CONSTRAINTS_LEAST_SHIFT(bits);
    const int segments = spec->segments;
    if (shift && (shift < least || shift >= bits))
        return diag_set(diag, EXIT_USAGE,
                        "--knots points:%d: --in has %d bits; must be from %d to %d, for 2 to %d segments", shift, bits,
                        least, bits - 1, 1 << (bits - least));
    if (shift && segments && segments != 1 << (bits - shift))
        return diag_set(diag, EXIT_USAGE,
                        "--segments %d with --knots points:%d: %d bits of --in make %d segments; leave one out",
                        segments, shift, bits, 1 << (bits - shift));
    if (!segments)
        return EXIT_DONE;
    const int below = log2_of(segments), most = bits - least;
    if (below >= 1 && below <= most && segments == 1 << below)
        return EXIT_DONE;
    if (below < 1 || below >= most)
        return diag_set(diag, EXIT_USAGE,
                        "--segments %d with --knots points: must be a power of two from 2 to %d, such as %d", segments,
                        1 << most, below < 1 ? 2 : 1 << most);
    return diag_set(diag, EXIT_USAGE, "--segments %d with --knots points: must be a power of two, such as %d or %d",
                    segments, 1 << below, 2 << below);
}

int spec_step_count(const struct spec *spec)
{
    return (1 << (spec->in.bits - spec->constraints.point_shift)) + (spec->rounding != PWL_FLOOR);
}

/* Steps have no slopes, and a number of segments that their distance gives. */
static int check_steps(const struct spec *spec, struct diag *diag)
{
    const int bits = spec->in.bits, shift = spec->constraints.point_shift,
              least = CONSTRAINTS_LEAST_SHIFT(bits) + (bits > 12 && spec->rounding != PWL_FLOOR);
    const char *const flag = spec->segments                     ? "--segments"
                             : spec->slope_bits                 ? "--slope-bits"
                             : spec->constraints.one_shift      ? "--shift"
                             : spec->constraints.shift_multiple ? "--shift-multiple"
                             : spec->constraints.slope_terms    ? "--slope-terms"
                             : constraints_tie(&spec->constraints)
                                 ? spec->constraints.monotone ? "--monotone" : "--continuous"
                                 : NULL;
    if (flag)
        return diag_set(diag, EXIT_USAGE,
                        "--knots steps:%d with %s: steps are flat, and as many as K says; leave it out", shift, flag);
    if (shift < least || shift >= bits)
        return diag_set(diag, EXIT_USAGE,
                        "--knots steps:%d: --in has %d bits; must be from %d to %d, for at most %d steps", shift, bits,
                        least, bits - 1, PWL_MAX_SEGMENTS);
    return EXIT_DONE;
}

int spec_check_points(const struct spec *spec, struct diag *diag)
{
    const pwl_form form = form_of(spec);
    const char *const kind = has_points(spec) ? "points" : "steps";
    if (!has_values(spec))
        return EXIT_DONE;
    if (spec->method != METHOD_LSQ && spec->method != METHOD_MINIMAX)
        return diag_set(diag, EXIT_USAGE, "--knots %s with --method %s: must be lsq or minimax", kind,
                        method_name(spec->method));
    if (spec->fold || spec->reduce)
        return diag_set(diag, EXIT_USAGE, "--knots %s with --%s: %s lie from the lowest code on; leave one out", kind,
                        spec->fold ? "symmetry fold" : "reduce on", kind);
    if (spec->in.bits > SPEC_EXHAUSTIVE_BITS)
        return diag_set(diag, EXIT_USAGE, "--knots %s: --in has %d bits, must have at most %d", kind, spec->in.bits,
                        SPEC_EXHAUSTIVE_BITS);
    if (!has_points(spec))
        return check_steps(spec, diag);
    if (spec->constraints.points_rounding != POINTS_AS_TABLE && spec->rounding != PWL_FLOOR)
        return diag_set(diag, EXIT_USAGE,
                        "--knots points:%d%s with --rounding %s: is a rounding itself; leave --rounding out",
                        spec->constraints.point_shift, points_rounding_suffix(spec->constraints.points_rounding),
                        rounding_name(spec->rounding));
    if (spec->constraints.shift_bits)
        return diag_set(diag, EXIT_USAGE,
                        "--knots points with --shift-bits %d: the shift is K, from 1 to 15; leave one out",
                        spec->constraints.shift_bits);
    if (spec->constraints.slope_terms)
        return diag_set(diag, EXIT_USAGE,
                        "--knots points with --slope-terms %d: slopes are differences of values; leave one out",
                        spec->constraints.slope_terms);
    if (spec->form != form)
        return diag_set(diag, EXIT_USAGE,
                        "--knots points with --form %s: under --rounding %s it must be %s; leave --form out",
                        form_name(spec->form), rounding_name(spec->rounding), form_name(form));
    return check_number(spec, diag);
}
