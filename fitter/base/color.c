/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "color.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *chosen = "auto";

void color_mode(const char *mode)
{
    chosen = mode;
}

void color_refuse(void)
{
    if (strcmp(chosen, "auto") == 0)
        chosen = "never";
}

static bool has_color(FILE *stream)
{
    if (strcmp(chosen, "auto") != 0)
        return strcmp(chosen, "always") == 0;
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return (!refused || !*refused) && (!terminal || strcmp(terminal, "dumb") != 0) && isatty(fileno(stream)) == 1;
}

const char *color_on(FILE *stream, enum color color)
{
    static const char *const codes[] = {
        [COLOR_ERROR] = "\033[1;31m", [COLOR_GOOD] = "\033[32m", [COLOR_BAD] = "\033[31m"};
    return has_color(stream) ? codes[color] : "";
}

const char *color_off(FILE *stream)
{
    return has_color(stream) ? "\033[0m" : "";
}
