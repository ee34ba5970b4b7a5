/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A second opinion on the functions: MPFR, where it was found when pwlc was built. */
#ifndef PWLC_REFERENCE_H
#define PWLC_REFERENCE_H

#include "base/diag.h"
#include "function.h"

/* Makes function_value of a built-in function come from MPFR: 128 bits, rounded to two doubles. Derivatives stay as
 * they are. *info is what function->info then points to. Exit 77 when pwlc was built without MPFR, 2 for functions that
 * are not built in. */
int reference_use_mpfr(struct function *function, struct function_info *info, struct diag *diag);

#endif
