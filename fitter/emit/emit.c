/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "emit.h"

#include <string.h>

#include "c/c.h"
#include "data.h"
#include "hls/hls.h"
#include "rtl/rtl.h"

#define EMITTER(name, function, takes, summary) {name, summary, takes, function},
const struct emitter emitters[] = {EMITTERS(EMITTER){NULL, NULL, 0, NULL}};

const struct emitter *emitter_find(const char *name)
{
    for (const struct emitter *emitter = emitters; emitter->name; emitter++)
        if (strcmp(emitter->name, name) == 0)
            return emitter;
    return NULL;
}
