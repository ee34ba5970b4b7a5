/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many segments an error takes. */
#ifndef PWLC_MAX_ERR_H
#define PWLC_MAX_ERR_H

#include "workspace.h"

/* Few segments, `most` or fewer, of a table that keeps to --max-err. */
int fit_max_err(struct workspace *work, int most, struct table *table, struct diag *diag);

/* Exit 3 when the table does not. */
int check_max_err(const struct spec *spec, const struct table *table, struct diag *diag);

#endif
