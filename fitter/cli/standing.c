/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "standing.h"

#include "base/note.h"

void note_standing(const char *command, const char *path, const struct table *table)
{
    if (table->standing == CERTIFICATE_OTHER)
        note(command, "%s: hash: not that of this table and its certificate, which does not count; see pwlc certify",
             path);
}
