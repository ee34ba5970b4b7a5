/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "note.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define MOST_NOTES 16
#define NOTE_SIZE 1000

static bool is_keeping;
static char kept[MOST_NOTES][NOTE_SIZE]; /* those beyond, and what is longer, are cut */
static int kept_count;

void note(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!is_keeping) {
        fprintf(stderr, "pwlc %s: note: ", command);
        vfprintf(stderr, format, arguments);
        fprintf(stderr, "\n");
    } else if (kept_count < MOST_NOTES) {
        vsnprintf(kept[kept_count++], NOTE_SIZE, format, arguments);
    }
    va_end(arguments);
}

void notes_keep(void)
{
    is_keeping = true;
}

const char *notes_kept(int number)
{
    return number < kept_count ? kept[number] : NULL;
}
