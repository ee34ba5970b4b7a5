/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two kinds of C header of a row operator share: for the runtime, and standalone. */
#ifndef PWLC_EMIT_ROW_C_H
#define PWLC_EMIT_ROW_C_H

#include "c.h"
#include "operator/operator.h"

/* What the header is written from. */
struct row_c {
    const struct row_operator *of;
    char name[EMIT_NAME_SIZE], upper[EMIT_NAME_SIZE];
    const char *attribute; /* of arrays; "" for none */
};

/* The functions of a standalone header, behind the core's and the arrays. */
void row_c_add_standalone(struct text *out, const struct row_c *c, const struct packed_operator *packed);

#endif
