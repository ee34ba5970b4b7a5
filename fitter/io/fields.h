/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading JSON objects field by field. Every message starts with the path of the field ("segments[3].q_b") and says
 * what would be right; every failure is exit code 2. */
#ifndef PWLC_FIELDS_H
#define PWLC_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/diag.h"

/* How much a file may hold, so that a small one cannot make a large tree. */
struct fields_limits {
    size_t bytes;
    size_t containers; /* objects and lists */
    size_t values;     /* of any kind */
};

/* A JSON object and its place in the file, which is empty for the outermost. */
struct fields {
    json_t *json;
    char path[96]; /* cut when longer */
};

/* Parses bytes into a reference that the caller drops with json_decref. Refused: more than the limits, before anything
 * is made of it, nesting that jansson finds too deep (2048), duplicate keys, anything after the value. */
int fields_parse(const char *bytes, size_t size, const struct fields_limits *limits, json_t **root, struct diag *diag);

/* Refuses names that are not in known, which ends with null. */
int fields_known(const struct fields *fields, const char *const *known, struct diag *diag);

bool field_present(const struct fields *fields, const char *name);

/* A JSON integer in min..max; 16.0 is not one. */
int field_integer(const struct fields *fields, const char *name, int64_t min, int64_t max, int64_t *value,
                  struct diag *diag);

/* A JSON number in min..max. */
int field_real(const struct fields *fields, const char *name, double min, double max, double *value, struct diag *diag);

int field_boolean(const struct fields *fields, const char *name, bool *value, struct diag *diag);

/* A string of at most max_length printable ASCII characters; it lives as long as the JSON value. */
int field_text(const struct fields *fields, const char *name, size_t max_length, const char **value, struct diag *diag);

int field_object(const struct fields *fields, const char *name, struct fields *object, struct diag *diag);

/* A non-empty array of at most max_count elements, and the object at one of its places. */
int field_array(const struct fields *fields, const char *name, size_t max_count, json_t **array, struct diag *diag);
int field_element(const struct fields *fields, const char *name, const json_t *array, size_t index,
                  struct fields *object, struct diag *diag);

/* "path.name: <the value>, must be <what would be right>"; a missing field says so. Returns exit code 2. */
int field_refuse(const struct fields *fields, const char *name, struct diag *diag, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
