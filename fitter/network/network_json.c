/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the network JSON and its arrays. A network that is accepted is complete and proven safe to run. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "io/recognise.h"
#include "reader.h"
#include "table/json_parts.h"

#define NETWORK_VERSION 1
#define NAME_LENGTH 512
#define SIZES_MOST 64
#define NODES_MOST 16384

static const struct fields_limits limits = {NETWORK_MAX_BYTES, (size_t)1 << 22, (size_t)1 << 25};

/* A list of `most` elements at most, which may be empty. */
static int read_list(const struct fields *fields, const char *name, size_t most, const json_t **list, struct diag *diag)
{
    *list = json_object_get(fields->json, name);
    if (!json_is_array(*list) || json_array_size(*list) > most)
        return field_refuse(fields, name, diag, "a list of at most %zu elements", most);
    return EXIT_DONE;
}

static void *cleared(size_t count, size_t bytes, struct diag *diag)
{
    void *const memory = calloc(count ? count : 1, bytes);
    if (!memory)
        diag_set(diag, EXIT_IO, "out of memory for %zu elements of a network", count);
    return memory;
}

static int copy_text(char **to, const char *text, struct diag *diag)
{
    *to = strdup(text);
    return *to ? EXIT_DONE : diag_set(diag, EXIT_IO, "out of memory for the name %.80s", text);
}

/* Letters, digits and underscores, the first no digit. */
static bool is_word(const char *text)
{
    const char *c = text;
    if (isdigit((unsigned char)*c) || !*c)
        return false;
    while (isalnum((unsigned char)*c) || *c == '_')
        c++;
    return !*c;
}

static int read_sizes(const struct fields *top, struct network *network, struct diag *diag)
{
    struct fields sizes;
    const char *name;
    json_t *value;
    int64_t longest;
    if (field_object(top, "sizes", &sizes, diag))
        return diag->code;
    if (json_object_size(sizes.json) > SIZES_MOST)
        return field_refuse(top, "sizes", diag, "at most %d sizes", SIZES_MOST);
    network->sizes = cleared(json_object_size(sizes.json), sizeof *network->sizes, diag);
    network->longest = cleared(json_object_size(sizes.json), sizeof *network->longest, diag);
    if (!network->sizes || !network->longest)
        return diag->code;
    json_object_foreach(sizes.json, name, value)
    {
        if (!is_word(name) || strlen(name) > 64)
            return diag_set(diag, EXIT_USAGE, "sizes: a name must be letters, digits and underscores, 64 at most");
        if (field_integer(&sizes, name, 1, PWL_NETWORK_LARGEST, &longest, diag) ||
            copy_text(&network->sizes[network->packed.sizes], name, diag))
            return diag->code;
        network->longest[network->packed.sizes++] = (uint32_t)longest;
    }
    return EXIT_DONE;
}

static int find_size(const struct network *network, const char *name, size_t length)
{
    for (int k = 0; k < network->packed.sizes; k++)
        if (strlen(network->sizes[k]) == length && memcmp(network->sizes[k], name, length) == 0)
            return k;
    return -1;
}

/* "length", "4*batch*length" */
static bool parse_axis(const struct network *network, const char *text, pwl_network_axis *axis)
{
    int factors = 0;
    axis->times = 1;
    if (*text >= '1' && *text <= '9') {
        const size_t digits = strspn(text, "0123456789");
        if (digits > 9 || text[digits] != '*')
            return false;
        axis->times = (uint32_t)strtoul(text, NULL, 10);
        text += digits + 1;
    }
    for (;; text++) {
        const size_t length = strcspn(text, "*");
        const int size = find_size(network, text, length);
        if (size < 0 || factors == PWL_NETWORK_FACTORS)
            return false;
        axis->sizes[factors++] = (uint8_t)(size + 1);
        text += length;
        if (!*text)
            return true;
    }
}

