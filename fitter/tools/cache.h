/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results that take long to make, kept between commands in $XDG_CACHE_HOME/pwlc or ~/.cache/pwlc. What cannot be kept
 * or read is made anew, and is no failure. */
#ifndef PWLC_CACHE_H
#define PWLC_CACHE_H

#include <jansson.h>

#include "base/file.h"

/* The name of what is made from all that is in the text, by its SHA-256. */
#define CACHE_NAME_SIZE 72
void cache_name(const struct text *made_from, char name[CACHE_NAME_SIZE]);

/* What was kept under the name, for json_decref; null where that is nothing or no JSON. */
json_t *cache_read(const char *name);

/* Keeps a copy. */
void cache_write(const char *name, const json_t *object);

#endif
