/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a fitted table. */
#ifndef PWLC_CERTIFICATE_H
#define PWLC_CERTIFICATE_H

#include "workspace.h"

/* Proves and measures the segments found, and writes them and their certificate into the table. */
int certify(struct workspace *work, struct table *table, struct diag *diag);

/* The same of a table of so many segments, which is fitted first. */
int fit_and_certify(struct workspace *work, int count, struct table *table, struct diag *diag);

/* Whether the table costs what its lines do at the points. That of a half may cost more, see spec_fold_narrow. */
bool costs_as_searched(const struct workspace *work, const struct certificate *certificate);

#endif
