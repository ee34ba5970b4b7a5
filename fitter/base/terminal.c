/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "file.h"

int terminal_width(const char *path)
{
    struct winsize size;
    return file_is_standard_output(path) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
