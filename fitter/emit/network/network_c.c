/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network as a header: operators and tables as they are emitted alone, arrays, nodes, edges, and a function. */
#include "network_c.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emit/c/c.h"
#include "emit/c/row_operator.h"

#define NAME_LENGTH 40 /* what is left is for nodes and bodies */

/* What the header is written from. */
struct network_c {
    const struct network *network;
    const uint32_t *sizes;
    const struct emit_options *options;
    const char *attribute;                                    /* of arrays; "" for none */
    char name[EMIT_NAME_SIZE / 2], upper[EMIT_NAME_SIZE / 2]; /* a network's at most NAME_LENGTH */
};

/* prefix + the name of the network's files, or what --name says. */
static int name_network(struct network_c *c, struct diag *diag)
{
    const struct emit_options *const options = c->options;
    const int length = options->name ? snprintf(c->name, sizeof c->name, "%s", options->name)
                                     : snprintf(c->name, sizeof c->name, "%s%s", options->prefix, c->network->name);
    for (char *at = c->name; !options->name && *at; at++)
        *at = (char)(isalnum((unsigned char)*at) ? *at : '_');
    if (length < 1 || length > NAME_LENGTH || !emit_is_identifier(&identifiers_c, c->name))
        return diag_set(diag, EXIT_USAGE, "%s %.80s: must be a name of C of at most %d characters; give one by --name",
                        options->name ? "--name" : "the network's name", c->name, NAME_LENGTH);
    for (size_t k = 0; k <= strlen(c->name); k++)
        c->upper[k] = (char)toupper((unsigned char)c->name[k]);
    return EXIT_DONE;
}

static int64_t value_of(const void *array, int bytes, bool is_signed, size_t k)
{
    switch (bytes) {
    case 1:
        return is_signed ? ((const int8_t *)array)[k] : ((const uint8_t *)array)[k];
    case 2:
        return ((const int16_t *)array)[k];
    case 4:
        return ((const int32_t *)array)[k];
    default:
        return ((const int64_t *)array)[k];
    }
}

/* static const TYPE NAME_3_weights[count] = {...}; of signed integers, or of bytes. */
static void add_array(struct text *out, const struct network_c *c, int node, const char *suffix, const void *array,
                      size_t count, int bytes, bool is_signed)
{
    static const int columns[] = {0, 20, 16, 0, 8, 0, 0, 0, 4};
    char name[C_LITERAL_SIZE + 32], literal[C_LITERAL_SIZE];
    snprintf(name, sizeof name, "%d_%s[%zu]", node, suffix, count);
    c_add_array_head(out, c->attribute, c_type(8 * bytes, is_signed), c->name, name);
    for (size_t k = 0; k < count; k++)
        text_add(out, "%s%s%s", k ? "," : "", k % (size_t)columns[bytes] ? " " : "\n    ",
                 c_literal(value_of(array, bytes, is_signed, k), literal));
    text_add(out, "\n};\n");
}

static void add_factor_arrays(struct text *out, const struct network_c *c, int node, const pwl_network_factors *factors)
{
    add_array(out, c, node, "factor", factors->factor, factors->count, 4, true);
    add_array(out, c, node, "shift", factors->shift, factors->count, 1, false);
}

static void add_factors(struct text *out, const struct network_c *c, int node, const pwl_network_factors *factors)
{
    text_add(out, "    {%s_%d_factor, %s_%d_shift, %" PRIu32 "}, /* factors */\n", c->name, node, c->name, node,
             factors->count);
}

static void begin(struct text *out, const struct network_c *c, int node, const char *type)
{
    text_add(out, "static const pwl_network_%s %s_%d = {\n", type, c->name, node);
}

static void add_gather(struct text *out, const struct network_c *c, int node)
{
    const pwl_network_gather *const gather = &c->network->nodes[node].of.gather;
    add_array(out, c, node, "table", gather->table, (size_t)gather->rows * gather->columns, 2, true);
    begin(out, c, node, "gather");
    text_add(out, "    %s_%d_table, /* table */\n    %" PRIu32 ", %" PRIu32 " /* rows, columns */\n};\n", c->name, node,
             gather->rows, gather->columns);
}

