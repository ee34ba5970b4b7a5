/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "function/expression.h"

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
    [METHOD_RESIDUAL] = {"residual",
                         "a ramp less what is the same on both sides, in few steps within --max-err, up to 12 bits"},
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
    spec->effort = 1;
}

void spec_free(struct spec *spec)
{
    function_free(&spec->function);
    free(spec->calibration.values);
    spec->calibration.values = NULL;
    weights_free(spec->weights);
    spec->weights = NULL;
}

struct integers spec_offsets(const struct spec *spec, struct integers stored)
{
    /* At points the type is that of the values. A bias has more in it than a value. */
    return has_points(spec) && spec->form == PWL_BIASED ? stored : spec_values(spec, stored);
}

struct integers spec_values(const struct spec *spec, struct integers all)
{
    return spec->has_offset_type ? integers_within(all, spec->offset_type.qmin, spec->offset_type.qmax) : all;
}

char *spec_canonical(const struct spec *spec)
{
    struct text text = {0};
    char type[80];
    struct constraints constraints = spec->constraints;
    const bool by_values = has_values(spec);
    if (has_points(spec)) { /* which say how many segments there are, and have one shift */
        constraints.point_shift = spec_points_shift(spec);
        constraints.one_shift = false;
    }
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
    if (spec->segments && !by_values)
        text_add(&text, " --segments %d", spec->segments);
    if (!isnan(spec->max_err)) {
        char value[NUMBER_TEXT_SIZE];
        number_format(spec->max_err, value);
        text_add(&text, " --max-err %s", value);
    }
    if (!spec->segments && isnan(spec->max_err) && !method_is_of_codes(spec->method) && !by_values)
        text_add(&text, " --segments %d", SPEC_DEFAULT_SEGMENTS);
    text_add(&text, " --method %s --form %s --rounding %s", method_name(spec->method), form_name(spec->form),
             rounding_name(spec->rounding));
    if (spec->slope_bits)
        text_add(&text, " --slope-bits %d", spec->slope_bits);
    if (spec->has_offset_type) {
        tensor_type_name(&spec->offset_type, type, sizeof type);
        text_add(&text, " --offset-type %s", type);
    }
    constraints_add_flags(&constraints, &text);
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
    if (spec->zero_is_free)
        text_add(&text, " --zero free");
    if (text.failed) {
        text_free(&text);
        return NULL;
    }
    return text.bytes;
}
