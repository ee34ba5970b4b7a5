/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify.h"
int verify_proof(const struct verification *verification, struct verdict *verdict, struct diag *diag)
{
    (void)verification;
    (void)verdict;
    return diag_set(diag, EXIT_IO, "none");
}
