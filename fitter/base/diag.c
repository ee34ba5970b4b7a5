/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Arguments and file names may hold line feeds and escape sequences. */
static void keep_one_line(char *text)
{
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}

int diag_set(struct diag *diag, int code, const char *format, ...)
{
    va_list args;
    diag->code = code;
    va_start(args, format);
    vsnprintf(diag->text, sizeof diag->text, format, args);
    va_end(args);
    keep_one_line(diag->text);
    return code;
}

int diag_prefix(struct diag *diag, const char *prefix)
{
    char text[sizeof diag->text];
    const int length = snprintf(text, sizeof text, "%s: ", prefix);
    if (length < 0 || (size_t)length >= sizeof text)
        return diag->code;
    snprintf(text + length, sizeof text - (size_t)length, "%.*s", (int)(sizeof text - (size_t)length - 1), diag->text);
    keep_one_line(text);
    memcpy(diag->text, text, sizeof text);
    return diag->code;
}
