/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Text that is put together piece by piece. */
struct text {
    char characters[160];
    size_t length;
};

static inline void add(struct text *text, const char *piece)
{
    while (*piece && text->length + 1 < sizeof text->characters)
        text->characters[text->length++] = *piece++;
    text->characters[text->length] = '\0';
}

static inline void add_number(struct text *text, int64_t value)
{
    char digits[21];
    int at = sizeof digits - 1;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (value < 0)
        add(text, "-");
    add(text, digits + at);
}

#endif
