/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reference.h"

int reference_use_mpfr(struct function *function, struct function_info *info, struct diag *diag)
{
    (void)function;
    (void)info;
    return diag_set(diag, EXIT_MISSING,
                    "--ref mpfr: this pwlc was built without MPFR; install libmpfr-dev and set -Dmpfr=enabled");
}
