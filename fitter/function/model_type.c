/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model_type.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "io/model_file.h"

/* -- FILE:TENSOR ------------------------------------------------------------------------------------------------------
 */

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Whether a text of that length ends as models do. */
static bool ends_as_model(const char *text, size_t length)
{
    static const char *const endings[] = {".tflite", ".onnx"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t size = strlen(endings[i]);
        if (length > size && strncasecmp(text + length - size, endings[i], size) == 0)
            return true;
    }
    return false;
}

/* Cuts a copy of the text behind the name of the file, at the last colon where what is before it is a file, or else
 * ends as one. The tensor; null where there is none. */
static char *cut(char *copy, bool (*accepts)(const char *path))
{
    for (size_t i = strlen(copy); i-- > 1;) {
        if (copy[i] != ':')
            continue;
        copy[i] = '\0';
        if (accepts(copy))
            return copy + i + 1;
        copy[i] = ':';
    }
    return NULL;
}

static bool is_model_name(const char *path)
{
    return ends_as_model(path, strlen(path));
}

/* malloc'd in *path; the tensor in it, null where none is named. False where no file is, or without memory. */
static bool split(const char *text, char **path, const char **tensor)
{
    *path = strdup(text);
    if (!*path)
        return false;
    *tensor = cut(*path, is_file);
    if (!*tensor)
        *tensor = cut(*path, is_model_name);
    if (*tensor || is_model_name(*path))
        return true;
    free(*path);
    *path = NULL;
    return false;
}

bool model_type_is_meant(const char *text)
{
    char *path;
    const char *tensor;
    if (tensor_is_written(text) || !split(text, &path, &tensor))
        return false;
    free(path);
    return true;
}

/* -- What a tensor has ------------------------------------------------------------------------------------------------
 */

static void say_scale(const struct model_tensor *tensor, struct text *text)
{
    switch (tensor->state) {
    case MODEL_NO_SCALE:
        text_add(text, "%s, not quantised", tensor->codes.name);
        return;
    case MODEL_ONE_SCALE:
        text_add(text, "%s, scale %.9g", tensor->codes.name, tensor->scale);
        return;
    case MODEL_CHANNEL_SCALES:
        text_add(text, "%s, %" PRIu64 " scales", tensor->codes.name, tensor->scales);
        return;
    case MODEL_UNEVEN_SCALES:
        text_add(text, "%s, %" PRIu64 " scale%s but another number of zero points", tensor->codes.name, tensor->scales,
                 tensor->scales == 1 ? "" : "s");
        return;
    case MODEL_COMPUTED_SCALE:
        text_add(text, "%s, scale computed at run time", tensor->codes.name);
        return;
    case MODEL_EXTERNAL_SCALE:
        text_add(text, "%s, scale in another file", tensor->codes.name);
        return;
    case MODEL_MISSING_SCALE:
        text_add(text, "%s, scale without a value", tensor->codes.name);
        return;
    case MODEL_SEVERAL_SCALES:
        text_add(text, "several scales, by the nodes that take it");
        return;
    }
}

/* The type of the first channel, where there are several. */
static bool set_type(const struct model_tensor *tensor, struct tensor *type)
{
    memset(type, 0, sizeof *type);
    if (tensor->codes.bits == 0 || !scale_of_value(tensor->scale, &type->scale))
        return false;
    type->bits = tensor->codes.bits;
    type->is_signed = tensor->codes.is_signed;
    type->qmin = code_min(type->bits, type->is_signed);
    type->qmax = code_max(type->bits, type->is_signed);
    type->zero_point = tensor->zero_point;
    return true;
}

bool model_type_of(const struct model_tensor *tensor, struct tensor *type, struct text *instead)
{
    if (tensor->state == MODEL_ONE_SCALE && set_type(tensor, type))
        return true;
    say_scale(tensor, instead);
    return false;
}

/* What to do about it. */
static void advise(const struct model_tensor *tensor, struct text *text)
{
    static const char write_it[] = "write the type, as s8:0.0472:-3";
    struct tensor first;
    char type[80];
    switch (tensor->state) {
    case MODEL_NO_SCALE:
        text_add(text, "name a quantised one (`pwlc tensors` lists them), or give the codes alone, as s8, with --range "
                       "or --calibrate");
        return;
    case MODEL_ONE_SCALE:
        text_add(text, "%s",
                 tensor->codes.bits ? "a scale lies in 2^-64 to 2^64" : "codes must be integers of 2 to 32 bits");
        return;
    case MODEL_CHANNEL_SCALES:
        text_add(text, "one for each channel or block, where a table takes one: quantise the tensor as a whole, or "
                       "write the type of one channel");
        if (set_type(tensor, &first)) {
            tensor_format(&first, type, sizeof type);
            text_add(text, ", which is %s for the first", type);
        }
        return;
    case MODEL_COMPUTED_SCALE:
        text_add(text, "quantise the model with calibration data, statically, or %s", write_it);
        return;
    case MODEL_EXTERNAL_SCALE:
        text_add(text, "save the model so that small tensors stay in it (size_threshold of onnx), or %s", write_it);
        return;
    case MODEL_SEVERAL_SCALES:
        text_add(text, "name the codes between QuantizeLinear and DequantizeLinear that are meant");
        return;
    case MODEL_UNEVEN_SCALES:
    case MODEL_MISSING_SCALE:
        text_add(text, "%s", write_it);
        return;
    }
}

static int refuse(const struct model_tensor *tensor, const struct text *instead, struct diag *diag)
{
    struct text advice = {0};
    advise(tensor, &advice);
    diag_set(diag, EXIT_USAGE, "%s; %s", instead->bytes ? instead->bytes : "", advice.bytes ? advice.bytes : "");
    text_free(&advice);
    return diag->code;
}

static int read_tensor(const char *path, const char *name, struct tensor *type, struct diag *diag)
{
    struct model model;
    struct text instead = {0};
    size_t index;
    if (model_read(path, &model, diag) != EXIT_DONE)
        return diag->code;
    int code = model_find(&model, name, &index, diag);
    if (code == EXIT_DONE && !model_type_of(&model.tensors[index], type, &instead)) {
        code = refuse(&model.tensors[index], &instead, diag);
        diag_prefix(diag, name);
    }
    if (code != EXIT_DONE)
        diag_prefix(diag, path);
    text_free(&instead);
    model_free(&model);
    return code;
}

int model_type_read(const char *text, const char *field, struct tensor *type, struct diag *diag)
{
    char *path;
    const char *name;
    if (!split(text, &path, &name))
        return diag_set(diag, EXIT_USAGE, "%s: '%.200s' names no file", field, text);
    const int code =
        name && *name
            ? read_tensor(path, name, type, diag)
            : diag_set(diag, EXIT_USAGE,
                       "%.200s: a tensor of the file is needed, FILE:TENSOR; `pwlc tensors` lists them", path);
    free(path);
    return code == EXIT_DONE ? code : diag_prefix(diag, field);
}
