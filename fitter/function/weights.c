/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "weights.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/file.h"
#include "io/csv.h"
#include "io/npy.h"

#define CODE_LIMIT 0x1p53 /* doubles up to here tell integers apart */

struct entry {
    int64_t code;
    double value;
    size_t number; /* where in the file */
};

/* Weights as they are read. `unit` is what messages count: "line" (from 1), "row" or "element" (from 0). */
struct reader {
    double *values;        /* of a list; */
    struct entry *entries; /* else of pairs */
    size_t count, capacity;
    uint64_t most; /* codes of the input */
    int columns;   /* 1: the codes are not said */
    const char *unit;
};

static int reserve(struct reader *reader, struct diag *diag)
{
    if (reader->count < reader->capacity)
        return EXIT_DONE;
    /* At most one entry a byte of a file, which FILE_MAX_BYTES keeps far below SIZE_MAX / sizeof(struct entry). */
    const size_t capacity = reader->capacity < 256 ? 256 : reader->capacity * 2;
    const bool listed = reader->columns == 1;
    void *const larger = listed ? realloc(reader->values, capacity * sizeof *reader->values)
                                : realloc(reader->entries, capacity * sizeof *reader->entries);
    if (larger == NULL)
        return diag_set(diag, EXIT_IO, "out of memory for %zu weights", capacity);
    if (listed)
        reader->values = larger;
    else
        reader->entries = larger;
    reader->capacity = capacity;
    return EXIT_DONE;
}

/* values: the weight, or the code and the weight. */
static int add_entry(void *context, size_t number, const double *values, struct diag *diag)
{
    struct reader *reader = context;
    const double weight = values[reader->columns - 1], code = reader->columns == 2 ? values[0] : 0;
    if (!isfinite(weight) || weight < 0)
        return diag_set(diag, EXIT_USAGE, "%s %zu: the weight is %.9g, must be finite and 0 or more", reader->unit,
                        number, weight);
    if (!(fabs(code) <= CODE_LIMIT) || code != rint(code))
        return diag_set(diag, EXIT_USAGE, "%s %zu: q_x is %.9g, must be a code, an integer", reader->unit, number,
                        code);
    if (reader->count == reader->most)
        return diag_set(diag, EXIT_USAGE, "%s %zu: one weight too many, the input has %" PRIu64 " codes", reader->unit,
                        number, reader->most);
    if (reserve(reader, diag) != EXIT_DONE)
        return diag->code;
    if (reader->columns == 1)
        reader->values[reader->count++] = weight;
    else
        reader->entries[reader->count++] = (struct entry){(int64_t)code, weight, number};
    return EXIT_DONE;
}

static int read_npy(struct reader *reader, const void *bytes, size_t size, struct diag *diag)
{
    struct npy npy;
    if (npy_parse(bytes, size, &npy, diag) != EXIT_DONE)
        return diag->code;
    const bool pairs = npy.dimensions == 2 && npy.shape[1] == 2;
    if (npy.dimensions != 1 && !pairs)
        return diag_set(diag, EXIT_USAGE,
                        "the shape must be (n,): a weight for each code, or (n, 2): rows q_x, weight");
    reader->columns = pairs ? 2 : 1;
    reader->unit = pairs ? "row" : "element";
    for (size_t row = 0; row < npy.shape[0]; row++) {
        double values[2];
        for (int k = 0; k < reader->columns; k++)
            values[k] = npy_real(&npy, row * (size_t)reader->columns + (size_t)k);
        if (add_entry(reader, row, values, diag) != EXIT_DONE)
            return diag->code;
    }
    return EXIT_DONE;
}

