/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the commands do with row operators: fit makes them, and show, certify, sweep, eval and emit take their files. */
#ifndef PWLC_CLI_ROW_OPERATOR_H
#define PWLC_CLI_ROW_OPERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "emit/options.h"
#include "io/rows.h"

/* A flag of fit and its value; of a positional argument the flag is "FUNCTION". */
struct given {
    const char *flag, *value;
};

/* Whether the name is an operator's, and the flags of fit that are for operators alone. */
bool row_operator_is_named(const char *name);
bool row_operator_has_flag(const char *flag);

int row_operator_fit(const struct given *given, int count, bool is_reply, const char *output, struct diag *diag);

int row_operator_show(const char *path, struct diag *diag);
int row_operator_certify(const char *path, const char *output, struct diag *diag);

/* Codes of one row as words, or the rows of .npy arrays along their last axis. */
int row_operator_eval(const char *path, const char *const *inputs, int count, const char *output, struct diag *diag);

struct row_operator_sweep {
    const char *path, *output;
    enum cells_format format;
    int64_t rows;   /* drawn; 0: as many as a certificate */
    double max_err; /* NAN: no limit */
};
int row_operator_sweep(const struct row_operator_sweep *request, struct diag *diag);

/* The text of a file in "c" or "json". */
int row_operator_emit(const char *path, const char *format, const struct emit_options *options, struct text *out,
                      struct diag *diag);

#endif
