/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700 /* pread */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptor.h"
#include "input.h"

bool file_is_standard_output(const char *path)
{
    return descriptor_of(path) == STDOUT_FILENO;
}

/* Everything up to the end of fd, at most max_bytes. */
static int read_all(int fd, const char *name, size_t max_bytes, size_t expected, unsigned char **bytes, size_t *size,
                    struct diag *diag)
{
    /* the zero byte, and one more that shows that the limit was passed */
    size_t capacity = (expected < max_bytes ? expected : max_bytes) + 2;
    size_t used = 0;
    unsigned char *buffer = malloc(capacity);
    while (buffer != NULL) {
        const ssize_t got = read(fd, buffer + used, capacity - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            const int error = errno;
            free(buffer);
            return diag_set(diag, EXIT_IO, "%s: cannot read: %s", name, strerror(error));
        }
        if (got == 0)
            break;
        used += (size_t)got;
        if (used > max_bytes) {
            free(buffer);
            return diag_set(diag, EXIT_USAGE, "%s: larger than the limit of %zu bytes", name, max_bytes);
        }
        if (capacity - 1 - used == 0) {
            capacity = capacity < 4096 ? 8192 : capacity * 2;
            if (capacity > max_bytes + 2)
                capacity = max_bytes + 2;
            unsigned char *larger = realloc(buffer, capacity);
            if (larger == NULL)
                free(buffer);
            buffer = larger;
        }
    }
    if (buffer == NULL)
        return diag_set(diag, EXIT_IO, "%s: out of memory", name);
    buffer[used] = '\0';
    *bytes = buffer;
    *size = used;
    return EXIT_DONE;
}

/* Opens an input; -1 with a message. */
static int open_input(const char *path, struct stat *status, struct diag *diag)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, status) == 0) {
        if (inputs_know(fd, diag) == EXIT_DONE)
            return fd;
        diag_prefix(diag, path);
    } else {
        diag_set(diag, EXIT_IO, "%s: cannot open: %s", path, strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

int file_read(const char *path, size_t max_bytes, unsigned char **bytes, size_t *size, struct diag *diag)
{
    *bytes = NULL;
    *size = 0;
    if (max_bytes > FILE_MAX_BYTES)
        max_bytes = FILE_MAX_BYTES;
    if (strcmp(path, "-") == 0) {
        if (inputs_know(STDIN_FILENO, diag) != EXIT_DONE)
            return diag_prefix(diag, "standard input");
        return read_all(STDIN_FILENO, "standard input", max_bytes, 0, bytes, size, diag);
    }
    struct stat status;
    const int fd = open_input(path, &status, diag);
    if (fd < 0)
        return diag->code;
    int code;
    if (S_ISDIR(status.st_mode))
        code = diag_set(diag, EXIT_IO, "%s: is a directory; name a file", path);
    else
        code = read_all(fd, path, max_bytes, status.st_size > 0 ? (size_t)status.st_size : 0, bytes, size, diag);
    close(fd);
    return code;
}

int file_open(const char *path, int *fd, uint64_t *size, struct diag *diag)
{
    struct stat status;
    *fd = open_input(path, &status, diag);
    if (*fd < 0)
        return diag->code;
    if (S_ISREG(status.st_mode) && status.st_size > 0) {
        *size = (uint64_t)status.st_size;
        return EXIT_DONE;
    }
    close(*fd);
    *fd = -1;
    return diag_set(diag, EXIT_USAGE, "%s: not a file of one byte or more", path);
}

int file_read_at(int fd, const char *path, uint64_t at, void *bytes, size_t size, struct diag *diag)
{
    unsigned char *to = bytes;
    while (size > 0) {
        const ssize_t got = pread(fd, to, size, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return diag_set(diag, EXIT_IO, "%s: cannot read: %s", path, strerror(errno));
        if (got == 0)
            return diag_set(diag, EXIT_IO, "%s: became shorter while it was read", path);
        to += got;
        at += (uint64_t)got;
        size -= (size_t)got;
    }
    return EXIT_DONE;
}

int file_check(const char *path, const void *bytes, size_t size, struct diag *diag)
{
    unsigned char *old;
    size_t old_size;
    if (file_is_standard_output(path))
        return diag_set(diag, EXIT_USAGE, "a check needs the name of a file to compare with, not standard output");
    if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return diag_set(diag, EXIT_REQUIREMENT, "%s: is missing; write it without the check", path);
    const int code = file_read(path, FILE_MAX_BYTES, &old, &old_size, diag);
    if (code != EXIT_DONE)
        return code;
    const unsigned char *wanted = bytes;
    const size_t common = old_size < size ? old_size : size;
    size_t at = 0, line = 1;
    for (; at < common && old[at] == wanted[at]; at++)
        line += old[at] == '\n';
    free(old);
    if (at == size && old_size == size)
        return EXIT_DONE;
    return diag_set(diag, EXIT_REQUIREMENT, "%s: differs from what would be written, first at byte %zu (line %zu)",
                    path, at, line);
}

/* Room for so many more bytes and a zero byte behind them. */
static bool text_reserve(struct text *text, size_t size)
{
    if (text->failed || size >= SIZE_MAX / 4 - text->size) {
        text->failed = true;
        return false;
    }
    const size_t needed = text->size + size + 1;
    if (needed <= text->capacity)
        return true;
    const size_t capacity = needed < 1024 ? 1024 : needed * 2;
    char *bytes = realloc(text->bytes, capacity);
    if (bytes == NULL) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void text_add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (!text_reserve(text, length < 0 ? SIZE_MAX : (size_t)length))
        return;
    va_start(args, format);
    vsnprintf(text->bytes + text->size, text->capacity - text->size, format, args);
    va_end(args);
    text->size += (size_t)length;
}

void text_add_bytes(struct text *text, const void *bytes, size_t size)
{
    if (!text_reserve(text, size))
        return;
    if (size > 0) /* else bytes may be null */
        memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

void text_free(struct text *text)
{
    free(text->bytes);
    memset(text, 0, sizeof *text);
}

void sha256_hex(const void *bytes, size_t size, char hex[65])
{
    static const char digits[] = "0123456789abcdef";
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&context);
    sha256_update(&context, size, bytes);
    sha256_digest(&context, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[64] = '\0';
}