static int read_shape(const struct fields *entry, struct network *network, uint16_t k, struct diag *diag)
{
    pwl_network_edge *const edge = &network->packed_edges[k];
    pwl_network_axis *const axes = &network->axes[(size_t)k * PWL_NETWORK_AXES];
    const json_t *shape;
    if (read_list(entry, "shape", PWL_NETWORK_AXES, &shape, diag))
        return diag->code;
    edge->axes = (uint8_t)json_array_size(shape);
    edge->shape = axes;
    for (size_t axis = 0; axis < edge->axes; axis++) {
        const json_t *const size = json_array_get(shape, axis);
        if (json_is_integer(size) && json_integer_value(size) >= 1 && json_integer_value(size) <= PWL_NETWORK_EDGE)
            axes[axis].times = (uint32_t)json_integer_value(size);
        else if (!json_is_string(size) || !parse_axis(network, json_string_value(size), &axes[axis]))
            return diag_set(diag, EXIT_USAGE,
                            "%s.shape[%zu]: must be a number from 1 on, or a product of at most %d of the sizes",
                            entry->path, axis, PWL_NETWORK_FACTORS);
    }
    return EXIT_DONE;
}

static pwl_type type_of(const struct tensor *tensor)
{
    const int bits = code_type_bits(tensor->bits);
    return (pwl_type)((bits == 8 ? 0 : bits == 16 ? 2 : 4) + !tensor->is_signed);
}

static int read_edge(struct reader *reader, const struct fields *entry, uint16_t k, struct diag *diag)
{
    static const char *const known[] = {"name", "type", "shape", NULL};
    struct network *const network = reader->network;
    struct network_edge *const edge = &network->edges[k];
    pwl_network_edge *const packed = &network->packed_edges[k];
    const char *name;
    if (fields_known(entry, known, diag) || field_text(entry, "name", NAME_LENGTH, &name, diag) ||
        copy_text(&edge->name, name, diag) || json_read_tensor(entry, "type", &edge->type, diag) ||
        read_shape(entry, network, k, diag))
        return diag->code;
    if (json_object_get(reader->names, name))
        return field_refuse(entry, "name", diag, "a name that no other edge has");
    if (json_object_set_new(reader->names, name, json_integer(k)))
        return diag_set(diag, EXIT_IO, "out of memory for the name of an edge");
    packed->type = (uint8_t)type_of(&edge->type);
    packed->zero_point = edge->type.zero_point;
    packed->qmin = edge->type.qmin;
    packed->qmax = edge->type.qmax;
    return EXIT_DONE;
}

static int read_edges(struct reader *reader, const struct fields *top, struct diag *diag)
{
    struct network *const network = reader->network;
    struct fields entry;
    json_t *list;
    if (field_array(top, "edges", 2 * NODES_MOST, &list, diag))
        return diag->code;
    const size_t count = json_array_size(list);
    network->edges = cleared(count, sizeof *network->edges, diag);
    network->packed_edges = cleared(count, sizeof *network->packed_edges, diag);
    network->axes = cleared(count * PWL_NETWORK_AXES, sizeof *network->axes, diag);
    if (!network->edges || !network->packed_edges || !network->axes)
        return diag->code;
    network->packed.edge_count = (uint16_t)count;
    for (size_t k = 0; k < count; k++)
        if (field_element(top, "edges", list, k, &entry, diag) || read_edge(reader, &entry, (uint16_t)k, diag))
            return diag->code;
    return EXIT_DONE;
}

/* Names of edges; `numbers` has room for `most`. */
static int read_names(const struct reader *reader, const struct fields *fields, const char *name, size_t most,
                      uint16_t *numbers, size_t *count, struct diag *diag)
{
    const json_t *list;
    if (read_list(fields, name, most, &list, diag))
        return diag->code;
    *count = json_array_size(list);
    for (size_t k = 0; k < *count; k++) {
        const json_t *const text = json_array_get(list, k);
        const json_t *const number =
            json_is_string(text) ? json_object_get(reader->names, json_string_value(text)) : NULL;
        if (!number)
            return diag_set(diag, EXIT_USAGE, "%s%s%s[%zu]: must be the name of an edge", fields->path,
                            *fields->path ? "." : "", name, k);
        numbers[k] = (uint16_t)json_integer_value(number);
    }
    return EXIT_DONE;
}

static int read_ends(const struct reader *reader, const struct fields *top, struct diag *diag)
{
    struct network *const network = reader->network;
    size_t inputs, outputs;
    network->input = cleared(UINT8_MAX, sizeof *network->input, diag);
    network->output = cleared(UINT8_MAX, sizeof *network->output, diag);
    if (!network->input || !network->output ||
        read_names(reader, top, "inputs", UINT8_MAX, network->input, &inputs, diag) ||
        read_names(reader, top, "outputs", UINT8_MAX, network->output, &outputs, diag))
        return diag->code;
    network->packed.inputs = (uint8_t)inputs;
    network->packed.outputs = (uint8_t)outputs;
    return EXIT_DONE;
}

