/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that are hard, and drawn ones, through an operator as the runtime runs it, against the real function. Of an
 * operator of elements a row is as many codes as hard_elements.h says. */
#ifndef PWLC_HARD_ROWS_H
#define PWLC_HARD_ROWS_H

#include "operator.h"

/* One row that was measured. */
struct measured_row {
    const char *shape; /* "one against many" */
    uint32_t part;     /* how far apart its codes are, as the shape means it */
    uint32_t length;
    const void *x, *y;    /* codes of the operator's types */
    const void *b;        /* of add's second input; of weigh the values of HARD_CHANNELS channels; else null */
    uint32_t results;     /* codes of y: `length`, of weigh HARD_CHANNELS */
    bool is_of_channels;  /* whether they are those of channels */
    const double *errors; /* of each result: code less real value, in LSB */
    uint32_t worst;       /* the first result that has the largest one */
};
enum { HARD_CHANNELS = 8 };

/* "one against many, 17 codes apart, 4096 places, place 0"; of weigh "channel 0" */
void measured_row_text(const struct measured_row *row, char *text, size_t size);

/* What the operator makes of a row that was measured, of so many results. */
void measured_row_run(const struct packed_operator *packed, const struct measured_row *row, void *y);

typedef void take_row(void *context, const struct measured_row *row);

/* Every structured row, then so many drawn ones, always the same. */
int hard_rows_measure(const struct row_operator *of, int64_t drawn, take_row *take, void *context, struct diag *diag);

/* Drawn rows that a certificate is made of. */
int64_t hard_rows_default(const struct row_operator *of);

/* Exit 2 where an own certificate counts other rows than operator_certify() does by default, or no row of these words
 * has the error that it claims of its worst row. Only rows of these words are measured: that none is worse is not
 * looked at. */
int operator_check_measured(const struct row_operator *of, struct diag *diag);

/* Measures rows into the certificate. */
int operator_certify(struct row_operator *of, int64_t drawn, struct diag *diag);

#endif
