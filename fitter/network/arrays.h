/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Named arrays of integers in one file, as safetensors has them: the header's length in 8 bytes, a header of JSON, the
 * arrays' bytes, least significant first. */
#ifndef PWLC_NETWORK_ARRAYS_H
#define PWLC_NETWORK_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/fields.h"

#define ARRAY_AXES 8

struct named_array {
    const char *type; /* "I8" */
    int bytes;        /* of an element */
    int axes;
    size_t shape[ARRAY_AXES];
    size_t count;
    const unsigned char *data; /* within the file's bytes, at any alignment */
};

struct arrays {
    json_t *header;
    const unsigned char *body;
    size_t size; /* of the body */
};

/* Takes the header of a file's bytes, which must outlive it. Free with arrays_free(), also after a failure. */
int arrays_parse(const unsigned char *bytes, size_t size, struct arrays *arrays, struct diag *diag);
void arrays_free(struct arrays *arrays);

bool arrays_have(const struct arrays *arrays, const char *name);

/* An array of a name and a type. Exit 2 where there is none, where its type is another, or where its shape and place
 * are not those of bytes of the file. */
int arrays_find(const struct arrays *arrays, const char *name, const char *type, struct named_array *array,
                struct diag *diag);

/* Its elements in the machine's own order; malloc'd, null where memory ran out. */
void *array_copy(const struct named_array *array);

#endif
