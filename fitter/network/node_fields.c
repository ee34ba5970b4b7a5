/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of nodes in the file: a row each, and how its fields and arrays become the runtime's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "table/size.h"

/* A node that is read: its place in both lists, and its arrays as the file has them. */
struct node_reader {
    const struct reader *reader;
    const struct fields *fields;
    uint16_t number;
    struct network_node *node;
    pwl_network_node *packed;
    struct named_array arrays[NODE_ARRAYS];
};

/* Exit 2 for an array of another number of axes. */
static int check_axes(const struct node_reader *of, int array, const char *name, int axes, struct diag *diag)
{
    if (of->arrays[array].axes == axes)
        return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE, "%s: the array %u.%s has %d axes, must have %d", of->fields->path, of->number,
                    name, of->arrays[array].axes, axes);
}

static int read_small(const struct node_reader *of, const char *name, int64_t most, uint8_t *value, struct diag *diag)
{
    int64_t read;
    if (field_integer(of->fields, name, 0, most, &read, diag))
        return diag->code;
    *value = (uint8_t)read;
    return EXIT_DONE;
}

/* Arrays `first` and the next, of no axis or of one. */
static int take_factors(const struct node_reader *of, int first, pwl_network_factors *factors, struct diag *diag)
{
    const struct named_array *const factor = &of->arrays[first], *const shift = &of->arrays[first + 1];
    if (factor->axes > 1 || shift->axes != factor->axes || shift->count != factor->count || factor->count > UINT32_MAX)
        return diag_set(diag, EXIT_USAGE,
                        "%s: the arrays %u.factor and %u.shift must be one number or a list each, and as long",
                        of->fields->path, of->number, of->number);
    factors->factor = of->node->arrays[first];
    factors->shift = of->node->arrays[first + 1];
    factors->count = (uint32_t)factor->count;
    return EXIT_DONE;
}

static int read_gather(struct node_reader *of, struct diag *diag)
{
    if (check_axes(of, 0, "table", 2, diag))
        return diag->code;
    of->node->of.gather =
        (pwl_network_gather){of->node->arrays[0], (uint32_t)of->arrays[0].shape[0], (uint32_t)of->arrays[0].shape[1]};
    return EXIT_DONE;
}

/* The array has the output's shape of the longest sizes. */
static int read_constant(struct node_reader *of, struct diag *diag)
{
    const struct named_array *const codes = &of->arrays[0];
    const struct network *const network = of->reader->network;
    const pwl_network_edge *const edge = &network->packed_edges[of->packed->output];
    bool fits = codes->axes == edge->axes;
    for (int axis = 0; fits && axis < codes->axes; axis++) {
        uint64_t places = edge->shape[axis].times;
        for (int k = 0; k < PWL_NETWORK_FACTORS && places <= UINT32_MAX; k++)
            places *= edge->shape[axis].sizes[k] ? network->longest[edge->shape[axis].sizes[k] - 1] : 1;
        fits = places == codes->shape[axis];
    }
    if (!fits)
        return diag_set(diag, EXIT_USAGE, "%s: the array %u.codes must have the output's shape", of->fields->path,
                        of->number);
    of->node->of.constant = (pwl_network_constant){of->node->arrays[0], (uint32_t)codes->count};
    return EXIT_DONE;
}

/* Whether 32 bits hold any products of a channel's `length` weights and codes of the edge. */
static bool is_narrow(const int8_t *weights, size_t channels, size_t length, const pwl_network_edge *x)
{
    const uint64_t above = (uint64_t)(x->qmax > 0 ? x->qmax : 0), below = (uint64_t)(x->qmin < 0 ? -x->qmin : 0);
    for (size_t c = 0; c < channels; c++) {
        uint64_t up = 0, down = 0;
        for (size_t k = 0; k < length; k++) {
            const int weight = weights[c * length + k];
            *(weight > 0 ? &up : &down) += (uint64_t)abs(weight);
        }
        if (up * above + down * below > INT32_MAX || up * below + down * above > INT32_MAX)
            return false;
    }
    return true;
}

