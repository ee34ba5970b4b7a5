/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "onnx_graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/half.h>

#include "protobuf.h"

/* Numbers of the fields that are read, as onnx.proto has them. */
enum { MODEL_GRAPH = 7 };
enum { GRAPH_NODE = 1, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, GRAPH_VALUE_INFO = 13 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_OP_TYPE = 4, NODE_ATTRIBUTE = 5 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_I = 3, ATTRIBUTE_T = 5 };
enum { INFO_NAME = 1, INFO_TYPE = 2, TYPE_TENSOR = 1, TENSOR_ELEM_TYPE = 1 };
enum {
    STORED_DIMS = 1,
    STORED_TYPE = 2,
    STORED_FLOATS = 4,
    STORED_INTEGERS = 5,
    STORED_NAME = 8,
    STORED_RAW = 9,
    STORED_LOCATION = 14
};
enum { LOCATION_EXTERNAL = 1 };

enum { TYPE_FLOAT = 1, TYPE_UINT8 = 2, TYPE_FLOAT16 = 10, TYPE_BFLOAT16 = 16 };

static const struct model_codes types[] = {
    {NULL, 0, false},
    {"float32", 0, false},
    {"uint8", 8, false},
    {"int8", 8, true},
    {"uint16", 16, false},
    {"int16", 16, true},
    {"int32", 32, true},
    {"int64", 0, true},
    {"string", 0, false},
    {"bool", 0, false},
    {"float16", 0, false},
    {"float64", 0, false},
    {"uint32", 32, false},
    {"uint64", 0, false},
    {"complex64", 0, false},
    {"complex128", 0, false},
    {"bfloat16", 0, false},
    {"float8e4m3fn", 0, false},
    {"float8e4m3fnuz", 0, false},
    {"float8e5m2", 0, false},
    {"float8e5m2fnuz", 0, false},
    {"uint4", 4, false},
    {"int4", 4, true},
    {"float4e2m1", 0, false},
    {"float8e8m0", 0, false},
    {"uint2", 2, false},
    {"int2", 2, true},
    {"float6e2m3", 0, false},
    {"float6e3m2", 0, false},
};

const struct model_codes *onnx_type(uint64_t type)
{
    return type > 0 && type < sizeof types / sizeof *types ? &types[type] : NULL;
}

/* -- Operators that quantise ------------------------------------------------------------------------------------------
 */

#define MOST_INPUTS 9 /* that an operator below has; further ones are not looked at */
#define OUTPUT (-1)

/* Which input of a node is a tensor, or its output, and which inputs are the scale and zero point of that. */
static const struct quantiser {
    const char *name;
    int count;
    struct {
        int tensor, scale, zero_point;
    } uses[3];
} quantisers[] = {
    {"QuantizeLinear", 2, {{0, 1, 2}, {OUTPUT, 1, 2}}},
    {"DequantizeLinear", 2, {{0, 1, 2}, {OUTPUT, 1, 2}}},
    {"QGemm", 3, {{0, 1, 2}, {3, 4, 5}, {OUTPUT, 7, 8}}},
    {"QLinearAdd", 3, {{0, 1, 2}, {3, 4, 5}, {OUTPUT, 6, 7}}},
    {"QLinearAveragePool", 2, {{0, 1, 2}, {OUTPUT, 3, 4}}},
    {"QLinearConcat", 1, {{OUTPUT, 0, 1}}},
    {"QLinearConv", 3, {{0, 1, 2}, {3, 4, 5}, {OUTPUT, 6, 7}}},
    {"QLinearGlobalAveragePool", 2, {{0, 1, 2}, {OUTPUT, 3, 4}}},
    {"QLinearLeakyRelu", 2, {{0, 1, 2}, {OUTPUT, 3, 4}}},
    {"QLinearMatMul", 3, {{0, 1, 2}, {3, 4, 5}, {OUTPUT, 6, 7}}},
    {"QLinearMul", 3, {{0, 1, 2}, {3, 4, 5}, {OUTPUT, 6, 7}}},
    {"QLinearReduceMean", 2, {{0, 1, 2}, {OUTPUT, 3, 4}}},
    {"QLinearSigmoid", 2, {{0, 1, 2}, {OUTPUT, 3, 4}}},
    {"QLinearSoftmax", 2, {{0, 1, 2}, {OUTPUT, 3, 4}}},
};

/* -- Reading ----------------------------------------------------------------------------------------------------------
 */

struct reading {
    struct protobuf buffer;
    struct model *model; /* for names */
    struct onnx_graph *graph;
    struct diag *diag;
    int code; /* of a failure that is none of the file's structure: too much, no memory */
};

