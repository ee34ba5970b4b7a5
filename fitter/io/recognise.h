/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file of JSON is, by a field that is in no other, before it is read. */
#ifndef PWLC_RECOGNISE_H
#define PWLC_RECOGNISE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a regular file of at most max_bytes is an object of JSON that has the field, at any depth. Standard input is
 * never looked at. */
bool json_file_has(const char *path, const char *field, size_t max_bytes);

#endif
