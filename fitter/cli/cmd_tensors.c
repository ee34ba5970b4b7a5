/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/escape.h"
#include "command.h"
#include "function/model_type.h"
#include "io/columns.h"
#include "io/model_file.h"

#define MOST_NAME_BYTES 200

static const struct option_info options[] = {
    {NULL, NULL, NULL},
};

static void add_tensor(const struct model *model, size_t index, struct columns *columns)
{
    const struct model_tensor *const tensor = &model->tensors[index];
    struct text name = {0}, instead = {0};
    struct tensor type;
    char written[80];
    escape_bytes(&name, model_name(model, tensor->name), tensor->name.size, MOST_NAME_BYTES);
    const bool has_type = model_type_of(tensor, &type, &instead);
    if (has_type)
        tensor_format(&type, written, sizeof written);
    columns->failed |= name.failed || instead.failed;
    columns_cell(columns, "%zu", index);
    columns_cell(columns, "%s", has_type ? written : instead.bytes ? instead.bytes : "");
    columns_cell(columns, "%s", name.bytes ? name.bytes : "");
    text_free(&name);
    text_free(&instead);
}

/* The widths of all are found first, and nothing is kept. */
static int list(const struct model *model, struct diag *diag)
{
    static const char *const titles[] = {">index", "type", "tensor", NULL};
    struct columns columns;
    columns_measure(&columns, titles);
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            columns_show(&columns, titles);
        for (size_t i = 0; i < model->count; i++)
            add_tensor(model, i, &columns);
    }
    return columns.failed ? diag_set(diag, EXIT_IO, "out of memory") : EXIT_DONE;
}

static int run(int argc, char **argv, struct diag *diag);

const struct command command_tensors = {
    .name = "tensors",
    .synopsis = "pwlc tensors FILE",
    .summary = "List the tensors of a TFLite or ONNX model, with the types that fit takes from them.",
    .details =
        "Where a type is asked for, FILE:TENSOR takes that of a tensor, by its name or its index in the list. A "
        "model of ONNX is read as far as QuantizeLinear, DequantizeLinear and the operators QLinear... and QGemm have "
        "scales and zero points that are stored: the real values before QuantizeLinear and after DequantizeLinear "
        "have the type of their codes.",
    .example =
        "printf "
        "':(\\n\\031\\n\\001x\\n\\001s\\022\\001y\"\\016QuantizeLinear*\\013\\020\\001\"\\004\\000\\000\\200>B\\001s' "
        ">small.onnx\n"
        "pwlc tensors small.onnx\n"
        "pwlc fit tanh --in small.onnx:y --out s8:2^-7 -o tanh.json",
    .options = options,
    .run = run,
};

static int run(int argc, char **argv, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_tensors, .argc = argc, .argv = argv};
    const struct option_info *option;
    const char *value, *path = NULL;
    struct model model;
    int next;
    while ((next = argument_next(&walk, &option, &value, diag)) > 0) {
        if (path)
            return diag_set(diag, EXIT_USAGE, "\"%s\" is one argument too many; a file is listed alone", value);
        path = value;
    }
    if (next < 0)
        return diag->code;
    if (!path)
        return diag_set(diag, EXIT_USAGE, "a file is needed: pwlc tensors FILE");
    if (model_read(path, &model, diag) != EXIT_DONE)
        return diag->code;
    const int code = list(&model, diag);
    model_free(&model);
    return code;
}
