/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "npy.h"
#include "number.h"

#define SHOWN 40 /* characters of a line that a message repeats */

/* Points as they are read. `unit` is what messages count: "line" (from 1) or "row" (from 0). */
struct reader {
    struct samples *samples;
    size_t capacity;
    const char *unit;
    bool descending;
    struct diag *diag;
};

static int reserve(struct reader *reader, size_t count)
{
    struct samples *samples = reader->samples;
    if (count <= reader->capacity)
        return EXIT_DONE;
    size_t capacity = reader->capacity < 64 ? 64 : reader->capacity * 2;
    if (capacity < count)
        capacity = count;
    /* count is at most half the bytes of a file, which FILE_MAX_BYTES keeps far below SIZE_MAX / sizeof(double) */
    double *x = realloc(samples->x, capacity * sizeof *x);
    if (x != NULL)
        samples->x = x;
    double *y = realloc(samples->y, capacity * sizeof *y);
    if (y != NULL)
        samples->y = y;
    if (x == NULL || y == NULL)
        return diag_set(reader->diag, EXIT_IO, "out of memory for %zu samples", capacity);
    reader->capacity = capacity;
    return EXIT_DONE;
}

static int add_point(struct reader *reader, size_t number, double x, double y)
{
    struct samples *samples = reader->samples;
    const size_t count = samples->count;
    if (!isfinite(x) || !isfinite(y))
        return diag_set(reader->diag, EXIT_USAGE, "%s %zu: %s is not a finite number", reader->unit, number,
                        isfinite(x) ? "y" : "x");
    if (count > 0) {
        const double previous = samples->x[count - 1];
        if (count == 1)
            reader->descending = x < previous;
        if (x == previous || (x < previous) != reader->descending) {
            char x_text[NUMBER_TEXT_SIZE], previous_text[NUMBER_TEXT_SIZE];
            number_format(x, x_text);
            number_format(previous, previous_text);
            return diag_set(reader->diag, EXIT_USAGE, "%s %zu: x is %s after %s; x must be strictly %s", reader->unit,
                            number, x_text, previous_text,
                            count == 1           ? "ascending or descending"
                            : reader->descending ? "descending, as it begins"
                                                 : "ascending, as it begins");
        }
    }
    if (reserve(reader, count + 1) != EXIT_DONE)
        return reader->diag->code;
    samples->x[count] = x;
    samples->y[count] = y;
    samples->count++;
    return EXIT_DONE;
}

static void reverse(double *values, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const double value = values[i];
        values[i] = values[count - 1 - i];
        values[count - 1 - i] = value;
    }
}

static int finish(struct reader *reader)
{
    struct samples *samples = reader->samples;
    if (samples->count < 2)
        return diag_set(reader->diag, EXIT_USAGE, "%s; at least 2 points x,y are needed",
                        samples->count == 0 ? "no sample points" : "only 1 sample point");
    if (reader->descending) {
        reverse(samples->x, samples->count);
        reverse(samples->y, samples->count);
    }
    return EXIT_DONE;
}

static int read_npy(struct reader *reader, const void *bytes, size_t size)
{
    struct npy npy;
    const int code = npy_parse(bytes, size, &npy, reader->diag);
    if (code != EXIT_DONE)
        return code;
    if (npy.kind != 'f')
        return diag_set(reader->diag, EXIT_USAGE, "elements are integers; samples must be float32 or float64");
    if (npy.dimensions != 2 || npy.shape[1] != 2)
        return diag_set(reader->diag, EXIT_USAGE, "the shape must be (n, 2): one row x, y for each point");
    for (size_t row = 0; row < npy.shape[0]; row++) {
        const int point = add_point(reader, row, npy_real(&npy, 2 * row), npy_real(&npy, 2 * row + 1));
        if (point != EXIT_DONE)
            return point;
    }
    return EXIT_DONE;
}

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

