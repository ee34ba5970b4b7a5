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

static void add(struct columns *columns, const char *text)
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

void columns_start(struct columns *columns, const char *const *titles)
{
    *columns = (struct columns){0};
    for (; titles[columns->count]; columns->count++) {
        const char *title = titles[columns->count];
        columns->right[columns->count] = title[0] == '>';
        add(columns, title + (title[0] == '>'));
    }
}

void columns_cell(struct columns *columns, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add(columns, text);
}

static void print_cell(const char *text, size_t width, bool right)
{
    const int space = (int)(width - text_width(text));
    printf("| %*s", right ? space : 0, "");
    for (; *text; text++)
        printf(*text == '|' ? "\\%c" : "%c", *text);
    printf("%*s ", right ? 0 : space, "");
}

static void print_rule(size_t width, bool right)
{
    printf("| ");
    for (size_t i = 0; i < width; i++)
        putchar(right && i + 1 == width ? ':' : '-');
    putchar(' ');
}

bool columns_print(struct columns *columns)
{
    const size_t count = (size_t)columns->count;
    const bool whole = !columns->failed;
    size_t width[COLUMNS_MAX];
    for (size_t i = 0; i < count; i++)
        width[i] = 3; /* the shortest rule that Markdown takes */
    for (size_t i = 0; i < columns->used && whole; i++) {
        const size_t cell = text_width(columns->cells[i]);
        width[i % count] = cell > width[i % count] ? cell : width[i % count];
    }
    for (size_t i = 0; i < columns->used && whole; i++) {
        print_cell(columns->cells[i], width[i % count], columns->right[i % count]);
        if (i % count != count - 1)
            continue;
        printf("|\n");
        for (size_t j = 0; i == count - 1 && j < count; j++)
            print_rule(width[j], columns->right[j]);
        if (i == count - 1)
            printf("|\n");
    }
    for (size_t i = 0; i < columns->used; i++)
        free(columns->cells[i]);
    free(columns->cells);
    *columns = (struct columns){0};
    return whole;
}
