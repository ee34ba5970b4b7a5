/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "emit/network/network_c.h"
#include "io/columns.h"
#include "io/npy.h"
#include "network/network.h"

static void print_ends(const struct network *network, const char *label, const uint16_t *edges, int count)
{
    for (int k = 0; k < count; k++) {
        struct text shape = {0};
        char type[128];
        network_shape_text(network, edges[k], &shape);
        tensor_format(&network->edges[edges[k]].type, type, sizeof type);
        printf("  %-12s %s, %s %s\n", k ? "" : label, network->edges[edges[k]].name, type,
               shape.failed ? "" : shape.bytes);
        text_free(&shape);
    }
}

static bool print_nodes(const struct network *network)
{
    static const char *const titles[] = {">node", "kind", "name", "output", "type", "shape", ">bytes", NULL};
    const pwl_network *const packed = &network->packed;
    struct columns columns;
    columns_start(&columns, titles);
    for (int k = 0; k < packed->node_count; k++) {
        const uint16_t output = packed->nodes[k].output;
        const struct node_operator *const own = network->nodes[k].operator;
        struct text shape = {0};
        char type[16];
        network_shape_text(network, output, &shape);
        tensor_type_name(&network->edges[output].type, type, sizeof type);
        columns_cell(&columns, "%d", k);
        columns_text(&columns, !own            ? node_kind_name(&packed->nodes[k])
                               : own->is_table ? own->table.function
                                               : operator_name(own->row.kind));
        columns_text(&columns, network->nodes[k].name);
        columns_text(&columns, network->edges[output].name);
        columns_text(&columns, type);
        columns_text(&columns, shape.failed ? "" : shape.bytes);
        columns_cell(&columns, "%zu", node_bytes(network, (uint16_t)k));
        text_free(&shape);
    }
    return columns_print(&columns);
}

int network_show(const char *path, struct diag *diag)
{
    struct network network;
    if (network_read(path, &network, diag))
        return diag->code;
    escape_print(path);
    printf("\n  %-12s %d nodes, %d edges\n", "network", network.packed.node_count, network.packed.edge_count);
    for (int k = 0; k < network.packed.sizes; k++)
        printf("  %-12s %s, at most %" PRIu32 "\n", k ? "" : "sizes", network.sizes[k], network.longest[k]);
    print_ends(&network, "inputs", network.input, network.packed.inputs);
    print_ends(&network, "outputs", network.output, network.packed.outputs);
    printf("  %-12s %zu bytes\n", "constants", network_bytes(&network));
    printf("  %-12s %" PRIu64 " bytes at the longest sizes, in %d places\n\n", "memory",
           pwl_network_size(&network.packed, network.longest), network.packed.places);
    if (!print_nodes(&network))
        diag_set(diag, EXIT_IO, "out of memory");
    network_free(&network);
    return diag->code;
}

static json_t *ends_json(const struct network *network, const uint16_t *edges, int count)
{
    json_t *const list = json_array();
    for (int k = 0; k < count; k++) {
        struct text shape = {0};
        char type[128];
        network_shape_text(network, edges[k], &shape);
        tensor_format(&network->edges[edges[k]].type, type, sizeof type);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", network->edges[edges[k]].name, "type", type,
                                              "shape", shape.failed ? "" : shape.bytes));
        text_free(&shape);
    }
    return list;
}

static json_t *nodes_json(const struct network *network)
{
    json_t *const list = json_array();
    for (int k = 0; k < network->packed.node_count; k++) {
        const pwl_network_node *const node = &network->packed.nodes[k];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:I}", "kind", node_kind_name(node), "name",
                                              network->nodes[k].name, "output", network->edges[node->output].name,
                                              "bytes", (json_int_t)node_bytes(network, (uint16_t)k)));
    }
    return list;
}

json_t *network_json(const char *path, struct diag *diag)
{
    struct network network;
    if (network_read(path, &network, diag))
        return NULL;
    json_t *const sizes = json_object();
    for (int k = 0; k < network.packed.sizes; k++)
        json_object_set_new(sizes, network.sizes[k], json_integer(network.longest[k]));
    json_t *const root =
        json_pack("{s:s, s:o, s:o, s:o, s:I, s:I, s:o}", "file", path, "sizes", sizes, "inputs",
                  ends_json(&network, network.input, network.packed.inputs), "outputs",
                  ends_json(&network, network.output, network.packed.outputs), "constant_bytes",
                  (json_int_t)network_bytes(&network), "memory_bytes",
                  (json_int_t)pwl_network_size(&network.packed, network.longest), "nodes", nodes_json(&network));
    if (!root)
        diag_set(diag, EXIT_USAGE, "%s: the file name is not UTF-8, which JSON needs", path);
    network_free(&network);
    return root;
}

