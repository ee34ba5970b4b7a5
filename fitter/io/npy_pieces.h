/* SPDX-License-Identifier: GPL-3.0-or-later */
/* .npy files of any size, read piece by piece: what is held in memory does not grow with the array. They are read, not
 * mapped, so that a file which becomes shorter meanwhile is an error and not a signal. */
#ifndef PWLC_NPY_PIECES_H
#define PWLC_NPY_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "npy.h"

#define NPY_PIECE_BYTES ((size_t)131072) /* more than NPY_MAX_START */

struct npy_pieces {
    struct npy npy; /* the whole array's; data is null */
    int fd;
    bool regular;          /* a file whose size is known, and which can be read again */
    uint64_t data_at;      /* where the data begin */
    size_t given;          /* elements of the pieces so far */
    unsigned char *buffer; /* NPY_PIECE_BYTES, of which */
    size_t filled;         /* were read, and */
    size_t piece;          /* at the front are the last piece's */
};

/* Reads the header and, of a regular file, judges its size. npy_close also after a failure. */
int npy_open(const char *path, struct npy_pieces *pieces, struct diag *diag);
void npy_close(struct npy_pieces *pieces);

/* *piece = the next elements, at the front of the buffer, which is the caller's to change until the next call; its
 * count is 0 after the last. Exit 2 when the file holds fewer or more than its header says. */
int npy_next(struct npy_pieces *pieces, struct npy *piece, struct diag *diag);

/* Begins again with the first piece; of regular files only. */
int npy_rewind(struct npy_pieces *pieces, struct diag *diag);

#endif
