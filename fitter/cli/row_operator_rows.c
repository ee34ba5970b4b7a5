/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows through row operators: eval and sweep. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "base/terminal.h"
#include "io/npy.h"
#include "operator/hard_rows.h"
#include "operator/operator.h"
#include "operator/row_sweep.h"
#include "row_operator.h"

static size_t bytes_of(const struct tensor *tensor)
{
    return (size_t)tensor->bits / 8;
}

static int check_length(const struct row_operator *of, size_t length, struct diag *diag)
{
    if (operator_is_element(of->kind) ||
        (operator_is_norm(of->kind) ? length == of->length : length >= 1 && length <= of->length))
        return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE, "a row of %zu places, must be %s%" PRIu32, length,
                    operator_is_norm(of->kind) ? "" : "1 to ", of->length);
}

static int take_code(const struct tensor *in, void *array, size_t place, int64_t code, struct diag *diag)
{
    if (code < in->qmin || code > in->qmax)
        return diag_set(diag, EXIT_USAGE, "place %zu: %" PRId64 ", must be a code, %" PRId64 "..%" PRId64, place, code,
                        in->qmin, in->qmax);
    operator_set_code(in, array, place, code);
    return EXIT_DONE;
}

/* Codes of the operator's types: of rows of `length` places, those of weigh with values of `channels` for each place,
 * which either all rows share or each block of `rows` has. */
struct codes {
    size_t count, count_b, count_y; /* of each array */
    size_t length, channels, rows;
    char *x, *b, *y; /* b: of add's second input, and values */
};

static int codes_make(const struct row_operator *of, struct codes *codes, struct diag *diag)
{
    codes->x = malloc(codes->count * bytes_of(&of->in));
    codes->b = malloc(codes->count_b * (operator_has_in_b(of->kind) ? bytes_of(&of->in_b) : 1));
    codes->y = malloc(codes->count_y * bytes_of(&of->out));
    if (!codes->x || !codes->b || !codes->y)
        return diag_set(diag, EXIT_IO, "out of memory for %zu codes", codes->count + codes->count_b + codes->count_y);
    return EXIT_DONE;
}

static void codes_free(struct codes *codes)
{
    free(codes->x);
    free(codes->b);
    free(codes->y);
}

/* An operator of elements takes all rows as one. */
static void run_rows(const struct row_operator *of, const struct packed_operator *packed, const struct codes *codes)
{
    const bool is_weigh = of->kind == OPERATOR_WEIGH;
    const size_t step = operator_is_element(of->kind) ? codes->count : codes->length;
    const size_t results = is_weigh ? codes->channels : step, block = codes->length * codes->channels;
    for (size_t row = 0; row * step < codes->count; row++) {
        const size_t from = is_weigh ? row / codes->rows * block % codes->count_b : 0;
        packed_operator_run(packed, &(struct operator_row){.x = codes->x + row * step * bytes_of(&of->in),
                                                           .b = codes->b + from * bytes_of(&of->in_b),
                                                           .y = codes->y + row * results * bytes_of(&of->out),
                                                           .length = step,
                                                           .channels = codes->channels});
    }
}

static int print_or_write(const struct row_operator *of, struct npy *shape, char *y, const char *output,
                          struct diag *diag)
{
    unsigned char *bytes = NULL;
    size_t size;
    if (!output) {
        for (size_t k = 0; k < shape->count; k++)
            printf("%" PRId64 "\n", operator_code(&of->out, y, k));
        return EXIT_DONE;
    }
    shape->kind = of->out.is_signed ? 'i' : 'u';
    shape->item_size = (int)bytes_of(&of->out);
    npy_swap_order((unsigned char *)y, shape->count, shape->item_size);
    shape->data = (unsigned char *)y;
    if (npy_build(shape, &bytes, &size, diag) == EXIT_DONE)
        file_write(output, bytes, size, diag);
    free(bytes);
    return diag->code;
}