/* Each size is what some input says; and inputs say sizes one by one. */
static int check_told(const struct network *network, struct diag *diag)
{
    bool told[SIZES_MOST] = {false};
    for (int k = 0; k < network->packed.inputs; k++) {
        const pwl_network_edge *const edge = &network->packed_edges[network->input[k]];
        for (int axis = 0; axis < edge->axes; axis++) {
            const pwl_network_axis *const at = &edge->shape[axis];
            if (at->sizes[1] || (at->sizes[0] && at->times != 1))
                return diag_set(diag, EXIT_USAGE, "inputs: %.80s: an axis must be a number or one of the sizes",
                                network->edges[network->input[k]].name);
            if (at->sizes[0])
                told[at->sizes[0] - 1] = true;
        }
    }
    for (int k = 0; k < network->packed.sizes; k++)
        if (!told[k])
            return diag_set(diag, EXIT_USAGE, "sizes.%s: must be an axis of an input", network->sizes[k]);
    return EXIT_DONE;
}

static int read_node(const struct reader *reader, const struct fields *fields, uint16_t k, struct diag *diag)
{
    pwl_network_node *const packed = &reader->network->packed_nodes[k];
    uint16_t inputs[PWL_NETWORK_READS] = {0};
    const char *text;
    size_t count;
    if (read_names(reader, fields, "inputs", PWL_NETWORK_READS, inputs, &count, diag))
        return diag->code;
    packed->reads = (uint8_t)count;
    memcpy(packed->inputs, inputs, sizeof inputs);
    if (field_text(fields, "output", NAME_LENGTH, &text, diag))
        return diag->code;
    const json_t *const number = json_object_get(reader->names, text);
    if (!number)
        return field_refuse(fields, "output", diag, "the name of an edge");
    packed->output = (uint16_t)json_integer_value(number);
    if (field_text(fields, "name", NAME_LENGTH, &text, diag) || copy_text(&reader->network->nodes[k].name, text, diag))
        return diag->code;
    return reader_node(reader, fields, k, diag);
}

static int read_nodes(const struct reader *reader, const struct fields *top, struct diag *diag)
{
    struct network *const network = reader->network;
    struct fields entry;
    const json_t *list;
    if (read_list(top, "nodes", NODES_MOST, &list, diag))
        return diag->code;
    const size_t count = json_array_size(list);
    network->nodes = cleared(count, sizeof *network->nodes, diag);
    network->packed_nodes = cleared(count, sizeof *network->packed_nodes, diag);
    if (!network->nodes || !network->packed_nodes)
        return diag->code;
    network->packed.node_count = (uint16_t)count;
    for (size_t k = 0; k < count; k++)
        if (field_element(top, "nodes", list, k, &entry, diag) || read_node(reader, &entry, (uint16_t)k, diag))
            return diag->code;
    return EXIT_DONE;
}

static void link_parts(struct network *network)
{
    network->packed.version = PWL_NETWORK_VERSION;
    network->packed.longest = network->longest;
    network->packed.input = network->input;
    network->packed.output = network->output;
    network->packed.edges = network->packed_edges;
    network->packed.nodes = network->packed_nodes;
}

static int check_written(const struct network *network, struct diag *diag)
{
    bool *const known = cleared(network->packed.edge_count, sizeof *known, diag);
    for (int k = 0; known && k < network->packed.inputs; k++)
        known[network->input[k]] = true;
    for (int k = 0; known && k < network->packed.node_count; k++)
        known[network->packed_nodes[k].output] = true;
    for (int k = 0; known && k < network->packed.edge_count && diag->code == EXIT_DONE; k++)
        if (!known[k])
            diag_set(diag, EXIT_USAGE, "edges[%d]: %.80s, must be an input or what a node writes", k,
                     network->edges[k].name);
    free(known);
    return diag->code;
}

