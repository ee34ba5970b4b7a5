/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "file_output.h"

#include <stdlib.h>
#include <string.h>

int file_begin(const char *path, struct file_output *file, struct diag *diag)
{
    (void)diag;
    *file = (struct file_output){.path = path};
    return EXIT_DONE;
}

int file_add(struct file_output *file, const void *bytes, size_t size, struct diag *diag)
{
    struct text *text = &file->text;
    if (text->capacity - text->size < size) {
        const size_t capacity = 2 * text->capacity + size;
        char *larger = realloc(text->bytes, capacity);
        if (!larger)
            return diag_set(diag, EXIT_IO, "%s: out of memory", file->path);
        text->bytes = larger;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    return EXIT_DONE;
}

int file_end(struct file_output *file, int code, struct diag *diag)
{
    if (code == EXIT_DONE)
        code = file_write(file->path, file->text.bytes, file->text.size, diag);
    text_free(&file->text);
    return code;
}
