/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recognise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

/* The first character that is no blank of JSON. */
static char next_character(const char *text)
{
    return text[strspn(text, " \t\r\n")];
}

/* JSON writers put fields in any order, so that all of the file is looked at. In a string the quotes of a name would
 * have backslashes before them. */
bool json_file_has(const char *path, const char *field, size_t max_bytes)
{
    char quoted[64];
    struct stat status;
    struct diag diag;
    unsigned char *bytes;
    size_t size;
    bool found = false;
    if (strcmp(path, "-") == 0 || stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        file_read(path, max_bytes, &bytes, &size, &diag))
        return false;
    snprintf(quoted, sizeof quoted, "\"%s\"", field);
    const char *at = next_character((const char *)bytes) == '{' ? strstr((const char *)bytes, quoted) : NULL;
    for (; at && !found; at = strstr(at, quoted)) {
        at += strlen(quoted);
        found = next_character(at) == ':';
    }
    free(bytes);
    return found;
}