/* A node with the shapes of its edges: "nodes[3] (product, x (batch, 64), to y (batch, 3))". */
static void describe_node(const struct network *network, int k, struct text *out)
{
    const pwl_network_node *const node = &network->packed_nodes[k];
    text_add(out, "nodes[%d] (%s", k, node_kind_name(node));
    for (int i = 0; i <= node->reads; i++) {
        const uint16_t edge = i < node->reads ? node->inputs[i] : node->output;
        text_add(out, "%s %.60s ", i < node->reads ? "," : " to", network->edges[edge].name);
        network_shape_text(network, edge, out);
    }
    text_add(out, ")");
}

static int prove(const struct network *network, struct diag *diag)
{
    pwl_network_proof proof;
    struct text where = {0};
    if (pwl_network_check(&network->packed, &proof) == PWL_OK)
        return EXIT_DONE;
    if (proof.node >= 0)
        describe_node(network, proof.node, &where);
    else if (proof.edge >= 0)
        text_add(&where, "edges[%d] (%.80s)", proof.edge, network->edges[proof.edge].name);
    else
        text_add(&where, "sizes, inputs, outputs");
    diag_set(diag, EXIT_USAGE, "%s: not safe to run: %s", where.failed ? "a part" : where.bytes,
             pwl_status_text(proof.status));
    text_free(&where);
    return diag->code;
}

/* Places of edges in memory. */
static int place(struct network *network, struct diag *diag)
{
    pwl_network *const packed = &network->packed;
    void *const memory = calloc((size_t)packed->node_count * 3 + packed->edge_count + 1, sizeof(uint32_t));
    if (!memory)
        return diag_set(diag, EXIT_IO, "out of memory for %d edges", packed->edge_count);
    packed->places = pwl_network_place(packed, network->packed_edges, memory);
    free(memory);
    return EXIT_DONE;
}

static int read_graph(struct reader *reader, const struct fields *top, struct diag *diag)
{
    struct network *const network = reader->network;
    if (read_edges(reader, top, diag) || read_ends(reader, top, diag) ||
        (!network->is_body && check_told(network, diag)) || read_nodes(reader, top, diag) ||
        check_written(network, diag))
        return diag->code;
    link_parts(network);
    return place(network, diag);
}

static int read_top(struct reader *reader, const struct fields *top, struct diag *diag)
{
    static const char *const known[] = {"pwl_network", "sizes", "inputs", "outputs", "edges", "nodes", "arrays", NULL};
    int64_t version;
    if (field_integer(top, "pwl_network", NETWORK_VERSION, NETWORK_VERSION, &version, diag) ||
        fields_known(top, known, diag) || read_sizes(top, reader->network, diag) || read_graph(reader, top, diag) ||
        prove(reader->network, diag))
        return diag->code;
    return EXIT_DONE;
}

int reader_body(const struct reader *reader, const struct fields *fields, uint16_t k, struct diag *diag)
{
    static const char *const known[] = {"inputs", "outputs", "edges", "nodes", NULL};
    const struct network *const around = reader->network;
    struct network *const body = cleared(1, sizeof *body, diag);
    struct reader inner = {.network = body, .arrays = reader->arrays, .names = json_object()};
    struct fields object;
    around->nodes[k].body = body;
    snprintf(inner.prefix, sizeof inner.prefix, "%u.", k);
    if (!body || !inner.names) {
        diag_set(diag, EXIT_IO, "out of memory for the body of a loop");
    } else if (around->is_body) {
        field_refuse(fields, "body", diag, "no loop within a loop");
    } else {
        body->is_body = true;
        body->sizes = around->sizes;
        body->longest = around->longest;
        body->packed.sizes = around->packed.sizes;
        if (field_object(fields, "body", &object, diag) == EXIT_DONE &&
            fields_known(&object, known, diag) == EXIT_DONE && read_graph(&inner, &object, diag) == EXIT_DONE &&
            prove(body, diag))
            diag_prefix(diag, object.path);
    }
    json_decref(inner.names);
    return diag->code;
}

/* What the file says of its arrays: their file, which names the network, and the hash of its bytes. */
static int read_beside(const struct fields *top, const char **file, char sha256[SHA256_LENGTH + 1], struct diag *diag)
{
    static const char *const known[] = {"file", "sha256", NULL};
    struct fields beside;
    if (field_object(top, "arrays", &beside, diag) || fields_known(&beside, known, diag) ||
        field_text(&beside, "file", NAME_LENGTH, file, diag))
        return diag->code;
    return json_read_sha256(&beside, "sha256", sha256, diag);
}

