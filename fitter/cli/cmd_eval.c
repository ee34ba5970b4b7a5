/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "command.h"
#include "io/npy.h"
#include "table/table.h"
#include "table/trace.h"

static const struct option_info options[] = {
    {"--real", NULL, "inputs are real values x, quantised as round(x / scale) + zero point, ties to even; prints y"},
    {"--trace", NULL, "show every intermediate value, the real function and the error"},
    {"--samples", "FILE", "with --trace: the samples that the table was made from"},
    {"-o", "OUT.npy", "write the results as .npy, in the shape of the one .npy input, else in one dimension"},
    {NULL, NULL, NULL},
};

struct request {
    const char *table_path;
    const char **inputs; /* in argv's order */
    int input_count;
    bool real, trace;
    const char *samples, *output;
};

/* Input codes as given, not yet clamped. */
struct codes {
    const struct tensor *in;
    bool real;
    int64_t *values;
    size_t count, capacity;
    struct npy shape; /* of the output: the input's when one .npy is all there is */
};

static int codes_add(struct codes *codes, int64_t value, struct diag *diag)
{
    if (codes->count == codes->capacity) {
        const size_t capacity = codes->capacity ? 2 * codes->capacity : 256;
        int64_t *values =
            capacity > SIZE_MAX / sizeof *values ? NULL : realloc(codes->values, capacity * sizeof *values);
        if (!values)
            return diag_set(diag, EXIT_IO, "out of memory for %zu codes", capacity);
        codes->values = values;
        codes->capacity = capacity;
    }
    codes->values[codes->count++] = value;
    return EXIT_DONE;
}

/* The code of a real value. 2^62 is beyond every range, so that larger ones are clamped all the same. */
static int64_t quantise(const struct tensor *in, long double x)
{
    const long double limit = 4611686018427387904.0L;
    const long double q = rintl(x / in->scale.value) + (long double)in->zero_point;
    return (int64_t)fminl(fmaxl(q, -limit), limit);
}

/* One word of the command line or of standard input. */
static int add_word(struct codes *codes, const char *word, size_t length, struct diag *diag)
{
    const int shown = length > 60 ? 60 : (int)length;
    if (codes->real) {
        double x;
        if (number_real(word, length, &x) != NUMBER_OK)
            return diag_set(diag, EXIT_USAGE, "\"%.*s\" is not a finite real value, such as -1.5 or 3e-2", shown, word);
        return codes_add(codes, quantise(codes->in, x), diag);
    }
    int64_t q;
    switch (number_integer(word, length, &q)) {
    case NUMBER_OK:
        return codes_add(codes, q, diag);
    case NUMBER_RANGE:
        return diag_set(diag, EXIT_USAGE, "\"%.*s\" does not fit 64 bits; the table's codes are %" PRId64 "..%" PRId64,
                        shown, word, codes->in->qmin, codes->in->qmax);
    default:
        return diag_set(diag, EXIT_USAGE, "\"%.*s\" is not an integer code; real values need --real", shown, word);
    }
}

static int add_words(struct codes *codes, const char *text, size_t size, struct diag *diag)
{
    size_t line = 1;
    for (size_t at = 0; at < size;) {
        if (isspace((unsigned char)text[at])) {
            line += text[at++] == '\n';
            continue;
        }
        const size_t start = at;
        while (at < size && !isspace((unsigned char)text[at]))
            at++;
        if (add_word(codes, text + start, at - start, diag) != EXIT_DONE) {
            char where[64];
            snprintf(where, sizeof where, "standard input: line %zu", line);
            return diag_prefix(diag, where);
        }
    }
    return EXIT_DONE;
}

static int add_standard_input(struct codes *codes, struct diag *diag)
{
    unsigned char *bytes;
    size_t size;
    if (file_read("-", FILE_MAX_BYTES, &bytes, &size, diag) != EXIT_DONE)
        return diag->code;
    const int code = add_words(codes, (const char *)bytes, size, diag);
    free(bytes);
    return code;
}

/* An unsigned element whose highest bit is set. */
static bool beyond_int64(const struct npy *npy, size_t i)
{
    return npy->kind == 'u' && npy->item_size == 8 && npy->data[8 * i + 7] > INT8_MAX;
}

