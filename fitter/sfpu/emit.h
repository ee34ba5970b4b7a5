/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table as text: what a kernel of tt-metal loads, and a twin in C for the host. */
#ifndef PWLC_SFPU_EMIT_H
#define PWLC_SFPU_EMIT_H

#include "document.h"

#define SFPU_FORMATS "llk|c"

/* C++ for tt-metal's kernels: words, modifier, and functions that load the registers and issue the instruction. */
int sfpu_emit_llk(const struct sfpu_document *of, char **text, struct diag *diag);

/* pwl_sfpu_FUNCTION(), from bf16 to bf16 as uint16_t: the table's result at every finite code. */
int sfpu_emit_c(const struct sfpu_document *of, char **text, struct diag *diag);

#endif
