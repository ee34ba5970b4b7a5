/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "io/csv.h"
#include "io/npy.h"

/* Points as they are read. `unit` is what messages count: "line" (from 1) or "row" (from 0). */
struct reader {
    struct samples *samples;
    size_t capacity;
    const char *unit;
    bool descending;
    const struct even_grid *grid; /* null: x stands in the file */
    struct diag *diag;
};

/* Where the values of an array of y alone are. */
struct even_grid {
    double low, high;
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

/* As numpy.linspace(low, high, count). */
static int read_values(struct reader *reader, const struct npy *npy)
{
    const struct dd low = dd_of(reader->grid->low), width = dd_sum(reader->grid->high, -reader->grid->low);
    if (npy->dimensions != 1)
        return diag_set(reader->diag, EXIT_USAGE,
                        "the shape must be (n,) with :LOW:HIGH behind the name: one y for each x of that grid");
    const size_t count = npy->shape[0];
    for (size_t k = 0; k < count; k++) {
        const struct dd share = count > 1 ? dd_div(dd_of((double)k), dd_of((double)(count - 1))) : dd_of(0);
        const int point = add_point(reader, k, dd_add(low, dd_mul(width, share)).hi, npy_real(npy, k));
        if (point != EXIT_DONE)
            return point;
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
        return diag_set(reader->diag, EXIT_USAGE, "elements are integers; samples must be float16, float32 or float64");
    if (reader->grid)
        return read_values(reader, &npy);
    if (npy.dimensions == 1)
        return diag_set(reader->diag, EXIT_USAGE,
                        "the shape must be (n, 2): one row x, y for each point; y alone takes its even grid behind "
                        "the name, FILE.npy:LOW:HIGH");
    if (npy.dimensions != 2 || npy.shape[1] != 2)
        return diag_set(reader->diag, EXIT_USAGE, "the shape must be (n, 2): one row x, y for each point");
    for (size_t row = 0; row < npy.shape[0]; row++) {
        const int point = add_point(reader, row, npy_real(&npy, 2 * row), npy_real(&npy, 2 * row + 1));
        if (point != EXIT_DONE)
            return point;
    }
    return EXIT_DONE;
}

static int add_row(void *context, size_t number, const double *values, struct diag *diag)
{
    (void)diag; /* the reader's own */
    return add_point(context, number, values[0], values[1]);
}

static int read_csv(struct reader *reader, const char *text, size_t size)
{
    static const struct csv_columns columns = {{"x", "y"}, 2};
    return csv_read(text, size, &columns, add_row, reader, reader->diag);
}

/* The hash of an array of y covers its grid. */
static int hash_samples(const void *bytes, size_t size, const struct even_grid *grid, char sha256[65],
                        struct diag *diag)
{
    char low[NUMBER_TEXT_SIZE], high[NUMBER_TEXT_SIZE];
    struct text text = {0};
    if (!grid) {
        sha256_hex(bytes, size, sha256);
        return EXIT_DONE;
    }
    number_format(grid->low, low);
    number_format(grid->high, high);
    text_add_bytes(&text, bytes, size);
    text_add(&text, ":%s:%s", low, high);
    if (text.failed) {
        text_free(&text);
        return diag_set(diag, EXIT_IO, "out of memory for samples");
    }
    sha256_hex(text.bytes, text.size, sha256);
    text_free(&text);
    return EXIT_DONE;
}

static int parse(const void *bytes, size_t size, int npy, const struct even_grid *grid, struct samples **samples,
                 struct diag *diag)
{
    *samples = NULL;
    struct samples *result = calloc(1, sizeof *result);
    if (result == NULL)
        return diag_set(diag, EXIT_IO, "out of memory for samples");
    struct reader reader = {.samples = result, .unit = npy ? "row" : "line", .grid = grid, .diag = diag};
    int code = npy ? read_npy(&reader, bytes, size) : read_csv(&reader, bytes, size);
    if (code == EXIT_DONE)
        code = finish(&reader);
    if (code == EXIT_DONE)
        code = hash_samples(bytes, size, grid, result->sha256, diag);
    if (code != EXIT_DONE) {
        samples_free(result);
        return code;
    }
    *samples = result;
    return EXIT_DONE;
}

int samples_parse(const void *bytes, size_t size, int npy, struct samples **samples, struct diag *diag)
{
    return parse(bytes, size, npy, NULL, samples, diag);
}

/* FILE.npy:LOW:HIGH, unless a file has that name: *length is FILE.npy's. */
static bool find_grid(const char *path, size_t *length, struct even_grid *grid)
{
    const char *high = strrchr(path, ':'), *low = high;
    while (low && low > path && *--low != ':')
        ;
    *length = low ? (size_t)(low - path) : 0;
    return low && *low == ':' && *length >= 4 && strncmp(low - 4, ".npy", 4) == 0 && access(path, F_OK) != 0 &&
           number_real(low + 1, (size_t)(high - low - 1), &grid->low) == NUMBER_OK &&
           number_real(high + 1, strlen(high + 1), &grid->high) == NUMBER_OK;
}

int samples_read(const char *path, struct samples **samples, struct diag *diag)
{
    unsigned char *bytes;
    size_t size, length;
    struct even_grid grid;
    *samples = NULL;
    int code = EXIT_DONE;
    const bool has_grid = find_grid(path, &length, &grid);
    char *file = has_grid ? strndup(path, length) : strdup(path);
    if (!file)
        return diag_set(diag, EXIT_IO, "out of memory for samples");
    if (file_read(file, FILE_MAX_BYTES, &bytes, &size, diag) == EXIT_DONE) {
        code = parse(bytes, size, npy_recognise(file, bytes, size), has_grid ? &grid : NULL, samples, diag);
        free(bytes);
        if (code != EXIT_DONE)
            diag_prefix(diag, path);
    } else {
        code = diag->code;
    }
    free(file);
    return code;
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
static size_t find_interval(const struct samples *samples, struct dd x)
{
    size_t low = 0, high = samples->count - 1; /* the answer lies in [low, high) */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (dd_less(x, dd_of(samples->x[middle])))
            high = middle;
        else
            low = middle;
    }
    return low;
}

bool samples_between(const struct samples *samples, double x)
{
    const size_t i = find_interval(samples, dd_of(x));
    return samples->x[i] < x && x < samples->x[i + 1];
}

/* A quarter of b - a, which does not overflow. */
static struct dd quarter_between(double a, double b)
{
    return dd_sum(b / 4, -a / 4);
}

struct dd samples_derivative(const struct samples *samples, struct dd x)
{
    const size_t i = find_interval(samples, x);
    return dd_div(quarter_between(samples->y[i], samples->y[i + 1]), quarter_between(samples->x[i], samples->x[i + 1]));
}

struct dd samples_value(const struct samples *samples, struct dd x)
{
    const size_t i = find_interval(samples, x);
    if (!dd_less(x, dd_of(samples->x[i + 1])))
        return dd_of(samples->y[i + 1]);
    const struct dd part =
        dd_div(dd_plus(dd_scaled(x, 0.25), -samples->x[i] / 4), quarter_between(samples->x[i], samples->x[i + 1]));
    const struct dd quarter = dd_mul(part, quarter_between(samples->y[i], samples->y[i + 1]));
    return dd_scaled(dd_plus(quarter, samples->y[i] / 4), 4);
}