/* One run: the sizes that the inputs' shapes say, 0 before any has, and the arrays. */
struct evaluation {
    struct network network;
    uint32_t *sizes;
    void **inputs, **outputs; /* malloc'd, as is each array */
    void *memory;
};

static void evaluation_free(struct evaluation *of)
{
    for (int k = 0; of->inputs && k < of->network.packed.inputs; k++)
        free(of->inputs[k]);
    for (int k = 0; of->outputs && k < of->network.packed.outputs; k++)
        free(of->outputs[k]);
    free(of->sizes);
    free((void *)of->inputs);
    free((void *)of->outputs);
    free(of->memory);
    network_free(&of->network);
}

/* The sizes that an array's shape says. */
static int take_shape(struct evaluation *of, uint16_t edge, const struct npy *npy, struct diag *diag)
{
    const pwl_network_edge *const packed = &of->network.packed_edges[edge];
    struct text wanted = {0};
    char found[NPY_SHAPE_SIZE];
    bool fits = npy->dimensions == packed->axes;
    for (int axis = 0; fits && axis < packed->axes; axis++) {
        const int size = packed->shape[axis].sizes[0] - 1;
        fits = npy->shape[axis] >= 1;
        if (fits && size >= 0 && of->sizes[size] == 0 && npy->shape[axis] <= of->network.longest[size])
            of->sizes[size] = (uint32_t)npy->shape[axis];
        fits = fits && npy->shape[axis] == (size >= 0 ? of->sizes[size] : packed->shape[axis].times);
    }
    if (!fits) {
        npy_shape_text(npy, found);
        network_shape_text(&of->network, edge, &wanted);
        for (int k = 0; k < of->network.packed.sizes; k++)
            text_add(&wanted, ", %s %s %" PRIu32, of->network.sizes[k], of->sizes[k] ? "=" : "from 1 to",
                     of->sizes[k] ? of->sizes[k] : of->network.longest[k]);
        diag_set(diag, EXIT_USAGE, "shape %s, must be %s", found, wanted.failed ? "another" : wanted.bytes);
    }
    text_free(&wanted);
    return diag->code;
}

/* The integers of an array as codes of an edge. */
static int take_codes(const struct evaluation *of, uint16_t edge, const struct npy *npy, void **codes,
                      struct diag *diag)
{
    const struct tensor *const type = &of->network.edges[edge].type;
    struct tensor stored = *type;
    stored.bits = code_type_bits(type->bits);
    if (npy->kind == 'f')
        return diag_set(diag, EXIT_USAGE, "an array of reals, must be codes, integers");
    *codes = malloc(npy->count * (size_t)stored.bits / 8);
    if (!*codes)
        return diag_set(diag, EXIT_IO, "out of memory for %zu codes", npy->count);
    for (size_t k = 0; k < npy->count; k++) {
        const int64_t code = npy_integer(npy, k);
        if (code < type->qmin || code > type->qmax)
            return diag_set(diag, EXIT_USAGE, "place %zu: %" PRId64 ", must be a code, %" PRId64 "..%" PRId64, k, code,
                            type->qmin, type->qmax);
        operator_set_code(&stored, *codes, k, code);
    }
    return EXIT_DONE;
}

static int take_input(struct evaluation *of, int k, const char *path, struct diag *diag)
{
    const uint16_t edge = of->network.input[k];
    unsigned char *bytes;
    size_t size;
    struct npy npy;
    if (file_read(path, FILE_MAX_BYTES, &bytes, &size, diag))
        return diag->code;
    if (npy_parse(bytes, size, &npy, diag) || take_shape(of, edge, &npy, diag) ||
        take_codes(of, edge, &npy, &of->inputs[k], diag))
        diag_prefix(diag, path);
    free(bytes);
    return diag->code;
}

