/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a spec to a certified table. */
#ifndef PWLC_FIT_H
#define PWLC_FIT_H

#include "base/diag.h"
#include "spec/spec.h"
#include "table/table.h"

/* Fits a spec as it is. Exit 3 when no provable table exists, --max-err or --no-saturate is not met; fit() of relax.h
 * also finds out which constraint is to blame. */
int fit_as_asked(const struct spec *spec, struct table *table, struct diag *diag);

#endif
