/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders for what a command makes on its way. They lie in one folder of the process, which is made for the first of
 * them, in $TMPDIR or /tmp, and removed with all that is in it when the command ends or a signal ends it. */
#ifndef PWLC_SCRATCH_H
#define PWLC_SCRATCH_H

#include <stdbool.h>

#include "diag.h"
#include "file.h"

#define SCRATCH_PATH_SIZE 256

/* A new, empty folder. Exit 1 when the file system refuses. Any thread may call it. */
int scratch_folder(char path[SCRATCH_PATH_SIZE], struct diag *diag);

/* Writes a file there, at once; the text is freed. */
int scratch_write(const char *folder, const char *name, struct text *text, struct diag *diag);

/* The one for what programs that run beside this one make for themselves, which is nobody's to know. */
int scratch_of_programs(char path[SCRATCH_PATH_SIZE], struct diag *diag);

/* Removes them all, and tells whether none is left; may be called in a signal handler, and after a fork. */
bool scratch_remove(void);

#endif
