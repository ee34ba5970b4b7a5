/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tied segments are searched around a table that need not keep the ties. Around other ones the same search may find a
 * better table. */
#ifndef PWLC_TIED_STARTS_H
#define PWLC_TIED_STARTS_H

#include "workspace.h"

/* Exchanges a table of tied segments for a better one by its objective, of `count` segments or fewer. */
int try_tied_starts(struct workspace *work, int count, struct table *table, struct diag *diag);

#endif
