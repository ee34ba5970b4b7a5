/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing tables for their consumers. Each emitter turns tables into the bytes of one file. */
#ifndef PWLC_EMIT_H
#define PWLC_EMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/file.h"
#include "table/table.h"

struct emit_options {
    const char *prefix;       /* of identifiers; "pwl_" by default */
    const char *name;         /* identifier of a single table instead of the derived one; null by default */
    bool standalone;          /* c: with its own evaluation, including only stdint.h and stddef.h */
    const char *const *paths; /* of the tables, for messages alone; may be null */
};

struct emitter {
    const char *name; /* the --format value */
    const char *summary;
    bool many; /* takes several tables */
    bool code; /* has identifiers, as --prefix and --name give them */
    int (*emit)(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
                struct diag *diag);
};

extern const struct emitter emitters[]; /* ends with a null name */

const struct emitter *emitter_find(const char *name);

/* Identifier of a table: prefix + function + "_" + input type [+ "_" + output type when it differs],
 * for example pwl_gelu_s8, pwl_sigmoid_s16_u8. */
int emit_table_name(const struct table *table, const struct emit_options *options, char *name, size_t size,
                    struct diag *diag);

#endif
