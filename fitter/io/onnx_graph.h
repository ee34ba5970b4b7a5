/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a graph of ONNX says, before names are looked up: its values, and which node takes which scale for which. */
#ifndef PWLC_ONNX_GRAPH_H
#define PWLC_ONNX_GRAPH_H

#include "model.h"

/* Where a value comes from; of one that is mentioned in several ways the first of these counts. */
enum onnx_origin { ONNX_STORED, ONNX_INPUT, ONNX_NODE, ONNX_MENTIONED };

struct onnx_value {
    struct model_name name;
    enum onnx_origin origin;
    uint64_t type; /* of its elements, TensorProto.DataType; 0 when it is not said */
    /* Of ONNX_STORED: */
    uint64_t elements;
    bool is_external; /* stored in another file */
    bool has_first;   /* and `first` is the first element, an integer of up to 32 bits or a float of up to 32 */
    double first;
};

/* A tensor and what it is quantised by. Names of no bytes are absent. */
struct onnx_use {
    struct model_name tensor, scale, zero_point;
    struct model_name codes; /* the tensor whose type is that of the codes, where there is no zero point */
    uint64_t type;           /* the type of the codes, where there is neither */
};

struct onnx_graph {
    struct onnx_value *values;
    struct onnx_use *uses;
    size_t value_count, value_capacity, use_count, use_capacity; /* of each at most MODEL_MOST_TENSORS */
};

/* A type of elements; null when there is none of that number. */
const struct model_codes *onnx_type(uint64_t type);

/* Reads the graph of a model; names go into `model`. Exit 1 or 2. */
int onnx_graph_read(struct window *window, struct model *model, struct onnx_graph *graph, struct diag *diag);
void onnx_graph_free(struct onnx_graph *graph);

#endif
