/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiles by name, and files of theirs. */
#ifndef PWLC_PROFILE_H
#define PWLC_PROFILE_H

#include "description.h"

/* Ends with a null pointer. */
extern const struct profile *const profiles[];

/* "tosa16" or "tosa16:mlir": the profile, and its notation, the first by default. Exit 2 when there is none. flag is
 * for messages. */
int profile_find(const char *flag, const char *text, const struct profile **profile, const struct notation **notation,
                 struct diag *diag);

/* The bytes of the file for a table, parts[0], or of the files in a folder; the caller frees the texts. */
int profile_write(const struct profile *profile, const struct notation *notation, const struct table *table,
                  struct text parts[FOLDER_MAX_PARTS], int *count, struct diag *diag);

/* The numbers of a file, and what it says of its table. The caller frees the image, too when it is refused. */
int profile_read(const struct profile *profile, const struct notation *notation, const char *bytes, size_t size,
                 struct image *image, struct origin *origin, struct diag *diag);

/* The numbers of the files in a folder. */
int profile_read_folder(const struct profile *profile, const struct notation *notation, const char *path,
                        const struct tensor *in, struct image *image, struct diag *diag);

/* The segments of a table whose types are set. table->segments is malloc'd. */
int profile_unpack(const struct profile *profile, const struct image *image, struct table *table, struct diag *diag);

#endif
