/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts of any origin inside XML and HTML. */
#ifndef PWLC_ESCAPE_H
#define PWLC_ESCAPE_H

#include "file.h"

/* For elements and quoted attributes alike. Bytes that are no UTF-8, and control characters, become '?'. */
void escape_xml(struct text *out, const char *string);

#endif
