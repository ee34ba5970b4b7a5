/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * User functions given as an expression of x, such as "1/(1+exp(-x))". They are evaluated in double, by libm, not in two
 * doubles as the built-in functions are: x is rounded to double first, and the value is that of the expression's own
 * operations, each rounded. What a certificate compares a table with is this value. Where the value is not finite the
 * function is not defined.
 */
#ifndef PWLC_EXPRESSION_H
#define PWLC_EXPRESSION_H

#include "base/diag.h"
#include "engine.h"
#include "function.h"

#define EXPRESSION_MAX 1000 /* characters */

struct expression {
    char *text;  /* without blanks at its ends */
    double step; /* of the derivative; 0: relative to x */
    struct engine *engine;
};

/* What `pwlc list` would say of it: name "expr", defined everywhere. */
extern const struct function_info expression_info;

/* Names, operators and numbers only, no assignment. Exit 2 with the place in the text, 77 without muParser; field
 * starts the message. */
int expression_create(const char *text, const char *field, struct expression **expression, struct diag *diag);
void expression_free(struct expression *expression);

double expression_value(const struct expression *expression, double x);

/* (f(x + h) - f(x - h)) / 2h, from one side where the other has no value.
 *
 * With a step, h is that step: the spacing of the input's codes, so that the sign of f' - slope is that of the error's
 * change from code to code, and a kink moves it by no more than one code. The value is within
 * max|f'''| h^2 / 6 + max|f| 2^-53 / h of f'. An extreme of the error found by it is then off by no more than
 * (max|f| 2^-53 / h)^2 / 2|f''|, far below an output LSB.
 * Without one, h = 2^-17 max(1, |x|), where both terms are about 2^-35 for a function that varies over lengths of 1. */
double expression_derivative(const struct expression *expression, double x);

/* (f(x + h) - 2 f(x) + f(x - h)) / h^2 with h = 2^-13 max(1, |x|): an estimate, to about 2^-25 for a function that
 * varies over lengths of 1. No proof may rest on it. */
double expression_second_derivative(const struct expression *expression, double x);

#endif
