/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a command that repeats no certificate says of an edited one. */
#ifndef PWLC_STANDING_H
#define PWLC_STANDING_H

#include "table/table.h"

/* A note on standard error where the certificate or its table was edited. */
void note_standing(const char *command, const char *path, const struct table *table);

#endif
