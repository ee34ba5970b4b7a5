/* SPDX-License-Identifier: Apache-2.0 */
#include "network.h"

#include <stdlib.h>

#include <pwl/network.h>

#include "array.h"
#include "elements.h"
#include "imports.h"
#include "rows.h"
#include "table.h"

/* Constants of a node, its own integers, and integers of a node, an edge and an axis, at most or always. */
enum { CONSTANTS = 4, OWN = 8, NODE = 3 + PWL_NETWORK_READS + OWN, EDGE = 5, AXIS = 1 + PWL_NETWORK_FACTORS };

/* A network never changes once it is made. */
typedef struct network_object {
    PyObject_HEAD pwl_network network;
    pwl_network_edge *edges;
    pwl_network_axis *axes; /* PWL_NETWORK_AXES an edge */
    pwl_network_node *nodes;
    pwl_network_any *of; /* of each node */
    PyObject *given;     /* the arguments, whose arrays, operators and bodies the network points to */
    array *held;         /* these arrays */
    size_t held_count;
} network_object;

/* A node while it is read. */
typedef struct reader {
    const pwl_network_node *node;
    pwl_network_any *of;
    array arrays[CONSTANTS];
    Py_ssize_t array_count;
    const int64_t *own; /* OWN integers */
    PyObject *part;     /* operator or body, or None */
} reader;

static PyTypeObject *network_type;

