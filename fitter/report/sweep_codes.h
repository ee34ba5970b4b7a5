/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every code of a table beside its function, as a file for other programs. */
#ifndef PWLC_SWEEP_CODES_H
#define PWLC_SWEEP_CODES_H

#include <stdbool.h>

#include "base/diag.h"
#include "function/function.h"
#include "table/table.h"

/* Whether the format can be told from the path: a name that ends in .csv, .npy or .jsonl; "-" is csv. */
bool sweep_codes_path(const char *path);

/* Writes a row for each input code: code, x, target (in output codes, clipped to their range), output code and error,
 * output - target. csv with titles, an object a line, or float64 of shape (codes, 5). The table is proven, and its
 * codes lie in the function's domain. */
int sweep_codes_write(const char *path, const struct table *table, const struct packed_table *packed,
                      const struct function *function, struct diag *diag);

#endif
