/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sweep_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define CELL_SIZE 160
#define MAX_CELLS 40

struct cell {
    const char *key;   /* of csv and json */
    const char *title; /* of md */
    bool quoted;       /* a string in JSON */
    bool brief;        /* shown where md has one row a table */
    const char *text;
    char own[CELL_SIZE]; /* where text points, except to the label */
};

struct cells {
    struct cell cell[MAX_CELLS];
    int count;
};

enum cell_flags { STRING = 1, BRIEF = 2 };

static void add(struct cells *cells, const char *key, const char *title, int flags, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static void add(struct cells *cells, const char *key, const char *title, int flags, const char *format, ...)
{
    struct cell *cell = &cells->cell[cells->count++];
    *cell = (struct cell){
        .key = key, .title = title, .quoted = (flags & STRING) != 0, .brief = (flags & BRIEF) != 0, .text = cell->own};
    va_list args;
    va_start(args, format);
    vsnprintf(cell->own, sizeof cell->own, format, args);
    va_end(args);
}

static void function_text(const struct table *table, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", table->function);
    for (int i = 0; i < table->parameter_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, " %s=%.6g", table->parameters[i].name,
                                 table->parameters[i].value);
}

static void fill(const struct sweep_row *row, struct cells *cells)
{
    const struct table *table = &row->table;
    const struct error_stats *stats = &row->stats;
    const double lsb = (double)table->out.scale.value;
    const double mse = stats->rms * stats->rms, mean_abs_squared = stats->mean_abs * stats->mean_abs;
    char function[CELL_SIZE], in[80], out[80];
    function_text(table, function, sizeof function);
    tensor_format(&table->in, in, sizeof in);
    tensor_format(&table->out, out, sizeof out);

    cells->count = 0;
    add(cells, "table", "table", STRING | BRIEF, "%s", "");
    cells->cell[0].text = row->label;
    add(cells, "function", "function", STRING | BRIEF, "%s", function);
    add(cells, "in", "in", STRING | BRIEF, "%s", in);
    add(cells, "out", "out", STRING | BRIEF, "%s", out);
    add(cells, "form", "form", STRING, "%s", form_name(table->form));
    add(cells, "rounding", "rounding", STRING, "%s", rounding_name(table->rounding));
    add(cells, "segments", "segments", BRIEF, "%d", table->segment_count);
    add(cells, "max_err_lsb", "max, LSB", BRIEF, "%.6g", stats->max_err);
    add(cells, "max_err_real", "max, real", 0, "%.6g", stats->max_err * lsb);
    add(cells, "max_err_at", "worst code", BRIEF, "%" PRId64, stats->max_err_at);
    add(cells, "max_err_at_real", "worst x, real", 0, "%.6Lg", tensor_real(&table->in, stats->max_err_at));
    add(cells, "rms_err_lsb", "RMS, LSB", BRIEF, "%.6g", stats->rms);
    add(cells, "rms_err_real", "RMS, real", 0, "%.6g", stats->rms * lsb);
    add(cells, "mean_abs_err_lsb", "mean abs, LSB", BRIEF, "%.6g", stats->mean_abs);
    add(cells, "mean_abs_err_real", "mean abs, real", 0, "%.6g", stats->mean_abs * lsb);
    add(cells, "mean_abs_squared_lsb2", "(mean abs)^2, LSB^2", 0, "%.6g", mean_abs_squared);
    add(cells, "mean_abs_squared_real", "(mean abs)^2, real", BRIEF, "%.6g", mean_abs_squared * lsb * lsb);
    add(cells, "mse_lsb2", "MSE, LSB^2", 0, "%.6g", mse);
    add(cells, "mse_real", "MSE, real", BRIEF, "%.6g", mse * lsb * lsb);
    add(cells, "max_ulp", "max ULP", BRIEF, "%" PRId64, stats->max_ulp);
    add(cells, "max_ulp_at", "max ULP at code", 0, "%" PRId64, stats->max_ulp_at);
    add(cells, "correctly_rounded", "correctly rounded", BRIEF, "%.6g", stats->correctly_rounded);
    add(cells, "saturated_codes", "saturated codes", BRIEF, "%" PRId64, stats->saturated_codes);
    add(cells, "monotone", "monotone", BRIEF, "%s", stats->monotone ? "true" : "false");
    add(cells, "checked", "codes checked", BRIEF, "%" PRId64, stats->checked);
    add(cells, "exhaustive", "exhaustive", BRIEF, "%s", stats->exhaustive ? "true" : "false");
    add(cells, "ref", "reference", STRING, "libm");
}

/* A label is a file name and may hold anything: one that is not UTF-8 has its bytes escaped one by one. */
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
        if (cell->quoted)
            add_json_string(out, cell->text);
        else
            text_add(out, "%s", cell->text);
    }
}

