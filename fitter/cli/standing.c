/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "standing.h"

#include <stdio.h>

void note_standing(const char *command, const char *path, const struct table *table)
{
    if (table->standing == CERTIFICATE_OTHER)
        fprintf(stderr,
                "pwlc %s: note: %s: hash: not that of this table and its certificate, which does not count; see pwlc "
                "certify\n",
                command, path);
}