/* The arrays that a product and a convolution have. */
static int check_weights(const struct node_reader *of, int axes, struct diag *diag)
{
    if (check_axes(of, 0, "weights", axes, diag) || check_axes(of, 1, "bias", 1, diag))
        return diag->code;
    if (of->arrays[1].count != of->arrays[0].shape[0])
        return diag_set(diag, EXIT_USAGE, "%s: the array bias must have a number for each row of weights",
                        of->fields->path);
    return EXIT_DONE;
}

static const pwl_network_edge *input_of(const struct node_reader *of)
{
    return &of->reader->network->packed_edges[of->packed->inputs[0]];
}

static int read_product(struct node_reader *of, struct diag *diag)
{
    pwl_network_product *const product = &of->node->of.product;
    if (check_weights(of, 2, diag) || take_factors(of, 2, &product->factors, diag))
        return diag->code;
    product->weights = of->node->arrays[0];
    product->bias = of->node->arrays[1];
    product->channels = (uint32_t)of->arrays[0].shape[0];
    product->length = (uint32_t)of->arrays[0].shape[1];
    product->is_narrow = is_narrow(product->weights, product->channels, product->length, input_of(of));
    return EXIT_DONE;
}

/* Numbers of `axes` axes of places, rows and columns; the first alone are of columns. */
static int read_axes(const struct node_reader *of, const char *name, int axes, uint32_t least, uint32_t *rows,
                     uint32_t *columns, struct diag *diag)
{
    const json_t *const list = json_object_get(of->fields->json, name);
    if ((int)json_array_size(list) != axes)
        return field_refuse(of->fields, name, diag, "a list of %d integers", axes);
    for (int k = 0; k < axes; k++) {
        const json_t *const value = json_array_get(list, (size_t)k);
        if (!json_is_integer(value) || json_integer_value(value) < least ||
            json_integer_value(value) > PWL_NETWORK_LARGEST)
            return diag_set(diag, EXIT_USAGE, "%s.%s[%d]: must be an integer from %u to %d", of->fields->path, name, k,
                            (unsigned)least, PWL_NETWORK_LARGEST);
        *(k + 1 < axes ? rows : columns) = (uint32_t)json_integer_value(value);
    }
    return EXIT_DONE;
}

/* Stride and padding of an input with rows and columns, or columns alone; no kernel and no dilation yet. */
static int read_window(const struct node_reader *of, pwl_network_window window[2], int *axes, struct diag *diag)
{
    *axes = input_of(of)->axes - 2;
    window[0] = window[1] = (pwl_network_window){1, 1, 0, 1};
    if (*axes != 1 && *axes != 2)
        return diag_set(diag, EXIT_USAGE, "%s.inputs: an edge of %d axes, must have 3 or 4", of->fields->path,
                        *axes + 2);
    return read_axes(of, "stride", *axes, 1, &window[0].stride, &window[1].stride, diag) ||
           read_axes(of, "padding", *axes, 0, &window[0].padding, &window[1].padding, diag);
}

static int read_convolution(struct node_reader *of, struct diag *diag)
{
    pwl_network_convolution *const to = &of->node->of.convolution;
    const size_t *const shape = of->arrays[0].shape;
    int64_t groups;
    int axes;
    if (read_window(of, to->window, &axes, diag) || check_weights(of, 2 + axes, diag) ||
        read_axes(of, "dilation", axes, 1, &to->window[0].dilation, &to->window[1].dilation, diag) ||
        take_factors(of, 2, &to->factors, diag) ||
        field_integer(of->fields, "groups", 1, PWL_NETWORK_LARGEST, &groups, diag))
        return diag->code;
    to->weights = of->node->arrays[0];
    to->bias = of->node->arrays[1];
    to->channels = (uint32_t)shape[0];
    to->inputs = (uint32_t)shape[1];
    to->groups = (uint32_t)groups;
    to->window[0].kernel = axes == 2 ? (uint32_t)shape[2] : 1;
    to->window[1].kernel = (uint32_t)shape[1 + axes];
    to->is_narrow = is_narrow(to->weights, shape[0], of->arrays[0].count / shape[0], input_of(of));
    return EXIT_DONE;
}

