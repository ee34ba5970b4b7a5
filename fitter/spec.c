/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"
#include "file.h"
#include "number.h"
#include "reduce.h"
#include "samples.h"

#define EVEN_CODES 65536 /* an expression is evaluated at so many codes, or at all */

static const struct {
    const char *name, *summary;
} methods[METHOD_COUNT] = {
    [METHOD_LSQ] = {"lsq", "least squares in each segment, knots by dynamic programming (default)"},
    [METHOD_MINIMAX] = {"minimax",
                        "least possible largest error, proven; fewest segments for --max-err (default with it)"},
    [METHOD_UNIFORM] = {"uniform", "least squares in segments of equal width"},
    [METHOD_DOCUMENT] = {"document",
                         "one shift for all slopes and one for all constants, each rounded alone: a baseline"},
    [METHOD_LUT] = {"lut", "full table of nearest codes, inputs of up to 12 bits"},
};

const char *method_name(enum method method)
{
    return methods[method].name;
}

const char *method_summary(enum method method)
{
    return methods[method].summary;
}

bool method_parse(const char *name, enum method *method)
{
    for (int m = 0; m < METHOD_COUNT; m++)
        if (!strcmp(name, methods[m].name)) {
            *method = (enum method)m;
            return true;
        }
    return false;
}

void spec_init(struct spec *spec)
{
    memset(spec, 0, sizeof *spec);
    spec->max_err = NAN;
    spec->method = METHOD_LSQ;
    spec->form = PWL_ABSOLUTE;
    spec->rounding = PWL_FLOOR;
    spec->outside = OUTSIDE_ERROR;
}

void spec_free(struct spec *spec)
{
    function_free(&spec->function);
    free(spec->calibration.values);
    spec->calibration.values = NULL;
    weights_free(spec->weights);
    spec->weights = NULL;
}

static int set_integer(const char *flag, const char *value, int min, int max, int *target, struct diag *diag)
{
    int64_t parsed;
    if (number_integer(value, strlen(value), &parsed) != NUMBER_OK || parsed < min || parsed > max)
        return diag_set(diag, EXIT_USAGE, "%s %s: must be an integer from %d to %d", flag, value, min, max);
    *target = (int)parsed;
    return EXIT_DONE;
}

static int set_function(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (spec->function.info || spec->function.samples)
        return diag_set(diag, EXIT_USAGE, "%s %s: the function is already %s; give one", flag, value,
                        function_name(&spec->function));
    return function_init(&spec->function, value, diag);
}

static int set_samples(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (spec->function.info || spec->function.samples)
        return diag_set(diag, EXIT_USAGE, "%s %s: the function is already %s; give one", flag, value,
                        function_name(&spec->function));
    return samples_read(value, &spec->function.samples, diag);
}

static int set_expression(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (spec->function.info || spec->function.samples)
        return diag_set(diag, EXIT_USAGE, "%s %s: the function is already %s; give one", flag, value,
                        function_name(&spec->function));
    return function_set_expression(&spec->function, value, flag, diag);
}

static int set_parameter(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (!spec->function.info)
        return diag_set(diag, EXIT_USAGE, "%s %s: must come after the name of a function that has parameters", flag,
                        value);
    return function_set_parameter(&spec->function, value, diag);
}

/* "s8" leaves scale and zero point to --range or --calibrate. */
static int set_type(struct tensor *tensor, bool *lacks_scale, const char *flag, const char *value, struct diag *diag)
{
    *lacks_scale = tensor_is_codes(value);
    return *lacks_scale ? tensor_parse_codes(value, flag, tensor, diag) : tensor_parse(value, flag, tensor, diag);
}

static int set_in(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    spec->has_in = true;
    return set_type(&spec->in, &spec->in_lacks_scale, flag, value, diag);
}

static int set_out(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    spec->has_out = true;
    return set_type(&spec->out, &spec->out_lacks_scale, flag, value, diag);
}

static int set_range(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    spec->calibration.has_range = true;
    return range_parse(value, flag, &spec->calibration.low, &spec->calibration.high, diag);
}

