/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a fit comes to, as a record for jobs that are shared out (jobs/share.h). */
#ifndef PWLC_FIT_RESULT_H
#define PWLC_FIT_RESULT_H

#include "base/record.h"
#include "table/table.h"

/* A table, or why there is none; its errors to the last bit, of which a file has six digits. False where memory, a file
 * or a tool failed, which another time may not. */
bool fit_result_save(const struct table *table, const struct diag *why, struct text *record);

/* The table is the caller's to free where there is one: where *why is EXIT_DONE. False when it is no such record. */
bool fit_result_load(struct table *table, struct diag *why, struct record *record);

#endif