static bool next(struct reading *reading, struct protobuf_span *message, struct protobuf_field *field)
{
    return reading->code == EXIT_DONE && protobuf_next(&reading->buffer, message, field);
}

/* Room for one more element of an array; null after a failure. */
static void *grown(struct reading *reading, void *array, size_t size, size_t count, size_t *capacity)
{
    if (count == MODEL_MOST_TENSORS) {
        reading->code = diag_set(reading->diag, EXIT_USAGE,
                                 "onnx: more than %zu values, which are as many as can be read", MODEL_MOST_TENSORS);
        return NULL;
    }
    if (count < *capacity)
        return array;
    const size_t wanted = *capacity ? 2 * *capacity : 64;
    void *const larger = realloc(array, wanted * size);
    if (larger)
        *capacity = wanted;
    else
        reading->code = diag_set(reading->diag, EXIT_IO, "onnx: out of memory for %zu values", wanted);
    return larger;
}

static void take_name(struct reading *reading, struct protobuf_span span, struct model_name *name)
{
    if (reading->code == EXIT_DONE)
        reading->code =
            model_take_name(reading->model, reading->buffer.window, span.at, span.end - span.at, name, reading->diag);
}

static void add_value(struct reading *reading, const struct onnx_value *value)
{
    struct onnx_graph *const graph = reading->graph;
    struct onnx_value *const values = reading->code != EXIT_DONE ? NULL
                                                                 : grown(reading, graph->values, sizeof *values,
                                                                         graph->value_count, &graph->value_capacity);
    if (!values)
        return;
    graph->values = values;
    values[graph->value_count++] = *value;
}

static void add_use(struct reading *reading, const struct onnx_use *use)
{
    struct onnx_graph *const graph = reading->graph;
    struct onnx_use *const uses =
        reading->code != EXIT_DONE ? NULL
                                   : grown(reading, graph->uses, sizeof *uses, graph->use_count, &graph->use_capacity);
    if (!uses)
        return;
    graph->uses = uses;
    uses[graph->use_count++] = *use;
}

/* Whether a part of the file is that text. */
static bool is_text(struct reading *reading, struct protobuf_span span, const char *text)
{
    const size_t size = strlen(text);
    const unsigned char *const seen =
        span.end - span.at == size ? window_see(reading->buffer.window, span.at, size) : NULL;
    return seen && memcmp(seen, text, size) == 0;
}

/* -- Stored tensors ---------------------------------------------------------------------------------------------------
 */

/* Bytes of an element in raw_data; 0 of types that are neither scales nor zero points. Two or four small codes share a
 * byte, the first in its low bits. */
static size_t raw_bytes(uint64_t type)
{
    const struct model_codes *const codes = onnx_type(type);
    if (type == TYPE_FLOAT)
        return 4;
    if (type == TYPE_FLOAT16 || type == TYPE_BFLOAT16)
        return 2;
    return codes ? (size_t)(codes->bits + 7) / 8 : 0;
}

/* The number that an element's bits mean, of a type with raw_bytes(). */
static double number_of_bits(uint64_t type, uint64_t bits)
{
    if (type == TYPE_FLOAT)
        return (double)pwl_f32_of_bits((uint32_t)bits);
    if (type == TYPE_FLOAT16)
        return (double)pwl_f32_from_f16((uint16_t)bits);
    if (type == TYPE_BFLOAT16)
        return (double)pwl_f32_from_bf16((uint16_t)bits);
    const struct model_codes *const codes = onnx_type(type);
    const int64_t count = (int64_t)1 << codes->bits, code = (int64_t)(bits & (uint64_t)(count - 1));
    return (double)(codes->is_signed && code >= count / 2 ? code - count : code);
}

/* The first elements of the fields that may hold the data. */
struct first_elements {
    bool has_float, has_integer;
    uint64_t float_bits, integer_bits;
    struct protobuf_span raw;
};

static void see_floats(struct reading *reading, const struct protobuf_field *field, struct first_elements *first)
{
    const bool is_packed = field->wire == PROTOBUF_BYTES;
    if (first->has_float || (is_packed && field->span.end - field->span.at < 4))
        return;
    first->float_bits = field->value;
    first->has_float = !is_packed || window_number(reading->buffer.window, field->span.at, 4, &first->float_bits);
}

static void see_integers(struct reading *reading, const struct protobuf_field *field, struct first_elements *first)
{
    struct protobuf_span packed = field->span;
    if (first->has_integer)
        return;
    first->integer_bits = field->value;
    first->has_integer =
        field->wire != PROTOBUF_BYTES || protobuf_varint(&reading->buffer, &packed, &first->integer_bits);
}

