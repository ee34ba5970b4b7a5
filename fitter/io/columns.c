/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "columns.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns a text takes on a terminal: a bar is escaped for Markdown, UTF-8 continuation bytes take none. */
static size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) == 0x80 ? 0 : *text == '|' ? 2 : 1;
    return width;
}

static void keep(struct columns *columns, const char *text)
{
    if (columns->used == columns->capacity) {
        const size_t capacity = columns->capacity ? 2 * columns->capacity : 64;
        char **cells = realloc(columns->cells, capacity * sizeof *cells);
        if (!cells) {
            columns->failed = true;
            return;
        }
        columns->cells = cells;
        columns->capacity = capacity;
    }
    char *copy = strdup(text);
    if (copy)
        columns->cells[columns->used++] = copy;
    else
        columns->failed = true;
}

static void widen(struct columns *columns, const char *text)
{
    const size_t width = text_width(text), column = columns->used++ % (size_t)columns->count;
    columns->width[column] = width > columns->width[column] ? width : columns->width[column];
}

static void print_rule(size_t width, bool right)
{
    fputs("| ", stdout);
    for (size_t i = 0; i < width; i++)
        putchar(right && i + 1 == width ? ':' : '-');
    putchar(' ');
}

static void print_spaces(size_t count)
{
    while (count-- > 0)
        putchar(' ');
}

/* A file may have millions of cells: what is printed is not formatted again. */
static void print_escaped(const char *text)
{
    for (const char *bar; (bar = strchr(text, '|')) != NULL; text = bar + 1) {
        fwrite(text, 1, (size_t)(bar - text), stdout);
        fputs("\\|", stdout);
    }
    fputs(text, stdout);
}

static void print(struct columns *columns, const char *text)
{
    const size_t count = (size_t)columns->count, cell = columns->used++, column = cell % count;
    const size_t space = columns->width[column] - text_width(text);
    const bool right = columns->right[column];
    fputs("| ", stdout);
    print_spaces(right ? space : 0);
    print_escaped(text);
    print_spaces(right ? 1 : space + 1);
    if (column != count - 1)
        return;
    fputs("|\n", stdout);
    for (size_t i = 0; cell == count - 1 && i < count; i++) /* below the titles */
        print_rule(columns->width[i], columns->right[i]);
    if (cell == count - 1)
        fputs("|\n", stdout);
}

/* Titles are the first row of each pass. */
static void start_pass(struct columns *columns, columns_pass *pass, const char *const *titles)
{
    columns->pass = pass;
    columns->used = 0;
    for (int i = 0; titles[i]; i++)
        pass(columns, titles[i] + (titles[i][0] == '>'));
}

static void start(struct columns *columns, columns_pass *pass, const char *const *titles)
{
    *columns = (struct columns){0};
    for (; titles[columns->count]; columns->count++) {
        columns->right[columns->count] = titles[columns->count][0] == '>';
        columns->width[columns->count] = 3; /* the shortest rule that Markdown takes */
    }
    start_pass(columns, pass, titles);
}

void columns_start(struct columns *columns, const char *const *titles)
{
    start(columns, keep, titles);
}

void columns_measure(struct columns *columns, const char *const *titles)
{
    start(columns, widen, titles);
}

void columns_show(struct columns *columns, const char *const *titles)
{
    start_pass(columns, print, titles);
}

void columns_text(struct columns *columns, const char *text)
{
    columns->pass(columns, text);
}

void columns_cell(struct columns *columns, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    columns->pass(columns, text);
}

bool columns_print(struct columns *columns)
{
    const size_t kept = columns->used;
    const bool whole = !columns->failed;
    columns->used = 0;
    for (size_t i = 0; i < kept && whole; i++)
        widen(columns, columns->cells[i]);
    columns->used = 0;
    for (size_t i = 0; i < kept && whole; i++)
        print(columns, columns->cells[i]);
    for (size_t i = 0; i < kept; i++)
        free(columns->cells[i]);
    free(columns->cells);
    *columns = (struct columns){0};
    return whole;
}