static int read_max_pool(struct node_reader *of, struct diag *diag)
{
    pwl_network_window *const window = of->node->of.max_pool.window;
    int axes;
    return read_window(of, window, &axes, diag) ||
           read_axes(of, "kernel", axes, 1, &window[0].kernel, &window[1].kernel, diag);
}

static int read_loop(struct node_reader *of, struct diag *diag)
{
    pwl_network_loop *const loop = &of->node->of.loop;
    if (read_small(of, "axis", PWL_NETWORK_AXES - 1, &loop->axis, diag) ||
        read_small(of, "reverse", 1, &loop->reverse, diag) || reader_body(of->reader, of->fields, of->number, diag))
        return diag->code;
    loop->body = &of->node->body->packed;
    return EXIT_DONE;
}

static int read_matmul(struct node_reader *of, struct diag *diag)
{
    pwl_network_matmul *const matmul = &of->node->of.matmul;
    return take_factors(of, 0, &matmul->factors, diag) || read_small(of, "transposed", 1, &matmul->transposed, diag);
}

static int read_multiply(struct node_reader *of, struct diag *diag)
{
    pwl_network_multiply *const multiply = &of->node->of.multiply;
    const int32_t *const factor = of->node->arrays[0];
    if (of->arrays[0].axes != 1 || of->arrays[0].count * 2 != of->packed->reads || of->arrays[1].axes != 0)
        return diag_set(diag, EXIT_USAGE, "%s: must have one %u.factor for each two inputs, and one %u.shift",
                        of->fields->path, of->number, of->number);
    for (size_t k = 0; k < of->arrays[0].count; k++)
        multiply->factor[k] = factor[k];
    multiply->shift = *(const uint8_t *)of->node->arrays[1];
    return EXIT_DONE;
}

static int read_mean(struct node_reader *of, struct diag *diag)
{
    pwl_network_mean *const mean = &of->node->of.mean;
    return take_factors(of, 0, &mean->factors, diag) || read_small(of, "axis", PWL_NETWORK_AXES - 1, &mean->axis, diag);
}

static int read_reshape(struct node_reader *of, struct diag *diag)
{
    (void)of;
    return diag->code;
}

static int read_transpose(struct node_reader *of, struct diag *diag)
{
    json_t *list;
    if (field_array(of->fields, "order", PWL_NETWORK_AXES, &list, diag))
        return diag->code;
    const size_t axes = of->packed->reads ? of->reader->network->packed_edges[of->packed->inputs[0]].axes : 0;
    if (json_array_size(list) != axes)
        return field_refuse(of->fields, "order", diag, "a number for each axis of the input");
    for (size_t k = 0; k < axes; k++) {
        const json_t *const axis = json_array_get(list, k);
        if (!json_is_integer(axis) || json_integer_value(axis) < 0 || json_integer_value(axis) >= PWL_NETWORK_AXES)
            return diag_set(diag, EXIT_USAGE, "%s.order[%zu]: must be the number of an axis", of->fields->path, k);
        of->node->of.transpose.order[k] = (uint8_t)json_integer_value(axis);
    }
    return EXIT_DONE;
}

static int read_slice(struct node_reader *of, struct diag *diag)
{
    const int64_t most = (int64_t)1 << 40;
    pwl_network_slice *const slice = &of->node->of.slice;
    int64_t step;
    if (field_integer(of->fields, "start", -most, most, &slice->start, diag) ||
        field_integer(of->fields, "stop", -most, most, &slice->stop, diag) ||
        field_integer(of->fields, "step", 1, UINT32_MAX, &step, diag) ||
        read_small(of, "axis", PWL_NETWORK_AXES - 1, &slice->axis, diag) ||
        read_small(of, "keep", 1, &slice->keep, diag))
        return diag->code;
    slice->step = (uint32_t)step;
    return EXIT_DONE;
}

static int read_concat(struct node_reader *of, struct diag *diag)
{
    return read_small(of, "axis", PWL_NETWORK_AXES - 1, &of->node->of.concat.axis, diag);
}

