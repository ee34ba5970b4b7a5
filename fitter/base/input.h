/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that this command reads, by what they are and not by their names: so that none is written over. */
#ifndef PWLC_INPUT_H
#define PWLC_INPUT_H

#include <stdbool.h>
#include <sys/stat.h>

#include "diag.h"

/* Notes the file behind a descriptor, where it is a regular one. Exit 2 when standard output goes into the same file.
 */
int inputs_know(int fd, struct diag *diag);

/* Whether the file of that status was noted. */
bool inputs_have(const struct stat *status);

void inputs_forget(void);

/* From now on the content of each regular file that is read is added to a hash, in the order in which they are opened.
 */
void inputs_hash(void);

/* The SHA-256 of all until now. Exit 2 where something was read that is no regular file, which others cannot read
 * again. */
int inputs_hashed(unsigned char digest[32], struct diag *diag);

#endif
