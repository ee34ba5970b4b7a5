/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing tables for their consumers. Each emitter turns tables into the bytes of one file. */
#ifndef PWLC_EMIT_H
#define PWLC_EMIT_H

#include <stdbool.h>

#include "options.h"

struct emitter {
    const char *name; /* the --format value */
    const char *summary;
    bool many;     /* takes several tables */
    bool code;     /* has identifiers, as --prefix and --name give them */
    bool hardware; /* takes the flags of rtl_options */
    int (*emit)(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
                struct diag *diag);
};

extern const struct emitter emitters[]; /* ends with a null name */

const struct emitter *emitter_find(const char *name);

#endif
