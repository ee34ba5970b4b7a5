/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PWLC_EMIT_ROW_OPERATOR_H
#define PWLC_EMIT_ROW_OPERATOR_H

#include "emit/options.h"
#include "operator/operator.h"

/* A row operator as a header: its core, its arrays, and a pwl_softmax or pwl_norm over them for the runtime, or with
 * options->standalone a function of its own. */
int emit_operator_c(const struct row_operator *of, const struct emit_options *options, struct text *out,
                    struct diag *diag);

#endif
