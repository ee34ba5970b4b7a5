/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables for people: columns aligned with spaces, and valid Markdown at the same time. */
#ifndef PWLC_COLUMNS_H
#define PWLC_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#define COLUMNS_MAX 16

struct columns;
typedef void columns_pass(struct columns *columns, const char *cell);

struct columns {
    int count;
    bool right[COLUMNS_MAX]; /* numbers */
    size_t width[COLUMNS_MAX];
    columns_pass *pass;    /* what becomes of a cell */
    char **cells;          /* those kept, row by row, titles first */
    size_t used, capacity; /* cells of this pass; of `cells` */
    bool failed;           /* out of memory */
};

/* Titles end with null, at most COLUMNS_MAX; one that starts with '>' is of a right-aligned column. Cells are kept for
 * columns_print(). */
void columns_start(struct columns *columns, const char *const *titles);

/* For more rows than memory should hold: after columns_measure() all cells are given once, which finds the widths, and
 * after columns_show() once more, each printed at once. */
void columns_measure(struct columns *columns, const char *const *titles);
void columns_show(struct columns *columns, const char *const *titles);

/* Adds the next cell, row by row, of at most 511 characters; of any length where it is a text as it stands. */
void columns_cell(struct columns *columns, const char *format, ...) __attribute__((format(printf, 2, 3)));
void columns_text(struct columns *columns, const char *text);

/* Prints to standard output and frees the cells; false when memory ran out. */
bool columns_print(struct columns *columns);

#endif
