/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What programs that call pwlc read: results as JSON, so that they parse neither types nor messages. */
#ifndef PWLC_REPLY_H
#define PWLC_REPLY_H

#include <stdbool.h>

#include "base/diag.h"

/* Writes a result's text to a file; as a reply, {"result": text, "notes": [...]} with the notes that were kept. */
int reply_write(bool is_reply, const char *output, const char *text, struct diag *diag);

/* Prints what a type is, {"bits": 8, "signed": true, "scale": "2^-5", "zero_point": 0, "qmin": -128, "qmax": 127}: the
 * fields that a table's JSON has for each side. Exit 2 where the text is no type with a scale. */
int reply_print_type(const char *text, struct diag *diag);

#endif
