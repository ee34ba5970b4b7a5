/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "csv.h"

#include <stdbool.h>
#include <string.h>

#include "base/number.h"

#define SHOWN 40 /* characters of a line that a message repeats */

struct span {
    const char *start;
    size_t length;
};

static struct span trim(struct span span)
{
    while (span.length > 0 && (span.start[0] == ' ' || span.start[0] == '\t')) {
        span.start++;
        span.length--;
    }
    while (span.length > 0 && strchr(" \t\r", span.start[span.length - 1]) != NULL && span.start[span.length - 1] != 0)
        span.length--;
    return span;
}

/* Whether a field that is no decimal still means a number: "nan", "-inf". Such a line is bad data, not a header. */
static bool is_not_finite(struct span field)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    char word[10];
    if (field.length > 0 && (field.start[0] == '+' || field.start[0] == '-')) {
        field.start++;
        field.length--;
    }
    if (field.length >= sizeof word)
        return false;
    for (size_t i = 0; i < field.length; i++) {
        const char c = field.start[i];
        word[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    word[field.length] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* A header has no number in any field; what is longer than a number can be is one that is written wrong. */
static bool is_header(struct span line)
{
    if (line.length > NUMBER_MAX_LENGTH)
        return false;
    for (;;) {
        const char *comma = memchr(line.start, ',', line.length);
        const size_t length = comma == NULL ? line.length : (size_t)(comma - line.start);
        const struct span field = trim((struct span){line.start, length});
        double value;
        if (number_real(field.start, field.length, &value) != NUMBER_SYNTAX || is_not_finite(field))
            return false;
        if (comma == NULL)
            return true;
        line.start = comma + 1;
        line.length -= length + 1;
    }
}

/* The lines that hold rows. */
struct lines {
    const char *text;
    size_t size, at, number; /* number: of the last line taken, from 1 */
    bool first;              /* a header may still come */
};

static struct lines lines_of(const char *text, size_t size)
{
    const bool marked = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0; /* UTF-8 mark of some spreadsheets */
    return (struct lines){text, size, marked ? 3 : 0, 0, true};
}

static bool next_row(struct lines *lines, struct span *line)
{
    while (lines->at < lines->size) {
        const char *start = lines->text + lines->at;
        const char *end = memchr(start, '\n', lines->size - lines->at);
        const size_t length = end == NULL ? lines->size - lines->at : (size_t)(end - start);
        *line = trim((struct span){start, length});
        lines->at += length + 1;
        lines->number++;
        if (line->length == 0 || line->start[0] == '#')
            continue;
        const bool header = lines->first && is_header(*line);
        lines->first = false;
        if (!header)
            return true;
    }
    return false;
}

static size_t count_fields(struct span line)
{
    size_t count = 1;
    for (size_t i = 0; i < line.length; i++)
        count += line.start[i] == ',';
    return count;
}

static int parse_field(size_t number, const char *name, struct span field, double *value, struct diag *diag)
{
    const enum number_status status = number_real(field.start, field.length, value);
    if (status == NUMBER_OK)
        return EXIT_DONE;
    if (field.length > NUMBER_MAX_LENGTH)
        return diag_set(diag, EXIT_USAGE, "line %zu: %s has %zu characters; write a decimal number of at most %d",
                        number, name, field.length, NUMBER_MAX_LENGTH);
    if (status == NUMBER_RANGE || is_not_finite(field))
        return diag_set(diag, EXIT_USAGE, "line %zu: %s is not a finite number", number, name);
    return diag_set(diag, EXIT_USAGE, "line %zu: %s is '%.*s'; write a decimal number", number, name,
                    (int)(field.length < SHOWN ? field.length : SHOWN), field.start);
}

static int parse_row(size_t number, struct span line, const struct csv_columns *columns, double *values,
                     struct diag *diag)
{
    const bool two = columns->count == 2;
    const char *const first = columns->names[0], *const second = two ? columns->names[1] : "";
    const size_t fields = count_fields(line);
    if (fields < (size_t)columns->count)
        return diag_set(diag, EXIT_USAGE, "line %zu: '%.*s' is not %s,%s: write two numbers, with a comma between them",
                        number, (int)(line.length < SHOWN ? line.length : SHOWN), line.start, first, second);
    if (fields > (size_t)columns->count)
        return diag_set(diag, EXIT_USAGE, "line %zu: more than the %s %s%s%s", number, two ? "two columns" : "column",
                        first, two ? "," : "", second);
    for (int k = 0; k < columns->count; k++) {
        const char *comma = memchr(line.start, ',', line.length);
        const size_t length = comma == NULL ? line.length : (size_t)(comma - line.start);
        if (parse_field(number, columns->names[k], trim((struct span){line.start, length}), &values[k], diag))
            return diag->code;
        line.start += comma == NULL ? length : length + 1;
        line.length -= comma == NULL ? length : length + 1;
    }
    return EXIT_DONE;
}

size_t csv_count_columns(const char *text, size_t size)
{
    struct lines lines = lines_of(text, size);
    struct span line;
    return next_row(&lines, &line) ? count_fields(line) : 0;
}

int csv_read(const char *text, size_t size, const struct csv_columns *columns, csv_row *row, void *context,
             struct diag *diag)
{
    struct lines lines = lines_of(text, size);
    struct span line;
    while (next_row(&lines, &line)) {
        double values[CSV_MAX_COLUMNS];
        if (parse_row(lines.number, line, columns, values, diag) != EXIT_DONE)
            return diag->code;
        const int code = row(context, lines.number, values, diag);
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}
