/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file of any size, seen through a few small pieces: for readers that need little of it, at places far from each
 * other. What does not lie in the file is noticed before it is used. */
#ifndef PWLC_WINDOW_H
#define PWLC_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define WINDOW_MOST_BYTES 4096 /* that can be seen at once */
#define WINDOW_PIECES 8

struct window_piece {
    uint64_t at;
    size_t count; /* 0: nothing was read yet */
    unsigned char bytes[2 * WINDOW_MOST_BYTES];
};

struct window {
    uint64_t size;              /* of the file */
    const unsigned char *whole; /* the caller's, where the file is in memory; else null, and: */
    const char *path;           /* the caller's */
    int fd;
    struct window_piece *pieces; /* WINDOW_PIECES, malloc'd */
    int next;                    /* the piece that is read over next */
    bool failed;                 /* a read did, which diag tells */
    struct diag *diag;
};

/* Opens a regular file of one byte or more. Exit 1 or 2 with the path in the message; needs no window_close() then. */
int window_open(const char *path, struct window *window, struct diag *diag);
void window_close(struct window *window);

/* A window on what is in memory; needs no window_close(). */
struct window window_of_bytes(const void *bytes, size_t size);

/* `count` bytes of the file, at most WINDOW_MOST_BYTES, until the next call; null where the file has not so many, and
 * after a failed read. */
const unsigned char *window_see(struct window *window, uint64_t at, size_t count);

/* The little-endian number of 1 to 8 bytes at a place. */
bool window_number(struct window *window, uint64_t at, size_t bytes, uint64_t *number);

#endif