static void add_constant(struct text *out, const struct network_c *c, int node)
{
    const pwl_network_constant *const constant = &c->network->nodes[node].of.constant;
    add_array(out, c, node, "codes", constant->codes, constant->count, 2, true);
    begin(out, c, node, "constant");
    text_add(out, "    %s_%d_codes, /* codes */\n    %" PRIu32 " /* count */\n};\n", c->name, node, constant->count);
}

static void add_product(struct text *out, const struct network_c *c, int node)
{
    const pwl_network_product *const product = &c->network->nodes[node].of.product;
    add_array(out, c, node, "weights", product->weights, (size_t)product->channels * product->length, 1, true);
    add_array(out, c, node, "bias", product->bias, product->channels, 8, true);
    add_factor_arrays(out, c, node, &product->factors);
    begin(out, c, node, "product");
    text_add(out, "    %s_%d_weights, %s_%d_bias, /* weights, bias */\n", c->name, node, c->name, node);
    add_factors(out, c, node, &product->factors);
    text_add(out, "    %" PRIu32 ", %" PRIu32 ", /* channels, length */\n    %d /* is_narrow */\n};\n",
             product->channels, product->length, product->is_narrow);
}

static void add_matmul(struct text *out, const struct network_c *c, int node)
{
    const pwl_network_matmul *const matmul = &c->network->nodes[node].of.matmul;
    add_factor_arrays(out, c, node, &matmul->factors);
    begin(out, c, node, "matmul");
    add_factors(out, c, node, &matmul->factors);
    text_add(out, "    %d /* transposed */\n};\n", matmul->transposed);
}

static void add_multiply(struct text *out, const struct network_c *c, int node)
{
    const pwl_network_multiply *const multiply = &c->network->nodes[node].of.multiply;
    char literals[2][C_LITERAL_SIZE];
    begin(out, c, node, "multiply");
    text_add(out, "    {%s, %s}, /* factor */\n    %d /* shift */\n};\n", c_literal(multiply->factor[0], literals[0]),
             c_literal(multiply->factor[1], literals[1]), multiply->shift);
}

static void add_mean(struct text *out, const struct network_c *c, int node)
{
    const pwl_network_mean *const mean = &c->network->nodes[node].of.mean;
    add_factor_arrays(out, c, node, &mean->factors);
    begin(out, c, node, "mean");
    add_factors(out, c, node, &mean->factors);
    text_add(out, "    %d /* axis */\n};\n", mean->axis);
}

/* The operator itself stands above. */
static void add_operator(struct text *out, const struct network_c *c, int node)
{
    static const char *const types[] = {"TABLE", "REDUCED", "SOFTMAX", "NORM", "REQUANTISE", "ADD"};
    const pwl_network_operator *const own = &c->network->nodes[node].of.operate;
    begin(out, c, node, "operator");
    text_add(out, "    &%s_%d_operator, /* of */\n    PWL_NETWORK_%s, /* type */\n    %d /* is_causal */\n};\n",
             c->name, node, types[own->type], own->is_causal);
}

static void add_transpose(struct text *out, const struct network_c *c, int node)
{
    const pwl_network_transpose *const transpose = &c->network->nodes[node].of.transpose;
    begin(out, c, node, "transpose");
    for (int k = 0; k < PWL_NETWORK_AXES; k++)
        text_add(out, "%s%d", k ? ", " : "    {", transpose->order[k]);
    text_add(out, "} /* order */\n};\n");
}

static void add_slice(struct text *out, const struct network_c *c, int node)
{
    const pwl_network_slice *const slice = &c->network->nodes[node].of.slice;
    char start[C_LITERAL_SIZE], stop[C_LITERAL_SIZE];
    begin(out, c, node, "slice");
    text_add(out, "    %s, %s, /* start, stop */\n    %" PRIu32 "u, /* step */\n    %d, %d /* axis, keep */\n};\n",
             c_literal(slice->start, start), c_literal(slice->stop, stop), slice->step, slice->axis, slice->keep);
}

