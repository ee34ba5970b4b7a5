/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tflite.h"

#include <inttypes.h>
#include <string.h>

#include <pwl/half.h>

#include "flatbuffer.h"

#define MOST_SUBGRAPHS 65536

/* The fields that are read, by their numbers in the schema: of Model, SubGraph, Tensor and QuantizationParameters. */
enum { MODEL_SUBGRAPHS = 2 };
enum { SUBGRAPH_TENSORS = 0 };
enum { TENSOR_TYPE = 1, TENSOR_NAME = 3, TENSOR_QUANTIZATION = 4 };
enum { QUANTIZATION_SCALE = 2, QUANTIZATION_ZERO_POINT = 3 };

/* TensorType. */
static const struct model_codes types[] = {
    {"float32", 0, false},   {"float16", 0, false},      {"int32", 32, true},      {"uint8", 8, false},
    {"int64", 0, true},      {"string", 0, false},       {"bool", 0, false},       {"int16", 16, true},
    {"complex64", 0, false}, {"int8", 8, true},          {"float64", 0, false},    {"complex128", 0, false},
    {"uint64", 0, false},    {"resource", 0, false},     {"variant", 0, false},    {"uint32", 32, false},
    {"uint16", 16, false},   {"int4", 4, true},          {"bfloat16", 0, false},   {"int2", 2, true},
    {"uint4", 4, false},     {"float8e4m3fn", 0, false}, {"float8e5m2", 0, false},
};

static const struct model_codes unknown = {"unknown type", 0, false};

bool tflite_recognise(struct window *window)
{
    const unsigned char *const seen = window_see(window, 0, 8);
    return seen && memcmp(seen + 4, "TFL3", 4) == 0;
}

/* A vector of scales, of which the zero points have as many; the first of each. */
static void read_quantisation(struct flatbuffer *buffer, struct flatbuffer_table quantisation,
                              struct model_tensor *tensor)
{
    const struct flatbuffer_vector scales = flatbuffer_list(buffer, quantisation, QUANTIZATION_SCALE, 4);
    const struct flatbuffer_vector zero_points = flatbuffer_list(buffer, quantisation, QUANTIZATION_ZERO_POINT, 8);
    tensor->scales = scales.count;
    tensor->state = scales.count == 0                                             ? MODEL_NO_SCALE
                    : zero_points.count != 0 && zero_points.count != scales.count ? MODEL_UNEVEN_SCALES
                    : scales.count > 1                                            ? MODEL_CHANNEL_SCALES
                                                                                  : MODEL_ONE_SCALE;
    if (scales.count > 0)
        tensor->scale = (double)pwl_f32_of_bits((uint32_t)flatbuffer_element(buffer, scales, 0, 4));
    if (zero_points.count > 0)
        tensor->zero_point = (int64_t)flatbuffer_element(buffer, zero_points, 0, 8);
}

static int read_tensor(struct flatbuffer *buffer, struct flatbuffer_table table, struct model *model, struct diag *diag)
{
    struct model_tensor tensor = {0};
    const uint64_t type = flatbuffer_scalar(buffer, table, TENSOR_TYPE, 1);
    const struct flatbuffer_vector name = flatbuffer_list(buffer, table, TENSOR_NAME, 1);
    tensor.codes = type < sizeof types / sizeof *types ? types[type] : unknown;
    read_quantisation(buffer, flatbuffer_child(buffer, table, TENSOR_QUANTIZATION), &tensor);
    if (buffer->broken || model_take_name(model, buffer->window, name.at, name.count, &tensor.name, diag) != EXIT_DONE)
        return diag->code;
    return model_add(model, &tensor, diag);
}

/* Exit 2, or 1 where the file could not be read, which the window has told. */
static int refuse(const struct flatbuffer *buffer, uint32_t subgraph, uint32_t tensor, struct diag *diag)
{
    return buffer->window->failed
               ? diag->code
               : diag_set(diag, EXIT_USAGE,
                          "tflite: tensor %" PRIu32 " of subgraph %" PRIu32 " reaches beyond the end of the file",
                          tensor, subgraph);
}

int tflite_parse(struct window *window, struct model *model, struct diag *diag)
{
    struct flatbuffer buffer = {.window = window};
    const struct flatbuffer_vector subgraphs = flatbuffer_list(&buffer, flatbuffer_root(&buffer), MODEL_SUBGRAPHS, 4);
    diag->code = EXIT_DONE;
    if (buffer.broken && !window->failed)
        return diag_set(diag, EXIT_USAGE, "tflite: the list of subgraphs reaches beyond the end of the file");
    if (subgraphs.count > MOST_SUBGRAPHS)
        return diag_set(diag, EXIT_USAGE, "tflite: %" PRIu32 " subgraphs; %d can be read", subgraphs.count,
                        MOST_SUBGRAPHS);
    for (uint32_t s = 0; s < subgraphs.count; s++) {
        const struct flatbuffer_table subgraph = flatbuffer_item(&buffer, subgraphs, s);
        const struct flatbuffer_vector tensors = flatbuffer_list(&buffer, subgraph, SUBGRAPH_TENSORS, 4);
        if (buffer.broken)
            return refuse(&buffer, s, 0, diag);
        for (uint32_t t = 0; t < tensors.count; t++) {
            const int code = read_tensor(&buffer, flatbuffer_item(&buffer, tensors, t), model, diag);
            if (buffer.broken)
                return refuse(&buffer, s, t, diag);
            if (code != EXIT_DONE)
                return code;
        }
    }
    return window->failed ? diag->code : EXIT_DONE;
}
