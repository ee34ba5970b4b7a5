/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a spec must be to be fitted: its parts together, and its function on its codes. */
#include <math.h>

#include "base/file.h"
#include "function/samples.h"
#include "reduce.h"
#include "spec.h"

#define EVEN_CODES 65536 /* an expression is evaluated at so many codes, or at all */

/* The methods that search can keep to constraints. */
static int check_constraints(const struct spec *spec, struct diag *diag)
{
    const struct constraints *constraints = &spec->constraints;
    struct text flags = {0};
    constraints_add_flags(constraints, &flags);
    if (flags.failed)
        diag_set(diag, EXIT_IO, "out of memory for a message");
    else if (flags.size > 0 && (spec->method == METHOD_DOCUMENT || method_is_of_codes(spec->method)))
        diag_set(diag, EXIT_USAGE, "%s with --method %s: must be lsq, minimax or uniform", flags.bytes + 1,
                 method_name(spec->method));
    else if (constraints->knots == KNOTS_POW2 && spec->method == METHOD_UNIFORM)
        diag_set(diag, EXIT_USAGE,
                 "--knots pow2 with --method uniform: its segments have equal width; must be lsq or minimax");
    else if (constraints_tie(constraints) && spec->reduce)
        diag_set(diag, EXIT_USAGE,
                 "--reduce on with --monotone or --continuous: its segments are used again in every octave; leave one "
                 "out");
    else if ((constraints->shift_bits || constraints->shift_multiple) && spec->reduce)
        diag_set(diag, EXIT_USAGE,
                 "--reduce on with --shift-%s %d: an octave adds to the shifts of its segments; leave one out",
                 constraints->shift_bits ? "bits" : "multiple",
                 constraints->shift_bits ? constraints->shift_bits : constraints->shift_multiple);
    else if (constraints->index_bits > spec->in.bits)
        diag_set(diag, EXIT_USAGE, "--knots pow2:%d: --in has %d bits", constraints->index_bits, spec->in.bits);
    text_free(&flags);
    return diag->code;
}

/* Of full tables: what says something about segments or slopes is of no use. */
static int check_codes(const struct spec *spec, struct diag *diag)
{
    const char *const method = method_name(spec->method);
    if (spec->in.bits > 12)
        return diag_set(diag, EXIT_USAGE, "--method %s: --in has %d bits, must have at most 12", method, spec->in.bits);
    if (spec->segments)
        return diag_set(
            diag, EXIT_USAGE,
            "--method %s with --segments %d: a full table has a segment for each code; leave --segments out", method,
            spec->segments);
    if (spec->fold)
        return diag_set(diag, EXIT_USAGE,
                        "--method %s with --symmetry fold: a full table has every code; leave --symmetry out", method);
    if (spec->has_offset_type)
        return diag_set(diag, EXIT_USAGE,
                        "--method %s with --offset-type: its offsets are output codes; leave --offset-type out",
                        method);
    if (spec->slope_bits)
        return diag_set(diag, EXIT_USAGE,
                        "--method %s with --slope-bits %d: a full table has no slopes; leave --slope-bits out", method,
                        spec->slope_bits);
    if (spec->method == METHOD_LUT)
        return EXIT_DONE;
    if (isnan(spec->max_err))
        return diag_set(diag, EXIT_USAGE, "--method residual: needs --max-err L, the error that its steps keep to");
    if (spec->form != PWL_ABSOLUTE || spec->rounding != PWL_FLOOR)
        return diag_set(diag, EXIT_USAGE, "--method residual: its form is absolute and its rounding floor");
    if (spec->in.zero_point < spec->in.qmin || spec->in.zero_point > spec->in.qmax)
        return diag_set(diag, EXIT_USAGE, "--method residual: the zero point of --in must be one of its codes");
    return EXIT_DONE;
}

static int check_method(const struct spec *spec, struct diag *diag)
{
    if (method_is_of_codes(spec->method) && check_codes(spec, diag))
        return diag->code;
    if (spec->method == METHOD_DOCUMENT) {
        if (spec->has_offset_type)
            return diag_set(diag, EXIT_USAGE, "--method document with --offset-type: must be lsq, minimax or uniform");
        const bool in_ok = spec->in.scale.power_of_two;
        if (!in_ok || !spec->out.scale.power_of_two)
            return diag_set(diag, EXIT_USAGE, "--method document: the scale of %s is %s, must be a power of two (2^-k)",
                            in_ok ? "--out" : "--in", in_ok ? spec->out.scale.text : spec->in.scale.text);
        if (spec->form != PWL_ABSOLUTE)
            return diag_set(diag, EXIT_USAGE, "--method document with --form %s: must be absolute",
                            form_name(spec->form));
        if (spec->rounding != PWL_FLOOR)
            return diag_set(diag, EXIT_USAGE, "--method document with --rounding %s: must be floor",
                            rounding_name(spec->rounding));
    }
    return EXIT_DONE;
}

