/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether what is emitted from a table gives its values, by the compilers and simulators that users have. */
#ifndef PWLC_VERIFY_H
#define PWLC_VERIFY_H

#include "verification.h"

/* Emits, builds and runs one of VERIFY_TARGETS; a mismatch is in the verdict alone. Exit 77 when a tool is missing. */
#define VERIFY_TARGETS "c|standalone|sv|cuda"
int verify(const char *target, const struct verification *verification, struct verdict *verdict, struct diag *diag);

/* Proves with yosys and ABC that a module of stages without feedback gives the table's value for every code, inputs of
 * up to 8 bits; beyond, that there is no feedback, so that what it gives depends on the last codes alone. Exit 3 when
 * it is not so. */
int verify_proof(const struct verification *verification, struct verdict *verdict, struct diag *diag);

#endif