static void see_lengths(struct reading *reading, const struct protobuf_field *field, uint64_t *elements)
{
    struct protobuf_span packed = field->span;
    uint64_t length = field->value;
    const bool is_packed = field->wire == PROTOBUF_BYTES;
    while (!is_packed || protobuf_varint(&reading->buffer, &packed, &length)) {
        if (__builtin_mul_overflow(*elements, length, elements))
            *elements = UINT64_MAX;
        if (!is_packed)
            break;
    }
}

static void choose_first(struct reading *reading, const struct first_elements *first, struct onnx_value *value)
{
    const size_t bytes = raw_bytes(value->type);
    uint64_t bits = value->type == TYPE_FLOAT ? first->float_bits : first->integer_bits;
    value->has_first = bytes > 0 && (value->type == TYPE_FLOAT ? first->has_float : first->has_integer);
    if (bytes > 0 && first->raw.end - first->raw.at >= bytes)
        value->has_first = window_number(reading->buffer.window, first->raw.at, bytes, &bits);
    if (value->has_first)
        value->first = number_of_bits(value->type, bits);
}

/* A TensorProto; its name is left to the caller. */
static struct protobuf_span read_stored(struct reading *reading, struct protobuf_span tensor, struct onnx_value *value)
{
    struct protobuf_span name = {0};
    struct protobuf_field field;
    struct first_elements first = {0};
    value->origin = ONNX_STORED;
    value->elements = 1;
    while (next(reading, &tensor, &field)) {
        if (field.number == STORED_DIMS)
            see_lengths(reading, &field, &value->elements);
        else if (field.number == STORED_TYPE)
            value->type = field.value;
        else if (field.number == STORED_FLOATS)
            see_floats(reading, &field, &first);
        else if (field.number == STORED_INTEGERS)
            see_integers(reading, &field, &first);
        else if (field.number == STORED_NAME)
            name = field.span;
        else if (field.number == STORED_RAW)
            first.raw = field.span;
        else if (field.number == STORED_LOCATION)
            value->is_external = field.value == LOCATION_EXTERNAL;
    }
    choose_first(reading, &first, value);
    return name;
}

static void read_initializer(struct reading *reading, struct protobuf_span tensor)
{
    struct onnx_value value = {0};
    const struct protobuf_span name = read_stored(reading, tensor, &value);
    take_name(reading, name, &value.name);
    add_value(reading, &value);
}

/* -- Nodes and mentions -----------------------------------------------------------------------------------------------
 */

struct attribute {
    uint64_t integer;
    struct protobuf_span tensor;
    bool found;
};

static struct attribute find_attribute(struct reading *reading, struct protobuf_span node, const char *wanted)
{
    struct protobuf_field field, inner;
    while (next(reading, &node, &field)) {
        struct protobuf_span name = {0}, rest = field.span;
        struct attribute attribute = {.found = true};
        if (field.number != NODE_ATTRIBUTE)
            continue;
        while (next(reading, &rest, &inner)) {
            if (inner.number == ATTRIBUTE_NAME)
                name = inner.span;
            else if (inner.number == ATTRIBUTE_I)
                attribute.integer = inner.value;
            else if (inner.number == ATTRIBUTE_T)
                attribute.tensor = inner.span;
        }
        if (is_text(reading, name, wanted))
            return attribute;
    }
    return (struct attribute){0};
}

/* The output of a node Constant is as good as stored. */
static void read_constant(struct reading *reading, struct protobuf_span node, struct onnx_value *output)
{
    const struct attribute value = find_attribute(reading, node, "value");
    output->origin = ONNX_STORED;
    if (value.found)
        (void)read_stored(reading, value.tensor, output);
}

static const struct quantiser *find_operator(struct reading *reading, struct protobuf_span type)
{
    for (size_t i = 0; i < sizeof quantisers / sizeof *quantisers; i++)
        if (is_text(reading, type, quantisers[i].name))
            return &quantisers[i];
    return NULL;
}

/* Without a zero point, QuantizeLinear makes codes of its output_dtype, uint8 by default; all else takes codes as they
 * are. */
