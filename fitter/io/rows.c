/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/escape.h"

static struct cell *append(struct cells *cells, const char *key, const char *title, int flags)
{
    struct cell *cell = &cells->cell[cells->count++];
    *cell = (struct cell){.key = key, .title = title, .flags = flags, .text = cell->own};
    return cell;
}

void cells_add(struct cells *cells, const char *key, const char *title, int flags, const char *format, ...)
{
    struct cell *cell = append(cells, key, title, flags);
    va_list args;
    va_start(args, format);
    vsnprintf(cell->own, sizeof cell->own, format, args);
    va_end(args);
}

void cells_add_text(struct cells *cells, const char *key, const char *title, int flags, const char *text)
{
    append(cells, key, title, flags | CELL_STRING)->text = text;
}

void cells_add_number(struct cells *cells, const char *key, const char *title, int flags, double value)
{
    struct cell *cell = append(cells, key, title, flags);
    if (isnan(value))
        cell->text = NULL;
    else
        snprintf(cell->own, sizeof cell->own, "%.6g", value);
}

/* Text may be a file name and hold anything: what is not UTF-8 has its bytes escaped one by one. */
static void add_json_string(struct text *out, const char *string)
{
    json_t *json = json_string(string);
    char *encoded = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
    if (encoded) {
        text_add(out, "%s", encoded);
    } else {
        text_add(out, "\"");
        for (const unsigned char *c = (const unsigned char *)string; *c; c++)
            text_add(out, *c < ' ' || *c > '~' || *c == '"' || *c == '\\' ? "\\u%04x" : "%c", *c);
        text_add(out, "\"");
    }
    free(encoded);
    json_decref(json);
}

static void add_json_object(struct text *out, const struct cells *cells, const char *separator)
{
    for (int i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->cell[i];
        text_add(out, "%s\"%s\": ", i ? separator : "", cell->key);
        if (!cell->text)
            text_add(out, "null");
        else if (cell->flags & CELL_STRING)
            add_json_string(out, cell->text);
        else if (cell->flags & CELL_LIST)
            text_add(out, "[%s]", cell->text);
        else
            text_add(out, "%s", cell->text);
    }
}

static void print_json(const struct cells *rows, int count, struct text *out)
{
    text_add(out, "[");
    for (int i = 0; i < count; i++) {
        text_add(out, "%s\n  {\n    ", i ? "," : "");
        add_json_object(out, &rows[i], ",\n    ");
        text_add(out, "\n  }");
    }
    text_add(out, "\n]\n");
}

static void print_jsonl(const struct cells *rows, int count, struct text *out)
{
    for (int i = 0; i < count; i++) {
        text_add(out, "{");
        add_json_object(out, &rows[i], ", ");
        text_add(out, "}\n");
    }
}

/* No field holds a line feed: names of files have theirs escaped. */
static void add_csv_field(struct text *out, const char *field)
{
    struct text shown = {0};
    escape_control(&shown, field);
    const char *const text = shown.bytes ? shown.bytes : "";
    const bool quoted = strpbrk(text, ",\"") != NULL;
    text_add(out, quoted ? "\"" : "");
    for (const char *c = text; *c; c++)
        text_add(out, *c == '"' ? "\"\"" : "%c", *c);
    text_add(out, quoted ? "\"" : "");
    out->failed |= shown.failed;
    text_free(&shown);
}

static void print_csv(const struct cells *rows, int count, struct text *out)
{
    for (int j = 0; j < rows[0].count; j++)
        text_add(out, "%s%s", j ? "," : "", rows[0].cell[j].key);
    text_add(out, "\n");
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < rows[i].count; j++) {
            text_add(out, "%s", j ? "," : "");
            add_csv_field(out, rows[i].cell[j].text ? rows[i].cell[j].text : "");
        }
        text_add(out, "\n");
    }
}

/* A bar ends a Markdown cell and a line feed its row. */
static struct text md_shown(const char *text)
{
    struct text escaped = {0}, shown = {0};
    escape_control(&escaped, text);
    text_add(&shown, "%s", "");
    for (const char *c = escaped.bytes ? escaped.bytes : ""; *c; c++)
        text_add(&shown, *c == '|' ? "\\%c" : "%c", *c);
    shown.failed |= escaped.failed;
    text_free(&escaped);
    return shown;
}

