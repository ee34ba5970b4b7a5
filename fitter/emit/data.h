/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats that carry the table's numbers to other programs. */
#ifndef PWLC_DATA_H
#define PWLC_DATA_H

#include "options.h"

/* One table as it was read, several as a JSON array. */
int emit_json(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
              struct diag *diag);

/* A header row and a row per segment. */
int emit_csv(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag);

/* int64 array of shape (segments, 4): start, q_b, n_BX_total, offset. */
int emit_npy(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag);

#endif
