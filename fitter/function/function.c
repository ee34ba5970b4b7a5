/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "function.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/suggest.h"
#include "expression.h"
#include "samples.h"

#define SHOWN 60 /* characters of the user's text that a message repeats */

const struct function_info *function_find(const char *name)
{
    for (const struct function_info *info = function_table; info->name != NULL; info++)
        if (strcmp(info->name, name) == 0)
            return info;
    return NULL;
}

const struct function_info *function_find_by_any_name(const char *name)
{
    for (const struct function_info *info = function_table; info->name != NULL; info++)
        for (size_t i = 0; info->aliases[i] != NULL; i++)
            if (strcmp(info->aliases[i], name) == 0)
                return info;
    return function_find(name);
}

size_t function_names(const char *names[FUNCTION_NAMES + 1])
{
    size_t count = 0;
    for (const struct function_info *info = function_table; info->name != NULL && count < FUNCTION_NAMES; info++)
        names[count++] = info->name;
    for (const struct function_info *info = function_table; info->name != NULL; info++)
        for (size_t i = 0; info->aliases[i] != NULL && count < FUNCTION_NAMES; i++)
            names[count++] = info->aliases[i];
    names[count] = NULL;
    return count;
}

static int unknown_function(const char *name, struct diag *diag)
{
    const char *names[FUNCTION_NAMES + 1];
    function_names(names);
    char meant[SUGGESTION_SIZE];
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")])
        return diag_set(
            diag, EXIT_USAGE,
            "unknown function '%.*s'; a formula of x is given by --expr, a name is one that `pwlc list` shows", SHOWN,
            name);
    return diag_set(diag, EXIT_USAGE, "unknown function '%.*s'%s `pwlc list` names them all", SHOWN, name,
                    suggestion(name, names, ";", meant));
}

int function_init(struct function *function, const char *name, struct diag *diag)
{
    const struct function_info *info = function_find_by_any_name(name);
    if (info == NULL)
        return unknown_function(name, diag);
    memset(function, 0, sizeof *function);
    function->info = info;
    for (int i = 0; info->parameters[i].name != NULL; i++)
        function->parameters[i] = info->parameters[i].initial;
    return EXIT_DONE;
}

/* "alpha", "alpha, beta" */
static void parameter_names(const struct function_info *info, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (const struct parameter_info *parameter = info->parameters; parameter->name != NULL; parameter++) {
        const int length =
            snprintf(text + used, size - used, "%s%s", parameter == info->parameters ? "" : ", ", parameter->name);
        if (length < 0 || (size_t)length >= size - used)
            return;
        used += (size_t)length;
    }
}

int function_set_parameter(struct function *function, const char *assignment, struct diag *diag)
{
    const char *equals = strchr(assignment, '=');
    if (equals == NULL || equals == assignment)
        return diag_set(diag, EXIT_USAGE, "--param '%.*s': write name=value, for example alpha=0.1", SHOWN, assignment);
    if (function->info == NULL || function->info->parameters[0].name == NULL)
        return diag_set(diag, EXIT_USAGE, "--param '%.*s': %s has no parameters", SHOWN, assignment,
                        function_name(function));

    const size_t name_length = (size_t)(equals - assignment);
    const struct parameter_info *parameter = function->info->parameters;
    while (parameter->name != NULL &&
           (strlen(parameter->name) != name_length || memcmp(parameter->name, assignment, name_length) != 0))
        parameter++;
    if (parameter->name == NULL) {
        char names[80];
        parameter_names(function->info, names, sizeof names);
        return diag_set(diag, EXIT_USAGE, "--param '%.*s': %s has no such parameter; it has %s", SHOWN, assignment,
                        function_name(function), names);
    }

    double value;
    const char *text = equals + 1;
    const enum number_status status = number_real(text, strlen(text), &value);
    if (status == NUMBER_SYNTAX)
        return diag_set(diag, EXIT_USAGE, "--param '%.*s': the value of %s must be a number", SHOWN, assignment,
                        parameter->name);
    if (status == NUMBER_RANGE || value < parameter->min || value > parameter->max) {
        char min[NUMBER_TEXT_SIZE], max[NUMBER_TEXT_SIZE];
        number_format(parameter->min, min);
        number_format(parameter->max, max);
        return diag_set(diag, EXIT_USAGE, "--param '%.*s': %s must lie between %s and %s", SHOWN, assignment,
                        parameter->name, min, max);
    }
    function->parameters[parameter - function->info->parameters] = value;
    return EXIT_DONE;
}

