/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ways of writing images that several profiles share. */
#ifndef PWLC_PROFILE_NOTATION_H
#define PWLC_PROFILE_NOTATION_H

#include "description.h"

/* The first lines of a text, between "/" "*" and the like: the licence, and the table's spec, which can neither end its
 * comment nor carry it on to the next line. */
void add_banner(const struct table *table, const char *open, const char *close, struct text *out);

/* The image itself. */
extern const struct notation notation_bytes;

/* A C array for each field, "static const int16_t points[513] = {...};", one after the other, of 8, 16, 32 or 64
 * bits; read from any C that has such arrays, in their order, whatever they are called. */
extern const struct notation notation_c;

/* A NumPy array of a layout with one field, of the smallest integers that hold it; read of any integers. */
extern const struct notation notation_npy;

#endif
