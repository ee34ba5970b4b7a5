/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "program.h"
int sv_program_bits(const struct table *table)
{
    return table->in.bits;
}
int sv_program(const struct verification *verification, struct program *program, struct diag *diag)
{
    (void)verification;
    (void)program;
    return diag_set(diag, EXIT_IO, "none");
}
