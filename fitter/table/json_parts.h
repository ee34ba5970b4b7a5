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
int json_read_sha256(const struct fields *top, const char *name, char hex[SHA256_LENGTH + 1], struct diag *diag);

/* table_hash.c: the hash that ties a certificate to its table or operator, and its claims to what was found. It is
 * SHA-256 of the text that Python's json.dumps(fields, sort_keys=True, separators=(",", ":")) gives, where fields are
 * those of the root without "hash"; a number inside "parameters", "eps", "gamma", "beta" or "certificate", at any
 * depth, is the text of its double's 16 hexadecimal digits. */

/* Whether a file's certificate counts: its hash says so. */
enum standing {
    CERTIFICATE_ABSENT, /* there is none */
    CERTIFICATE_OTHER,  /* it, or what it is of, was edited: the hash is missing or that of something else */
    CERTIFICATE_OWN,
};

/* Reads "hash", of a file with or without a certificate; exit 2 where there is a hash alone. */
int json_read_standing(const struct fields *top, enum standing *standing, struct diag *diag);

/* Ends what is written with its hash, and with the certificate in `claims`, which the hash covers as well. */
void json_add_certified(struct text *out, const struct text *claims);

#endif