int spec_fix_codes(const struct spec *spec, const struct fix *fix, int64_t *q_x, int64_t *q_y, struct diag *diag)
{
    const double x = rint(fix->x / spec->in.scale.value) + (double)spec->in.zero_point;
    const double y = rint(fix->y / spec->out.scale.value) + (double)spec->out.zero_point;
    if (!(x >= spec->in.qmin && x <= spec->in.qmax) || !(y >= spec->out.qmin && y <= spec->out.qmax))
        return diag_set(diag, EXIT_USAGE, "--fix %.9g:%.9g: %s must lie in the range of %s", fix->x, fix->y,
                        x >= spec->in.qmin && x <= spec->in.qmax ? "Y" : "X",
                        x >= spec->in.qmin && x <= spec->in.qmax ? "--out" : "--in");
    *q_x = (int64_t)x;
    *q_y = (int64_t)y;
    return EXIT_DONE;
}

static int check_fixes(const struct spec *spec, struct diag *diag)
{
    int64_t q_x, q_y;
    for (int k = 0; k < spec->fix_count; k++)
        if (spec_fix_codes(spec, &spec->fixes[k], &q_x, &q_y, diag))
            return diag->code;
    if (spec->fix_count == 0)
        return EXIT_DONE;
    if (spec->method == METHOD_DOCUMENT || method_is_of_codes(spec->method))
        return diag_set(diag, EXIT_USAGE, "--fix with --method %s: must be lsq, minimax or uniform",
                        method_name(spec->method));
    if (spec->in.bits > 16)
        return diag_set(diag, EXIT_USAGE, "--fix: --in has %d bits, must have at most 16", spec->in.bits);
    return EXIT_DONE;
}

/* Weights say nothing about the largest error, and the nearest code of each input needs none. */
static int check_weights(const struct spec *spec, struct diag *diag)
{
    if (!spec->weights)
        return EXIT_DONE;
    if (spec->method == METHOD_MINIMAX || method_is_of_codes(spec->method))
        return diag_set(diag, EXIT_USAGE, "--weights with --method %s%s: must be lsq, uniform or document%s",
                        method_name(spec->method), spec->has_method ? "" : ", which --max-err implies",
                        spec->method == METHOD_MINIMAX ? "; the largest error is that of any code" : "");
    return weights_check(spec->weights, &spec->in, diag);
}

static bool defined_at(const struct spec *spec, int64_t code)
{
    return function_defined_at(&spec->function, tensor_at(&spec->in, code));
}

/* A domain is an interval, at most without 0: its ends and the zero point decide. */
static int check_domain(const struct spec *spec, struct diag *diag)
{
    char domain[64];
    const int64_t zero = spec->in.zero_point;
    const int64_t tried[] = {spec->in.qmin, spec->in.qmax,
                             zero >= spec->in.qmin && zero <= spec->in.qmax ? zero : spec->in.qmin};
    int64_t bad = 0, good = 0;
    bool any_bad = false;
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++)
        if (!defined_at(spec, tried[k])) {
            bad = tried[k];
            any_bad = true;
        }
    if (!any_bad)
        return EXIT_DONE;

    function_domain_text(&spec->function, domain, sizeof domain);
    if (spec->outside == OUTSIDE_ERROR)
        return diag_set(diag, EXIT_USAGE,
                        "--in: code %lld is x = %.6Lg, outside the domain %s of %s; change the type or give "
                        "--outside clamp",
                        (long long)bad, tensor_real(&spec->in, bad), domain, function_name(&spec->function));
    /* Some code must be defined. With samples the interval may lie strictly inside the range: try its ends too. */
    int64_t candidates[9] = {spec->in.qmin, spec->in.qmax, zero - 1, zero + 1, zero};
    int count = 5;
    if (spec->function.samples) {
        const struct samples *samples = spec->function.samples;
        const double ends[] = {samples->x[0], samples->x[samples->count - 1]};
        for (int k = 0; k < 2; k++) {
            const double code = ends[k] / spec->in.scale.value + zero;
            if (fabsl(code) < 0x1p40L) {
                candidates[count++] = (int64_t)ceil(code);
                candidates[count++] = (int64_t)floor(code);
            }
        }
    }
    for (int k = 0; k < count; k++) {
        good = candidates[k];
        if (good >= spec->in.qmin && good <= spec->in.qmax && defined_at(spec, good))
            return EXIT_DONE;
    }
    return diag_set(diag, EXIT_USAGE, "--in: no code lies in the domain %s of %s", domain,
                    function_name(&spec->function));
}