static int read_csv(struct reader *reader, const char *text, size_t size, struct diag *diag)
{
    static const struct csv_columns list = {{"weight", NULL}, 1}, pairs = {{"q_x", "weight"}, 2};
    reader->columns = csv_count_columns(text, size) > 1 ? 2 : 1;
    reader->unit = "line";
    return csv_read(text, size, reader->columns == 2 ? &pairs : &list, add_entry, reader, diag);
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    const int order = (a->code > b->code) - (a->code < b->code);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* Pairs in the order of their codes. */
static int sort_pairs(struct reader *reader, struct weights *weights, struct diag *diag)
{
    const size_t count = reader->count;
    reader->values = malloc((count + 1) * sizeof *reader->values);
    weights->code = malloc((count + 1) * sizeof *weights->code);
    if (reader->values == NULL || weights->code == NULL)
        return diag_set(diag, EXIT_IO, "out of memory for %zu weights", count);
    if (count > 0)
        qsort(reader->entries, count, sizeof *reader->entries, compare_entries);
    for (size_t k = 0; k < count; k++) {
        reader->values[k] = reader->entries[k].value;
        weights->code[k] = reader->entries[k].code;
        if (k > 0 && weights->code[k] == weights->code[k - 1])
            return diag_set(diag, EXIT_USAGE, "%s %zu: q_x %" PRId64 " is there already, in %s %zu; write it once",
                            reader->unit, reader->entries[k].number, weights->code[k], reader->unit,
                            reader->entries[k - 1].number);
    }
    return EXIT_DONE;
}

/* Weights count relative to one another: over the largest one, their sums cannot overflow, and equal ones are 1. */
static int finish(struct reader *reader, struct weights *weights, struct diag *diag)
{
    const size_t count = reader->count;
    double largest = 0;
    if (reader->columns == 2 && sort_pairs(reader, weights, diag) != EXIT_DONE)
        return diag->code;
    for (size_t k = 0; k < count; k++)
        largest = fmax(largest, reader->values[k]);
    if (!(largest > 0))
        return diag_set(diag, EXIT_USAGE, count == 0 ? "no weights" : "every weight is 0; some code must occur");
    for (size_t k = 0; k < count; k++)
        reader->values[k] /= largest;
    weights->count = count;
    weights->value = reader->values;
    reader->values = NULL;
    return EXIT_DONE;
}

int weights_parse(const void *bytes, size_t size, int npy, uint64_t codes, struct weights **weights, struct diag *diag)
{
    struct reader reader = {.most = codes, .columns = 1};
    struct weights *result = calloc(1, sizeof *result);
    *weights = NULL;
    if (result == NULL)
        return diag_set(diag, EXIT_IO, "out of memory for weights");
    int code = npy ? read_npy(&reader, bytes, size, diag) : read_csv(&reader, bytes, size, diag);
    if (code == EXIT_DONE)
        code = finish(&reader, result, diag);
    free(reader.entries);
    free(reader.values);
    if (code != EXIT_DONE) {
        weights_free(result);
        return code;
    }
    sha256_hex(bytes, size, result->sha256);
    *weights = result;
    return EXIT_DONE;
}

int weights_read(const char *path, uint64_t codes, struct weights **weights, struct diag *diag)
{
    unsigned char *bytes;
    size_t size;
    *weights = NULL;
    if (file_read(path, FILE_MAX_BYTES, &bytes, &size, diag) != EXIT_DONE)
        return diag->code;
    const int code = weights_parse(bytes, size, npy_recognise(path, bytes, size), codes, weights, diag);
    free(bytes);
    return code == EXIT_DONE ? code : diag_prefix(diag, path);
}

void weights_free(struct weights *weights)
{
    if (weights == NULL)
        return;
    free(weights->code);
    free(weights->value);
    free(weights);
}

int64_t weights_code(const struct weights *weights, const struct tensor *in, size_t entry)
{
    return weights->code ? weights->code[entry] : code_min(in->bits, in->is_signed) + (int64_t)entry;
}

int weights_check(const struct weights *weights, const struct tensor *in, struct diag *diag)
{
    const int64_t first = code_min(in->bits, in->is_signed), codes = (int64_t)1 << in->bits;
    if (!weights->code && weights->count != (uint64_t)codes)
        return diag_set(diag, EXIT_USAGE,
                        "--weights: %zu weights; --in has the codes %" PRId64 " to %" PRId64 " and needs %" PRId64
                        ", one for each, or rows q_x,weight",
                        weights->count, first, first + codes - 1, codes);
    const int64_t lowest = weights_code(weights, in, 0), highest = weights_code(weights, in, weights->count - 1);
    if (lowest < first || highest >= first + codes)
        return diag_set(diag, EXIT_USAGE, "--weights: q_x %" PRId64 " is no code of --in, %" PRId64 " to %" PRId64,
                        lowest < first ? lowest : highest, first, first + codes - 1);
    return EXIT_DONE;
}