/* An array of codes of any integer type into one of the input's. */
static int take_array(const struct tensor *in, const struct npy *npy, void *array, struct diag *diag)
{
    if (npy->kind == 'f')
        return diag_set(diag, EXIT_USAGE, "an array of reals, must be codes, integers");
    for (size_t k = 0; k < npy->count; k++)
        if (take_code(in, array, k, npy_integer(npy, k), diag))
            return diag->code;
    return EXIT_DONE;
}

/* The files of an operator's inputs. */
struct arrays {
    const char *const *paths;
    int count;
    unsigned char *bytes[2];
    struct npy npy[2];
};

static int arrays_read(struct arrays *arrays, struct diag *diag)
{
    size_t size;
    for (int k = 0; k < arrays->count; k++)
        if (file_read(arrays->paths[k], FILE_MAX_BYTES, &arrays->bytes[k], &size, diag))
            return diag->code;
        else if (npy_parse(arrays->bytes[k], size, &arrays->npy[k], diag))
            return diag_prefix(diag, arrays->paths[k]);
    return EXIT_DONE;
}

static bool have_one_shape(const struct npy *a, const struct npy *b)
{
    return a->dimensions == b->dimensions && memcmp(a->shape, b->shape, (size_t)a->dimensions * sizeof *a->shape) == 0;
}

/* Rows of scores x, and values b of so many channels for each place: as a product of matrices along the last two axes.
 * All axes before those are the same, or b has none. */
static int shape_weigh(const struct arrays *arrays, struct codes *codes, struct npy *shape, struct diag *diag)
{
    const struct npy *const x = &arrays->npy[0], *const b = &arrays->npy[1];
    const int axes = x->dimensions;
    const bool is_shared = b->dimensions == 2;
    bool fits = axes >= 1 && b->dimensions >= 2 && (is_shared || b->dimensions == axes) &&
                b->shape[b->dimensions - 2] == codes->length && b->count > 0;
    for (int k = 0; fits && !is_shared && k < axes - 2; k++)
        fits = x->shape[k] == b->shape[k];
    if (!fits)
        return diag_set(diag, EXIT_USAGE, "%s: must be values of channels for each of the %zu places of %s",
                        arrays->paths[1], codes->length, arrays->paths[0]);
    codes->channels = b->shape[b->dimensions - 1];
    codes->rows = axes >= 2 ? x->shape[axes - 2] : 1;
    codes->count_b = b->count;
    codes->count_y = x->count / codes->length * codes->channels;
    shape->shape[axes - 1] = codes->channels;
    shape->count = codes->count_y;
    return EXIT_DONE;
}

static int shape_arrays(const struct row_operator *of, const struct arrays *arrays, struct codes *codes,
                        struct npy *shape, struct diag *diag)
{
    const struct npy *const npy = &arrays->npy[0];
    *shape = *npy;
    if (npy->count == 0)
        return diag_set(diag, EXIT_USAGE, "%s: an array without a row", arrays->paths[0]);
    codes->length = npy->dimensions ? npy->shape[npy->dimensions - 1] : 1;
    codes->count = codes->count_b = codes->count_y = npy->count;
    if (check_length(of, codes->length, diag))
        return diag_prefix(diag, arrays->paths[0]);
    if (of->kind == OPERATOR_WEIGH)
        return shape_weigh(arrays, codes, shape, diag);
    if (arrays->count == 2 && !have_one_shape(npy, &arrays->npy[1]))
        return diag_set(diag, EXIT_USAGE, "%s: must have the shape of %s", arrays->paths[1], arrays->paths[0]);
    return EXIT_DONE;
}

