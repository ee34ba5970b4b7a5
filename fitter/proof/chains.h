/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chains of a proof: exclusions from the left to where all segments but the last are spent. */
#ifndef PWLC_CHAINS_H
#define PWLC_CHAINS_H

#include "base/file.h"
#include "statement.h"

/* Appends the chains of a statement, a JSON list. Exit 3 where it is refuted, or has too many slopes to say. */
int chains_write(struct statement *statement, struct text *out, struct diag *diag);

#endif