static int add_elements(struct codes *codes, const struct npy *npy, struct diag *diag)
{
    if (npy->kind == 'f' && !codes->real)
        return diag_set(diag, EXIT_USAGE, "the elements are real, integer codes are needed; real values need --real");
    for (size_t i = 0; i < npy->count; i++) {
        const double x = codes->real ? npy_real(npy, i) : 0;
        if (isnan(x))
            return diag_set(diag, EXIT_USAGE, "element %zu is not a number; every element must be", i);
        const int64_t q = codes->real ? quantise(codes->in, x) : npy_integer(npy, i);
        if (!codes->real && beyond_int64(npy, i))
            return diag_set(diag, EXIT_USAGE, "element %zu is above %" PRId64 ", the largest code", i, INT64_MAX);
        if (codes_add(codes, q, diag) != EXIT_DONE)
            return diag->code;
    }
    return EXIT_DONE;
}

static int add_array(struct codes *codes, const char *path, struct diag *diag)
{
    unsigned char *bytes;
    size_t size;
    if (file_read(path, FILE_MAX_BYTES, &bytes, &size, diag) != EXIT_DONE)
        return diag->code;
    int code = npy_parse(bytes, size, &codes->shape, diag);
    if (code == EXIT_DONE)
        code = add_elements(codes, &codes->shape, diag);
    codes->shape.data = NULL;
    free(bytes);
    return code == EXIT_DONE ? EXIT_DONE : diag_prefix(diag, path);
}

static bool is_array(const char *input)
{
    const size_t length = strlen(input);
    return length > 4 && strcmp(input + length - 4, ".npy") == 0;
}

static int collect(const struct request *request, struct codes *codes, struct diag *diag)
{
    for (int i = 0; i < request->input_count; i++) {
        const char *input = request->inputs[i];
        int code;
        if (strcmp(input, "-") == 0)
            code = add_standard_input(codes, diag);
        else if (is_array(input))
            code = add_array(codes, input, diag);
        else
            code = add_word(codes, input, strlen(input), diag);
        if (code != EXIT_DONE)
            return code;
    }
    if (request->input_count != 1 || !is_array(request->inputs[0])) {
        codes->shape.dimensions = 1;
        codes->shape.shape[0] = codes->count;
        codes->shape.count = codes->count;
    }
    return EXIT_DONE;
}

static void note_clamped(const struct codes *codes)
{
    size_t clamped = 0, first = 0;
    for (size_t i = codes->count; i-- > 0;) {
        if (codes->values[i] < codes->in->qmin || codes->values[i] > codes->in->qmax) {
            clamped++;
            first = i;
        }
    }
    if (clamped)
        fprintf(stderr,
                "pwlc eval: note: %zu of %zu codes outside [%" PRId64 ", %" PRId64 "] clamped; the first is %" PRId64
                "\n",
                clamped, codes->count, codes->in->qmin, codes->in->qmax, codes->values[first]);
}

/* The smallest element type that holds the output codes; double for real values. */
static int write_array(const struct request *request, const struct table *table, const struct packed_table *packed,
                       const struct codes *codes, struct diag *diag)
{
    const struct tensor *out = &table->out;
    struct npy npy = codes->shape;
    npy.kind = request->real ? 'f' : out->is_signed ? 'i' : 'u';
    npy.item_size = request->real ? 8 : out->bits <= 8 ? 1 : out->bits <= 16 ? 2 : 4;
    const size_t item_size = (size_t)npy.item_size;
    /* The codes themselves took 8 bytes an element, so that the product cannot overflow. */
    unsigned char *data = malloc(codes->count * item_size + 1);
    if (!data)
        return diag_set(diag, EXIT_IO, "out of memory for %zu results", codes->count);
    for (size_t i = 0; i < codes->count; i++) {
        const int64_t q_y = packed_eval(packed, codes->values[i]);
        uint64_t bits = (uint64_t)q_y;
        if (request->real) {
            const double y = (double)tensor_real(out, q_y);
            memcpy(&bits, &y, sizeof bits);
        }
        npy_store(data + i * item_size, bits, npy.item_size);
    }
    npy.data = data;

    unsigned char *bytes = NULL;
    size_t size;
    int code = npy_build(&npy, &bytes, &size, diag);
    if (code == EXIT_DONE)
        code = file_write(request->output, bytes, size, diag);
    free(bytes);
    free(data);
    return code;
}

static void print_results(const struct request *request, const struct table *table, const struct packed_table *packed,
                          const struct codes *codes)
{
    for (size_t i = 0; i < codes->count; i++) {
        const int64_t q_y = packed_eval(packed, codes->values[i]);
        if (request->real)
            printf("%.9Lg\n", tensor_real(&table->out, q_y));
        else
            printf("%" PRId64 "\n", q_y);
    }
}

