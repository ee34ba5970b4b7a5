/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A certified table by the method that a spec names, and no other. */
#ifndef PWLC_METHOD_H
#define PWLC_METHOD_H

#include "base/diag.h"
#include "spec/spec.h"
#include "table/table.h"

/* A table of a spec, without segments. Free with table_free, also after a failure. */
int table_begin(const struct spec *spec, struct table *table, struct diag *diag);

/* Of the codes, of half of them where the spec folds, or of the words of a core; without regard to f(0). Exit 3 when no
 * provable table exists, --max-err or --no-saturate is not met. */
int fit_by_method(const struct spec *spec, struct table *table, struct diag *diag);

#endif