static int set_calibrate(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    (void)flag;
    free(spec->calibration.values);
    return calibration_read(value, &spec->calibration.values, &spec->calibration.count, diag);
}

static int set_calibrate_by(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    spec->calibration.has_by = true;
    return calibrate_by_parse(value, flag, &spec->calibration.by, &spec->calibration.percent, diag);
}

static int set_pow2_scales(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    (void)flag, (void)value, (void)diag;
    spec->calibration.powers_of_two = true;
    return EXIT_DONE;
}

static int set_segments(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    return set_integer(flag, value, 1, PWL_MAX_SEGMENTS, &spec->segments, diag);
}

static int set_max_err(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (number_real(value, strlen(value), &spec->max_err) != NUMBER_OK || !(spec->max_err > 0))
        return diag_set(diag, EXIT_USAGE, "%s %s: must be a positive number of output LSB", flag, value);
    if (!spec->has_method)
        spec->method = METHOD_MINIMAX;
    return EXIT_DONE;
}

static int set_method(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (!method_parse(value, &spec->method))
        return diag_set(diag, EXIT_USAGE, "%s %s: must be lsq, minimax, uniform, document or lut", flag, value);
    spec->has_method = true;
    return EXIT_DONE;
}

static int set_form(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (!form_parse(value, &spec->form))
        return diag_set(diag, EXIT_USAGE, "%s %s: must be absolute, biased or anchored", flag, value);
    return EXIT_DONE;
}

static int set_rounding(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (!rounding_parse(value, &spec->rounding))
        return diag_set(diag, EXIT_USAGE, "%s %s: must be floor, half_up, half_away or half_even", flag, value);
    return EXIT_DONE;
}

static int set_slope_bits(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    return set_integer(flag, value, 2, 32, &spec->slope_bits, diag);
}

static int set_constraint(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    return constraints_set(&spec->constraints, flag, value, diag);
}

static int set_fix(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    struct fix fix;
    const char *colon = strchr(value, ':');
    if (!colon || number_real(value, (size_t)(colon - value), &fix.x) != NUMBER_OK ||
        number_real(colon + 1, strlen(colon + 1), &fix.y) != NUMBER_OK)
        return diag_set(diag, EXIT_USAGE, "%s %s: must be X:Y, two real numbers such as 0:0", flag, value);
    if (spec->fix_count == SPEC_MAX_FIXES)
        return diag_set(diag, EXIT_USAGE, "%s %s: at most %d values can be fixed", flag, value, SPEC_MAX_FIXES);
    spec->fixes[spec->fix_count++] = fix;
    return EXIT_DONE;
}

static int set_symmetry(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (strcmp(value, "fold") && strcmp(value, "off"))
        return diag_set(diag, EXIT_USAGE, "%s %s: must be fold or off", flag, value);
    spec->fold = !strcmp(value, "fold");
    return EXIT_DONE;
}

static int set_reduce(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (strcmp(value, "on") && strcmp(value, "off"))
        return diag_set(diag, EXIT_USAGE, "%s %s: must be on or off", flag, value);
    spec->reduce = !strcmp(value, "on");
    return EXIT_DONE;
}

static int set_outside(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (!strcmp(value, "clamp"))
        spec->outside = OUTSIDE_CLAMP;
    else if (!strcmp(value, "error"))
        spec->outside = OUTSIDE_ERROR;
    else
        return diag_set(diag, EXIT_USAGE, "%s %s: must be clamp or error", flag, value);
    return EXIT_DONE;
}

static int set_weights(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    (void)flag;
    weights_free(spec->weights);
    return weights_read(value, &spec->weights, diag);
}

static int set_no_saturate(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    (void)flag, (void)value, (void)diag;
    spec->no_saturate = true;
    return EXIT_DONE;
}