static int read_append(struct node_reader *of, struct diag *diag)
{
    return read_small(of, "axis", PWL_NETWORK_AXES - 1, &of->node->of.append.axis, diag);
}

static bool same_type(const struct tensor *a, const struct tensor *b)
{
    return a->bits == b->bits && a->is_signed == b->is_signed && a->zero_point == b->zero_point &&
           a->scale.value == b->scale.value;
}

/* A side of an operator and the edge it is for. */
static int check_side(const struct node_reader *of, const char *name, const struct tensor *own, uint16_t edge,
                      struct diag *diag)
{
    const struct network_edge *const found = &of->reader->network->edges[edge];
    char wanted[128], has[128];
    if (same_type(own, &found->type))
        return EXIT_DONE;
    tensor_format(own, wanted, sizeof wanted);
    tensor_format(&found->type, has, sizeof has);
    return diag_set(diag, EXIT_USAGE, "%s.operator.%s: %s, must be that of the edge %.80s, %s", of->fields->path, name,
                    wanted, found->name, has);
}

/* An edge whose codes another takes as they are. */
static int check_moved(const struct node_reader *of, const struct network_edge *from, const struct network_edge *to,
                       struct diag *diag)
{
    char has[128], wanted[128];
    if (same_type(&from->type, &to->type))
        return EXIT_DONE;
    tensor_format(&from->type, has, sizeof has);
    tensor_format(&to->type, wanted, sizeof wanted);
    return diag_set(diag, EXIT_USAGE, "%s: moves codes of %.80s, %s, to %.80s, %s", of->fields->path, from->name, has,
                    to->name, wanted);
}

/* The places that a loop's body takes and gives, and its states from one place to the next. */
static int check_body(const struct node_reader *of, struct diag *diag)
{
    const struct network *const whole = of->reader->network, *const body = of->node->body;
    const pwl_network *const packed = &body->packed;
    const int reads = of->packed->reads;
    for (int k = 0; k < reads && k < packed->inputs; k++)
        if (check_moved(of, &whole->edges[of->packed->inputs[k]], &body->edges[body->input[k]], diag))
            return diag->code;
    for (int k = 1; k < packed->outputs && reads + k - 1 < packed->inputs; k++)
        if (check_moved(of, &body->edges[body->output[k]], &body->edges[body->input[reads + k - 1]], diag))
            return diag->code;
    return packed->outputs ? check_moved(of, &body->edges[body->output[0]], &whole->edges[of->packed->output], diag)
                           : EXIT_DONE;
}

static int take_table(struct node_reader *of, const char *text, struct diag *diag)
{
    struct node_operator *const own = of->node->operator;
    pwl_network_operator *const packed = &of->node->of.operate;
    pwl_proof proof;
    own->is_table = true;
    if (table_from_json(text, strlen(text), &own->table, diag) ||
        table_prove(&own->table, EXIT_USAGE, &own->packed_table, &proof, diag))
        return diag->code;
    const struct packed_table *const table = &own->packed_table;
    packed->type = table->is_reduced ? PWL_NETWORK_REDUCED : PWL_NETWORK_TABLE;
    packed->of = table->is_reduced ? (const void *)&table->reduced : &table->table;
    of->node->bytes = (size_t)table_bytes(&own->table);
    return EXIT_DONE;
}

static int take_row(struct node_reader *of, const char *text, struct diag *diag)
{
    struct node_operator *const own = of->node->operator;
    pwl_network_operator *const packed = &of->node->of.operate;
    struct packed_operator *const row = &own->packed_row;
    if (operator_from_json(text, strlen(text), &own->row, diag) || operator_pack(&own->row, EXIT_USAGE, row, diag))
        return diag->code;
    switch (operator_family(row->kind)) {
    case FAMILY_SOFTMAX:
        packed->type = PWL_NETWORK_SOFTMAX;
        packed->of = &row->softmax;
        break;
    case FAMILY_NORM:
        packed->type = PWL_NETWORK_NORM;
        packed->of = &row->norm;
        break;
    case FAMILY_ELEMENT:
        packed->type = row->kind == OPERATOR_ADD ? PWL_NETWORK_ADD : PWL_NETWORK_REQUANTISE;
        packed->of = row->kind == OPERATOR_ADD ? (const void *)&row->add : &row->requantise;
        break;
    default:
        return diag_set(diag, EXIT_USAGE, "operator: \"%s\", must be a table, or an operator of rows or of elements",
                        operator_name(row->kind));
    }
    of->node->bytes = operator_bytes(&own->row);
    return EXIT_DONE;
}