int spec_check_value(const struct spec *spec, int64_t code, struct diag *diag)
{
    if (defined_at(spec, code))
        return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE,
                    "--expr: has no finite value at code %lld of --in, x = %.6Lg; change the type, or write a limit "
                    "into the expression, as in sqrt(max(x, 0))",
                    (long long)code, tensor_real(&spec->in, code));
}

/* Nothing tells where an expression is defined but its values. */
static int check_expression(const struct spec *spec, struct diag *diag)
{
    const struct tensor *in = &spec->in;
    if (spec->outside == OUTSIDE_CLAMP)
        return diag_set(diag, EXIT_USAGE,
                        "--outside clamp with --expr: the domain is not known; write the limit into the expression, as "
                        "in sqrt(max(x, 0))");
    const int64_t range = in->qmax - in->qmin, steps = range < EVEN_CODES ? range : EVEN_CODES;
    const bool has_zero = in->zero_point >= in->qmin && in->zero_point <= in->qmax;
    for (int64_t k = has_zero ? -1 : 0; k <= steps; k++) { /* range * k < 2^49 */
        const int64_t q = k < 0 ? in->zero_point : in->qmin + range * k / steps;
        if (spec_check_value(spec, q, diag))
            return diag->code;
    }
    return EXIT_DONE;
}

int spec_check_given(const struct spec *spec, struct diag *diag)
{
    if (!spec->function.info && !spec->function.samples)
        return diag_set(diag, EXIT_USAGE,
                        "FUNCTION: missing; give a name from `pwlc list`, --expr EXPRESSION or --samples FILE");
    if (!spec->has_in)
        return diag_set(diag, EXIT_USAGE, "--in: missing; give the input type, for example u16:2^-12:24576");
    if (!spec->has_out)
        return diag_set(diag, EXIT_USAGE, "--out: missing; give the output type, for example u16:2^-16:-1");
    return EXIT_DONE;
}

int spec_check_scales(const struct spec *spec, struct diag *diag)
{
    char type[16];
    if (!spec->in_lacks_scale && !spec->out_lacks_scale)
        return EXIT_DONE;
    tensor_type_name(spec->in_lacks_scale ? &spec->in : &spec->out, type, sizeof type);
    return diag_set(diag, EXIT_USAGE, "%s %s: has no scale; write it, as in %s:2^-4:0, or give --range or --calibrate",
                    spec->in_lacks_scale ? "--in" : "--out", type, type);
}

/* What another reader stores for a slope may be wider than the table's own slopes. */
static int check_slopes(const struct spec *spec, struct diag *diag)
{
    const int storage = storage_bits(spec_storage(spec)), bits = spec->slope_bits ? spec->slope_bits : storage;
    const int multiple = spec->constraints.shift_multiple;
    if (bits > storage && !multiple)
        return diag_set(diag, EXIT_USAGE, "--slope-bits %d: these types store slopes in %d bits; must be from 2 to %d",
                        bits, storage, storage);
    if (bits <= multiple)
        return diag_set(diag, EXIT_USAGE,
                        "--shift-multiple %d: slopes are stored in %d bits, and a shift between two multiples takes up "
                        "to %d of them; --slope-bits must be at least %d",
                        multiple, bits, multiple - 1, multiple + 1);
    return EXIT_DONE;
}

int spec_check(const struct spec *spec, struct diag *diag)
{
    if (spec_check_given(spec, diag) || spec_check_scales(spec, diag))
        return diag->code;
    int64_t sum;
    diag->code = EXIT_DONE;
    if (check_slopes(spec, diag) || spec_check_points(spec, diag) || check_method(spec, diag) ||
        check_constraints(spec, diag) || check_fixes(spec, diag) || check_weights(spec, diag) ||
        (spec->fold && spec_fold_sum(spec, &sum, diag)))
        return diag->code;
    if (spec->function.expression ? check_expression(spec, diag) : check_domain(spec, diag))
        return diag->code;
    struct reduced_core core;
    return spec->reduce ? reduce_plan(spec, &core, diag) : EXIT_DONE;
}