static void add_concat(struct text *out, const struct network_c *c, int node)
{
    begin(out, c, node, "concat");
    text_add(out, "    %d /* axis */\n};\n", c->network->nodes[node].of.concat.axis);
}

/* Both axes of a window. */
static void add_window(struct text *out, const pwl_network_window *window, const char *end)
{
    text_add(out,
             "    {{%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "}, {%" PRIu32 ", %" PRIu32 ", %" PRIu32
             ", %" PRIu32 "}}%s /* window */\n",
             window[0].kernel, window[0].stride, window[0].padding, window[0].dilation, window[1].kernel,
             window[1].stride, window[1].padding, window[1].dilation, end);
}

static void add_convolution(struct text *out, const struct network_c *c, int node)
{
    const pwl_network_convolution *const of = &c->network->nodes[node].of.convolution;
    const size_t count = (size_t)of->channels * of->inputs * of->window[0].kernel * of->window[1].kernel;
    add_array(out, c, node, "weights", of->weights, count, 1, true);
    add_array(out, c, node, "bias", of->bias, of->channels, 8, true);
    add_factor_arrays(out, c, node, &of->factors);
    begin(out, c, node, "convolution");
    text_add(out, "    %s_%d_weights, %s_%d_bias, /* weights, bias */\n", c->name, node, c->name, node);
    add_factors(out, c, node, &of->factors);
    text_add(out, "    %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", /* channels, inputs, groups */\n", of->channels,
             of->inputs, of->groups);
    add_window(out, of->window, ",");
    text_add(out, "    %d /* is_narrow */\n};\n", of->is_narrow);
}

static void add_max_pool(struct text *out, const struct network_c *c, int node)
{
    begin(out, c, node, "max_pool");
    add_window(out, c->network->nodes[node].of.max_pool.window, "");
    text_add(out, "};\n");
}

/* The body stands above. */
static void add_loop(struct text *out, const struct network_c *c, int node)
{
    const pwl_network_loop *const loop = &c->network->nodes[node].of.loop;
    begin(out, c, node, "loop");
    text_add(out, "    &%s_%d_body, /* body */\n    %d, %d /* axis, reverse */\n};\n", c->name, node, loop->axis,
             loop->reverse);
}

static void add_append(struct text *out, const struct network_c *c, int node)
{
    begin(out, c, node, "append");
    text_add(out, "    %d /* axis */\n};\n", c->network->nodes[node].of.append.axis);
}

/* What nodes of a kind have beside their edges. */
static void (*const add_of[])(struct text *out, const struct network_c *c, int node) = {
    [PWL_NETWORK_GATHER] = add_gather,       [PWL_NETWORK_CONSTANT] = add_constant,
    [PWL_NETWORK_PRODUCT] = add_product,     [PWL_NETWORK_MATMUL] = add_matmul,
    [PWL_NETWORK_MULTIPLY] = add_multiply,   [PWL_NETWORK_MEAN] = add_mean,
    [PWL_NETWORK_OPERATOR] = add_operator,   [PWL_NETWORK_RESHAPE] = NULL,
    [PWL_NETWORK_TRANSPOSE] = add_transpose, [PWL_NETWORK_SLICE] = add_slice,
    [PWL_NETWORK_CONCAT] = add_concat,       [PWL_NETWORK_CONVOLUTION] = add_convolution,
    [PWL_NETWORK_MAX_POOL] = add_max_pool,   [PWL_NETWORK_LOOP] = add_loop,
    [PWL_NETWORK_APPEND] = add_append,
};

