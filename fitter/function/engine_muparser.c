/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * muParser through its C interface. A parser holds the variable that it reads, so that one thread at a time may use it:
 * an engine keeps a pool of them, each made when first needed. muParser reads numbers under a locale of its own,
 * "C" unless told otherwise.
 */
#include "engine.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <muParserDLL.h>

#include "function.h"

#define PARSERS 64
#define SHOWN 40 /* characters of the user's text that a message repeats */

struct parser {
    atomic_flag busy;
    muParserHandle_t handle;
    double x;
};

struct engine {
    struct parser parsers[PARSERS];
    char text[];
};

/* muParser does not promise that two parsers may be made, or compile, at once, of whatever engines. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static double minus_one(double x)
{
    return expm1(x);
}

static double plus_one(double x)
{
    return log1p(x);
}

/* The built-in function that was called with too many arguments last, null when none was. */
static _Thread_local const struct function_info *miscalled;

static double value_of(void *built_in, double x)
{
    const struct function_info *info = built_in;
    return info->value(dd_of(x), NULL).hi;
}

/* Of a function with parameters, which follow x; those left out have their initial values. */
static double value_with_parameters(void *built_in, const double *arguments, int count)
{
    const struct function_info *info = built_in;
    double parameters[FUNCTION_MAX_PARAMETERS];
    int known = 0;
    for (; info->parameters[known].name != NULL; known++)
        parameters[known] = known + 1 < count ? arguments[known + 1] : info->parameters[known].initial;
    if (count > known + 1) {
        miscalled = info;
        return NAN;
    }
    return info->value(dd_of(arguments[0]), parameters).hi;
}

static void define_as(muParserHandle_t handle, const char *name, const struct function_info *info)
{
    /* Defined already, in double. */
    static const char *const own[] = {"tanh", "exp", "erf", "log", "ln", "sqrt", "sin", "cos", "atan"};
    void *const data = (void *)(uintptr_t)info;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]) == 0)
            return;
    if (info->parameters[0].name != NULL)
        mupDefineMultFunUserData(handle, name, value_with_parameters, data, 1);
    else
        mupDefineFunUserData1(handle, name, value_of, data, 1);
}

/* The functions of `pwlc list`, by all their names. */
static void define_built_ins(muParserHandle_t handle)
{
    for (const struct function_info *info = function_table; info->name != NULL; info++) {
        define_as(handle, info->name, info);
        for (size_t i = 0; info->aliases[i] != NULL; i++)
            define_as(handle, info->aliases[i], info);
    }
}

static bool parser_make(struct parser *parser, const char *text)
{
    parser->handle = mupCreate(muBASETYPE_FLOAT);
    if (parser->handle == NULL)
        return false;
    mupDefineVar(parser->handle, "x", &parser->x);
    /* muParser's own have 12 digits */
    mupDefineConst(parser->handle, "_pi", 3.14159265358979323846);
    mupDefineConst(parser->handle, "_e", 2.71828182845904523536);
    /* muParser's own rounds halves up, and to nearest only where adding 0.5 is exact */
    mupDefineFun1(parser->handle, "rint", rint, 1);
    mupDefineFun1(parser->handle, "erf", erf, 1);
    mupDefineFun1(parser->handle, "erfc", erfc, 1);
    mupDefineFun1(parser->handle, "expm1", minus_one, 1);
    mupDefineFun1(parser->handle, "log1p", plus_one, 1);
    mupDefineFun1(parser->handle, "floor", floor, 1);
    mupDefineFun1(parser->handle, "ceil", ceil, 1);
    define_built_ins(parser->handle);
    mupSetExpr(parser->handle, text);
    return true;
}

/* The parser's own words depend on its version; where it stopped does not. */
static int refuse(const struct parser *parser, const char *field, const char *text, struct diag *diag)
{
    const int at = mupGetErrorPos(parser->handle);
    const size_t length = strlen(text);
    if (at < 0 || (size_t)at >= length)
        return diag_set(diag, EXIT_USAGE, "%s '%.*s': the expression is not complete at its end", field, SHOWN, text);
    return diag_set(diag, EXIT_USAGE,
                    "%s '%.*s': not understood from character %d on, '%.*s'; the variable is x, and names are those "
                    "that `pwlc fit --help` lists",
                    field, SHOWN, text, at + 1, SHOWN, text + at);
}

static int check(const struct parser *parser, const char *field, const char *text, struct diag *diag)
{
    int values = 0;
    miscalled = NULL;
    mupErrorReset(parser->handle);
    mupEvalMulti(parser->handle, &values);
    if (mupError(parser->handle))
        return refuse(parser, field, text, diag);
    if (miscalled != NULL)
        return diag_set(diag, EXIT_USAGE, "%s '%.*s': too many arguments of %s, which takes x and %s", field, SHOWN,
                        text, miscalled->name, miscalled->parameters[0].name);
    if (values != 1)
        return diag_set(diag, EXIT_USAGE, "%s '%.*s': has %d values, must have one", field, SHOWN, text, values);
    if (mupGetExprVarNum(parser->handle) != 1)
        return diag_set(diag, EXIT_USAGE, "%s '%.*s': does not depend on x", field, SHOWN, text);
    return EXIT_DONE;
}

int engine_create(const char *text, const char *field, struct engine **engine, struct diag *diag)
{
    *engine = NULL;
    struct engine *result = malloc(sizeof *result + strlen(text) + 1);
    if (result == NULL)
        return diag_set(diag, EXIT_IO, "out of memory for an expression");
    strcpy(result->text, text);
    for (int i = 0; i < PARSERS; i++) {
        result->parsers[i].handle = NULL;
        result->parsers[i].x = 0;
        atomic_flag_clear(&result->parsers[i].busy);
    }
    int code;
    pthread_mutex_lock(&making);
    if (!parser_make(&result->parsers[0], result->text))
        code = diag_set(diag, EXIT_IO, "out of memory for an expression");
    else
        code = check(&result->parsers[0], field, text, diag);
    pthread_mutex_unlock(&making);
    if (code != EXIT_DONE) {
        engine_free(result);
        return code;
    }
    *engine = result;
    return EXIT_DONE;
}

void engine_free(struct engine *engine)
{
    if (engine == NULL)
        return;
    for (int i = 0; i < PARSERS; i++)
        if (engine->parsers[i].handle != NULL)
            mupRelease(engine->parsers[i].handle);
    free(engine);
}

/* A thread begins with the parser that it had last. */
static struct parser *acquire(struct engine *engine)
{
    static _Thread_local unsigned last;
    for (unsigned tries = 1;; tries++) {
        struct parser *parser = &engine->parsers[last % PARSERS];
        if (!atomic_flag_test_and_set_explicit(&parser->busy, memory_order_acquire))
            return parser;
        last++;
        if (tries % PARSERS == 0)
            sched_yield();
    }
}

double engine_value(struct engine *engine, double x)
{
    struct parser *parser = acquire(engine);
    bool made = parser->handle != NULL;
    if (!made) {
        pthread_mutex_lock(&making);
        parser->x = x;
        made = parser_make(parser, engine->text);
        if (made)
            mupEval(parser->handle); /* the first evaluation compiles the expression */
        pthread_mutex_unlock(&making);
    }
    double value = NAN;
    if (made) {
        parser->x = x;
        value = mupEval(parser->handle);
    }
    atomic_flag_clear_explicit(&parser->busy, memory_order_release);
    return value;
}
