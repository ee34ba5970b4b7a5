/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Proofs of what certificates say, for programs that share no code with this one to check: docs/proofs.md. */
#ifndef PWLC_PROOF_H
#define PWLC_PROOF_H

#include "base/diag.h"
#include "spec/spec.h"
#include "table/table.h"

#define PROOF_MOST_BYTES ((size_t)2 << 20)

/* The proof of a table, a JSON text to be freed. missing->code is 3 where what the certificate claims of other tables
 * has no proof yet, which missing->text says; the proof is then one of the figures alone. Exit 3 where not even these
 * have one, and where a claim is not so. */
int proof_make(const struct table *table, char **text, struct diag *missing, struct diag *diag);

/* The spec that a table says it was fitted by, without files; exit 2 where it cannot have been. spec_free drops it. */
int proof_spec(const struct table *table, struct spec *spec, struct diag *diag);

#endif
