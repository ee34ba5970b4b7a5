/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people read of tables of the SFPU. */
#ifndef PWLC_SFPU_REPORT_H
#define PWLC_SFPU_REPORT_H

#include "sfpu/document.h"

/* The kernel, its segments, its errors and those of shipped tables of the same function beside them. */
int sfpu_report_print(const struct sfpu_document *of, struct diag *diag);

/* The shipped tables, with their errors. */
int sfpu_shipped_print(struct diag *diag);

#endif