/* Each is a header of its own, with its guard. */
static int add_operators(struct text *out, const struct network_c *c, struct diag *diag)
{
    struct emit_options options = *c->options;
    char name[EMIT_NAME_SIZE];
    options.name = name;
    options.prefix = NULL;
    for (int k = 0; k < c->network->packed.node_count && diag->code == EXIT_DONE; k++) {
        const struct node_operator *const own = c->network->nodes[k].operator;
        const struct table *const table = own ? &own->table : NULL;
        snprintf(name, sizeof name, "%s_%d_operator", c->name, k);
        if (own && own->is_table)
            emit_c(&table, 1, &options, out, diag);
        else if (own)
            emit_operator_c(&own->row, &options, out, diag);
        if (own)
            text_add(out, "\n");
    }
    return diag->code;
}

static void add_ends(struct text *out, const struct network_c *c, const char *label, const uint16_t *edges, int count)
{
    for (int k = 0; k < count; k++) {
        char type[128];
        tensor_format(&c->network->edges[edges[k]].type, type, sizeof type);
        text_add(out, " *   %-11s %s, %s ", k ? "" : label, c->network->edges[edges[k]].name, type);
        network_shape_text(c->network, edges[k], out);
        text_add(out, "\n");
    }
}

static void add_banner(struct text *out, const struct network_c *c)
{
    const pwl_network *const packed = &c->network->packed;
    text_add(
        out,
        "/* SPDX-License-Identifier: 0BSD */\n/* DO NOT EDIT: generated by pwlc %s */\n#ifndef %s_H\n#define %s_H\n\n"
        "#include <pwl/network.h>\n\n/*\n * %s\n *   nodes       %d\n *   constants   %zu bytes\n",
        PWLC_VERSION, c->upper, c->upper, c->name, packed->node_count, network_bytes(c->network));
    for (int k = 0; k < packed->sizes; k++)
        text_add(out, " *   %-11s %s = %" PRIu32 ", at most %" PRIu32 "\n", k ? "" : "sizes", c->network->sizes[k],
                 c->sizes[k], packed->longest[k]);
    add_ends(out, c, "inputs", packed->input, packed->inputs);
    add_ends(out, c, "outputs", packed->output, packed->outputs);
    text_add(out, " */\n#define %s_MEMORY %" PRIu64 " /* bytes, at these sizes */\n\n", c->upper,
             pwl_network_size(packed, c->sizes));
}

static void add_edges(struct text *out, const struct network_c *c)
{
    static const char *const types[] = {"PWL_S8", "PWL_U8", "PWL_S16", "PWL_U16", "PWL_S32", "PWL_U32"};
    const pwl_network *const packed = &c->network->packed;
    size_t axes = 0;
    text_add(out, "\n/* times, and 1 + the numbers of sizes */\nstatic const pwl_network_axis %s_axes[] = {\n",
             c->name);
    for (int k = 0; k < packed->edge_count; k++)
        for (int axis = 0; axis < packed->edges[k].axes; axis++) {
            const pwl_network_axis *const at = &packed->edges[k].shape[axis];
            text_add(out, "    {%" PRIu32 ", {%d, %d, %d, %d}},\n", at->times, at->sizes[0], at->sizes[1], at->sizes[2],
                     at->sizes[3]);
        }
    text_add(out, "    {1, {0, 0, 0, 0}}\n};\n\n/* type, axes, place, zero_point, qmin, qmax, shape */\n");
    text_add(out, "static const pwl_network_edge %s_edges[] = {\n", c->name);
    for (int k = 0; k < packed->edge_count; k++) {
        const pwl_network_edge *const edge = &packed->edges[k];
        char zero_point[C_LITERAL_SIZE], low[C_LITERAL_SIZE], high[C_LITERAL_SIZE];
        text_add(out, "    {%s, %d, %d, %s, %s, %s, %s_axes + %zu}%s\n", types[edge->type], edge->axes, edge->place,
                 c_literal(edge->zero_point, zero_point), c_literal(edge->qmin, low), c_literal(edge->qmax, high),
                 c->name, axes, k + 1 < packed->edge_count ? "," : "");
        axes += edge->axes;
    }
    text_add(out, "};\n");
}