static int md_width(const char *text)
{
    struct text shown = md_shown(text);
    const int width = (int)shown.size;
    text_free(&shown);
    return width;
}

static void add_md_cell(struct text *out, const char *text, int width, bool right)
{
    struct text shown = md_shown(text);
    const int space = width - (int)shown.size;
    text_add(out, "| %*s%s%*s ", right ? space : 0, "", shown.failed ? "" : shown.bytes, right ? 0 : space, "");
    out->failed |= shown.failed;
    text_free(&shown);
}

static void add_md_rule(struct text *out, int width, bool right)
{
    text_add(out, "| ");
    for (int i = 0; i < width; i++)
        text_add(out, right && i == width - 1 ? ":" : "-");
    text_add(out, " ");
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static const char *md_text(const struct cell *cell)
{
    return cell->text ? cell->text : "-";
}

static void print_md_single(const struct cells *cells, struct text *out)
{
    int title_width = md_width("metric"), text_width = md_width("value");
    for (int i = 0; i < cells->count; i++) {
        if (!cells->cell[i].title)
            continue;
        title_width = larger(title_width, md_width(cells->cell[i].title));
        text_width = larger(text_width, md_width(md_text(&cells->cell[i])));
    }
    add_md_cell(out, "metric", title_width, false);
    add_md_cell(out, "value", text_width, false);
    text_add(out, "|\n");
    add_md_rule(out, title_width, false);
    add_md_rule(out, text_width, false);
    text_add(out, "|\n");
    for (int i = 0; i < cells->count; i++) {
        if (!cells->cell[i].title)
            continue;
        add_md_cell(out, cells->cell[i].title, title_width, false);
        add_md_cell(out, md_text(&cells->cell[i]), text_width, false);
        text_add(out, "|\n");
    }
}

static bool is_column(const struct cell *cell)
{
    return (cell->flags & CELL_BRIEF) && cell->title;
}

/* Column 0 and those of [first, last). Row -2 is the titles, -1 the rule below them. */
static void print_md_columns(const struct cells *rows, int count, const int *width, int first, int last,
                             struct text *out)
{
    for (int i = -2; i < count; i++) {
        const struct cells *cells = &rows[larger(i, 0)];
        for (int j = 0; j < last; j = j == 0 && first > 0 ? first : j + 1) {
            const struct cell *cell = &cells->cell[j];
            const bool right = !(cell->flags & CELL_STRING);
            if (!is_column(cell))
                continue;
            if (i == -1)
                add_md_rule(out, width[j], right);
            else
                add_md_cell(out, i == -2 ? cell->title : md_text(cell), width[j], right);
        }
        text_add(out, "|\n");
    }
}

static void print_md_rows(const struct cells *rows, int count, int line_width, struct text *out)
{
    int width[CELLS_MAX] = {0};
    const int columns = rows[0].count;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < columns; j++) {
            const struct cell *cell = &rows[i].cell[j];
            if (is_column(cell))
                width[j] = larger(width[j], larger(larger(3, md_width(cell->title)), md_width(md_text(cell))));
        }
    }
    for (int first = 0, last; first < columns; first = last) {
        int used = first > 0 ? width[0] + 4 : 1; /* with bars and blanks */
        bool any = false;
        for (last = first; last < columns; last++) {
            if (!is_column(&rows[0].cell[last]))
                continue;
            used += width[last] + 3;
            if (line_width > 0 && used > line_width && any)
                break;
            any |= last > 0;
        }
        if (first > 0 && any)
            text_add(out, "\n");
        if (first == 0 || any)
            print_md_columns(rows, count, width, first, last, out);
    }
}

enum cells_format cells_format_parse(const char *name)
{
    static const char *const names[] = {[CELLS_MD] = "md", [CELLS_CSV] = "csv", [CELLS_JSON] = "json"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(name, names[i]) == 0)
            return (enum cells_format)i;
    return CELLS_JSONL;
}

void cells_print(const struct cells *rows, int count, enum cells_format format, int line_width, struct text *out)
{
    switch (format) {
    case CELLS_MD:
        if (count == 1)
            print_md_single(&rows[0], out);
        else
            print_md_rows(rows, count, line_width, out);
        break;
    case CELLS_CSV:
        print_csv(rows, count, out);
        break;
    case CELLS_JSON:
        print_json(rows, count, out);
        break;
    case CELLS_JSONL:
        print_jsonl(rows, count, out);
        break;
    }
}
