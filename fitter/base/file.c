/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700 /* realpath */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY_TRIES 1000

/* The names of the open descriptor too: behind them may be a regular file, which must not be replaced. */
bool file_is_standard_output(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    for (size_t i = 0; path != NULL && i < sizeof names / sizeof *names; i++)
        if (strcmp(path, names[i]) == 0)
            return true;
    return path == NULL;
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

int file_read(const char *path, size_t max_bytes, unsigned char **bytes, size_t *size, struct diag *diag)
{
    *bytes = NULL;
    *size = 0;
    if (max_bytes > FILE_MAX_BYTES)
        max_bytes = FILE_MAX_BYTES;
    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, "standard input", max_bytes, 0, bytes, size, diag);
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        const int error = errno;
        if (fd >= 0)
            close(fd);
        return diag_set(diag, EXIT_IO, "%s: cannot open: %s", path, strerror(error));
    }
    int code;
    if (S_ISDIR(status.st_mode))
        code = diag_set(diag, EXIT_IO, "%s: is a directory; name a file", path);
    else
        code = read_all(fd, path, max_bytes, status.st_size > 0 ? (size_t)status.st_size : 0, bytes, size, diag);
    close(fd);
    return code;
}

int file_map(const char *path, const unsigned char **bytes, size_t *size, struct diag *diag)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *mapped = MAP_FAILED;
    *bytes = NULL;
    *size = 0;
    if (fd < 0)
        return diag_set(diag, EXIT_IO, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
        (uintmax_t)status.st_size > SIZE_MAX) {
        close(fd);
        return diag_set(diag, EXIT_USAGE, "%s: not a file of one byte or more", path);
    }
    mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED)
        return diag_set(diag, EXIT_IO, "%s: cannot map: %s", path, strerror(errno));
    *bytes = mapped;
    *size = (size_t)status.st_size;
    return EXIT_DONE;
}

void file_unmap(const unsigned char *bytes, size_t size)
{
    if (bytes)
        (void)munmap((void *)(uintptr_t)bytes, size);
}

/* errno of the failure, or 0 */
static int write_all(int fd, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t put = write(fd, bytes, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        bytes += put;
        size -= (size_t)put;
    }
    return 0;
}

static int write_error(const char *path, int error, struct diag *diag)
{
    return diag_set(diag, EXIT_IO, "%s: cannot write: %s", path, strerror(error));
}

static int write_standard_output(const void *bytes, size_t size, struct diag *diag)
{
    errno = 0;
    if ((size > 0 && fwrite(bytes, 1, size, stdout) != size) || fflush(stdout) != 0)
        return write_error("standard output", errno != 0 ? errno : EIO, diag);
    return EXIT_DONE;
}

/* A device, pipe or socket: there is nothing to replace, the bytes go into it. */
static int write_special(const char *path, const void *bytes, size_t size, struct diag *diag)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return write_error(path, errno, diag);
    int error = write_all(fd, bytes, size);
    if (close(fd) != 0 && error == 0)
        error = errno;
    return error != 0 ? write_error(path, error, diag) : EXIT_DONE;
}

/* Whether the regular file at path holds exactly bytes. Unreadable counts as different. */
static bool has_content(const char *path, const struct stat *status, const void *bytes, size_t size)
{
    struct diag ignored;
    unsigned char *old;
    size_t old_size;
    if (status->st_size < 0 || (uintmax_t)status->st_size != size || size > FILE_MAX_BYTES ||
        file_read(path, size, &old, &old_size, &ignored) != EXIT_DONE)
        return false;
    const bool same = old_size == size && memcmp(old, bytes, size) == 0;
    free(old);
    return same;
}

/* Opens a new file beside path, under the permissions that umask leaves; its malloc'd name goes to *name. */
static int open_temporary(const char *path, char **name)
{
    const char *slash = strrchr(path, '/');
    const int directory_length = slash == NULL ? 0 : (int)(slash - path + 1);
    const size_t size = (size_t)directory_length + 64;
    *name = malloc(size);
    if (*name == NULL) {
        errno = ENOMEM;
        return -1;
    }
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        snprintf(*name, size, "%.*s.pwlc-%ld-%d.tmp", directory_length, path, (long)getpid(), i);
        const int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Replaces path, or creates it when old is null. */
static int write_regular(const char *path, const struct stat *old, const void *bytes, size_t size, struct diag *diag)
{
    char *name;
    const int fd = open_temporary(path, &name);
    if (fd < 0) {
        const int error = errno;
        free(name);
        return write_error(path, error, diag);
    }
    int error = write_all(fd, bytes, size);
    if (error == 0 && old != NULL && fchmod(fd, old->st_mode & 07777) != 0)
        error = errno;
    /* without it a crash soon after the rename may leave an empty file; some file systems cannot */
    if (error == 0 && fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP)
        error = errno;
    if (close(fd) != 0 && error == 0)
        error = errno;
    if (error == 0 && rename(name, path) != 0)
        error = errno;
    if (error != 0)
        unlink(name);
    free(name);
    return error != 0 ? write_error(path, error, diag) : EXIT_DONE;
}

static int write_path(const char *path, const void *bytes, size_t size, struct diag *diag)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        if (errno != ENOENT)
            return write_error(path, errno, diag);
        return write_regular(path, NULL, bytes, size, diag);
    }
    if (S_ISDIR(status.st_mode))
        return diag_set(diag, EXIT_IO, "%s: is a directory; name a file", path);
    if (!S_ISREG(status.st_mode))
        return write_special(path, bytes, size, diag);
    if (has_content(path, &status, bytes, size))
        return EXIT_DONE;
    if (access(path, W_OK) != 0) /* a rename would replace even a file that is protected against writing */
        return write_error(path, errno, diag);
    return write_regular(path, &status, bytes, size, diag);
}

int file_write(const char *path, const void *bytes, size_t size, struct diag *diag)
{
    struct stat status;
    if (file_is_standard_output(path))
        return write_standard_output(bytes, size, diag);
    if (lstat(path, &status) != 0 || !S_ISLNK(status.st_mode) || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return write_path(path, bytes, size, diag);
    /* the file behind a link is replaced, not the link */
    char *target = realpath(path, NULL);
    if (target == NULL)
        return write_error(path, errno, diag);
    const int code = write_path(target, bytes, size, diag);
    free(target);
    return code;
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

void text_add(struct text *text, const char *format, ...)
{
    va_list args;
    if (text->failed)
        return;
    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= SIZE_MAX / 4 - text->size) {
        text->failed = true;
        return;
    }
    const size_t needed = text->size + (size_t)length + 1;
    if (needed > text->capacity) {
        const size_t capacity = needed < 1024 ? 1024 : needed * 2;
        char *bytes = realloc(text->bytes, capacity);
        if (bytes == NULL) {
            text->failed = true;
            return;
        }
        text->bytes = bytes;
        text->capacity = capacity;
    }
    va_start(args, format);
    vsnprintf(text->bytes + text->size, text->capacity - text->size, format, args);
    va_end(args);
    text->size += (size_t)length;
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