static void add_nodes(struct text *out, const struct network_c *c)
{
    const pwl_network *const packed = &c->network->packed;
    text_add(out, "\n/* kind, reads, inputs, output, of */\nstatic const pwl_network_node %s_nodes[] = {\n", c->name);
    for (int k = 0; k < packed->node_count; k++) {
        const pwl_network_node *const node = &packed->nodes[k];
        text_add(out, "    {PWL_NETWORK_");
        for (const char *letter = node_kind_name(node); *letter; letter++)
            text_add(out, "%c", toupper((unsigned char)*letter));
        text_add(out, ", %d, {", node->reads);
        for (int i = 0; i < PWL_NETWORK_READS; i++)
            text_add(out, "%s%d", i ? ", " : "", node->inputs[i]);
        text_add(out, "}, %d, ", node->output);
        if (add_of[node->kind])
            text_add(out, "&%s_%d}%s", c->name, k, k + 1 < packed->node_count ? "," : "");
        else
            text_add(out, "0}%s", k + 1 < packed->node_count ? "," : "");
        text_add(out, "\n");
    }
    text_add(out, "};\n");
}

static void add_numbers(struct text *out, const struct network_c *c, const char *suffix, const uint16_t *numbers,
                        int count)
{
    text_add(out, "static const uint16_t %s_%s[] = {", c->name, suffix);
    for (int k = 0; k < count; k++)
        text_add(out, "%s%d", k ? ", " : "", numbers[k]);
    text_add(out, "%s};\n", count ? "" : "0");
}

static void add_sizes(struct text *out, const char *before, const uint32_t *sizes, int count)
{
    text_add(out, "%s[] = {", before);
    for (int k = 0; k < count; k++)
        text_add(out, "%s%" PRIu32, k ? ", " : "", sizes[k]);
    text_add(out, "%s};\n", count ? "" : "1");
}

static void add_network(struct text *out, const struct network_c *c)
{
    const pwl_network *const packed = &c->network->packed;
    text_add(out, "\nstatic const uint32_t %s_longest", c->name);
    add_sizes(out, "", packed->longest, packed->sizes);
    add_numbers(out, c, "input", packed->input, packed->inputs);
    add_numbers(out, c, "output", packed->output, packed->outputs);
    text_add(out,
             "\nstatic const pwl_network %s = {\n    %d, /* version */\n    %d, %d, %d, /* sizes, inputs, outputs */\n"
             "    %d, %d, %d, /* edge_count, node_count, places */\n    %s_longest, /* longest */\n"
             "    %s_input, %s_output, /* input, output */\n    %s_edges, /* edges */\n    %s_nodes /* nodes */\n};\n",
             c->name, PWL_NETWORK_VERSION, packed->sizes, packed->inputs, packed->outputs, packed->edge_count,
             packed->node_count, packed->places, c->name, c->name, c->name, c->name, c->name);
}

/* The name of an edge where C takes it and no other parameter has it, else "input_2". */
static void name_parameter(const struct network_c *c, bool is_output, int k, char *name, size_t size)
{
    const pwl_network *const packed = &c->network->packed;
    const char *const own = c->network->edges[(is_output ? packed->output : packed->input)[k]].name;
    static const char *const taken[] = {"memory", "sizes", "inputs", "outputs", "call"};
    bool is_free = strlen(own) < 48 && emit_is_identifier(&identifiers_c, own) && strncmp(own, "input_", 6) != 0 &&
                   strncmp(own, "output_", 7) != 0 && strncmp(own, c->name, strlen(c->name)) != 0;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        is_free = is_free && strcmp(own, taken[i]) != 0;
    for (int i = 0; i < packed->inputs + packed->outputs && is_free; i++) {
        const bool of_output = i >= packed->inputs;
        const int number = of_output ? i - packed->inputs : i;
        if (of_output != is_output || number != k)
            is_free = strcmp(own, c->network->edges[(of_output ? packed->output : packed->input)[number]].name) != 0;
    }
    if (is_free)
        snprintf(name, size, "%s", own);
    else
        snprintf(name, size, "%s_%d", is_output ? "output" : "input", k);
}