/* A header has no number in any field. */
static bool is_header(struct span line)
{
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

static int parse_field(struct reader *reader, size_t number, const char *name, struct span field, double *value)
{
    const enum number_status status = number_real(field.start, field.length, value);
    if (status == NUMBER_OK)
        return EXIT_DONE;
    if (status == NUMBER_RANGE || is_not_finite(field))
        return diag_set(reader->diag, EXIT_USAGE, "line %zu: %s is not a finite number", number, name);
    return diag_set(reader->diag, EXIT_USAGE, "line %zu: %s is '%.*s'; write a decimal number", number, name,
                    (int)(field.length < SHOWN ? field.length : SHOWN), field.start);
}

static int read_line(struct reader *reader, size_t number, struct span line)
{
    const char *comma = memchr(line.start, ',', line.length);
    if (comma == NULL)
        return diag_set(reader->diag, EXIT_USAGE, "line %zu: '%.*s' is not x,y", number,
                        (int)(line.length < SHOWN ? line.length : SHOWN), line.start);
    const size_t x_length = (size_t)(comma - line.start);
    const struct span y_field = trim((struct span){comma + 1, line.length - x_length - 1});
    if (memchr(y_field.start, ',', y_field.length) != NULL)
        return diag_set(reader->diag, EXIT_USAGE, "line %zu: more than the two columns x,y", number);
    double x, y;
    if (parse_field(reader, number, "x", trim((struct span){line.start, x_length}), &x) != EXIT_DONE ||
        parse_field(reader, number, "y", y_field, &y) != EXIT_DONE)
        return reader->diag->code;
    return add_point(reader, number, x, y);
}

static int read_csv(struct reader *reader, const char *text, size_t size)
{
    bool first = true;
    size_t number = 1;
    size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* UTF-8 mark of some spreadsheets */
    for (; at < size; number++) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = end == NULL ? size - at : (size_t)(end - (text + at));
        const struct span line = trim((struct span){text + at, length});
        at += length + 1;
        if (line.length == 0 || line.start[0] == '#')
            continue;
        if (first && is_header(line)) {
            first = false;
            continue;
        }
        first = false;
        const int code = read_line(reader, number, line);
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

int samples_parse(const void *bytes, size_t size, int npy, struct samples **samples, struct diag *diag)
{
    *samples = NULL;
    struct samples *result = calloc(1, sizeof *result);
    if (result == NULL)
        return diag_set(diag, EXIT_IO, "out of memory for samples");
    struct reader reader = {.samples = result, .unit = npy ? "row" : "line", .diag = diag};
    int code = npy ? read_npy(&reader, bytes, size) : read_csv(&reader, bytes, size);
    if (code == EXIT_DONE)
        code = finish(&reader);
    if (code != EXIT_DONE) {
        samples_free(result);
        return code;
    }
    sha256_hex(bytes, size, result->sha256);
    *samples = result;
    return EXIT_DONE;
}

int samples_read(const char *path, struct samples **samples, struct diag *diag)
{
    unsigned char *bytes;
    size_t size;
    *samples = NULL;
    int code = file_read(path, FILE_MAX_BYTES, &bytes, &size, diag);
    if (code != EXIT_DONE)
        return code;
    /* by content too, so that standard input and any file name work */
    const size_t length = strlen(path);
    const int npy =
        (length >= 4 && strcmp(path + length - 4, ".npy") == 0) || (size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0);
    code = samples_parse(bytes, size, npy, samples, diag);
    free(bytes);
    return code == EXIT_DONE ? code : diag_prefix(diag, path);
}

void samples_free(struct samples *samples)
{
    if (samples == NULL)
        return;
    free(samples->x);
    free(samples->y);
    free(samples);
}

/* The last i with x[i] <= x, but never the last sample: the start of the interval that holds x. */
static size_t find_interval(const struct samples *samples, long double x)
{
    size_t low = 0, high = samples->count - 1; /* the answer lies in [low, high) */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (samples->x[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

long double samples_derivative(const struct samples *samples, long double x)
{
    const size_t i = find_interval(samples, x);
    return ((long double)samples->y[i + 1] - samples->y[i]) / ((long double)samples->x[i + 1] - samples->x[i]);
}

long double samples_value(const struct samples *samples, long double x)
{
    const size_t i = find_interval(samples, x);
    if (x == samples->x[i + 1])
        return samples->y[i + 1];
    const long double part = (x - samples->x[i]) / ((long double)samples->x[i + 1] - samples->x[i]);
    return samples->y[i] + part * ((long double)samples->y[i + 1] - samples->y[i]);
}
