/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of values at evenly spaced points. */
#ifndef PWLC_INTERPOLATION_TABLE_H
#define PWLC_INTERPOLATION_TABLE_H

#include "workspace.h"

/* The one that the spec asks for, certified. */
int fit_interpolation(struct workspace *work, struct table *table, struct diag *diag);

#endif