static void read_uses(struct reading *reading, struct protobuf_span node, const struct quantiser *quantiser,
                      const struct protobuf_span *inputs, struct model_name output)
{
    struct model_name names[MOST_INPUTS];
    const bool makes_codes = quantiser == &quantisers[0];
    const uint64_t type = makes_codes ? find_attribute(reading, node, "output_dtype").integer : 0;
    for (int i = 0; i < MOST_INPUTS; i++)
        take_name(reading, inputs[i], &names[i]);
    for (int i = 0; reading->code == EXIT_DONE && i < quantiser->count; i++) {
        const int tensor = quantiser->uses[i].tensor;
        struct onnx_use use = {
            .tensor = tensor == OUTPUT ? output : names[tensor],
            .scale = names[quantiser->uses[i].scale],
            .zero_point = names[quantiser->uses[i].zero_point],
            .codes = tensor == OUTPUT ? names[0] : names[tensor],
            .type = makes_codes && type == 0 ? TYPE_UINT8 : type,
        };
        add_use(reading, &use);
    }
}

static void read_node(struct reading *reading, struct protobuf_span node)
{
    struct protobuf_span rest = node, type = {0}, inputs[MOST_INPUTS] = {0};
    struct protobuf_field field;
    const size_t first = reading->graph->value_count;
    int count = 0;
    while (next(reading, &rest, &field)) {
        if (field.number == NODE_INPUT && count < MOST_INPUTS)
            inputs[count++] = field.span;
        else if (field.number == NODE_OP_TYPE)
            type = field.span;
        else if (field.number == NODE_OUTPUT) {
            struct onnx_value value = {.origin = ONNX_NODE};
            take_name(reading, field.span, &value.name);
            add_value(reading, &value);
        }
    }
    if (reading->code != EXIT_DONE || reading->graph->value_count == first)
        return;
    struct onnx_value *const output = &reading->graph->values[first];
    const struct quantiser *const quantiser = find_operator(reading, type);
    if (quantiser)
        read_uses(reading, node, quantiser, inputs, output->name);
    else if (is_text(reading, type, "Constant"))
        read_constant(reading, node, output);
}

/* The field of a message that is a message itself; no bytes where it is absent. */
static struct protobuf_span find_inner(struct reading *reading, struct protobuf_span message, uint64_t number)
{
    struct protobuf_field field;
    while (next(reading, &message, &field))
        if (field.number == number)
            return field.span;
    return (struct protobuf_span){0};
}

static void read_mention(struct reading *reading, struct protobuf_span info, enum onnx_origin origin)
{
    struct onnx_value value = {.origin = origin};
    struct protobuf_field field;
    const struct protobuf_span type = find_inner(reading, find_inner(reading, info, INFO_TYPE), TYPE_TENSOR);
    for (struct protobuf_span rest = type; next(reading, &rest, &field);)
        if (field.number == TENSOR_ELEM_TYPE)
            value.type = field.value;
    take_name(reading, find_inner(reading, info, INFO_NAME), &value.name);
    add_value(reading, &value);
}

static void read_graph(struct reading *reading, struct protobuf_span graph)
{
    struct protobuf_field field;
    while (next(reading, &graph, &field)) {
        if (field.number == GRAPH_NODE)
            read_node(reading, field.span);
        else if (field.number == GRAPH_INITIALIZER)
            read_initializer(reading, field.span);
        else if (field.number == GRAPH_INPUT)
            read_mention(reading, field.span, ONNX_INPUT);
        else if (field.number == GRAPH_OUTPUT || field.number == GRAPH_VALUE_INFO)
            read_mention(reading, field.span, ONNX_MENTIONED);
    }
}

int onnx_graph_read(struct window *window, struct model *model, struct onnx_graph *graph, struct diag *diag)
{
    struct reading reading = {.buffer = {.window = window}, .model = model, .graph = graph, .diag = diag};
    struct protobuf_span whole = {0, window->size};
    struct protobuf_field field;
    bool found = false;
    *graph = (struct onnx_graph){0};
    while (next(&reading, &whole, &field)) {
        if (field.number != MODEL_GRAPH || field.wire != PROTOBUF_BYTES)
            continue;
        found = true;
        read_graph(&reading, field.span);
    }
    if (window->failed)
        return diag->code;
    if (reading.code != EXIT_DONE)
        return reading.code;
    if (!found)
        return diag_set(diag, EXIT_USAGE,
                        "neither a TFLite model, with TFL3 at byte 4, nor an ONNX model, with a whole graph");
    if (reading.buffer.broken)
        return diag_set(diag, EXIT_USAGE,
                        "onnx: the field at byte %" PRIu64 " is broken, or reaches beyond what it is in",
                        reading.buffer.where);
    return EXIT_DONE;
}

void onnx_graph_free(struct onnx_graph *graph)
{
    free(graph->values);
    free(graph->uses);
    *graph = (struct onnx_graph){0};
}
