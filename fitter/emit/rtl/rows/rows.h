/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units of row operators in SystemVerilog: rows come and go over AXI-Stream, so many places a beat. */
#ifndef PWLC_EMIT_RTL_ROWS_H
#define PWLC_EMIT_RTL_ROWS_H

#include "emit/options.h"
#include "operator/operator.h"

/* Exit 2 where an operator has no unit: softmax, log-softmax and norms have. */
int row_unit_check(const struct row_operator *of, struct diag *diag);

/* The unit, with its core behind it as a module of its own. */
int emit_operator_sv(const struct row_operator *of, const struct emit_options *options, struct text *out,
                     struct diag *diag);

/* A bench for it, with rows of its own and what the runtime makes of them. */
int emit_operator_bench(const struct row_operator *of, const struct emit_options *options, struct text *out,
                        struct diag *diag);

/* The same with so many rows; of 0 rows as many as have so many places, and 12 at least. Both are set to what they
 * became. Where `file` is not null, the bench reads the rows from a file of this name and content. */
struct row_bench_size {
    int64_t rows, places;
};
#define ROW_PLACES_FILE "places.bin"
int emit_row_bench(const struct row_operator *of, const struct emit_options *options, struct row_bench_size *size,
                   struct text *file, struct text *out, struct diag *diag);

#endif