static int print_traces(const struct request *request, const struct table *table, const struct packed_table *packed,
                        const struct codes *codes, struct diag *diag)
{
    struct function function = {0};
    /* A table made from samples is traced without its reference when the samples are not at hand. */
    const bool known = !table->samples_sha256[0] || request->samples;
    if (known && table_function(table, request->samples, &function, diag) != EXIT_DONE)
        return diag->code;
    int code = EXIT_DONE;
    for (size_t i = 0; i < codes->count && code == EXIT_DONE; i++) {
        if (i > 0)
            printf("\n");
        code = trace_print(table, packed, known ? &function : NULL, codes->values[i], diag);
    }
    if (known)
        function_free(&function);
    return code;
}

static int answer(const struct request *request, const struct table *table, const struct packed_table *packed,
                  struct diag *diag)
{
    struct codes codes = {.in = &table->in, .real = request->real};
    int code = collect(request, &codes, diag);
    if (code == EXIT_DONE) {
        if (request->output)
            code = write_array(request, table, packed, &codes, diag);
        else if (request->trace)
            code = print_traces(request, table, packed, &codes, diag);
        else
            print_results(request, table, packed, &codes);
    }
    if (code == EXIT_DONE)
        note_clamped(&codes);
    free(codes.values);
    return code;
}

static int parse(int argc, char **argv, struct request *request, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_eval, .argc = argc, .argv = argv};
    const struct option_info *option;
    const char *value;
    int next, standard_input = 0;
    while ((next = argument_next(&walk, &option, &value, diag)) > 0) {
        if (!option) {
            standard_input += strcmp(value, "-") == 0;
            if (!request->table_path)
                request->table_path = value;
            else
                request->inputs[request->input_count++] = value;
        } else if (strcmp(option->name, "--real") == 0) {
            request->real = true;
        } else if (strcmp(option->name, "--trace") == 0) {
            request->trace = true;
        } else if (strcmp(option->name, "--samples") == 0) {
            request->samples = value;
        } else {
            request->output = value;
        }
    }
    if (next < 0)
        return diag->code;
    if (!request->table_path)
        return diag_set(diag, EXIT_USAGE, "a table is needed: pwlc eval TABLE.json CODE...");
    if (!request->input_count)
        return diag_set(diag, EXIT_USAGE, "codes are needed after %s: integers, - or a .npy file", request->table_path);
    if (standard_input > 1)
        return diag_set(diag, EXIT_USAGE, "- is given more than once; standard input can be read once");
    if (request->trace && request->output)
        return diag_set(diag, EXIT_USAGE, "--trace and -o contradict each other; a trace goes to standard output");
    if (request->samples && !request->trace)
        return diag_set(diag, EXIT_USAGE, "--samples is of use with --trace alone");
    if (request->output && strcmp(request->output, "-") != 0 && !is_array(request->output))
        return diag_set(diag, EXIT_USAGE, "-o %s: the name must end in .npy", request->output);
    return EXIT_DONE;
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct request request = {.inputs = malloc((size_t)argc * sizeof *request.inputs)};
    struct table table = {0};
    struct packed_table packed = {0};
    pwl_proof proof;
    if (!request.inputs)
        return diag_set(diag, EXIT_IO, "out of memory");
    int code = parse(argc, argv, &request, diag);
    if (code == EXIT_DONE)
        code = table_read(request.table_path, &table, diag);
    if (code == EXIT_DONE)
        code = table_prove(&table, EXIT_USAGE, &packed, &proof, diag);
    if (code == EXIT_DONE)
        code = answer(&request, &table, &packed, diag);
    packed_table_free(&packed);
    table_free(&table);
    free(request.inputs);
    return code;
}

const struct command command_eval = {
    .name = "eval",
    .synopsis = "pwlc eval TABLE.json CODE... [flags]",
    .summary = "Evaluate codes as the integer runtime does; a CODE may be - (standard input) or an array FILE.npy.",
    .example = "pwlc fit tanh --in s8:2^-5 --out s8:2^-7 --method uniform -o tanh.json\n"
               "pwlc eval tanh.json 0 16 -16\n"
               "pwlc eval tanh.json --trace 16\n"
               "pwlc eval tanh.json --real 0.5 -0.5",
    .options = options,
    .run = run,
};
