/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables that chips, compilers and libraries read. A profile is one description of such a table: what `fit` is
 * asked for, what the layout holds, and how its numbers come of a table and give one.
 *
 *     pwlc fit --profile P        pwlc emit --profile P                  pwlc import --profile P
 *     flags  ->  spec  ->  table  ->  pack  ->  image  ->  write      read  ->  image  ->  unpack  ->  table
 *
 * Whatever pack makes is unpacked again and compared with the table before a byte is written.
 */
#ifndef PWLC_PROFILE_DESCRIPTION_H
#define PWLC_PROFILE_DESCRIPTION_H

#include <stddef.h>

#include "base/diag.h"
#include "base/file.h"
#include "image.h"
#include "table/table.h"

/* What a file says of its table beside the numbers; "" and null pointers where it says nothing. */
struct origin {
    char function[32];
    char in[80], out[80]; /* types as --in and --out take them */
};

/* Files of one table in a folder. */
#define FOLDER_MAX_PARTS 8
#define PART_NAME_SIZE 32
struct folder_notation {
    void (*part_name)(int part, char name[PART_NAME_SIZE]);
    int (*write)(const struct image *image, const struct table *table, struct text parts[FOLDER_MAX_PARTS], int *count,
                 struct diag *diag);
    int (*read)(const struct layout *layout, const struct tensor *in, const struct text parts[FOLDER_MAX_PARTS],
                int count, struct image *image, struct diag *diag); /* as many parts as there are files in a row */
};

/* A way of writing an image down. */
struct notation {
    const char *name;
    const char *summary;
    int (*write)(const struct image *image, const struct table *table, struct text *out, struct diag *diag);
    /* A zero byte follows `bytes`. */
    int (*read)(const struct layout *layout, const char *bytes, size_t size, struct image *image, struct origin *origin,
                struct diag *diag);
    const struct folder_notation *folder; /* instead of both: of several files */
};

#define PROFILE_MAX_NOTATIONS 6
#define PROFILE_FLAGS_SIZE 256

struct profile {
    const char *name;
    const char *reader; /* who reads it */
    const char *limits; /* what it holds */
    const char *flags;  /* of fit, as a command line has them, in PROFILE_FLAGS_SIZE characters */
    const struct layout *layout;
    const struct notation *notations[PROFILE_MAX_NOTATIONS]; /* the first is what emit writes; end with null */

    /* Numbers of a table with one set of segments, no fold and no reduction. Exit 3, naming the limit, when the layout
     * cannot hold it. */
    int (*pack)(const struct table *table, struct image *image, struct diag *diag);

    /* Form, rounding and segments of a table whose types are set already; segments has room for PWL_MAX_SEGMENTS. Exit
     * 2 when the numbers are no table. */
    int (*unpack)(const struct image *image, struct table *table, struct diag *diag);

    /* Null; or whether the reader's output at a code is undefined, so that any will do. */
    bool (*is_free)(const struct table *table, int64_t q_x);
};

#endif
