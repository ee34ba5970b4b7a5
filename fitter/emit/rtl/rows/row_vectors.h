/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that benches send through units, and what the runtime makes of them. */
#ifndef PWLC_EMIT_RTL_ROW_VECTORS_H
#define PWLC_EMIT_RTL_ROW_VECTORS_H

#include "operator/operator.h"

/* A row: its outputs are those of the runtime. Places whose mask is 0 take no part; norms have none such. */
struct row_vector {
    uint32_t length;
    void *x, *y;   /* codes of the operator's types, room for the longest row */
    uint8_t *mask; /* as pwl_rows has it */
    uint64_t state;
};

/* Free with row_vector_free, also after a failure. */
int row_vector_make(const struct row_operator *of, struct row_vector *row, struct diag *diag);
void row_vector_free(struct row_vector *row);

/* Row k, of 0, 1, 2...; all rows are asked for in this order. The first is of the full length, and of softmax the next
 * have one place and two, later ones any number; every fifth has masked places, and of every fortieth all are. */
void row_vector_next(const struct packed_operator *packed, const struct row_operator *of, int64_t k,
                     struct row_vector *row);

/* Place k of the row as a word of 40 bits: {6'b0, last place, takes part, y, x}. */
uint64_t row_vector_word(const struct row_operator *of, const struct row_vector *row, uint32_t k);

#endif
