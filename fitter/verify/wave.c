/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

bool wave_is_fst(const struct program *program)
{
    return strcmp(program->wave, "wave.fst") == 0;
}

int wave_begin(const char *path, struct program *program, struct diag *diag)
{
    const int file = open(path, O_WRONLY | O_CREAT, 0666);
    if (file < 0)
        return diag_set(diag, EXIT_IO, "--wave %s: cannot write: %s", path, strerror(errno));
    close(file);
    program->wave = strcmp(path + strlen(path) - 4, ".fst") == 0 ? "wave.fst" : "wave.vcd";
    return EXIT_DONE;
}

static bool copy(int from, int to)
{
    char buffer[1 << 16];
    for (;;) {
        const ssize_t size = read(from, buffer, sizeof buffer);
        if (size <= 0)
            return size == 0;
        for (ssize_t at = 0, put; at < size; at += put)
            if ((put = write(to, buffer + at, (size_t)(size - at))) <= 0)
                return false;
    }
}

int wave_end(const char *path, const struct program *program, struct diag *diag)
{
    char made[SCRATCH_PATH_SIZE + 16];
    snprintf(made, sizeof made, "%s/%s", program->folder, program->wave);
    const int from = open(made, O_RDONLY);
    if (from < 0) /* the simulation did not begin */
        return diag->code;
    const int to = open(path, O_WRONLY | O_TRUNC);
    if ((to < 0 || !copy(from, to)) && diag->code == EXIT_DONE)
        diag_set(diag, EXIT_IO, "--wave %s: cannot write: %s", path, strerror(errno));
    close(from);
    if (to >= 0)
        close(to);
    return diag->code;
}
