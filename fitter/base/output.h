/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that one command writes. file_write() keeps each beside its place, under a name of its own; all get their
 * places at the end of the command, or none. No file is both read and written. */
#ifndef PWLC_OUTPUT_H
#define PWLC_OUTPUT_H

#include <sys/types.h>

#include "diag.h"

/* Signals that end the process (Ctrl-C, a closed terminal or pipe) first end the programs it runs and remove what has
 * no place yet, scratch folders too; a file beyond the limit of the shell is a failed write. To be called once, before
 * all others. */
void outputs_guard(void);

/* What such a signal calls first, null for nothing: what a handler may call, and nothing else. The sender is the
 * process that has sent it, or 0. */
void outputs_tell(void (*tell)(pid_t sender));

/* Puts all that file_write() kept into its place, in the order of the calls. Exit 1 when the file system refuses. */
int outputs_commit(struct diag *diag);

/* Removes what has no place yet and the scratch folders, and forgets the inputs. */
void outputs_drop(void);

#endif
