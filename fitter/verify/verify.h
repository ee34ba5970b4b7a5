/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether what is emitted from a table gives its values, by the compilers and simulators that users have. */
#ifndef PWLC_VERIFY_H
#define PWLC_VERIFY_H

#include "verification.h"

/* Emits, builds and runs one of VERIFY_TARGETS, or proves the module; a mismatch is in the verdict alone. Exit 77 when
 * a tool is missing, 3 when a proof refutes the module. */
#define VERIFY_TARGETS "c|standalone|sv|vhdl|cuda"
#define VERIFY_PROOF "proof"
int verify(const char *target, const struct verification *verification, struct verdict *verdict, struct diag *diag);

#endif
