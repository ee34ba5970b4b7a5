/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the commands do with row operators: fit makes them, and show, certify, sweep, eval, diff and emit take their
 * files. */
#ifndef PWLC_CLI_ROW_OPERATOR_H
#define PWLC_CLI_ROW_OPERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "emit/options.h"
#include "io/rows.h"
#include "operator/operator.h"
#include "spec/spec.h"

/* Whether the name is an operator's, the flags of fit that operators take, and whether one is for them alone. */
bool row_operator_is_named(const char *name);
extern const char *const row_operator_flags[];
bool row_operator_has_flag(const char *flag);

/* The text of the operator's file, which is malloc'd; and the file. */
int row_operator_text(const struct given *given, int count, char **text, struct diag *diag);
int row_operator_fit(const struct given *given, int count, bool is_reply, const char *output, struct diag *diag);

/* Reads an operator whose certificate is shown or written: what is cheap of its claims is computed anew. */
int row_operator_read(const char *path, struct row_operator *of, struct diag *diag);

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

/* Fields, and the codes of the rows that certificates measure; exit 3 where they differ. */
int row_operator_diff(const char *path_a, const char *path_b, bool outputs_only, struct diag *diag);

/* A page about operators alone. */
int row_operator_report(const char *const *paths, int count, const char *output, struct diag *diag);

/* The text of a file in "c" or "json". */
int row_operator_emit(const char *path, const char *format, const struct emit_options *options, struct text *out,
                      struct diag *diag);

#endif
