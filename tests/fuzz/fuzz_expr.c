/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions: what is accepted has the same value wherever it is evaluated, also made anew from its own text, and
 * changes nothing that a later value depends on. */
#include "fuzz.h"

#include <string.h>

#include "function/expression.h"

static const double places[] = {0, 1, -1, 0.1, -2.5, 300, 1e300, -1e-300};

#define COUNT (sizeof places / sizeof *places)

static void evaluate(const struct expression *expression, double *values)
{
    for (size_t i = 0; i < COUNT; i++)
        values[i] = expression_value(expression, dd_of(places[i])).mid.hi;
}

static int same(double a, double b)
{
    return a == b || (a != a && b != b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    REQUIRE(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';

    struct expression *expression, *again;
    struct diag diag = {0};
    const int code = expression_create(text, "--expr", &expression, &diag);
    free(text);
    if (code != EXIT_DONE) {
        REQUIRE(expression == NULL);
        REQUIRE_REFUSAL(code, diag);
        return 0;
    }

    double first[COUNT], second[COUNT];
    REQUIRE(strlen(expression->text) <= EXPRESSION_MAX);
    REQUIRE(expression_create(expression->text, "--expr", &again, &diag) == EXIT_DONE);
    REQUIRE(strcmp(again->text, expression->text) == 0);
    evaluate(expression, first);
    (void)expression_jet(expression, dd_of(0.5));
    (void)engine_enclosure(expression->engine, dd_of(0.5), 0.25);
    evaluate(expression, second);
    for (size_t i = 0; i < COUNT; i++)
        REQUIRE(same(first[i], second[i]));
    evaluate(again, second);
    for (size_t i = 0; i < COUNT; i++)
        REQUIRE(same(first[i], second[i]));
    expression_free(again);
    expression_free(expression);
    return 0;
}
