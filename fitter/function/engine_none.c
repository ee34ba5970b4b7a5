/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine.h"

#include <math.h>
#include <stddef.h>

int engine_create(const char *text, const char *field, struct engine **engine, struct diag *diag)
{
    (void)text;
    *engine = NULL;
    return diag_set(diag, EXIT_MISSING, "%s: this pwlc was built without muParser; build it with -Dmuparser=enabled",
                    field);
}

void engine_free(struct engine *engine)
{
    (void)engine;
}

double engine_value(struct engine *engine, double x)
{
    (void)engine, (void)x;
    return NAN;
}
