/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are written piece by piece; file_write() (file.h) says where they go. */
#ifndef PWLC_FILE_OUTPUT_H
#define PWLC_FILE_OUTPUT_H

#include <stddef.h>

#include "diag.h"
#include "file.h"

struct file_output {
    const char *path;
    struct text text;
};

int file_begin(const char *path, struct file_output *file, struct diag *diag);
int file_add(struct file_output *file, const void *bytes, size_t size, struct diag *diag);

/* Ends the file, and returns code where that is a failure: then the file is dropped. */
int file_end(struct file_output *file, int code, struct diag *diag);

#endif
