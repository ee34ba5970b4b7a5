/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Proofs of what certificates say, for programs that share no code with this one to check: docs/proofs.md. */
#ifndef PWLC_PROOF_H
#define PWLC_PROOF_H

#include <stdbool.h>

#include <jansson.h>

#include "base/diag.h"
#include "base/file.h"
#include "spec/spec.h"
#include "table/table.h"

#define PROOF_MOST_BYTES ((size_t)2 << 20)

/* The program that checks proofs, beside pwlc or in PATH. */
#define PROOF_CHECKER "pwlc-check-proof"

/* The proof of a table, a JSON text to be freed, which the table's certificate names from then on. missing->code is 3
 * where what the certificate claims of other tables has no proof yet, which missing->text says; the proof is then one
 * of the figures alone. Exit 3 where not even these have one, and where a claim is not so. */
int proof_make(struct table *table, char **text, struct diag *missing, struct diag *diag);

/* The spec that a table says it was fitted by, without files; exit 2 where it cannot have been. spec_free drops it. */
int proof_spec(const struct table *table, struct spec *spec, struct diag *diag);

/* acceptance.c: the name of a proof in certificates, the SHA-256 of its fields but `table`, as Python's
 * json.dumps(fields, sort_keys=True, separators=(",", ":")) writes them. False when memory is short. */
bool proof_name(const json_t *proof, char name[SHA256_LENGTH + 1]);

/* Whether a file proves a table, in the words of the checker, which go to *said, and the proof's name. Exit 3 where it
 * is of another table, or the checker refuses it; 2 where it is no proof, 77 without the checker. */
int proof_accept(const char *path, const struct table *table, char name[SHA256_LENGTH + 1], struct text *said,
                 struct diag *diag);

#endif