int function_set_expression(struct function *function, const char *text, const char *field, struct diag *diag)
{
    memset(function, 0, sizeof *function);
    const int code = expression_create(text, field, &function->expression, diag);
    if (code == EXIT_DONE)
        function->info = &expression_info;
    return code;
}

const char *function_name(const struct function *function)
{
    return function->samples != NULL ? "samples" : function->info->name;
}

struct dd function_at(const struct function *function, struct dd x)
{
    if (function->samples != NULL)
        return samples_value(function->samples, x);
    if (function->expression != NULL)
        return expression_value(function->expression, x).mid;
    return function->info->value(x, function->parameters);
}

struct dd function_derivative_at(const struct function *function, struct dd x)
{
    if (function->samples != NULL)
        return samples_derivative(function->samples, x);
    if (function->expression != NULL)
        return expression_jet(function->expression, x).at[1].mid;
    return function->info->derivative(x, function->parameters);
}

bool function_defined_at(const struct function *function, struct dd x)
{
    if (!isfinite(x.hi))
        return false;
    const struct samples *samples = function->samples;
    if (samples != NULL)
        return !dd_less(x, dd_of(samples->x[0])) && !dd_less(dd_of(samples->x[samples->count - 1]), x);
    if (function->expression != NULL)
        return isfinite(expression_value(function->expression, x).mid.hi);
    const struct function_info *info = function->info;
    const struct dd min = dd_of(info->domain_min), max = dd_of(info->domain_max);
    if (info->punctured && x.hi == 0)
        return false;
    return (info->open_min ? dd_less(min, x) : !dd_less(x, min)) &&
           (info->open_max ? dd_less(x, max) : !dd_less(max, x));
}

long double function_value(const struct function *function, long double x)
{
    return dd_long(function_at(function, dd_of_long(x)));
}

long double function_derivative(const struct function *function, long double x)
{
    return dd_long(function_derivative_at(function, dd_of_long(x)));
}

long double function_second_derivative(const struct function *function, long double x)
{
    if (function->samples != NULL)
        return 0; /* straight lines */
    if (function->expression != NULL)
        return dd_long(expression_jet(function->expression, dd_of_long(x)).at[2].mid);
    return dd_long(function->info->second_derivative(dd_of_long(x), function->parameters));
}

bool function_defined(const struct function *function, long double x)
{
    return function_defined_at(function, dd_of_long(x));
}

double function_noise(const struct function *function, struct dd x, struct dd value)
{
    return function->expression != NULL ? expression_value(function->expression, x).rad : 0x1p-60 * fabs(value.hi);
}

static void end_text(double end, char text[NUMBER_TEXT_SIZE])
{
    if (isinf(end))
        snprintf(text, NUMBER_TEXT_SIZE, "%s", end < 0 ? "-inf" : "inf");
    else
        number_format(end, text);
}

void function_domain_text(const struct function *function, char *text, size_t size)
{
    char min[NUMBER_TEXT_SIZE], max[NUMBER_TEXT_SIZE];
    const struct samples *samples = function->samples;
    const struct function_info *info = function->info;
    end_text(samples != NULL ? samples->x[0] : info->domain_min, min);
    end_text(samples != NULL ? samples->x[samples->count - 1] : info->domain_max, max);
    const char open = samples == NULL && info->open_min ? '(' : '[';
    const char close = samples == NULL && info->open_max ? ')' : ']';
    if (samples == NULL && info->punctured)
        snprintf(text, size, "%c%s, 0) and (0, %s%c", open, min, max, close);
    else
        snprintf(text, size, "%c%s, %s%c", open, min, max, close);
}
