/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "window.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/integers.h"

int window_open(const char *path, struct window *window, struct diag *diag)
{
    *window = (struct window){.path = path, .fd = -1, .diag = diag};
    if (file_open(path, &window->fd, &window->size, diag) != EXIT_DONE)
        return diag->code;
    window->pieces = calloc(WINDOW_PIECES, sizeof *window->pieces);
    if (window->pieces)
        return EXIT_DONE;
    window_close(window);
    return diag_set(diag, EXIT_IO, "%s: out of memory", path);
}

void window_close(struct window *window)
{
    free(window->pieces);
    if (window->fd >= 0)
        close(window->fd);
    *window = (struct window){.fd = -1};
}

struct window window_of_bytes(const void *bytes, size_t size)
{
    return (struct window){.whole = bytes, .size = size, .fd = -1};
}

/* Reads the piece that has `at` in its first half; null when that fails. */
static struct window_piece *read_piece(struct window *window, uint64_t at)
{
    struct window_piece *const piece = &window->pieces[window->next];
    const uint64_t start = at - at % WINDOW_MOST_BYTES, left = window->size - start;
    const size_t count = left < sizeof piece->bytes ? (size_t)left : sizeof piece->bytes;
    window->next = (window->next + 1) % WINDOW_PIECES;
    if (file_read_at(window->fd, window->path, start, piece->bytes, count, window->diag) != EXIT_DONE) {
        window->failed = true;
        return NULL;
    }
    piece->at = start;
    piece->count = count;
    return piece;
}

const unsigned char *window_see(struct window *window, uint64_t at, size_t count)
{
    if (window->failed || count > WINDOW_MOST_BYTES || at > window->size || count > window->size - at)
        return NULL;
    if (window->whole)
        return window->whole + at;
    for (int i = 0; i < WINDOW_PIECES; i++) {
        const struct window_piece *const piece = &window->pieces[i];
        if (at >= piece->at && at - piece->at <= piece->count && count <= piece->count - (size_t)(at - piece->at))
            return piece->bytes + (at - piece->at);
    }
    const struct window_piece *const piece = read_piece(window, at);
    return piece ? piece->bytes + (at - piece->at) : NULL;
}

bool window_number(struct window *window, uint64_t at, size_t bytes, uint64_t *number)
{
    const unsigned char *const seen = window_see(window, at, bytes);
    *number = seen ? little_endian(seen, bytes) : 0;
    return seen != NULL;
}
