/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a table is and how good, for the head of an emitted file. */
#ifndef PWLC_EMIT_DESCRIPTION_H
#define PWLC_EMIT_DESCRIPTION_H

#include "base/file.h"
#include "table/table.h"

/* Lines of a comment, each behind `lead`: " * " or "// ". */
void add_description(struct text *out, const struct table *table, const char *name, const char *lead);

#endif
