/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every emitter is given beside its tables, and the identifiers made of that. */
#ifndef PWLC_OPTIONS_H
#define PWLC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/file.h"
#include "table/table.h"

struct emit_options {
    const char *prefix;       /* of identifiers; "pwl_" by default */
    const char *name;         /* identifier of a single table instead of the derived one; null by default */
    const char *attribute;    /* c: of the arrays, as __attribute__((section(".tables"))); null by default */
    bool standalone;          /* c: with its own evaluation, including only stdint.h and stddef.h */
    const char *const *paths; /* of the tables, for messages alone; may be null */
};

/* Exit 2 when --attribute is more than names, strings and parentheses that match. */
int emit_check_attribute(const char *attribute, struct diag *diag);

/* Identifier of a table: prefix + function + "_" + input type [+ "_" + output type when it differs],
 * for example pwl_gelu_s8, pwl_sigmoid_s16_u8. */
int emit_table_name(const struct table *table, const struct emit_options *options, char *name, size_t size,
                    struct diag *diag);

#endif
