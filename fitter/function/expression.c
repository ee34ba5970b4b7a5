/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "expression.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 40 /* characters of the user's text that a message repeats */

/* An expression is evaluated through its own struct; these only fill the table's row. */
static struct dd no_value(struct dd x, const double *parameters)
{
    (void)x, (void)parameters;
    return dd_of((double)NAN);
}

const struct function_info expression_info = {
    .name = "expr",
    .formula = "an expression of x",
    .value = no_value,
    .derivative = no_value,
    .second_derivative = no_value,
    .domain_min = -INFINITY,
    .domain_max = INFINITY,
    .open_min = true,
    .open_max = true,
    .symmetry = SYMMETRY_NONE,
    .limit_min = "",
    .limit_max = "",
};

/* "==", "!=", "<=" and ">=" compare; any other "=" assigns. */
static const char *find_assignment(const char *text)
{
    for (const char *c = strchr(text, '='); c != NULL; c = strchr(c + 1, '=')) {
        if (c[1] == '=')
            c++;
        else if (c == text || strchr("!<>", c[-1]) == NULL)
            return c;
    }
    return NULL;
}

static int check_text(const char *text, const char *field, struct diag *diag)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ .+-*/^(),<>=!&|?:";
    const size_t length = strlen(text);
    if (length == 0)
        return diag_set(diag, EXIT_USAGE, "%s: empty; write an expression of x such as \"1/(1+exp(-x))\"", field);
    if (length > EXPRESSION_MAX)
        return diag_set(diag, EXIT_USAGE, "%s '%.*s...': %zu characters, must be at most %d", field, SHOWN, text,
                        length, EXPRESSION_MAX);
    const size_t good = strspn(text, allowed);
    if (good < length)
        return diag_set(diag, EXIT_USAGE,
                        "%s '%.*s': character %zu is no part of an expression; write names, numbers and "
                        "+ - * / ^ ( ) , < > == != && || ! ? :",
                        field, SHOWN, text, good + 1);
    const char *power = strstr(text, "**");
    if (power != NULL)
        return diag_set(diag, EXIT_USAGE, "%s '%.*s': character %zu: a power is written ^, as in x^2", field, SHOWN,
                        text, (size_t)(power - text) + 1);
    const char *assignment = find_assignment(text);
    if (assignment != NULL)
        return diag_set(diag, EXIT_USAGE, "%s '%.*s': character %zu assigns; write == to compare", field, SHOWN, text,
                        (size_t)(assignment - text) + 1);
    return EXIT_DONE;
}

int expression_create(const char *text, const char *field, struct expression **expression, struct diag *diag)
{
    *expression = NULL;
    struct expression *result = calloc(1, sizeof *result);
    text += strspn(text, " ");
    char *copy = strdup(text);
    if (result == NULL || copy == NULL) {
        free(result);
        free(copy);
        return diag_set(diag, EXIT_IO, "out of memory for an expression");
    }
    for (size_t end = strlen(copy); end > 0 && copy[end - 1] == ' '; end--)
        copy[end - 1] = '\0';
    result->text = copy;
    int code = check_text(copy, field, diag);
    if (code == EXIT_DONE)
        code = engine_create(copy, field, &result->engine, diag);
    if (code != EXIT_DONE) {
        expression_free(result);
        return code;
    }
    *expression = result;
    return EXIT_DONE;
}

void expression_free(struct expression *expression)
{
    if (expression == NULL)
        return;
    engine_free(expression->engine);
    free(expression->text);
    free(expression);
}

struct ball expression_value(const struct expression *expression, struct dd x)
{
    return engine_value(expression->engine, x);
}

struct jet expression_jet(const struct expression *expression, struct dd x)
{
    return engine_jet(expression->engine, x);
}
