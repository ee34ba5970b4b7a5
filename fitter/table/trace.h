/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One evaluation, step by step. */
#ifndef PWLC_TRACE_H
#define PWLC_TRACE_H

#include <stdint.h>

#include <pwl/pwl.h>

#include "base/diag.h"
#include "function/function.h"
#include "table.h"

/* Prints every intermediate value of pwl_eval(packed, q_x) to standard output, one `name value` a line, by the names
 * of the two-shift flow where the table keeps it. packed is table in the runtime's layout, proven. function is null
 * when it is not at hand; otherwise the real value and the error follow. Exit 1 when the steps do not lead to what
 * pwl_eval gives. */
int trace_print(const struct table *table, const struct packed_table *packed, const struct function *function,
                int64_t q_x, struct diag *diag);

#endif
