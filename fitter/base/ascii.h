/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Letters and digits of names and numbers, in every locale. */
#ifndef PWLC_ASCII_H
#define PWLC_ASCII_H

#include <stdbool.h>

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

#endif