static void report_json(const struct sweep_row *rows, int count, struct text *out)
{
    text_add(out, "[");
    for (int i = 0; i < count; i++) {
        struct cells cells;
        fill(&rows[i], &cells);
        text_add(out, "%s\n  {\n    ", i ? "," : "");
        add_json_object(out, &cells, ",\n    ");
        text_add(out, "\n  }");
    }
    text_add(out, "\n]\n");
}

static void report_jsonl(const struct sweep_row *rows, int count, struct text *out)
{
    for (int i = 0; i < count; i++) {
        struct cells cells;
        fill(&rows[i], &cells);
        text_add(out, "{");
        add_json_object(out, &cells, ", ");
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

static void report_csv(const struct sweep_row *rows, int count, struct text *out)
{
    for (int i = 0; i < count; i++) {
        struct cells cells;
        fill(&rows[i], &cells);
        for (int j = 0; i == 0 && j < cells.count; j++)
            text_add(out, "%s%s", j ? "," : "", cells.cell[j].key);
        if (i == 0)
            text_add(out, "\n");
        for (int j = 0; j < cells.count; j++) {
            text_add(out, "%s", j ? "," : "");
            add_csv_field(out, cells.cell[j].text);
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

static void report_md_single(const struct sweep_row *row, struct text *out)
{
    struct cells cells;
    int title_width = md_width("metric"), text_width = md_width("value");
    fill(row, &cells);
    for (int i = 0; i < cells.count; i++) {
        title_width = larger(title_width, md_width(cells.cell[i].title));
        text_width = larger(text_width, md_width(cells.cell[i].text));
    }
    add_md_cell(out, "metric", title_width, false);
    add_md_cell(out, "value", text_width, false);
    text_add(out, "|\n");
    add_md_rule(out, title_width, false);
    add_md_rule(out, text_width, false);
    text_add(out, "|\n");
    for (int i = 0; i < cells.count; i++) {
        add_md_cell(out, cells.cell[i].title, title_width, false);
        add_md_cell(out, cells.cell[i].text, text_width, false);
        text_add(out, "|\n");
    }
}

static void report_md_rows(const struct sweep_row *rows, int count, struct text *out)
{
    struct cells cells;
    int width[MAX_CELLS] = {0};
    for (int i = 0; i < count; i++) {
        fill(&rows[i], &cells);
        for (int j = 0; j < cells.count; j++) {
            width[j] = larger(width[j], md_width(cells.cell[j].text));
            width[j] = larger(width[j], larger(3, md_width(cells.cell[j].title)));
        }
    }
    /* Row -2 is the titles, -1 the rule below them. */
    for (int i = -2; i < count; i++) {
        fill(&rows[larger(i, 0)], &cells);
        for (int j = 0; j < cells.count; j++) {
            const struct cell *cell = &cells.cell[j];
            if (!cell->brief)
                continue;
            if (i == -1)
                add_md_rule(out, width[j], !cell->quoted);
            else
                add_md_cell(out, i == -2 ? cell->title : cell->text, width[j], !cell->quoted);
        }
        text_add(out, "|\n");
    }
}

bool sweep_format_parse(const char *name, enum sweep_format *format)
{
    static const char *const names[] = {"md", "csv", "json", "jsonl"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        if (strcmp(name, names[i]) == 0) {
            *format = (enum sweep_format)i;
            return true;
        }
    }
    return false;
}

void sweep_report(const struct sweep_row *rows, int count, enum sweep_format format, struct text *out)
{
    switch (format) {
    case SWEEP_MD:
        if (count == 1)
            report_md_single(&rows[0], out);
        else
            report_md_rows(rows, count, out);
        break;
    case SWEEP_CSV:
        report_csv(rows, count, out);
        break;
    case SWEEP_JSON:
        report_json(rows, count, out);
        break;
    case SWEEP_JSONL:
        report_jsonl(rows, count, out);
        break;
    }
}
