/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of named values as Markdown, CSV, JSON or JSON lines. */
#ifndef PWLC_ROWS_H
#define PWLC_ROWS_H

#include <stdbool.h>

#include "base/file.h"

#define CELL_SIZE 400
#define CELLS_MAX 64

enum cell_flags {
    CELL_STRING = 1, /* in quotes in JSON, and aligned to the left */
    CELL_BRIEF = 2,  /* shown where md has one row of several */
    CELL_LIST = 4    /* "1, 2, 3": an array in JSON */
};

struct cell {
    const char *key;   /* of csv and json */
    const char *title; /* of md; null where md shows it otherwise */
    int flags;
    const char *text; /* null: no value */
    char own[CELL_SIZE];
};

/* One row; cells.text may point into the row, so a row is not copied. */
struct cells {
    struct cell cell[CELLS_MAX];
    int count;
};

enum cells_format { CELLS_MD, CELLS_CSV, CELLS_JSON, CELLS_JSONL };

/* The value of --format: md, csv, json or jsonl. */
enum cells_format cells_format_parse(const char *name);

void cells_add(struct cells *cells, const char *key, const char *title, int flags, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The text is kept by reference; null where there is none. */
void cells_add_text(struct cells *cells, const char *key, const char *title, int flags, const char *text);

/* 6 significant digits; NAN is no value: null in JSON, empty in csv, "-" in md. */
void cells_add_number(struct cells *cells, const char *key, const char *title, int flags, double value);

/* Every row has the same keys, and there is at least one. md: a single row has a line for each value, several are a row
 * each with the values that are CELL_BRIEF, columns that do not fit into lines of line_width characters (0: any) in
 * further tables below, each with the first column; csv, json (an array) and jsonl: every value. */
void cells_print(const struct cells *rows, int count, enum cells_format format, int line_width, struct text *out);

#endif
