/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a spec to a certified table. README.md says what is tried, in which order, and why. */
#ifndef PWLC_FIT_H
#define PWLC_FIT_H

#include "base/diag.h"
#include "spec/spec.h"
#include "table/table.h"

/* Fits a spec. Exit 3 when no provable table exists, --max-err or --no-saturate is not met; the message then also tells
 * the choices without which, each left out alone, there is one. */
int fit(const struct spec *spec, struct table *table, struct diag *diag);

/* The same with the shorter message. */
int fit_as_asked(const struct spec *spec, struct table *table, struct diag *diag);

#endif