static int check_sides(const struct node_reader *of, struct diag *diag)
{
    const struct node_operator *const own = of->node->operator;
    const struct tensor *const in = own->is_table ? &own->table.in : &own->row.in;
    const struct tensor *const out = own->is_table ? &own->table.out : &own->row.out;
    const bool is_sum = !own->is_table && own->row.kind == OPERATOR_ADD;
    if (of->packed->reads < 1 || (is_sum && of->packed->reads < 2))
        return diag_set(diag, EXIT_USAGE, "%s.inputs: must be %s", of->fields->path, is_sum ? "two edges" : "an edge");
    return check_side(of, "in", in, of->packed->inputs[0], diag) ||
           (is_sum && check_side(of, "in_b", &own->row.in_b, of->packed->inputs[1], diag)) ||
           check_side(of, "out", out, of->packed->output, diag);
}

static int read_operator(struct node_reader *of, struct diag *diag)
{
    struct fields object;
    if (field_object(of->fields, "operator", &object, diag) ||
        read_small(of, "causal", 2, &of->node->of.operate.is_causal, diag))
        return diag->code;
    of->node->operator= calloc(1, sizeof *of->node->operator);
    char *const text = json_dumps(object.json, JSON_ENSURE_ASCII);
    if (!text || !of->node->operator)
        diag_set(diag, EXIT_IO, "out of memory for an operator");
    else if (field_present(&object, "pwl_table") ? take_table(of, text, diag) : take_row(of, text, diag))
        diag_prefix(diag, object.path);
    else
        check_sides(of, diag);
    free(text);
    return diag->code;
}

/* A kind: its name in the file, how many edges it reads, of how many it gives the codes as they are, its fields beside
 * those of every node, its arrays and their types. */
struct kind {
    const char *name;
    int least, most, moves;
    const char *fields[6];
    const char *arrays[NODE_ARRAYS + 1], *types[NODE_ARRAYS];
    int (*read)(struct node_reader *of, struct diag *diag);
};

#define FACTORS "factor", "shift"
#define OF_FACTORS "I32", "U8"
static const struct kind kinds[] = {
    [PWL_NETWORK_GATHER] = {"gather", 1, 1, 0, {NULL}, {"table"}, {"I16"}, read_gather},
    [PWL_NETWORK_CONSTANT] = {"constant", 0, 0, 0, {NULL}, {"codes"}, {"I16"}, read_constant},
    [PWL_NETWORK_PRODUCT] =
        {"product", 1, 1, 0, {NULL}, {"weights", "bias", FACTORS}, {"I8", "I64", OF_FACTORS}, read_product},
    [PWL_NETWORK_MATMUL] = {"matmul", 2, 2, 0, {"transposed"}, {FACTORS}, {OF_FACTORS}, read_matmul},
    [PWL_NETWORK_MULTIPLY] = {"multiply", 2, 4, 0, {NULL}, {FACTORS}, {OF_FACTORS}, read_multiply},
    [PWL_NETWORK_MEAN] = {"mean", 1, 2, 0, {"axis"}, {FACTORS}, {OF_FACTORS}, read_mean},
    [PWL_NETWORK_OPERATOR] = {"operator", 1, 3, 0, {"causal", "operator"}, {NULL}, {NULL}, read_operator},
    [PWL_NETWORK_RESHAPE] = {"reshape", 1, 1, 1, {NULL}, {NULL}, {NULL}, read_reshape},
    [PWL_NETWORK_TRANSPOSE] = {"transpose", 1, 1, 1, {"order"}, {NULL}, {NULL}, read_transpose},
    [PWL_NETWORK_SLICE] = {"slice", 1, 1, 1, {"axis", "start", "stop", "step", "keep"}, {NULL}, {NULL}, read_slice},
    [PWL_NETWORK_CONCAT] = {"concat", 2, 2, 2, {"axis"}, {NULL}, {NULL}, read_concat},
    [PWL_NETWORK_CONVOLUTION] = {"convolution",
                                 1,
                                 1,
                                 0,
                                 {"stride", "padding", "dilation", "groups"},
                                 {"weights", "bias", FACTORS},
                                 {"I8", "I64", OF_FACTORS},
                                 read_convolution},
    [PWL_NETWORK_MAX_POOL] = {"max_pool", 1, 1, 1, {"kernel", "stride", "padding"}, {NULL}, {NULL}, read_max_pool},
    [PWL_NETWORK_LOOP] = {"loop", 1, PWL_NETWORK_READS, 0, {"axis", "reverse", "body"}, {NULL}, {NULL}, read_loop},
    [PWL_NETWORK_APPEND] = {"append", 3, 3, 2, {"axis"}, {NULL}, {NULL}, read_append},
};
#define KINDS (sizeof kinds / sizeof *kinds)

