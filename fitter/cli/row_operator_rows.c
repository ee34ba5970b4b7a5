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

static void set_code(const struct tensor *tensor, void *array, size_t k, int64_t code)
{
    if (tensor->bits == 8)
        ((uint8_t *)array)[k] = (uint8_t)code;
    else
        ((uint16_t *)array)[k] = (uint16_t)code;
}

static int check_length(const struct row_operator *of, size_t length, struct diag *diag)
{
    if (operator_is_norm(of->kind) ? length == of->length : length >= 1 && length <= of->length)
        return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE, "a row of %zu places, must be %s%" PRIu32, length,
                    operator_is_norm(of->kind) ? "" : "1 to ", of->length);
}

static int check_code(const struct row_operator *of, int64_t code, size_t place, struct diag *diag)
{
    if (code >= of->in.qmin && code <= of->in.qmax)
        return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE, "place %zu: %" PRId64 ", must be a code, %" PRId64 "..%" PRId64, place, code,
                    of->in.qmin, of->in.qmax);
}

/* Rows of so many places into results of the output's type; x holds codes of the input's. */
static void run_rows(const struct row_operator *of, const struct packed_operator *packed, const char *x, char *y,
                     size_t rows, size_t length)
{
    for (size_t r = 0; r < rows; r++)
        packed_operator_run(packed, x + r * length * bytes_of(&of->in), y + r * length * bytes_of(&of->out), length);
}

static int print_or_write(const struct row_operator *of, struct npy *shape, unsigned char *y, const char *output,
                          struct diag *diag)
{
    unsigned char *bytes = NULL;
    size_t size;
    if (!output) {
        for (size_t k = 0; k < shape->count; k++)
            printf("%" PRId64 "\n", operator_code(&of->out, y, k));
        return EXIT_DONE;
    }
    npy_swap_order(y, shape->count, shape->item_size);
    shape->data = y;
    if (npy_build(shape, &bytes, &size, diag) == EXIT_DONE)
        file_write(output, bytes, size, diag);
    free(bytes);
    return diag->code;
}

/* An array of codes of any integer type. */
static int eval_array(const struct row_operator *of, const struct packed_operator *packed, const struct npy *npy,
                      const char *output, struct diag *diag)
{
    const size_t length = npy->dimensions ? npy->shape[npy->dimensions - 1] : 1;
    struct npy shape = *npy;
    if (npy->kind == 'f')
        return diag_set(diag, EXIT_USAGE, "an array of reals, must be codes, integers");
    if (npy->count == 0 || check_length(of, length, diag))
        return npy->count == 0 ? diag_set(diag, EXIT_USAGE, "an array without a row") : diag->code;
    char *const x = malloc(npy->count * bytes_of(&of->in)), *const y = malloc(npy->count * bytes_of(&of->out));
    if (!x || !y)
        diag_set(diag, EXIT_IO, "out of memory for %zu codes", npy->count);
    for (size_t k = 0; diag->code == EXIT_DONE && k < npy->count; k++) {
        const int64_t code = npy_integer(npy, k);
        if (check_code(of, code, k, diag) == EXIT_DONE)
            set_code(&of->in, x, k, code);
    }
    if (diag->code == EXIT_DONE) {
        run_rows(of, packed, x, y, npy->count / length, length);
        shape.kind = of->out.is_signed ? 'i' : 'u';
        shape.item_size = (int)bytes_of(&of->out);
        print_or_write(of, &shape, (unsigned char *)y, output, diag);
    }
    free(x);
    free(y);
    return diag->code;
}

static bool is_array(const char *input)
{
    const size_t length = strlen(input);
    return length > 4 && strcmp(input + length - 4, ".npy") == 0;
}

static int eval_file(const struct row_operator *of, const struct packed_operator *packed, const char *path,
                     const char *output, struct diag *diag)
{
    unsigned char *bytes;
    size_t size;
    struct npy npy;
    if (file_read(path, FILE_MAX_BYTES, &bytes, &size, diag))
        return diag->code;
    if (npy_parse(bytes, size, &npy, diag) || eval_array(of, packed, &npy, output, diag))
        diag_prefix(diag, path);
    free(bytes);
    return diag->code;
}

/* All words are one row. */
static int eval_words(const struct row_operator *of, const struct packed_operator *packed, const char *const *words,
                      size_t count, const char *output, struct diag *diag)
{
    struct npy shape = {of->out.is_signed ? 'i' : 'u', (int)bytes_of(&of->out), 1, {count}, count, NULL};
    char *const x = malloc(count * bytes_of(&of->in)), *const y = malloc(count * bytes_of(&of->out));
    if (!x || !y)
        diag_set(diag, EXIT_IO, "out of memory for %zu codes", count);
    else
        check_length(of, count, diag);
    for (size_t k = 0; diag->code == EXIT_DONE && k < count; k++) {
        int64_t code;
        if (number_integer(words[k], strlen(words[k]), &code) != NUMBER_OK)
            diag_set(diag, EXIT_USAGE, "\"%s\": must be a code, or a FILE.npy alone", words[k]);
        else if (check_code(of, code, k, diag) == EXIT_DONE)
            set_code(&of->in, x, k, code);
    }
    if (diag->code == EXIT_DONE) {
        run_rows(of, packed, x, y, 1, count);
        print_or_write(of, &shape, (unsigned char *)y, output, diag);
    }
    free(x);
    free(y);
    return diag->code;
}

int row_operator_eval(const char *path, const char *const *inputs, int count, const char *output, struct diag *diag)
{
    struct row_operator of;
    struct packed_operator packed;
    if (operator_read(path, &of, diag))
        return diag->code;
    if (operator_pack(&of, EXIT_USAGE, &packed, diag) == EXIT_DONE) {
        if (count == 1 && is_array(inputs[0]))
            eval_file(&of, &packed, inputs[0], output, diag);
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
    char in[128], out[128];
    tensor_format(&of->in, in, sizeof in);
    tensor_format(&of->out, out, sizeof out);
    const double places = (double)sweep->places;
    cells_add_text(cells, "operator_file", "file", CELL_STRING | CELL_BRIEF, path);
    cells_add(cells, "operator", "operator", CELL_STRING | CELL_BRIEF, "%s", operator_name(of->kind));
    cells_add(cells, "in", "in", CELL_STRING | CELL_BRIEF, "%s", in);
    cells_add(cells, "out", "out", CELL_STRING | CELL_BRIEF, "%s", out);
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
