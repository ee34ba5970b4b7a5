/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "onnx.h"

#include <stdlib.h>
#include <string.h>

#include "onnx_graph.h"

static const struct model_codes unknown = {"unknown type", 0, false};

/* A value, and what the nodes say of it. */
struct entry {
    const char *name;
    size_t size;
    const struct onnx_value *value;
    struct model_tensor tensor; /* state and what goes with it; MODEL_NO_SCALE until a node says more */
};

struct lookup {
    const struct model *model;
    struct entry *entries; /* of each name one, in the order of names */
    size_t count;
};

static int compare_names(const struct entry *a, const struct entry *b)
{
    const int order = memcmp(a->name, b->name, a->size < b->size ? a->size : b->size);
    return order != 0 ? order : a->size < b->size ? -1 : a->size > b->size;
}

/* Values of one name by what counts first, and as they stand in the file. */
static int compare_entries(const void *left, const void *right)
{
    const struct entry *const a = left, *const b = right;
    const int order = compare_names(a, b);
    if (order != 0)
        return order;
    if (a->value->origin != b->value->origin)
        return a->value->origin < b->value->origin ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

static int compare_to_name(const void *wanted, const void *entry)
{
    return compare_names(wanted, entry);
}

/* Null where the graph has no value of that name, as where it is one of no bytes. */
static struct entry *find(const struct lookup *lookup, struct model_name name)
{
    const struct entry wanted = {.name = model_name(lookup->model, name), .size = name.size};
    return name.size == 0 || lookup->count == 0
               ? NULL
               : bsearch(&wanted, lookup->entries, lookup->count, sizeof wanted, compare_to_name);
}

/* One entry for each name. The type is that of the first mention that has one. */
static void unite(struct lookup *lookup, struct onnx_value *values)
{
    size_t kept = 0;
    for (size_t i = 0; i < lookup->count; i++) {
        const struct entry *const entry = &lookup->entries[i];
        if (kept == 0 || compare_names(entry, &lookup->entries[kept - 1]) != 0) {
            lookup->entries[kept++] = *entry;
            continue;
        }
        struct onnx_value *const first = &values[lookup->entries[kept - 1].value - values];
        if (first->type == 0)
            first->type = entry->value->type;
    }
    lookup->count = kept;
}

static int build(struct lookup *lookup, struct onnx_graph *graph, struct diag *diag)
{
    lookup->entries = calloc(graph->value_count + 1, sizeof *lookup->entries);
    if (!lookup->entries)
        return diag_set(diag, EXIT_IO, "onnx: out of memory for %zu values", graph->value_count);
    for (size_t i = 0; i < graph->value_count; i++) {
        const struct onnx_value *const value = &graph->values[i];
        if (value->name.size > 0)
            lookup->entries[lookup->count++] = (struct entry){
                .name = model_name(lookup->model, value->name), .size = value->name.size, .value = value};
    }
    qsort(lookup->entries, lookup->count, sizeof *lookup->entries, compare_entries);
    unite(lookup, graph->values);
    return EXIT_DONE;
}

/* The only element that a scale or a zero point may have, or why there is none. */
static enum model_scale first_of(const struct entry *entry, uint64_t elements, double *first)
{
    if (!entry || entry->value->origin != ONNX_STORED)
        return MODEL_COMPUTED_SCALE;
    if (entry->value->is_external)
        return MODEL_EXTERNAL_SCALE;
    if (entry->value->elements != elements)
        return MODEL_UNEVEN_SCALES;
    if (!entry->value->has_first || elements == 0)
        return MODEL_MISSING_SCALE;
    *first = entry->value->first;
    return elements == 1 ? MODEL_ONE_SCALE : MODEL_CHANNEL_SCALES;
}

static struct model_codes codes_of_type(uint64_t type)
{
    const struct model_codes *const codes = onnx_type(type);
    return codes ? *codes : unknown;
}

/* What an operator takes for codes: of the type that their zero point has; else of the type that the operator makes, or
 * else has got, by mention or from the node before it. */
static struct model_codes codes_of_use(const struct lookup *lookup, const struct onnx_use *use)
{
    const struct entry *const zero_point = find(lookup, use->zero_point), *const codes = find(lookup, use->codes);
    if (zero_point)
        return codes_of_type(zero_point->value->type);
    if (use->type != 0 || !codes)
        return codes_of_type(use->type);
    return codes->value->type == 0 && codes->tensor.state != MODEL_NO_SCALE ? codes->tensor.codes
                                                                            : codes_of_type(codes->value->type);
}

/* The codes, scale and zero point that a node gives a tensor. */
static struct model_tensor tensor_of_use(const struct lookup *lookup, const struct onnx_use *use)
{
    const struct entry *const scale = find(lookup, use->scale);
    struct model_tensor tensor = {.codes = codes_of_use(lookup, use), .scales = scale ? scale->value->elements : 1};
    tensor.state = first_of(scale, tensor.scales, &tensor.scale);
    if ((tensor.state != MODEL_ONE_SCALE && tensor.state != MODEL_CHANNEL_SCALES) || use->zero_point.size == 0)
        return tensor;
    double first = 0;
    const enum model_scale state = first_of(find(lookup, use->zero_point), tensor.scales, &first);
    if (state != MODEL_MISSING_SCALE || tensor.codes.bits > 0) /* a zero point of another type is not read */
        tensor.state = state;
    if (tensor.codes.bits > 0) /* which are those of the zero point */
        tensor.zero_point = (int64_t)first;
    return tensor;
}

static void apply(const struct lookup *lookup, const struct onnx_use *use)
{
    struct entry *const entry = find(lookup, use->tensor);
    const struct model_tensor tensor = tensor_of_use(lookup, use);
    if (!entry)
        return;
    if (entry->tensor.state == MODEL_NO_SCALE)
        entry->tensor = tensor;
    else if (!model_tensor_is_same(&entry->tensor, &tensor))
        entry->tensor.state = MODEL_SEVERAL_SCALES;
}

/* Whether tensors of that origin are shown: weights only where they are quantised, as scales are stored, too. */
static bool is_shown(const struct entry *entry, enum onnx_origin origin)
{
    return entry->value->origin == origin && (origin != ONNX_STORED || entry->tensor.state != MODEL_NO_SCALE);
}

/* In the order of the file, where names are not. */
static int list(const struct lookup *lookup, const struct onnx_graph *graph, struct model *model, struct diag *diag)
{
    static const enum onnx_origin order[] = {ONNX_INPUT, ONNX_NODE, ONNX_STORED};
    for (size_t pass = 0; pass < sizeof order / sizeof *order; pass++)
        for (size_t i = 0; i < graph->value_count; i++) {
            const struct onnx_value *const value = &graph->values[i];
            const struct entry *const entry = value->origin == order[pass] ? find(lookup, value->name) : NULL;
            if (!entry || entry->value != value || !is_shown(entry, order[pass]))
                continue;
            struct model_tensor tensor = entry->tensor;
            tensor.name = value->name;
            if (tensor.state == MODEL_NO_SCALE)
                tensor.codes = codes_of_type(value->type);
            if (model_add(model, &tensor, diag) != EXIT_DONE)
                return diag->code;
        }
    return EXIT_DONE;
}

int onnx_parse(struct window *window, struct model *model, struct diag *diag)
{
    struct onnx_graph graph;
    struct lookup lookup = {.model = model};
    int code = onnx_graph_read(window, model, &graph, diag);
    if (code == EXIT_DONE)
        code = build(&lookup, &graph, diag);
    for (size_t i = 0; code == EXIT_DONE && i < graph.use_count; i++)
        apply(&lookup, &graph.uses[i]);
    if (code == EXIT_DONE)
        code = list(&lookup, &graph, model, diag);
    free(lookup.entries);
    onnx_graph_free(&graph);
    return code;
}