static void network_dealloc(PyObject *self)
{
    network_object *const own = (network_object *)self;
    PyTypeObject *const type = Py_TYPE(self);
    for (size_t k = 0; k < own->held_count; k++)
        PyBuffer_Release(&own->held[k].buffer);
    free(own->held);
    free(own->edges);
    free(own->axes);
    free(own->nodes);
    free(own->of);
    Py_XDECREF(own->given);
    ((freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static int refuse(const char *what)
{
    PyErr_Format(PyExc_ValueError, "%s is not what the package gives", what);
    return -1;
}

/* Takes hold of an array for as long as the network lives; null with an exception. */
static const array *hold(network_object *own, PyObject *object)
{
    array *const more = realloc(own->held, (own->held_count + 1) * sizeof *more);
    if (!more) {
        PyErr_NoMemory();
        return NULL;
    }
    own->held = more;
    if (!array_is(object)) {
        refuse("an array");
        return NULL;
    }
    return array_get(object, false, &more[own->held_count]) ? NULL : &more[own->held_count++];
}

/* The elements of an array of a type that lie side by side; how many of `size` bytes each. Null with an exception. */
static const void *elements_of(const array *of, int element, size_t size, size_t *count)
{
    const Py_ssize_t bytes = of ? array_flat_bytes(of, element) : -1;
    if (bytes < 0) {
        if (of)
            refuse("an array's type or layout");
        return NULL;
    }
    *count = (size_t)bytes / size;
    return of->buffer.buf;
}

/* Constant k of a node: of an element type, and so many axes, or -1 for any. Null with an exception. */
static const void *take(const reader *from, int k, int element, int axes, uint32_t *count)
{
    const array *const of = &from->arrays[k];
    const void *data = NULL;
    size_t found = 0;
    if (k < from->array_count && (axes < 0 || of->buffer.ndim == axes))
        data = elements_of(of, element, (size_t)of->buffer.itemsize, &found);
    if (!data || found > PWL_NETWORK_EDGE) {
        refuse("a constant");
        return NULL;
    }
    *count = (uint32_t)found;
    return data;
}

static uint32_t axis_of(const reader *from, int k, int axis)
{
    return (uint32_t)from->arrays[k].buffer.shape[axis];
}

/* Constants k and k + 1. */
static int take_factors(const reader *from, int k, pwl_network_factors *to)
{
    uint32_t shifts;
    to->factor = take(from, k, PWL_S32, -1, &to->count);
    to->shift = to->factor ? take(from, k + 1, PWL_U8, -1, &shifts) : NULL;
    if (!to->shift)
        return -1;
    return shifts == to->count ? 0 : refuse("a shift");
}

static int read_gather(const reader *from)
{
    pwl_network_gather *const to = &from->of->gather;
    uint32_t count;
    to->table = take(from, 0, PWL_S16, 2, &count);
    if (!to->table)
        return -1;
    to->rows = axis_of(from, 0, 0);
    to->columns = axis_of(from, 0, 1);
    return 0;
}

static int read_constant(const reader *from)
{
    from->of->constant.codes = take(from, 0, PWL_S16, -1, &from->of->constant.count);
    return from->of->constant.codes ? 0 : -1;
}

/* Own: is_narrow. */
static int read_product(const reader *from)
{
    pwl_network_product *const to = &from->of->product;
    uint32_t count, biases;
    to->weights = take(from, 0, PWL_S8, 2, &count);
    to->bias = to->weights ? take(from, 1, ELEMENT_S64, 1, &biases) : NULL;
    if (!to->bias || take_factors(from, 2, &to->factors))
        return -1;
    to->channels = axis_of(from, 0, 0);
    to->length = axis_of(from, 0, 1);
    to->is_narrow = (uint8_t)from->own[0];
    return biases == to->channels ? 0 : refuse("a bias");
}

/* Of what is read here, rows come before columns. Strides, paddings. */
static void read_window(const int64_t *own, pwl_network_window window[2])
{
    for (int k = 0; k < 2; k++) {
        window[k].stride = (uint32_t)own[k];
        window[k].padding = (uint32_t)own[2 + k];
        window[k].dilation = 1;
    }
}

/* Own: strides, paddings, dilations, groups, is_narrow. */
static int read_convolution(const reader *from)
{
    pwl_network_convolution *const to = &from->of->convolution;
    const int axes = from->array_count ? from->arrays[0].buffer.ndim : 0;
    uint32_t count, biases;
    if (axes != 3 && axes != 4)
        return refuse("a convolution");
    to->weights = take(from, 0, PWL_S8, axes, &count);
    to->bias = to->weights ? take(from, 1, ELEMENT_S64, 1, &biases) : NULL;
    if (!to->bias || take_factors(from, 2, &to->factors))
        return -1;
    read_window(from->own, to->window);
    for (int k = 0; k < 2; k++) {
        to->window[k].kernel = axes - 2 + k >= 2 ? axis_of(from, 0, axes - 2 + k) : 1;
        to->window[k].dilation = (uint32_t)from->own[4 + k];
    }
    to->channels = axis_of(from, 0, 0);
    to->inputs = axis_of(from, 0, 1);
    to->groups = (uint32_t)from->own[6];
    to->is_narrow = (uint8_t)from->own[7];
    return biases == to->channels ? 0 : refuse("a bias");
}

/* Own: kernels, strides, paddings. */
static int read_max_pool(const reader *from)
{
    pwl_network_window *const window = from->of->max_pool.window;
    read_window(from->own + 2, window);
    for (int k = 0; k < 2; k++)
        window[k].kernel = (uint32_t)from->own[k];
    return 0;
}

/* Own: transposed. */
static int read_matmul(const reader *from)
{
    from->of->matmul.transposed = (uint8_t)from->own[0];
    return take_factors(from, 0, &from->of->matmul.factors);
}

static int read_multiply(const reader *from)
{
    pwl_network_multiply *const to = &from->of->multiply;
    uint32_t factors, shifts;
    const int32_t *const factor = take(from, 0, PWL_S32, 1, &factors);
    const uint8_t *const shift = factor ? take(from, 1, PWL_U8, 0, &shifts) : NULL;
    if (!shift)
        return -1;
    if (factors > 2 || factors * 2 != from->node->reads)
        return refuse("a factor");
    for (uint32_t k = 0; k < factors; k++)
        to->factor[k] = factor[k];
    to->shift = *shift;
    return 0;
}

/* Own: axis. */
static int read_mean(const reader *from)
{
    from->of->mean.axis = (uint8_t)from->own[0];
    return take_factors(from, 0, &from->of->mean.factors);
}

/* Own: causal. */
static int read_operator(const reader *from)
{
    pwl_network_operator *const to = &from->of->operate;
    bool is_reduced, is_norm, is_add;
    to->is_causal = (uint8_t)from->own[0];
    if ((to->of = table_of(from->part, &is_reduced)) != NULL)
        to->type = is_reduced ? PWL_NETWORK_REDUCED : PWL_NETWORK_TABLE;
    else if ((to->of = row_of(from->part, &is_norm)) != NULL)
        to->type = is_norm ? PWL_NETWORK_NORM : PWL_NETWORK_SOFTMAX;
    else if ((to->of = element_of(from->part, &is_add)) != NULL)
        to->type = is_add ? PWL_NETWORK_ADD : PWL_NETWORK_REQUANTISE;
    else
        return refuse("an operator");
    return 0;
}

static int read_reshape(const reader *from)
{
    (void)from;
    return 0;
}

/* Own: the order. */
static int read_transpose(const reader *from)
{
    for (int k = 0; k < PWL_NETWORK_AXES; k++)
        from->of->transpose.order[k] = (uint8_t)from->own[k];
    return 0;
}

/* Own: axis, start, stop, step, keep. */
static int read_slice(const reader *from)
{
    pwl_network_slice *const to = &from->of->slice;
    to->axis = (uint8_t)from->own[0];
    to->start = from->own[1];
    to->stop = from->own[2];
    to->step = from->own[3] > UINT32_MAX ? UINT32_MAX : (uint32_t)from->own[3];
    to->keep = (uint8_t)from->own[4];
    return 0;
}

/* Own: axis. */
static int read_concat(const reader *from)
{
    from->of->concat.axis = (uint8_t)from->own[0];
    return 0;
}

/* Own: axis. */
static int read_append(const reader *from)
{
    from->of->append.axis = (uint8_t)from->own[0];
    return 0;
}

/* Own: axis, reverse. */
static int read_loop(const reader *from)
{
    pwl_network_loop *const to = &from->of->loop;
    if (PyObject_IsInstance(from->part, (PyObject *)network_type) != 1)
        return refuse("a body");
    to->body = &((const network_object *)from->part)->network;
    to->axis = (uint8_t)from->own[0];
    to->reverse = (uint8_t)from->own[1];
    return 0;
}

static int (*const readers[])(const reader *from) = {
    [PWL_NETWORK_GATHER] = read_gather,       [PWL_NETWORK_CONSTANT] = read_constant,
    [PWL_NETWORK_PRODUCT] = read_product,     [PWL_NETWORK_MATMUL] = read_matmul,
    [PWL_NETWORK_MULTIPLY] = read_multiply,   [PWL_NETWORK_MEAN] = read_mean,
    [PWL_NETWORK_OPERATOR] = read_operator,   [PWL_NETWORK_RESHAPE] = read_reshape,
    [PWL_NETWORK_TRANSPOSE] = read_transpose, [PWL_NETWORK_SLICE] = read_slice,
    [PWL_NETWORK_CONCAT] = read_concat,       [PWL_NETWORK_CONVOLUTION] = read_convolution,
    [PWL_NETWORK_MAX_POOL] = read_max_pool,   [PWL_NETWORK_LOOP] = read_loop,
    [PWL_NETWORK_APPEND] = read_append,
};

/* A node's head: kind, output, how many inputs there are, these. */
static int read_head(const network_object *own, const int64_t *numbers, pwl_network_node *node)
{
    const uint64_t edges = own->network.edge_count;
    if ((uint64_t)numbers[0] >= sizeof readers / sizeof *readers || (uint64_t)numbers[1] >= edges ||
        (uint64_t)numbers[2] > PWL_NETWORK_READS)
        return refuse("a node");
    node->kind = (uint8_t)numbers[0];
    node->output = (uint16_t)numbers[1];
    node->reads = (uint8_t)numbers[2];
    for (int k = 0; k < node->reads; k++) {
        if ((uint64_t)numbers[3 + k] >= edges)
            return refuse("an input");
        node->inputs[k] = (uint16_t)numbers[3 + k];
    }
    return 0;
}

/* (integers, constants, part) of node k. */
static int read_node(network_object *own, PyObject *object, Py_ssize_t k)
{
    reader from = {.node = &own->nodes[k], .of = &own->of[k]};
    PyObject *numbers_object, *constants;
    const int64_t *numbers;
    size_t count;
    if (!PyArg_ParseTuple(object, "OO!O", &numbers_object, &PyTuple_Type, &constants, &from.part))
        return -1;
    numbers = elements_of(hold(own, numbers_object), ELEMENT_S64, sizeof *numbers, &count);
    if (!numbers)
        return -1;
    if (count != NODE || read_head(own, numbers, &own->nodes[k]))
        return PyErr_Occurred() ? -1 : refuse("a node");
    from.own = numbers + 3 + PWL_NETWORK_READS;
    from.array_count = PyTuple_Size(constants);
    if (from.array_count > CONSTANTS)
        return refuse("a node");
    for (Py_ssize_t i = 0; i < from.array_count; i++) {
        const array *const held = hold(own, PyTuple_GetItem(constants, i));
        if (!held)
            return -1;
        from.arrays[i] = *held;
    }
    own->nodes[k].of = own->nodes[k].kind == PWL_NETWORK_RESHAPE ? NULL : from.of;
    return readers[own->nodes[k].kind](&from);
}

static int read_edges(network_object *own, PyObject *edges, PyObject *axes)
{
    size_t count, axis_count;
    const int64_t *const from = elements_of(hold(own, edges), ELEMENT_S64, EDGE * sizeof *from, &count);
    const uint32_t *at = from ? elements_of(hold(own, axes), PWL_U32, AXIS * sizeof *at, &axis_count) : NULL;
    if (!at)
        return -1;
    if (count > UINT16_MAX || axis_count != count * PWL_NETWORK_AXES)
        return refuse("the edges");
    own->edges = calloc(count + 1, sizeof *own->edges);
    own->axes = calloc(axis_count + 1, sizeof *own->axes);
    if (!own->edges || !own->axes) {
        PyErr_NoMemory();
        return -1;
    }
    own->network.edge_count = (uint16_t)count;
    own->network.edges = own->edges;
    for (size_t k = 0; k < count; k++)
        own->edges[k] = (pwl_network_edge){
            (uint8_t)from[k * EDGE], (uint8_t)from[k * EDGE + 1],     0, from[k * EDGE + 2], from[k * EDGE + 3],
            from[k * EDGE + 4],      &own->axes[k * PWL_NETWORK_AXES]};
    for (size_t k = 0; k < axis_count; k++, at += AXIS) {
        own->axes[k].times = at[0];
        for (int i = 0; i < PWL_NETWORK_FACTORS; i++) {
            if (at[1 + i] > own->network.sizes)
                return refuse("a size");
            own->axes[k].sizes[i] = (uint8_t)at[1 + i];
        }
    }
    return 0;
}

/* The longest of each size, and the edges of inputs and outputs. */
static int read_ends(network_object *own, PyObject *longest, PyObject *inputs, PyObject *outputs)
{
    size_t sizes = 0, input_count = 0, output_count = 0;
    own->network.longest = elements_of(hold(own, longest), PWL_U32, sizeof(uint32_t), &sizes);
    if (own->network.longest)
        own->network.input = elements_of(hold(own, inputs), PWL_U16, sizeof(uint16_t), &input_count);
    if (own->network.input)
        own->network.output = elements_of(hold(own, outputs), PWL_U16, sizeof(uint16_t), &output_count);
    if (!own->network.output)
        return -1;
    if (sizes > UINT8_MAX || input_count > UINT8_MAX || output_count > UINT8_MAX)
        return refuse("the ends");
    own->network.sizes = (uint8_t)sizes;
    own->network.inputs = (uint8_t)input_count;
    own->network.outputs = (uint8_t)output_count;
    return 0;
}

static int ends_are(const uint16_t *edges, size_t count, size_t below)
{
    for (size_t k = 0; k < count; k++)
        if (edges[k] >= below)
            return refuse("an end"), 0;
    return 1;
}

static int read_nodes(network_object *own, PyObject *nodes)
{
    const Py_ssize_t count = PyTuple_Size(nodes);
    if (count > UINT16_MAX)
        return refuse("the nodes");
    own->nodes = calloc((size_t)count + 1, sizeof *own->nodes);
    own->of = calloc((size_t)count + 1, sizeof *own->of);
    if (!own->nodes || !own->of) {
        PyErr_NoMemory();
        return -1;
    }
    own->network.nodes = own->nodes;
    own->network.node_count = (uint16_t)count;
    for (Py_ssize_t k = 0; k < count; k++)
        if (read_node(own, PyTuple_GetItem(nodes, k), k))
            return -1;
    return 0;
}

/* Gives edges their places, and proves the network. */
static int prove(network_object *own)
{
    pwl_network *const network = &own->network;
    void *const memory = malloc(12 * (size_t)network->node_count + 4 * (size_t)network->edge_count + 1);
    pwl_network_proof proof;
    if (!memory) {
        PyErr_NoMemory();
        return -1;
    }
    network->places = pwl_network_place(network, own->edges, memory);
    free(memory);
    if (pwl_network_check(network, &proof) == PWL_OK)
        return 0;
    PyErr_Format(imported_error, "node %d, edge %d: not safe to run: %s", (int)proof.node, (int)proof.edge,
                 pwl_status_text(proof.status));
    return -1;
}

/*
 * Network(longest, inputs, outputs, edges, axes, nodes): uint32 of each size; uint16, edges; int64 of each edge (type,
 * axes, zero point, qmin, qmax); uint32 of PWL_NETWORK_AXES axes of each (times, and sizes, counted from 1); and a
 * tuple of (integers, constants, part) of each node: int64 (kind, output, number of inputs, PWL_NETWORK_READS of these,
 * OWN that its kind has); a tuple of arrays; an operator, a body or None. ValueError where it is not so.
 */
static PyObject *network_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *longest, *inputs, *outputs, *edges, *axes, *nodes, *self;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "OOOOOO!", &longest, &inputs, &outputs, &edges, &axes, &PyTuple_Type, &nodes))
        return NULL;
    self = PyType_GenericAlloc(type, 0); /* all zero */
    if (!self)
        return NULL;
    network_object *const own = (network_object *)self;
    Py_INCREF(arguments);
    own->given = arguments;
    own->network.version = PWL_NETWORK_VERSION;
    if (!read_ends(own, longest, inputs, outputs) && !read_edges(own, edges, axes) &&
        ends_are(own->network.input, own->network.inputs, own->network.edge_count) &&
        ends_are(own->network.output, own->network.outputs, own->network.edge_count) && !read_nodes(own, nodes) &&
        !prove(own))
        return self;
    Py_DECREF(self);
    return NULL;
}

