/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * User functions given as an expression of x, such as "1/(1+exp(-x))". engine.h evaluates them in pairs of doubles,
 * with a bound of the error: what a certificate compares a table with is their true value but for that, the same on
 * every machine. Numbers are the decimals that are written. Where the value is not finite the function is not defined.
 */
#ifndef PWLC_EXPRESSION_H
#define PWLC_EXPRESSION_H

#include "base/diag.h"
#include "engine.h"
#include "function.h"

#define EXPRESSION_MAX 1000 /* characters */

struct expression {
    char *text; /* without blanks at its ends */
    struct engine *engine;
};

/* What `pwlc list` would say of it: name "expr", defined everywhere. */
extern const struct function_info expression_info;

/* Names, operators and numbers only, no assignment. Exit 2 with the place in the text; field starts the message. */
int expression_create(const char *text, const char *field, struct expression **expression, struct diag *diag);
void expression_free(struct expression *expression);

/* As engine_value and engine_jet. */
struct ball expression_value(const struct expression *expression, struct dd x);
struct jet expression_jet(const struct expression *expression, struct dd x);

#endif
