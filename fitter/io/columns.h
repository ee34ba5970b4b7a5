/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables for people: columns aligned with spaces, and valid Markdown at the same time. */
#ifndef PWLC_COLUMNS_H
#define PWLC_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#define COLUMNS_MAX 16

struct columns {
    int count;
    bool right[COLUMNS_MAX]; /* numbers */
    char **cells;            /* row by row, titles first */
    size_t used, capacity;
    bool failed; /* out of memory */
};

/* Titles end with null, at most COLUMNS_MAX; one that starts with '>' is of a right-aligned column. */
void columns_start(struct columns *columns, const char *const *titles);

/* Adds the next cell, row by row. */
void columns_cell(struct columns *columns, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints to standard output and frees the cells; false when memory ran out. */
bool columns_print(struct columns *columns);

#endif