static void add_parameters(struct text *out, const struct network_c *c, bool is_output, bool with_types)
{
    const pwl_network *const packed = &c->network->packed;
    const int count = is_output ? packed->outputs : packed->inputs;
    for (int k = 0; k < count; k++) {
        const struct tensor *const type = &c->network->edges[(is_output ? packed->output : packed->input)[k]].type;
        char name[64];
        name_parameter(c, is_output, k, name, sizeof name);
        text_add(out, "%s", k || (is_output && with_types && packed->inputs) ? ", " : "");
        if (with_types)
            text_add(out, "%s%s *", is_output ? "" : "const ", c_type(type->bits, type->is_signed));
        text_add(out, "%s", name);
    }
}

static void add_function(struct text *out, const struct network_c *c)
{
    const pwl_network *const packed = &c->network->packed;
    text_add(out,
             "\n/* The outputs of inputs, which are codes of the types and shapes above at these sizes. One call at a "
             "time: the\n"
             " * memory is the function's. pwl_network_run() takes memory, and other sizes, of its caller. */\n"
             "PWL_NODISCARD static inline pwl_status %s_run(",
             c->name);
    add_parameters(out, c, false, true);
    add_parameters(out, c, true, true);
    text_add(out, ")\n{\n    static int64_t memory[%s_MEMORY / 8 + 1];\n", c->upper);
    add_sizes(out, "    static const uint32_t sizes", c->sizes, packed->sizes);
    text_add(out, "    const void *inputs[%d];\n    void *outputs[%d];\n    pwl_network_call call;\n",
             packed->inputs ? packed->inputs : 1, packed->outputs ? packed->outputs : 1);
    for (int k = 0; k < packed->inputs + packed->outputs; k++) {
        const bool is_output = k >= packed->inputs;
        char name[64];
        name_parameter(c, is_output, is_output ? k - packed->inputs : k, name, sizeof name);
        text_add(out, "    %s[%d] = %s;\n", is_output ? "outputs" : "inputs", is_output ? k - packed->inputs : k, name);
    }
    text_add(
        out,
        "    call.sizes = sizes;\n    call.inputs = inputs;\n    call.outputs = outputs;\n    call.memory = memory;\n"
        "    call.bytes = sizeof memory;\n    call.way = 0;\n    return pwl_network_run(&%s, &call);\n}\n\n#endif\n",
        c->name);
}

/* Everything but the function; a loop's body comes before the loop. */
static int add_constants(struct text *out, const struct network_c *c, struct diag *diag)
{
    if (add_operators(out, c, diag))
        return diag->code;
    for (int k = 0; k < c->network->packed.node_count && diag->code == EXIT_DONE; k++) {
        struct network_c body = *c;
        body.network = c->network->nodes[k].body;
        if (body.network && snprintf(body.name, sizeof body.name, "%.*s_%d_body", NAME_LENGTH, c->name, k) > 0)
            add_constants(out, &body, diag);
        if (add_of[c->network->packed.nodes[k].kind])
            add_of[c->network->packed.nodes[k].kind](out, c, k);
    }
    add_edges(out, c);
    add_nodes(out, c);
    add_network(out, c);
    return diag->code;
}

int emit_network_c(const struct network *network, const uint32_t *sizes, const struct emit_options *options,
                   struct text *out, struct diag *diag)
{
    struct network_c c = {network, sizes, options, options->attribute ? options->attribute : "", "", ""};
    if (name_network(&c, diag))
        return diag->code;
    add_banner(out, &c);
    if (add_constants(out, &c, diag))
        return diag->code;
    add_function(out, &c);
    return out->failed ? diag_set(diag, EXIT_IO, "out of memory while writing %s", c.name) : EXIT_DONE;
}