static const struct {
    const char *flag;
    int (*set)(struct spec *spec, const char *flag, const char *value, struct diag *diag);
} setters[] = {
    {"FUNCTION", set_function},
    {"--samples", set_samples},
    {"--expr", set_expression},
    {"--range", set_range},
    {"--calibrate", set_calibrate},
    {"--calibrate-by", set_calibrate_by},
    {"--pow2-scales", set_pow2_scales},
    {"--param", set_parameter},
    {"--in", set_in},
    {"--out", set_out},
    {"--segments", set_segments},
    {"--max-err", set_max_err},
    {"--method", set_method},
    {"--form", set_form},
    {"--rounding", set_rounding},
    {"--slope-bits", set_slope_bits},
    {"--shift", set_constraint},
    {"--slope-terms", set_constraint},
    {"--knots", set_constraint},
    {"--monotone", set_constraint},
    {"--continuous", set_constraint},
    {"--symmetry", set_symmetry},
    {"--fix", set_fix},
    {"--reduce", set_reduce},
    {"--outside", set_outside},
    {"--no-saturate", set_no_saturate},
    {"--weights", set_weights},
};

enum { SETTER_COUNT = sizeof setters / sizeof *setters };

bool spec_has_flag(const char *flag)
{
    for (int k = 0; k < SETTER_COUNT; k++)
        if (!strcmp(flag, setters[k].flag))
            return true;
    return false;
}

int spec_set(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    for (int k = 0; k < SETTER_COUNT; k++)
        if (!strcmp(flag, setters[k].flag))
            return setters[k].set(spec, flag, value, diag);
    return diag_set(diag, EXIT_USAGE, "%s: not a flag of fit", flag);
}

/* The methods that search can keep to constraints. */
static int check_constraints(const struct spec *spec, struct diag *diag)
{
    const struct constraints *constraints = &spec->constraints;
    struct text flags = {0};
    constraints_add_flags(constraints, &flags);
    if (flags.failed)
        diag_set(diag, EXIT_IO, "out of memory for a message");
    else if (flags.size > 0 && (spec->method == METHOD_DOCUMENT || spec->method == METHOD_LUT))
        diag_set(diag, EXIT_USAGE, "%s with --method %s: must be lsq, minimax or uniform", flags.bytes + 1,
                 method_name(spec->method));
    else if (constraints->knots == KNOTS_POW2 && spec->method == METHOD_UNIFORM)
        diag_set(diag, EXIT_USAGE,
                 "--knots pow2 with --method uniform: its segments have equal width; must be lsq or minimax");
    else if (constraints_tie(constraints) && spec->reduce)
        diag_set(diag, EXIT_USAGE,
                 "--reduce on with --monotone or --continuous: its segments are used again in every octave; leave one "
                 "out");
    else if (constraints->index_bits > spec->in.bits)
        diag_set(diag, EXIT_USAGE, "--knots pow2:%d: --in has %d bits", constraints->index_bits, spec->in.bits);
    text_free(&flags);
    return diag->code;
}