/* Takes hold of one array for each of `count` edges; how many are held, fewer with an exception. */
static int hold_ends(const network_object *own, PyObject *objects, const uint16_t *edges, int count, bool is_output,
                     const uint32_t *sizes, array *arrays, void **data)
{
    int k;
    if (PyTuple_Size(objects) != count) {
        PyErr_Clear();
        refuse("a call");
        return -1;
    }
    for (k = 0; k < count; k++) {
        const int type = own->edges[edges[k]].type;
        if (array_get(PyTuple_GetItem(objects, k), is_output, &arrays[k]))
            return k;
        data[k] = arrays[k].buffer.buf;
        if (array_flat_bytes(&arrays[k], type) != (Py_ssize_t)pwl_network_bytes(&own->network, edges[k], sizes)) {
            PyBuffer_Release(&arrays[k].buffer);
            refuse("an array");
            return k;
        }
    }
    return k;
}

static int run(const network_object *own, const uint32_t *sizes, void **inputs, void **outputs)
{
    const pwl_network *const network = &own->network;
    const uint64_t bytes = pwl_network_size(network, sizes);
    void *const memory = bytes < PY_SSIZE_T_MAX ? malloc((size_t)bytes + 1) : NULL;
    const pwl_network_call call = {sizes, (const void *const *)inputs, outputs, memory, bytes, NULL};
    pwl_status status;
    if (!memory) {
        PyErr_NoMemory();
        return -1;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = pwl_network_run(network, &call);
    Py_END_ALLOW_THREADS;
    free(memory);
    if (status == PWL_OK)
        return 0;
    PyErr_SetString(imported_error, pwl_status_text(status));
    return -1;
}

/* run(sizes, inputs, outputs): uint32 of each size, 1 to its longest, and tuples of arrays side by side, of the types
 * and shapes of the network's edges; none overlaps another. */
static PyObject *network_run(PyObject *self, PyObject *arguments)
{
    const network_object *const own = (network_object *)self;
    const pwl_network *const network = &own->network;
    PyObject *sizes_object, *inputs, *outputs;
    array sizes, in[UINT8_MAX], out[UINT8_MAX];
    void *x[UINT8_MAX], *y[UINT8_MAX];
    int taken = 0, made = 0, failed = -1;
    size_t count;
    if (!PyArg_ParseTuple(arguments, "OO!O!", &sizes_object, &PyTuple_Type, &inputs, &PyTuple_Type, &outputs) ||
        array_get(sizes_object, false, &sizes))
        return NULL;
    const uint32_t *const at = elements_of(&sizes, PWL_U32, sizeof *at, &count);
    bool fits = at && count == network->sizes;
    for (size_t k = 0; fits && k < count; k++)
        fits = at[k] >= 1 && at[k] <= network->longest[k];
    if (!fits && at)
        refuse("a size");
    if (fits) {
        taken = hold_ends(own, inputs, network->input, network->inputs, false, at, in, x);
        if (taken == network->inputs)
            made = hold_ends(own, outputs, network->output, network->outputs, true, at, out, y);
        if (taken == network->inputs && made == network->outputs)
            failed = run(own, at, x, y);
    }
    for (int k = 0; k < taken; k++)
        PyBuffer_Release(&in[k].buffer);
    for (int k = 0; k < made; k++)
        PyBuffer_Release(&out[k].buffer);
    PyBuffer_Release(&sizes.buffer);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

/* The address of the pwl_network, for libpwl-cuda. */
static PyObject *network_address(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(&((network_object *)self)->network);
}

static PyMethodDef methods[] = {
    {"run", network_run, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"_address", network_address, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define SLOT(f) ((void *)(uintptr_t)(f))

static PyType_Slot slots[] = {{Py_tp_new, SLOT(network_new)},
                              {Py_tp_dealloc, SLOT(network_dealloc)},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {0, NULL}};

static PyType_Spec spec = {"pwl._core.Network", sizeof(network_object), 0, Py_TPFLAGS_DEFAULT, slots};

int network_add_type(PyObject *module)
{
    PyObject *const type = PyType_FromSpec(&spec);
    network_type = (PyTypeObject *)type;
    if (!type || PyModule_AddObject(module, "Network", type))
        return -1;
    Py_INCREF(type); /* for network_type */
    return 0;
}
