/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the JSON of tables and of row operators have in common. */
#ifndef PWLC_JSON_PARTS_H
#define PWLC_JSON_PARTS_H

#include "base/file.h"
#include "function/tensor.h"
#include "io/fields.h"

/* "name": a finite value with 6 significant digits. */
void json_add_real(struct text *out, const char *name, double value);

/* A line of its own, with a comma. */
void json_add_tensor(struct text *out, const char *name, const struct tensor *tensor);

/* The same back: exit 2 with the field in the message. */
int json_read_tensor(const struct fields *top, const char *name, struct tensor *tensor, struct diag *diag);

/* 64 lower-case hexadecimal digits; an empty string where the field is left out. */
#define SHA256_LENGTH 64
int json_read_sha256(const struct fields *top, const char *name, char hex[SHA256_LENGTH + 1], struct diag *diag);

#endif
