/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers in initialisers of C and C++: "a[2] = {1, 2}", "{.zp_x = 3, .scale = 0.5f}". */
#ifndef PWLC_PROFILE_INITIALISERS_H
#define PWLC_PROFILE_INITIALISERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define INITIALISER_NAME_SIZE 48
#define INITIALISERS_MAX 65536

struct initialiser {
    char name[INITIALISER_NAME_SIZE]; /* of the array, variable or field that is set; longer names are cut */
    bool is_integer;
    int64_t integer;
    double real; /* of either kind */
};

/* In the order of the text: malloc'd. Exit 2, naming the line, for anything that is no number, as "1 << 3" and names of
 * constants, and for more than INITIALISERS_MAX. Comments, types, casts and lines that begin with # are passed over. */
int initialisers_read(const char *text, size_t size, struct initialiser **list, size_t *count, struct diag *diag);

/* The k-th that has the name, or null. */
const struct initialiser *initialisers_find(const struct initialiser *list, size_t count, const char *name, size_t k);

#endif