static int eval_arrays(const struct row_operator *of, const struct packed_operator *packed, const struct arrays *arrays,
                       const char *output, struct diag *diag)
{
    struct npy shape;
    struct codes codes = {0};
    if (shape_arrays(of, arrays, &codes, &shape, diag) || codes_make(of, &codes, diag))
        return diag->code;
    if (take_array(&of->in, &arrays->npy[0], codes.x, diag)) {
        diag_prefix(diag, arrays->paths[0]);
    } else if (arrays->count == 2 && take_array(&of->in_b, &arrays->npy[1], codes.b, diag)) {
        diag_prefix(diag, arrays->paths[1]);
    } else {
        run_rows(of, packed, &codes);
        print_or_write(of, &shape, codes.y, output, diag);
    }
    codes_free(&codes);
    return diag->code;
}

static bool is_array(const char *input)
{
    const size_t length = strlen(input);
    return length > 4 && strcmp(input + length - 4, ".npy") == 0;
}

static int eval_files(const struct row_operator *of, const struct packed_operator *packed, const char *const *paths,
                      int count, const char *output, struct diag *diag)
{
    struct arrays arrays = {.paths = paths, .count = count};
    if (arrays_read(&arrays, diag) == EXIT_DONE)
        eval_arrays(of, packed, &arrays, output, diag);
    free(arrays.bytes[0]);
    free(arrays.bytes[1]);
    return diag->code;
}

/* All words are one row; of two inputs they are pairs. */
static int eval_words(const struct row_operator *of, const struct packed_operator *packed, const char *const *words,
                      size_t count, const char *output, struct diag *diag)
{
    const size_t each = operator_has_in_b(of->kind) ? 2 : 1, places = count / each;
    const size_t results = of->kind == OPERATOR_WEIGH ? 1 : places;
    struct npy shape = {.dimensions = 1, .shape = {results}, .count = results};
    struct codes codes = {places, places, results, places, 1, 1, NULL, NULL, NULL};
    if (count % each)
        return diag_set(diag, EXIT_USAGE, "%zu codes, must be pairs of one for each input, or two FILE.npy", count);
    if (codes_make(of, &codes, diag) == EXIT_DONE)
        check_length(of, places, diag);
    for (size_t k = 0; diag->code == EXIT_DONE && k < count; k++) {
        const bool is_b = k % each;
        int64_t code;
        if (number_integer(words[k], strlen(words[k]), &code) != NUMBER_OK)
            diag_set(diag, EXIT_USAGE, "\"%s\": must be a code, or a FILE.npy alone", words[k]);
        else
            take_code(is_b ? &of->in_b : &of->in, is_b ? codes.b : codes.x, k / each, code, diag);
    }
    if (diag->code == EXIT_DONE) {
        run_rows(of, packed, &codes);
        print_or_write(of, &shape, codes.y, output, diag);
    }
    codes_free(&codes);
    return diag->code;
}

int row_operator_eval(const char *path, const char *const *inputs, int count, const char *output, struct diag *diag)
{
    struct row_operator of;
    struct packed_operator packed;
    if (operator_read(path, &of, diag))
        return diag->code;
    const int arrays = operator_has_in_b(of.kind) ? 2 : 1;
    if (operator_pack(&of, EXIT_USAGE, &packed, diag) == EXIT_DONE) {
        if (count == arrays && is_array(inputs[0]))
            eval_files(&of, &packed, inputs, count, output, diag);
        else
            eval_words(&of, &packed, inputs, (size_t)count, output, diag);
    }
    packed_operator_free(&packed);
    operator_free(&of);
    return diag->code;
}

