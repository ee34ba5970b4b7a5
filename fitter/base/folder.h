/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders that output goes to. */
#ifndef PWLC_FOLDER_H
#define PWLC_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "diag.h"

/* Exit 1 when the folder of a file that is to be written is not there: said before anything is computed. */
int folder_check(const char *path, struct diag *diag);

/* Exit 1 when folder_make will not make this folder, and it is not there: said before anything is computed. */
int folder_expect(const char *path, struct diag *diag);

/* Makes the folder unless it is there; *made tells. Exit 1 when it cannot, or when something else has its name. */
int folder_make(const char *path, bool *made, struct diag *diag);

/* The folder of this program, without a last slash; empty where the system does not tell. */
void folder_of_program(char *folder, size_t size);

#endif
