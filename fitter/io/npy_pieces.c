/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "npy_pieces.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"

static int cannot_read(int error, struct diag *diag)
{
    return diag_set(diag, EXIT_IO, "cannot read: %s", strerror(error));
}

/* Reads until the buffer holds `wanted` bytes or the file ends. */
static int fill(struct npy_pieces *pieces, size_t wanted, struct diag *diag)
{
    while (pieces->filled < wanted) {
        const ssize_t got = read(pieces->fd, pieces->buffer + pieces->filled, wanted - pieces->filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cannot_read(errno, diag);
        if (got == 0)
            break;
        pieces->filled += (size_t)got;
    }
    return EXIT_DONE;
}

/* Drops bytes from the front of the buffer. */
static void drop(struct npy_pieces *pieces, size_t bytes)
{
    pieces->filled -= bytes;
    memmove(pieces->buffer, pieces->buffer + bytes, pieces->filled);
}

static int read_header(struct npy_pieces *pieces, struct diag *diag)
{
    struct stat status;
    size_t start;
    if (fstat(pieces->fd, &status) != 0)
        return cannot_read(errno, diag);
    if (S_ISDIR(status.st_mode))
        return diag_set(diag, EXIT_IO, "is a directory; name a file");
    if (fill(pieces, NPY_MAX_START, diag) != EXIT_DONE)
        return diag->code;
    if (npy_parse_header(pieces->buffer, pieces->filled, &pieces->npy, &start, diag) != EXIT_DONE)
        return diag->code;
    pieces->regular = S_ISREG(status.st_mode);
    pieces->data_at = start;
    drop(pieces, start);
    return pieces->regular ? npy_check_size(&pieces->npy, (uint64_t)status.st_size - start, diag) : EXIT_DONE;
}

int npy_open(const char *path, struct npy_pieces *pieces, struct diag *diag)
{
    *pieces = (struct npy_pieces){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (pieces->fd < 0)
        return diag_set(diag, EXIT_IO, "cannot open: %s", strerror(errno));
    if (inputs_know(pieces->fd, diag) != EXIT_DONE)
        return diag->code;
    pieces->buffer = malloc(NPY_PIECE_BYTES);
    if (!pieces->buffer)
        return diag_set(diag, EXIT_IO, "out of memory");
    return read_header(pieces, diag);
}

void npy_close(struct npy_pieces *pieces)
{
    if (pieces->fd >= 0)
        close(pieces->fd);
    free(pieces->buffer);
    *pieces = (struct npy_pieces){.fd = -1};
}

int npy_next(struct npy_pieces *pieces, struct npy *piece, struct diag *diag)
{
    const size_t item_size = (size_t)pieces->npy.item_size, left = pieces->npy.count - pieces->given;
    const size_t most = NPY_PIECE_BYTES / item_size, count = left < most ? left : most;
    drop(pieces, pieces->piece);
    pieces->piece = 0;
    /* behind the last element there is nothing */
    if (fill(pieces, count > 0 ? count * item_size : 1, diag) != EXIT_DONE)
        return diag->code;
    const uint64_t found = (uint64_t)pieces->given * item_size + pieces->filled;
    if ((count == 0 || pieces->filled < count * item_size) && npy_check_size(&pieces->npy, found, diag) != EXIT_DONE)
        return diag->code;
    pieces->piece = count * item_size;
    pieces->given += count;
    *piece = pieces->npy;
    piece->count = count;
    piece->data = pieces->buffer;
    return EXIT_DONE;
}

int npy_rewind(struct npy_pieces *pieces, struct diag *diag)
{
    if (lseek(pieces->fd, (off_t)pieces->data_at, SEEK_SET) < 0)
        return cannot_read(errno, diag);
    pieces->given = pieces->piece = pieces->filled = 0;
    return EXIT_DONE;
}
