/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files: read with a size limit, and written whole or not at all. */
#ifndef PWLC_FILE_H
#define PWLC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"

#define FILE_MAX_BYTES ((size_t)1 << 30)

/* Reads a file, pipe or device or, for "-", standard input into malloc'd memory with a zero byte after the end.
 * Exit 1 when it cannot be read, 2 when it is larger than max_bytes (or FILE_MAX_BYTES), or is what standard output
 * goes into. */
int file_read(const char *path, size_t max_bytes, unsigned char **bytes, size_t *size, struct diag *diag);

/* A regular file of one byte or more, for those that are larger than memory: its descriptor, which the caller closes,
 * and its size. Exit 1 when it cannot be opened, 2 when it is no such file. */
int file_open(const char *path, int *fd, uint64_t *size, struct diag *diag);

/* Exactly `size` bytes from an offset on; path is for messages. Exit 1, too when the file has become shorter. */
int file_read_at(int fd, const char *path, uint64_t at, void *bytes, size_t size, struct diag *diag);

/* Whether a path to write to is "-", "/dev/stdout" (by any of its names) or null. */
bool file_is_standard_output(const char *path);

/* output.c: refuses at once what file_write() would refuse after all the work: a path that the command reads (exit 2),
 * a directory, a file in none (1). */
int file_expect(const char *path, struct diag *diag);

/* The same: writes a file beside path, which gets its place when the command ends well (output.h): path holds the old
 * or the new content, never a part. An unchanged file is not touched, a replaced one keeps its permissions, but not
 * set-user-ID and the like, and belongs to who runs the command. What is no regular file (/dev/full, a pipe) and open
 * descriptors (/dev/stderr, /dev/fd/3) are written into at once; "-", "/dev/stdout" and null are standard output. Exit
 * 1 on failure, 2 when the command reads the same file or has written there already; nothing waits for its place then.
 */
int file_write(const char *path, const void *bytes, size_t size, struct diag *diag);

/* The same piece by piece, of what is larger than memory; a file that is there already is replaced even when it does
 * not change. file_end() follows every file_begin(), also a failed one, and returns `code` where that is a failure:
 * what was written then gets no place. */
struct file_output {
    int fd;            /* -1: nothing is to be written */
    bool is_opened;    /* by file_begin(), which file_end() closes */
    bool is_temporary; /* and it waits for its place */
    const char *name;  /* the path, for messages */
};
int file_begin(const char *path, struct file_output *file, struct diag *diag);
int file_add(struct file_output *file, const void *bytes, size_t size, struct diag *diag);
int file_end(struct file_output *file, int code, struct diag *diag);

/* Exit 3 with a message when the file's content differs from bytes (or the file is missing). */
int file_check(const char *path, const void *bytes, size_t size, struct diag *diag);

/* Growing text buffer; check `failed` once at the end. */
struct text {
    char *bytes; /* zero-terminated once anything was added */
    size_t size, capacity;
    bool failed; /* out of memory */
};
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(struct text *text, const void *bytes, size_t size);
void text_free(struct text *text);

/* Lower-case hexadecimal SHA-256 of bytes (nettle). */
#define SHA256_LENGTH 64
void sha256_hex(const void *bytes, size_t size, char hex[SHA256_LENGTH + 1]);

#endif
