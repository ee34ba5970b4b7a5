/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What evaluates an expression of x: muParser (engine_muparser.c), or nothing (engine_none.c). */
#ifndef PWLC_ENGINE_H
#define PWLC_ENGINE_H

#include "base/diag.h"

struct engine;

/* Exit 2 when text is no expression that has one value and depends on x, 77 without muParser; field starts the
 * message. */
int engine_create(const char *text, const char *field, struct engine **engine, struct diag *diag);
void engine_free(struct engine *engine);

/* The value at x, NaN where there is none. Threads may share an engine. */
double engine_value(struct engine *engine, double x);

#endif
