/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text with rows of decimal numbers, columns separated by commas. A first line without any number is a header, unless
 * it has more than 1200 characters; blank lines and lines that start with '#' are skipped, blanks around numbers too.
 */
#ifndef PWLC_CSV_H
#define PWLC_CSV_H

#include <stddef.h>

#include "base/diag.h"

#define CSV_MAX_COLUMNS 2

/* What messages call the columns. */
struct csv_columns {
    const char *names[CSV_MAX_COLUMNS];
    int count;
};

/* Takes the values of the row at a line of the file, the first line being 1; anything but EXIT_DONE ends the reading.
 * Values are finite. */
typedef int csv_row(void *context, size_t line, const double *values, struct diag *diag);

/* Exit 2, naming the line, for a row that has not exactly these columns, all of them finite numbers. */
int csv_read(const char *text, size_t size, const struct csv_columns *columns, csv_row *row, void *context,
             struct diag *diag);

/* Columns of the first row, by its commas; 0 without rows. */
size_t csv_count_columns(const char *text, size_t size);

#endif
