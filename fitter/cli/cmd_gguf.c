/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/half.h>

#include "base/progress.h"
#include "base/suggest.h"
#include "command.h"
#include "io/columns.h"
#include "io/gguf_file.h"
#include "io/npy.h"

static const struct option_info options[] = {
    {"--metadata", NULL, "list: the metadata instead of the tensors"},
    {"--raw", NULL, "extract: the bytes as they are in the file, instead of an .npy array of floats"},
    {"-o", "FILE", "extract: where to write; - is standard output"},
    {NULL, NULL, NULL},
};

static int list_metadata(const struct gguf *gguf, struct diag *diag)
{
    size_t at = gguf->metadata_at;
    bool failed = false;
    for (uint64_t i = 0; i < gguf->metadata_count; i++) {
        struct gguf_value value;
        struct text text = {0};
        gguf_next_value(gguf, &at, &value);
        gguf_string_text(value.key, &text);
        text_add(&text, " = ");
        gguf_value_text(&value, &text);
        failed |= text.failed;
        if (!text.failed)
            printf("%s\n", text.bytes);
        text_free(&text);
    }
    return failed ? diag_set(diag, EXIT_IO, "out of memory") : EXIT_DONE;
}

static void add_tensor(const struct gguf_tensor *tensor, struct columns *columns)
{
    struct text name = {0};
    char type[GGUF_TYPE_NAME_SIZE], shape[GGUF_MAX_DIMENSIONS * 24] = "";
    size_t length = 0;
    gguf_string_text(tensor->name, &name);
    for (int d = tensor->dimensions - 1; d >= 0; d--)
        length += (size_t)snprintf(shape + length, sizeof shape - length, "%" PRIu64 "%s", tensor->shape[d],
                                   d > 0 ? " x " : "");
    columns->failed |= name.failed;
    columns_text(columns, name.bytes ? name.bytes : "");
    if (tensor->known)
        columns_text(columns, tensor->known->name);
    else
        columns_cell(columns, "%s, unsupported", gguf_type_name(tensor->type, type));
    columns_text(columns, shape);
    if (tensor->known)
        columns_cell(columns, "%" PRIu64, tensor->bytes);
    else
        columns_text(columns, "-");
    columns_cell(columns, "%" PRIu64, tensor->at);
    text_free(&name);
}

/* A file may have millions: the widths of all are found first, and nothing is kept. */
static int list_tensors(const struct gguf *gguf, struct diag *diag)
{
    static const char *const titles[] = {"tensor", "type", "shape", ">bytes", ">at", NULL};
    struct columns columns;
    columns_measure(&columns, titles);
    for (int pass = 0; pass < 2; pass++) {
        size_t at = gguf->tensors_at;
        if (pass == 1)
            columns_show(&columns, titles);
        for (uint64_t i = 0; i < gguf->tensor_count; i++) {
            struct gguf_tensor tensor;
            gguf_next_tensor(gguf, &at, &tensor);
            add_tensor(&tensor, &columns);
        }
    }
    return columns.failed ? diag_set(diag, EXIT_IO, "out of memory") : EXIT_DONE;
}

/* Rows first, as numpy has it. */
static int write_array(const struct gguf_tensor *tensor, const unsigned char *data, const char *output,
                       struct diag *diag)
{
    struct npy npy = {.kind = 'f', .item_size = 4, .dimensions = tensor->dimensions};
    unsigned char *bytes = NULL;
    size_t size = 0;
    float *values;
    if (gguf_dequantise(tensor, data, &values, diag) != EXIT_DONE)
        return diag->code;
    npy.count = (size_t)tensor->elements;
    for (int d = 0; d < tensor->dimensions; d++)
        npy.shape[d] = (size_t)tensor->shape[tensor->dimensions - 1 - d];
    for (size_t i = 0; i < npy.count; i++)
        npy_store((unsigned char *)&values[i], pwl_bits_of_f32(values[i]), npy.item_size);
    npy.data = (const unsigned char *)values;
    int code = npy_build(&npy, &bytes, &size, diag);
    if (code == EXIT_DONE)
        code = file_write(output, bytes, size, diag);
    free(bytes);
    free(values);
    return code;
}

struct request {
    const char *action, *path, *tensor, *output;
    bool metadata, raw;
};