static int run_network(struct evaluation *of, struct diag *diag)
{
    const pwl_network *const packed = &of->network.packed;
    const uint64_t bytes = pwl_network_size(packed, of->sizes);
    of->memory = malloc(bytes ? bytes : 1);
    for (int k = 0; k < packed->outputs && of->memory; k++) {
        of->outputs[k] = malloc(pwl_network_bytes(packed, packed->output[k], of->sizes));
        if (!of->outputs[k])
            return diag_set(diag, EXIT_IO, "out of memory for an output");
    }
    if (!of->memory)
        return diag_set(diag, EXIT_IO, "out of memory for %" PRIu64 " bytes", bytes);
    const pwl_network_call call = {of->sizes, (const void *const *)of->inputs, of->outputs, of->memory, bytes, NULL};
    const pwl_status status = pwl_network_run(packed, &call);
    return status == PWL_OK ? EXIT_DONE
                            : diag_set(diag, EXIT_USAGE, "cannot run at these sizes: %s", pwl_status_text(status));
}

static int write_output(const struct evaluation *of, int k, const char *path, struct diag *diag)
{
    const pwl_network *const packed = &of->network.packed;
    const uint16_t edge = packed->output[k];
    const struct tensor *const type = &of->network.edges[edge].type;
    struct npy npy = {.kind = type->is_signed ? 'i' : 'u', .item_size = code_type_bits(type->bits) / 8};
    unsigned char *bytes = NULL;
    size_t size;
    npy.dimensions = packed->edges[edge].axes;
    npy.count = (size_t)pwl_network_count(packed, edge, of->sizes);
    for (int axis = 0; axis < npy.dimensions; axis++) {
        const pwl_network_axis *const at = &packed->edges[edge].shape[axis];
        npy.shape[axis] = at->times;
        for (int i = 0; i < PWL_NETWORK_FACTORS && at->sizes[i]; i++)
            npy.shape[axis] *= of->sizes[at->sizes[i] - 1];
    }
    npy_swap_order(of->outputs[k], npy.count, npy.item_size);
    npy.data = of->outputs[k];
    if (npy_build(&npy, &bytes, &size, diag) == EXIT_DONE)
        file_write(path, bytes, size, diag);
    free(bytes);
    return diag->code;
}

static int write_outputs(const struct evaluation *of, const char *output, struct diag *diag)
{
    const int count = of->network.packed.outputs;
    for (int k = 0; k < count && diag->code == EXIT_DONE; k++) {
        struct text path = {0};
        text_add(&path, "%.*s", (int)(strlen(output) - strlen(".npy")), output);
        if (count > 1)
            text_add(&path, ".%d", k);
        text_add(&path, ".npy");
        if (path.failed)
            diag_set(diag, EXIT_IO, "out of memory");
        else
            write_output(of, k, path.bytes, diag);
        text_free(&path);
    }
    return diag->code;
}

int network_eval(const char *path, const char *const *inputs, int count, const char *output, struct diag *diag)
{
    struct evaluation of = {0};
    if (!output || strcmp(output, "-") == 0)
        return diag_set(diag, EXIT_USAGE, "-o OUT.npy is needed: %s is a network", path);
    if (network_read(path, &of.network, diag))
        return diag->code;
    const pwl_network *const packed = &of.network.packed;
    of.sizes = calloc((size_t)packed->sizes + 1, sizeof *of.sizes);
    of.inputs = calloc((size_t)packed->inputs + 1, sizeof *of.inputs);
    of.outputs = calloc((size_t)packed->outputs + 1, sizeof *of.outputs);
    if (!of.sizes || !of.inputs || !of.outputs)
        diag_set(diag, EXIT_IO, "out of memory");
    else if (count != packed->inputs)
        diag_set(diag, EXIT_USAGE, "%d arrays, must be %d .npy files, one for each input of %s", count, packed->inputs,
                 path);
    for (int k = 0; k < count && diag->code == EXIT_DONE; k++)
        take_input(&of, k, inputs[k], diag);
    if (diag->code == EXIT_DONE && run_network(&of, diag) == EXIT_DONE)
        write_outputs(&of, output, diag);
    evaluation_free(&of);
    return diag->code;
}

int network_emit(const char *path, const char *const *given, int count, const struct emit_options *options,
                 struct text *out, struct diag *diag)
{
    struct network network;
    if (network_read(path, &network, diag))
        return diag->code;
    uint32_t *const sizes = calloc((size_t)network.packed.sizes + 1, sizeof *sizes);
    if (!sizes)
        diag_set(diag, EXIT_IO, "out of memory");
    else if (network.packed.sizes)
        memcpy(sizes, network.longest, network.packed.sizes * sizeof *sizes);
    for (int k = 0; k < count && diag->code == EXIT_DONE; k++)
        network_set_size(&network, given[k], sizes, diag);
    if (diag->code == EXIT_DONE)
        emit_network_c(&network, sizes, options, out, diag);
    free(sizes);
    network_free(&network);
    return diag->code;
}
