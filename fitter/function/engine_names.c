/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine_names.h"

#include <stdio.h>
#include <string.h>

#include "function.h"

static const struct known_function known_functions[] = {
    {"sin", OP_FUNCTION, BALL_SIN, false},
    {"cos", OP_FUNCTION, BALL_COS, false},
    {"tan", OP_FUNCTION, BALL_TAN, false},
    {"asin", OP_FUNCTION, BALL_ASIN, false},
    {"acos", OP_FUNCTION, BALL_ACOS, false},
    {"atan", OP_FUNCTION, BALL_ATAN, false},
    {"sinh", OP_FUNCTION, BALL_SINH, false},
    {"cosh", OP_FUNCTION, BALL_COSH, false},
    {"tanh", OP_FUNCTION, BALL_TANH, false},
    {"asinh", OP_FUNCTION, BALL_ASINH, false},
    {"acosh", OP_FUNCTION, BALL_ACOSH, false},
    {"atanh", OP_FUNCTION, BALL_ATANH, false},
    {"exp", OP_FUNCTION, BALL_EXP, false},
    {"expm1", OP_FUNCTION, BALL_EXPM1, false},
    {"log", OP_FUNCTION, BALL_LOG, false},
    {"ln", OP_FUNCTION, BALL_LOG, false},
    {"log2", OP_FUNCTION, BALL_LOG, false},
    {"log10", OP_FUNCTION, BALL_LOG, false},
    {"log1p", OP_FUNCTION, BALL_LOG1P, false},
    {"sqrt", OP_FUNCTION, BALL_SQRT, false},
    {"erf", OP_FUNCTION, BALL_ERF, false},
    {"erfc", OP_FUNCTION, BALL_ERFC, false},
    {"sigmoid", OP_FUNCTION, BALL_SIGMOID, false},
    {"gelu", OP_FUNCTION, BALL_GELU, false},
    {"gelu_tanh", OP_FUNCTION, BALL_GELU_TANH, false},
    {"quick_gelu", OP_FUNCTION, BALL_QUICK_GELU, false},
    {"silu", OP_FUNCTION, BALL_SILU, false},
    {"softplus", OP_FUNCTION, BALL_SOFTPLUS, false},
    {"mish", OP_FUNCTION, BALL_MISH, false},
    {"logsigmoid", OP_FUNCTION, BALL_LOGSIGMOID, false},
    {"abs", OP_ABS, 0, false},
    {"sign", OP_SIGN, 0, false},
    {"rint", OP_RINT, 0, false},
    {"floor", OP_FLOOR, 0, false},
    {"ceil", OP_CEIL, 0, false},
    {"min", OP_MIN, 0, true},
    {"max", OP_MAX, 0, true},
    {"sum", OP_ADD, 0, true},
    {"avg", OP_ADD, 0, true},
};

const struct known_function *known_function_find(const char *name)
{
    for (size_t i = 0; i < sizeof known_functions / sizeof *known_functions; i++)
        if (strcmp(known_functions[i].name, name) == 0)
            return &known_functions[i];
    return NULL;
}

size_t name_read(const char *text, char name[NAME_SIZE])
{
    size_t length = 0;
    while (is_letter(text[length]) || (length > 0 && is_digit(text[length])))
        length++;
    const size_t kept = length < NAME_SIZE ? length : 0;
    memcpy(name, text, kept);
    name[kept] = '\0';
    return length;
}

/* How other languages write what this one has. */
static const struct {
    const char *other, *hint;
} hints[] = {
    {"pi", "; it is written _pi"},
    {"e", "; it is written _e, its powers exp(x)"},
    {"pow", "; a power is written ^, as in x^2"},
    {"square", "; a power is written ^, as in x^2"},
    {"if", "; a choice is written as in x < 0 ? 0 : x"},
    {"where", "; a choice is written as in x < 0 ? 0 : x"},
    {"select", "; a choice is written as in x < 0 ? 0 : x"},
    {"clip", "; that is min(max(x, -1), 1)"},
    {"clamp", "; that is min(max(x, -1), 1)"},
    {"and", "; it is written &&"},
    {"or", "; it is written ||"},
    {"not", "; it is written !"},
    {"np", "; functions stand alone, as in tanh(x)"},
    {"math", "; functions stand alone, as in tanh(x)"},
    {"torch", "; functions stand alone, as in tanh(x)"},
};

/* Whether a number, a name or parentheses end before a place. */
static bool follows_value(const char *text, const char *at)
{
    while (at > text && at[-1] == ' ')
        at--;
    return at > text && (is_letter(at[-1]) || is_digit(at[-1]) || at[-1] == ')');
}

static const char *closest_name(const char *name, char words[SUGGESTION_SIZE])
{
    enum { OWN = sizeof known_functions / sizeof *known_functions };
    const char *names[FUNCTION_NAMES + OWN + 1];
    size_t count = function_names(names);
    for (size_t i = 0; i < OWN; i++)
        names[count++] = known_functions[i].name;
    names[count] = NULL;
    return suggestion(name, names, "; the variable is x, and names are those that `pwlc fit --help` lists", words);
}

const char *hint_at(const char *text, const char *at, char words[SUGGESTION_SIZE])
{
    char name[NAME_SIZE];
    name_read(at, name);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strcmp(name, hints[i].other) == 0)
            return hints[i].hint;
    if (*at == '|')
        return "; a magnitude is written abs(x)";
    if ((is_letter(*at) || is_digit(*at) || *at == '(') && follows_value(text, at))
        return "; a product is written *, as in 2*x";
    if (known_function_find(name) == NULL && function_find_by_any_name(name) == NULL)
        return closest_name(name, words);
    snprintf(words, SUGGESTION_SIZE, "; %s is a function, as in %s(x)", name, name);
    return words;
}