static int parse_top(const char *json, size_t size, struct fields *top, struct diag *diag)
{
    if (fields_parse(json, size, &limits, &top->json, diag))
        return diag->code;
    return json_is_object(top->json) ? EXIT_DONE
                                     : diag_set(diag, EXIT_USAGE, "must be an object with the field pwl_network");
}

/* "encoder" of "encoder.safetensors". */
static int name_network(struct network *network, const char *file, struct diag *diag)
{
    if (copy_text(&network->name, file, diag) == EXIT_DONE && strrchr(network->name, '.'))
        *strrchr(network->name, '.') = '\0';
    return diag->code;
}

static int take(const struct fields *top, const char *file, const unsigned char *bytes, size_t size,
                struct network *network, struct diag *diag)
{
    struct arrays arrays = {0};
    struct reader reader = {.network = network, .arrays = &arrays, .names = json_object()};
    if (!reader.names)
        diag_set(diag, EXIT_IO, "out of memory");
    else if (arrays_parse(bytes, size, &arrays, diag))
        diag_prefix(diag, file);
    else if (name_network(network, file, diag) == EXIT_DONE)
        read_top(&reader, top, diag);
    arrays_free(&arrays);
    json_decref(reader.names);
    if (diag->code != EXIT_DONE)
        network_free(network);
    return diag->code;
}

int network_from_bytes(const char *json, size_t json_size, const unsigned char *arrays, size_t arrays_size,
                       struct network *network, struct diag *diag)
{
    char sha256[SHA256_LENGTH + 1];
    const char *file;
    struct fields top = {0};
    memset(network, 0, sizeof *network);
    diag_set(diag, EXIT_DONE, "%s", "");
    if (parse_top(json, json_size, &top, diag) == EXIT_DONE && read_beside(&top, &file, sha256, diag) == EXIT_DONE)
        take(&top, file, arrays, arrays_size, network, diag);
    json_decref(top.json);
    return diag->code;
}

/* The file of arrays lies beside the JSON and has its name, but for the ending. */
static int arrays_path(const char *path, const char *file, struct text *out, struct diag *diag)
{
    const char *const slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    const size_t length = strlen(path), ending = length > 5 && strcmp(path + length - 5, ".json") == 0 ? 5 : 0;
    text_add(out, "%.*s.safetensors", (int)(length - ending), path);
    if (out->failed)
        return diag_set(diag, EXIT_IO, "out of memory");
    return strcmp(out->bytes + folder, file) == 0
               ? EXIT_DONE
               : diag_set(diag, EXIT_USAGE, "arrays.file: \"%.80s\", must be %.160s, beside it", file,
                          out->bytes + folder);
}

static int read_both(const char *path, const struct fields *top, struct network *network, struct diag *diag)
{
    char told[SHA256_LENGTH + 1], found[SHA256_LENGTH + 1];
    struct text beside = {0};
    unsigned char *arrays = NULL;
    const char *file;
    size_t size;
    if (read_beside(top, &file, told, diag) == EXIT_DONE && arrays_path(path, file, &beside, diag) == EXIT_DONE &&
        file_read(beside.bytes, FILE_MAX_BYTES, &arrays, &size, diag) == EXIT_DONE) {
        sha256_hex(arrays, size, found);
        if (strcmp(found, told) != 0)
            diag_set(diag, EXIT_USAGE, "arrays.sha256: \"%s\", must be %s, that of %.160s", told, found, beside.bytes);
        else
            take(top, file, arrays, size, network, diag);
    }
    free(arrays);
    text_free(&beside);
    return diag->code;
}

int network_read(const char *path, struct network *network, struct diag *diag)
{
    struct fields top = {0};
    unsigned char *bytes;
    size_t size;
    memset(network, 0, sizeof *network);
    diag_set(diag, EXIT_DONE, "%s", "");
    if (file_read(path, NETWORK_MAX_BYTES, &bytes, &size, diag))
        return diag->code;
    if (parse_top((const char *)bytes, size, &top, diag) || read_both(path, &top, network, diag))
        diag_prefix(diag, path);
    json_decref(top.json);
    free(bytes);
    return diag->code;
}

bool network_recognise(const char *path)
{
    return json_file_has(path, "pwl_network", NETWORK_MAX_BYTES);
}
