/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "escape.h"

#include <stdbool.h>
#include <stdio.h>

#define MOST_BYTES 4 /* of a sequence; the zero at the end of a string ends one before */

/* Length of the UTF-8 sequence at c, of at most `size` bytes; 0 when it is not one (overlong, surrogate, or no XML
 * character). */
static int utf8_length(const unsigned char *c, size_t size)
{
    const int length = c[0] < 0x80 ? 1 : c[0] >= 0xf5 ? 0 : c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : c[0] >= 0xc2 ? 2 : 0;
    if (length == 1)
        return c[0] >= ' ' && c[0] != 0x7f;
    if ((size_t)length > size)
        return 0;
    for (int i = 1; i < length; i++) /* a zero byte ends it too */
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    const bool bad = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) ||
                     (c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe) || (c[0] == 0xf0 && c[1] < 0x90) ||
                     (c[0] == 0xf4 && c[1] >= 0x90);
    return bad ? 0 : length;
}

void escape_xml(struct text *out, const char *string)
{
    for (const unsigned char *c = (const unsigned char *)string; *c;) {
        const int length = utf8_length(c, MOST_BYTES);
        if (length == 0)
            text_add(out, "?");
        else if (*c == '&')
            text_add(out, "&amp;");
        else if (*c == '<')
            text_add(out, "&lt;");
        else if (*c == '>')
            text_add(out, "&gt;");
        else if (*c == '"')
            text_add(out, "&quot;");
        else
            text_add(out, "%.*s", length, (const char *)c);
        c += length ? length : 1;
    }
}

int escape_shown(const unsigned char *c, size_t size)
{
    return size > 1 && c[0] == 0xc2 && c[1] < 0xa0 ? 0 : utf8_length(c, size);
}

void escape_control(struct text *out, const char *string)
{
    for (const unsigned char *c = (const unsigned char *)string; *c;) {
        const int length = escape_shown(c, MOST_BYTES);
        if (length == 0)
            text_add(out, "\\x%02x", *c++);
        for (int i = 0; i < length; i++)
            text_add(out, "%c", *c++);
    }
}

void escape_bytes(struct text *out, const void *bytes, size_t size, size_t most)
{
    const unsigned char *const text = bytes;
    const size_t shown = size < most ? size : most;
    size_t i = 0, kept = 0; /* text[0..kept) is in *out */
    while (i < shown) {
        const unsigned char *const c = text + i;
        const int length = *c == '\\' ? 0 : escape_shown(c, size - i);
        i += length > 0 ? (size_t)length : 1;
        if (length > 0)
            continue;
        text_add_bytes(out, text + kept, (size_t)(c - text) - kept);
        text_add(out, "\\x%02x", *c);
        kept = i;
    }
    text_add_bytes(out, text + kept, i - kept);
    if (i < size)
        text_add(out, "... (%zu bytes)", size);
}

void escape_comment(struct text *out, const char *string)
{
    char previous = '\0';
    for (const char *c = string; *c; c++) {
        const char shown = *c >= ' ' && *c <= '~' && *c != '\\' ? *c : '?';
        if ((previous == '*' && shown == '/') || (previous == '/' && shown == '*') || (previous == '?' && shown == '?'))
            text_add(out, " ");
        text_add(out, "%c", shown);
        previous = shown;
    }
}

void escape_print(const char *string)
{
    struct text text = {0};
    escape_control(&text, string);
    printf("%s", text.failed || !text.bytes ? "" : text.bytes);
    text_free(&text);
}
