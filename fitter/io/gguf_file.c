/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gguf_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_BYTES ((uint64_t)1 << 16)

/* The first `held` bytes more than there were. */
static int read_head(struct gguf_file *file, size_t had, size_t held, struct diag *diag)
{
    unsigned char *const head = realloc(file->head, held);
    if (!head)
        return diag_set(diag, EXIT_IO, "%s: out of memory for %zu bytes of entries", file->path, held);
    file->head = head;
    return file_read_at(file->fd, file->path, had, head + had, held - had, diag);
}

int gguf_open(const char *path, struct gguf_file *file, struct diag *diag)
{
    uint64_t size;
    size_t had = 0;
    *file = (struct gguf_file){.path = path, .fd = -1};
    if (file_open(path, &file->fd, &size, diag) != EXIT_DONE)
        return diag->code;
    for (int code = GGUF_LACKS; code == GGUF_LACKS;) {
        const uint64_t held = had == 0 ? FIRST_BYTES : 2 * (uint64_t)had;
        const size_t wanted = (size_t)(held < size ? held : size);
        if (read_head(file, had, wanted, diag) != EXIT_DONE)
            break;
        code = gguf_parse(file->head, wanted, size, &file->gguf, diag);
        had = wanted;
        if (code == EXIT_DONE)
            return code;
        if (code != GGUF_LACKS)
            diag_prefix(diag, path);
    }
    gguf_close(file);
    return diag->code;
}

void gguf_close(struct gguf_file *file)
{
    free(file->head);
    if (file->fd >= 0)
        close(file->fd);
    *file = (struct gguf_file){.fd = -1};
}

int gguf_load(const struct gguf_file *file, const struct gguf_tensor *tensor, unsigned char **data, struct diag *diag)
{
    *data = tensor->bytes < SIZE_MAX ? malloc((size_t)tensor->bytes + 1) : NULL;
    if (!*data)
        return diag_set(diag, EXIT_IO, "out of memory for a tensor of %" PRIu64 " bytes", tensor->bytes);
    const int code = file_read_at(file->fd, file->path, tensor->at, *data, (size_t)tensor->bytes, diag);
    if (code != EXIT_DONE) {
        free(*data);
        *data = NULL;
    }
    return code;
}
