/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts of any origin, as names of files, inside XML, HTML and comments and on terminals. */
#ifndef PWLC_ESCAPE_H
#define PWLC_ESCAPE_H

#include "file.h"

/* For elements and quoted attributes alike. Bytes that are no UTF-8, and control characters, become '?'. */
void escape_xml(struct text *out, const char *string);

/* Control characters and bytes that are no UTF-8 as \xNN. */
void escape_control(struct text *out, const char *string);

/* Bytes of any kind so, and a backslash as \x5c, but no more than about `most` of them. */
void escape_bytes(struct text *out, const void *bytes, size_t size, size_t most);

/* For comments of C and its like: it neither ends one nor seems to open another, nor continues a line, by a trigraph
 * either. All that is not printable ASCII, and backslashes, become '?'; spaces keep apart what would mean something. */
void escape_comment(struct text *out, const char *string);

/* How many bytes at c, of `size` there are, make a character that terminals show; 0 for control characters, U+0080 to
 * U+009F among them, and for what is no UTF-8. */
int escape_shown(const unsigned char *c, size_t size);

/* escape_control on standard output. */
void escape_print(const char *string);

#endif
