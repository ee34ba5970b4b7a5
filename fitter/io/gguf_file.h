/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GGUF files on disk: the entries in memory, the data of tensors read when they are asked for. Files may be larger than
 * memory, and one that is cut off meanwhile is a failed read. */
#ifndef PWLC_GGUF_FILE_H
#define PWLC_GGUF_FILE_H

#include "gguf.h"

struct gguf_file {
    const char *path; /* the caller's */
    int fd;
    unsigned char *head; /* what gguf points into */
    struct gguf gguf;
};

/* Reads and checks the entries. Exit 1 or 2 with the path in the message; needs no gguf_close() then. */
int gguf_open(const char *path, struct gguf_file *file, struct diag *diag);
void gguf_close(struct gguf_file *file);

/* The data of a tensor, malloc'd. Exit 1. */
int gguf_load(const struct gguf_file *file, const struct gguf_tensor *tensor, unsigned char **data, struct diag *diag);

#endif