static void add_metrics(struct cells *cells, const struct row_operator *of, const char *path,
                        const struct row_sweep *sweep, const struct operator_certificate *certificate)
{
    char in[128], in_b[128], out[128];
    tensor_format(&of->in, in, sizeof in);
    tensor_format(&of->in_b, in_b, sizeof in_b);
    tensor_format(&of->out, out, sizeof out);
    const double places = (double)sweep->places;
    cells_add_text(cells, "operator_file", "file", CELL_STRING | CELL_BRIEF, path);
    cells_add(cells, "operator", "operator", CELL_STRING | CELL_BRIEF, "%s", operator_name(of->kind));
    cells_add(cells, "in", "in", CELL_STRING | CELL_BRIEF, "%s", in);
    if (operator_has_in_b(of->kind))
        cells_add(cells, "in_b", operator_in_b_words(of->kind), CELL_STRING | CELL_BRIEF, "%s", in_b);
    cells_add(cells, "out", "out", CELL_STRING | CELL_BRIEF, "%s", out);
    if (!operator_is_element(of->kind))
        cells_add(cells, "length", "places of a row", CELL_BRIEF, "%" PRIu32, of->length);
    cells_add(cells, "bound_lsb", "proven max, LSB", CELL_BRIEF, "%.6g", certificate->bound_lsb);
    cells_add(cells, "max_err_lsb", "max, LSB", CELL_BRIEF, "%.6g", sweep->worst[0].error);
    cells_add(cells, "rms_err_lsb", "RMS, LSB", CELL_BRIEF, "%.6g", sqrt(sweep->squares / places));
    cells_add(cells, "mean_abs_err_lsb", "mean abs, LSB", CELL_BRIEF, "%.6g", sweep->sum / places);
    cells_add(cells, "correctly_rounded", "correctly rounded", CELL_BRIEF, "%.6g", (double)sweep->correct / places);
    cells_add(cells, "rows", "rows", CELL_BRIEF, "%" PRId64, sweep->rows);
    cells_add(cells, "places", "places", 0, "%" PRId64, sweep->places);
    cells_add(cells, "worst_row", "worst row", CELL_STRING, "%s", sweep->worst[0].words);
}

/* For people: the ten worst rows, and how often errors of a size occur. */
static void add_details(struct text *out, const struct row_sweep *sweep)
{
    text_add(out, "\n| error, LSB | row |\n| ---------: | :-- |\n");
    for (int k = 0; k < sweep->kept; k++)
        text_add(out, "| %10.6f | %s |\n", sweep->worst[k].error, sweep->worst[k].words);
    text_add(out, "\n| error up to, LSB | places |\n| ---------------: | -----: |\n");
    for (int k = 0; k < ROW_SWEEP_BINS; k++)
        if (sweep->bins[k])
            text_add(out, "| %.4f | %" PRId64 " |\n", sweep->top * (k + 1) / ROW_SWEEP_BINS, sweep->bins[k]);
}

int row_operator_sweep(const struct row_operator_sweep *request, struct diag *diag)
{
    struct row_operator of;
    struct operator_certificate certificate = {0};
    struct row_sweep sweep = {0};
    struct cells cells = {0};
    struct text text = {0};
    if (operator_read(request->path, &of, diag))
        return diag->code;
    const int64_t rows = request->rows ? request->rows : hard_rows_default(&of);
    if (operator_bound(&of, &certificate, diag) == EXIT_DONE)
        row_sweep(&of, rows, certificate.bound_lsb, &sweep, diag);
    if (diag->code == EXIT_DONE) {
        add_metrics(&cells, &of, request->path, &sweep, &certificate);
        cells_print(&cells, 1, request->format, terminal_width(request->output), &text);
        if (request->format == CELLS_MD)
            add_details(&text, &sweep);
        if (text.failed)
            diag_set(diag, EXIT_IO, "out of memory");
        else
            file_write(request->output, text.bytes, text.size, diag);
    }
    text_free(&text);
    operator_free(&of);
    if (diag->code == EXIT_DONE && certificate.bound_lsb < sweep.worst[0].error)
        return diag_set(diag, EXIT_IO, "%s: a row is beyond its bound", request->path);
    if (diag->code == EXIT_DONE && !isnan(request->max_err) && certificate.bound_lsb > request->max_err)
        return diag_set(diag, EXIT_REQUIREMENT, "%s: the proven error %.6g LSB exceeds --max-err %g", request->path,
                        certificate.bound_lsb, request->max_err);
    return diag->code;
}
