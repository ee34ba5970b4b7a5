/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

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

static void add_csv_field(struct text *out, const char *field)
{
    if (!strpbrk(field, ",\"\r\n")) {
        text_add(out, "%s", field);
        return;
    }
    text_add(out, "\"");
    for (const char *c = field; *c; c++)
        text_add(out, *c == '"' ? "\"\"" : "%c", *c);
    text_add(out, "\"");
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
static int md_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += *text == '|' ? 2 : 1;
    return width;
}

static void add_md_cell(struct text *out, const char *text, int width, bool right)
{
    const int space = width - md_width(text);
    text_add(out, "| %*s", right ? space : 0, "");
    for (; *text; text++)
        text_add(out, *text == '|' ? "\\%c" : "%c", (unsigned char)*text < ' ' ? '?' : *text);
    text_add(out, "%*s ", right ? 0 : space, "");
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

static void print_md_rows(const struct cells *rows, int count, struct text *out)
{
    int width[CELLS_MAX] = {0};
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < rows[i].count; j++) {
            const struct cell *cell = &rows[i].cell[j];
            if (cell->title)
                width[j] = larger(width[j], larger(larger(3, md_width(cell->title)), md_width(md_text(cell))));
        }
    }
    /* Row -2 is the titles, -1 the rule below them. */
    for (int i = -2; i < count; i++) {
        const struct cells *cells = &rows[larger(i, 0)];
        for (int j = 0; j < cells->count; j++) {
            const struct cell *cell = &cells->cell[j];
            const bool right = !(cell->flags & CELL_STRING);
            if (!(cell->flags & CELL_BRIEF) || !cell->title)
                continue;
            if (i == -1)
                add_md_rule(out, width[j], right);
            else
                add_md_cell(out, i == -2 ? cell->title : md_text(cell), width[j], right);
        }
        text_add(out, "|\n");
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

void cells_print(const struct cells *rows, int count, enum cells_format format, struct text *out)
{
    switch (format) {
    case CELLS_MD:
        if (count == 1)
            print_md_single(&rows[0], out);
        else
            print_md_rows(rows, count, out);
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