static int check_method(const struct spec *spec, struct diag *diag)
{
    if (spec->method == METHOD_LUT) {
        if (spec->in.bits > 12)
            return diag_set(diag, EXIT_USAGE, "--method lut: --in has %d bits, must have at most 12", spec->in.bits);
        if (spec->segments)
            return diag_set(diag, EXIT_USAGE,
                            "--method lut with --segments %d: a full table has a segment for each "
                            "code; leave --segments out",
                            spec->segments);
        if (spec->fold)
            return diag_set(diag, EXIT_USAGE,
                            "--method lut with --symmetry fold: a full table has every code; leave --symmetry out");
        if (spec->slope_bits)
            return diag_set(diag, EXIT_USAGE,
                            "--method lut with --slope-bits %d: a full table has no slopes; leave "
                            "--slope-bits out",
                            spec->slope_bits);
    }
    if (spec->method == METHOD_DOCUMENT) {
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
    const long double x = rintl(fix->x / spec->in.scale.value) + spec->in.zero_point;
    const long double y = rintl(fix->y / spec->out.scale.value) + spec->out.zero_point;
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
    if (spec->method == METHOD_DOCUMENT || spec->method == METHOD_LUT)
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
    if (spec->method == METHOD_MINIMAX || spec->method == METHOD_LUT)
        return diag_set(diag, EXIT_USAGE, "--weights with --method %s%s: must be lsq, uniform or document%s",
                        method_name(spec->method), spec->has_method ? "" : ", which --max-err implies",
                        spec->method == METHOD_MINIMAX ? "; the largest error is that of any code" : "");
    return weights_check(spec->weights, &spec->in, diag);
}

static bool defined_at(const struct spec *spec, int64_t code)
{
    return function_defined(&spec->function, tensor_real(&spec->in, code));
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
            const long double code = ends[k] / spec->in.scale.value + zero;
            if (fabsl(code) < 0x1p40L) {
                candidates[count++] = (int64_t)ceill(code);
                candidates[count++] = (int64_t)floorl(code);
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
        if (!defined_at(spec, q))
            return diag_set(diag, EXIT_USAGE,
                            "--expr: has no finite value at code %lld of --in, x = %.6Lg; change the type, or write a "
                            "limit into the expression, as in sqrt(max(x, 0))",
                            (long long)q, tensor_real(in, q));
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

int spec_check(const struct spec *spec, struct diag *diag)
{
    if (spec_check_given(spec, diag) || spec_check_scales(spec, diag))
        return diag->code;
    const int storage = storage_bits(spec_storage(spec));
    if (spec->slope_bits > storage)
        return diag_set(diag, EXIT_USAGE, "--slope-bits %d: these types store slopes in %d bits; must be from 2 to %d",
                        spec->slope_bits, storage, storage);
    int64_t sum;
    diag->code = EXIT_DONE;
    if (check_method(spec, diag) || check_constraints(spec, diag) || check_fixes(spec, diag) ||
        check_weights(spec, diag) || (spec->fold && spec_fold_sum(spec, &sum, diag)))
        return diag->code;
    if (spec->function.expression ? check_expression(spec, diag) : check_domain(spec, diag))
        return diag->code;
    struct reduced_core core;
    return spec->reduce ? reduce_plan(spec, &core, diag) : EXIT_DONE;
}

char *spec_canonical(const struct spec *spec)
{
    struct text text = {0};
    char type[80];
    if (spec->function.expression) /* which has no quotes inside */
        text_add(&text, "--expr '%s'", spec->function.expression->text);
    else
        text_add(&text, "%s", function_name(&spec->function));
    if (spec->function.info)
        for (int k = 0; spec->function.info->parameters[k].name; k++) {
            char value[NUMBER_TEXT_SIZE];
            number_format(spec->function.parameters[k], value);
            text_add(&text, " --param %s=%s", spec->function.info->parameters[k].name, value);
        }
    tensor_format(&spec->in, type, sizeof type);
    text_add(&text, " --in %s", type);
    tensor_format(&spec->out, type, sizeof type);
    text_add(&text, " --out %s", type);
    if (spec->segments)
        text_add(&text, " --segments %d", spec->segments);
    if (!isnan(spec->max_err)) {
        char value[NUMBER_TEXT_SIZE];
        number_format(spec->max_err, value);
        text_add(&text, " --max-err %s", value);
    }
    if (!spec->segments && isnan(spec->max_err) && spec->method != METHOD_LUT)
        text_add(&text, " --segments %d", SPEC_DEFAULT_SEGMENTS);
    text_add(&text, " --method %s --form %s --rounding %s", method_name(spec->method), form_name(spec->form),
             rounding_name(spec->rounding));
    if (spec->slope_bits)
        text_add(&text, " --slope-bits %d", spec->slope_bits);
    constraints_add_flags(&spec->constraints, &text);
    for (int k = 0; k < spec->fix_count; k++) {
        char x[NUMBER_TEXT_SIZE], y[NUMBER_TEXT_SIZE];
        number_format(spec->fixes[k].x, x);
        number_format(spec->fixes[k].y, y);
        text_add(&text, " --fix %s:%s", x, y);
    }
    if (spec->fold)
        text_add(&text, " --symmetry fold");
    if (spec->reduce)
        text_add(&text, " --reduce on");
    if (spec->outside == OUTSIDE_CLAMP)
        text_add(&text, " --outside clamp");
    if (spec->no_saturate)
        text_add(&text, " --no-saturate");
    if (text.failed) {
        text_free(&text);
        return NULL;
    }
    return text.bytes;
}