const char *node_kind_name(const pwl_network_node *node)
{
    return kinds[node->kind].name;
}

static int find_kind(const struct fields *fields, uint8_t *number, struct diag *diag)
{
    struct text names = {0};
    const char *name;
    if (field_text(fields, "kind", 64, &name, diag))
        return diag->code;
    for (size_t k = 0; k < KINDS; k++) {
        if (strcmp(kinds[k].name, name) == 0) {
            *number = (uint8_t)k;
            text_free(&names);
            return EXIT_DONE;
        }
        text_add(&names, "%s%s", k ? ", " : "", kinds[k].name);
    }
    field_refuse(fields, "kind", diag, "one of %s", names.failed ? "the kinds" : names.bytes);
    text_free(&names);
    return diag->code;
}

static int read_arrays(struct node_reader *of, const struct kind *kind, struct diag *diag)
{
    for (int k = 0; kind->arrays[k]; k++) {
        char name[64];
        snprintf(name, sizeof name, "%s%u.%s", of->reader->prefix, of->number, kind->arrays[k]);
        if (!arrays_have(of->reader->arrays, name))
            return diag_set(diag, EXIT_USAGE, "%s: the array %s is missing", of->fields->path, name);
        if (arrays_find(of->reader->arrays, name, kind->types[k], &of->arrays[k], diag)) {
            diag_prefix(diag, "the array");
            return diag_prefix(diag, of->fields->path);
        }
        of->node->arrays[k] = array_copy(&of->arrays[k]);
        if (!of->node->arrays[k])
            return diag_set(diag, EXIT_IO, "out of memory for the array %s", name);
        of->node->bytes += of->arrays[k].count * (size_t)of->arrays[k].bytes;
    }
    return EXIT_DONE;
}

int reader_node(const struct reader *reader, const struct fields *fields, uint16_t k, struct diag *diag)
{
    struct node_reader of = {reader, fields, k, &reader->network->nodes[k], &reader->network->packed_nodes[k], {{0}}};
    const char *known[16] = {"kind", "name", "inputs", "output"};
    if (find_kind(fields, &of.packed->kind, diag))
        return diag->code;
    const struct kind *const kind = &kinds[of.packed->kind];
    for (int field = 0; kind->fields[field]; field++)
        known[4 + field] = kind->fields[field];
    if (fields_known(fields, known, diag))
        return diag->code;
    if (of.packed->reads < kind->least || of.packed->reads > kind->most)
        return field_refuse(fields, "inputs", diag, "%d to %d edges", kind->least, kind->most);
    if (of.packed->kind != PWL_NETWORK_RESHAPE)
        of.packed->of = &of.node->of;
    if (read_arrays(&of, kind, diag) || kind->read(&of, diag))
        return diag->code;
    for (int input = 0; input < kind->moves; input++)
        if (check_moved(&of, &reader->network->edges[of.packed->inputs[input]],
                        &reader->network->edges[of.packed->output], diag))
            return diag->code;
    return of.packed->kind == PWL_NETWORK_LOOP ? check_body(&of, diag) : EXIT_DONE;
}