static int extract(const struct gguf_file *file, const struct request *request, struct diag *diag)
{
    struct gguf_tensor tensor;
    unsigned char *data;
    if (gguf_need(&file->gguf, request->tensor, &tensor, diag) != EXIT_DONE)
        return diag_prefix(diag, request->path);
    struct progress progress;
    progress_begin(&progress, "values", 0);
    int code = gguf_load(file, &tensor, &data, diag);
    if (code == EXIT_DONE) {
        code = request->raw ? file_write(request->output, data, (size_t)tensor.bytes, diag)
                            : write_array(&tensor, data, request->output, diag);
        free(data);
    }
    progress_end(&progress);
    return code;
}

static int perform(const struct request *request, struct diag *diag)
{
    struct gguf_file file;
    int code = gguf_open(request->path, &file, diag);
    if (code != EXIT_DONE)
        return code;
    if (strcmp(request->action, "extract") == 0)
        code = extract(&file, request, diag);
    else
        code = request->metadata ? list_metadata(&file.gguf, diag) : list_tensors(&file.gguf, diag);
    gguf_close(&file);
    return code;
}

static int check_request(const struct request *request, struct diag *diag)
{
    static const char *const actions[] = {"list", "extract", NULL};
    if (!request->action)
        return diag_set(diag, EXIT_USAGE, "an action is needed: pwlc gguf list FILE, or pwlc gguf extract FILE TENSOR");
    const bool extracts = strcmp(request->action, "extract") == 0;
    if (!extracts && strcmp(request->action, "list") != 0) {
        char meant[SUGGESTION_SIZE];
        return diag_set(diag, EXIT_USAGE, "\"%s\" is not an action%s the actions are list and extract", request->action,
                        suggestion(request->action, actions, ";", meant));
    }
    if (!request->path)
        return diag_set(diag, EXIT_USAGE, "a file is needed: pwlc gguf %s FILE", request->action);
    if (extracts && !request->tensor)
        return diag_set(diag, EXIT_USAGE, "a tensor is needed: pwlc gguf extract FILE TENSOR -o OUT.npy");
    if (extracts && !request->output)
        return diag_set(diag, EXIT_USAGE, "-o is needed: pwlc gguf extract FILE TENSOR -o OUT.npy");
    if (extracts && request->metadata)
        return diag_set(diag, EXIT_USAGE, "--metadata goes with list");
    if (!extracts && (request->raw || request->output))
        return diag_set(diag, EXIT_USAGE, "%s goes with extract", request->raw ? "--raw" : "-o");
    if (!extracts && request->tensor)
        return diag_set(diag, EXIT_USAGE, "\"%s\" is one argument too many; list takes a file", request->tensor);
    return EXIT_DONE;
}

static int run(int argc, char **argv, struct diag *diag);

const struct command command_gguf = {
    .name = "gguf",
    .synopsis = "pwlc gguf list FILE [--metadata] | pwlc gguf extract FILE TENSOR [--raw] -o OUT",
    .summary = "List the tensors of a GGUF file, or write one of them as an .npy array of floats.",
    .details = "Reads tensors of F32, F16, BF16, Q4_0, Q8_0, MXFP4, Q4_K, Q5_K and Q6_K; others are listed by name.",
    .example =
        "printf 'GGUF\\003000\\0010000000%08d\\0010000000w\\001000\\0020000000%019d00\\200?000@' 0 0 | tr 0 '\\0' "
        ">small.gguf\n"
        "pwlc gguf list small.gguf\n"
        "pwlc gguf extract small.gguf w -o w.npy",
    .options = options,
    .run = run,
};

static int run(int argc, char **argv, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_gguf, .argc = argc, .argv = argv};
    const struct option_info *option;
    const char *value;
    struct request request = {0};
    const char **const positional[] = {&request.action, &request.path, &request.tensor};
    size_t count = 0;
    int next;
    while ((next = argument_next(&walk, &option, &value, diag)) > 0) {
        if (!option && count < sizeof positional / sizeof *positional)
            *positional[count++] = value;
        else if (!option)
            return diag_set(diag, EXIT_USAGE, "\"%s\" is one argument too many", value);
        else if (option == &options[0])
            request.metadata = true;
        else if (option == &options[1])
            request.raw = true;
        else
            request.output = value;
    }
    if (next < 0)
        return diag->code;
    if (check_request(&request, diag) != EXIT_DONE)
        return diag->code;
    return perform(&request, diag);
}
