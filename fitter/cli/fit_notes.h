/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `pwlc fit` notes on a table that was made as asked, and that its user may not expect. */
#ifndef PWLC_FIT_NOTES_H
#define PWLC_FIT_NOTES_H

#include "spec/spec.h"
#include "table/table.h"

/* Codes that saturate, output codes that are never given, zero points that are no codes, f(0) that is not kept, how far
 * a proof reaches, and that the layout of --profile does not hold the table. name: of a job of --spec, else empty. */
void fit_notes(const struct spec *spec, const struct table *table, const char *name);

/* What a proof of a table leaves out, where it does; see proof_make. */
void note_no_proof(const char *command, const struct diag *missing);

/* That --time-limit ended a search. */
void fit_note_cut(double seconds, const char *name);

#endif
