/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of pwlc diff: a pair of values that should be equal, "field: a | b". */
#ifndef PWLC_CLI_DIFFERENCES_H
#define PWLC_CLI_DIFFERENCES_H

#include <stdint.h>

#include "function/tensor.h"

/* Reports a pair that differs, and counts it; differences may be null: it does not matter. */
void compare_text(const char *field, const char *a, const char *b, int *differences);
void compare_integer(const char *field, int64_t a, int64_t b, int *differences);
void compare_tensor(const char *field, const struct tensor *a, const struct tensor *b, int *differences);

#endif
