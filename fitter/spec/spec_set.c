/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The flags of fit, each into its part of a spec. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/suggest.h"
#include "flags.h"
#include "function/model_type.h"
#include "function/samples.h"
#include "profile/profile.h"
#include "spec.h"

static int set_integer(const char *flag, const char *value, int min, int max, int *target, struct diag *diag)
{
    int64_t parsed;
    if (number_integer(value, strlen(value), &parsed) != NUMBER_OK || parsed < min || parsed > max)
        return diag_set(diag, EXIT_USAGE, "%s %s: must be an integer from %d to %d", flag, value, min, max);
    *target = (int)parsed;
    return EXIT_DONE;
}

/* A second function; or a type, as one writes it who takes --in and --out for the order of arguments. */
static int refuse_second(const struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (!spec->function.info && !spec->function.samples)
        return EXIT_DONE;
    const bool is_type = strcmp(flag, "FUNCTION") == 0 && strchr(value, ':');
    return diag_set(diag, EXIT_USAGE, "%s %s: the function is already %s; %s", flag, value,
                    function_name(&spec->function), is_type ? "types are given by --in and --out" : "give one");
}

static int set_function(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (refuse_second(spec, flag, value, diag))
        return diag->code;
    return function_init(&spec->function, value, diag);
}

static int set_samples(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (refuse_second(spec, flag, value, diag))
        return diag->code;
    return samples_read(value, &spec->function.samples, diag);
}

static int set_expression(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (refuse_second(spec, flag, value, diag))
        return diag->code;
    return function_set_expression(&spec->function, value, flag, diag);
}

static int set_parameter(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (!spec->function.info)
        return diag_set(diag, EXIT_USAGE, "%s %s: must come after the name of a function that has parameters", flag,
                        value);
    return function_set_parameter(&spec->function, value, diag);
}

/* "s8" leaves scale and zero point to --range or --calibrate, "s8:auto:0" the scale alone; FILE:TENSOR takes all from a
 * model. */
static int set_type(struct spec *spec, struct tensor *tensor, bool *lacks_scale, bool *keeps_zero, const char *flag,
                    const char *value, struct diag *diag)
{
    static const char automatic[] = ":auto:0";
    char codes[16] = "";
    const size_t length = strlen(value), suffix = sizeof automatic - 1;
    if (length > suffix && length - suffix < sizeof codes && !strcmp(value + length - suffix, automatic))
        snprintf(codes, sizeof codes, "%.*s", (int)(length - suffix), value);
    *keeps_zero = tensor_is_codes(codes); /* else it may be the tensor "auto:0" of a model */
    if (*keeps_zero)
        value = codes;
    *lacks_scale = tensor_is_codes(value);
    if (*lacks_scale)
        return tensor_parse_codes(value, flag, tensor, diag);
    if (!model_type_is_meant(value))
        return tensor_parse(value, flag, tensor, diag);
    spec->has_model_type = true;
    return model_type_read(value, flag, tensor, diag);
}

static int set_in(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    spec->has_in = true;
    return set_type(spec, &spec->in, &spec->in_lacks_scale, &spec->in_keeps_zero, flag, value, diag);
}

static int set_out(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    spec->has_out = true;
    return set_type(spec, &spec->out, &spec->out_lacks_scale, &spec->out_keeps_zero, flag, value, diag);
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
    spec->calibration.is_implied = false;
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
    (void)flag, (void)diag;
    spec->has_method = method_parse(value, &spec->method);
    return EXIT_DONE;
}

static int set_form(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    (void)flag, (void)diag;
    spec->has_form = form_parse(value, &spec->form);
    return EXIT_DONE;
}

static int set_rounding(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    (void)flag, (void)diag;
    rounding_parse(value, &spec->rounding);
    return EXIT_DONE;
}

static int set_slope_bits(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    return set_integer(flag, value, 2, 32, &spec->slope_bits, diag);
}

static int set_offset_type(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (!tensor_is_codes(value))
        return diag_set(diag, EXIT_USAGE, "%s %.40s: must be a sign and 2 to 32 bits, as s16 or u8", flag, value);
    spec->has_offset_type = true;
    return tensor_parse_codes(value, flag, &spec->offset_type, diag);
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
    (void)flag, (void)diag;
    spec->fold = !strcmp(value, "fold");
    return EXIT_DONE;
}

static int set_reduce(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    (void)flag, (void)diag;
    spec->reduce = !strcmp(value, "on");
    return EXIT_DONE;
}

static int set_outside(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    (void)flag, (void)diag;
    spec->outside = !strcmp(value, "clamp") ? OUTSIDE_CLAMP : OUTSIDE_ERROR;
    return EXIT_DONE;
}

static int set_weights(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    (void)flag, (void)diag;
    spec->weights_path = value;
    return EXIT_DONE;
}

static int set_no_saturate(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    (void)flag, (void)value, (void)diag;
    spec->no_saturate = true;
    return EXIT_DONE;
}

static int set_zero(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    (void)flag, (void)diag;
    spec->zero_is_free = !strcmp(value, "free");
    return EXIT_DONE;
}

/* What the layout asks for; flags that are set later take its place. */
static int set_profile(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    if (profile_find(flag, value, &spec->profile, &spec->notation, diag))
        return diag->code;
    char words[PROFILE_FLAGS_SIZE], *rest = words;
    snprintf(words, sizeof words, "%s", spec->profile->flags);
    for (char *name; (name = strtok_r(rest, " ", &rest));)
        if (spec_set_word(spec, name, &rest, diag))
            return diag_prefix(diag, spec->profile->name);
    spec->calibration.is_implied = true;
    return EXIT_DONE;
}

/* The function first: it has no row, being no flag. */
#define SETTER(key, name, argument, set, help) {name, set, argument},
static const struct setter {
    const char *flag;
    int (*set)(struct spec *spec, const char *flag, const char *value, struct diag *diag);
    const char *argument;
} setters[] = {{"FUNCTION", set_function, NULL}, SPEC_FLAGS(SETTER)};

enum { SETTER_COUNT = sizeof setters / sizeof *setters };

static const struct setter *find_setter(const char *flag)
{
    for (int k = 0; k < SETTER_COUNT; k++)
        if (!strcmp(flag, setters[k].flag))
            return &setters[k];
    return NULL;
}

bool spec_has_flag(const char *flag)
{
    return find_setter(flag) != NULL;
}

int spec_set(struct spec *spec, const char *flag, const char *value, struct diag *diag)
{
    const struct setter *const setter = find_setter(flag);
    if (!setter)
        return diag_set(diag, EXIT_USAGE, "%s: not a flag of fit", flag);
    if (setter->argument && !value)
        return diag_set(diag, EXIT_USAGE, "%s: without a value", flag);
    if (setter->argument && choice_is_closed(setter->argument) && choice_check(flag, setter->argument, value, diag))
        return diag->code;
    return setter->set(spec, flag, value, diag);
}

int spec_set_word(struct spec *spec, const char *flag, char **rest, struct diag *diag)
{
    const struct setter *const setter = find_setter(flag);
    return spec_set(spec, flag, setter && setter->argument ? strtok_r(NULL, " ", rest) : NULL, diag);
}
