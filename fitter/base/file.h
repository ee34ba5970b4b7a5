/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole files, read with a size limit and written atomically. */
#ifndef PWLC_FILE_H
#define PWLC_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "diag.h"

#define FILE_MAX_BYTES ((size_t)1 << 30)

/* Reads a file, pipe or device or, for "-", standard input into malloc'd memory with a zero byte after the end.
 * Exit 1 when it cannot be read, 2 when it is larger than max_bytes (or FILE_MAX_BYTES). */
int file_read(const char *path, size_t max_bytes, unsigned char **bytes, size_t *size, struct diag *diag);

/* A regular file of one byte or more in memory, which is read as it is looked at: models are larger than memory. To be
 * given back by file_unmap(). Exit 1 when it cannot be opened, 2 when it is no such file. */
int file_map(const char *path, const unsigned char **bytes, size_t *size, struct diag *diag);
void file_unmap(const unsigned char *bytes, size_t size); /* leaves null alone */

/* Whether a path to write to is "-", "/dev/stdout" or null. */
bool file_is_standard_output(const char *path);

/* Writes through a temporary file in the same directory and a rename, so that the path holds the old or the
 * new content, never a part. An unchanged file is not touched, a replaced one keeps its permissions. What is no regular
 * file (/dev/full, a pipe) is written into. "-", "/dev/stdout" and null mean standard output. Exit 1 on failure. */
int file_write(const char *path, const void *bytes, size_t size, struct diag *diag);

/* Exit 3 with a message when the file's content differs from bytes (or the file is missing). */
int file_check(const char *path, const void *bytes, size_t size, struct diag *diag);

/* Growing text buffer; check `failed` once at the end. */
struct text {
    char *bytes; /* zero-terminated once anything was added */
    size_t size, capacity;
    bool failed; /* out of memory */
};
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *text);

/* Lower-case hexadecimal SHA-256 of bytes (nettle). */
void sha256_hex(const void *bytes, size_t size, char hex[65]);

#endif
