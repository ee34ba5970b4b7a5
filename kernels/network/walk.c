/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a run, in pieces aligned to 256 bytes:
 *
 *   | place 0 | place 1 | ... | of a loop: its body's places | a place of each input, and states | outputs of the body
 * |
 *
 * Loops take turns with the last part, as one ends before the next begins.
 */
#include "walk.h"

#include <string.h>

#include "map/plan.h"

enum { ALIGN = 256 };

typedef struct walk {
    const pwl_network *network;
    const pwl_cuda_node *all, *nodes; /* of the network that was uploaded, and of this one */
    const pwl_network_call *call;
    pwl_work_launch *launch;
    void *context;
    uint64_t begins[PWL_CUDA_NETWORK_PLACES]; /* of places, in the call's memory */
    char *rest;                               /* what lies behind them */
} walk;

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

/* Where places begin; the end of the last. */
static uint64_t lay_out(const pwl_network *network, const uint32_t *sizes, uint64_t *begins)
{
    uint64_t at = 0;
    memset(begins, 0, PWL_CUDA_NETWORK_PLACES * sizeof *begins);
    for (uint16_t k = 0; k < network->edge_count; k++) {
        const uint16_t place = network->edges[k].place;
        const uint64_t bytes = pwl_network_bytes(network, k, sizes);
        if (place < network->places && bytes > begins[place])
            begins[place] = bytes;
    }
    for (uint16_t place = 0; place < network->places; place++) {
        const uint64_t bytes = begins[place];
        begins[place] = at;
        at += aligned(bytes);
    }
    return at;
}

static uint64_t loop_bytes(const pwl_network *body, const uint32_t *sizes)
{
    uint64_t begins[PWL_CUDA_NETWORK_PLACES], bytes = lay_out(body, sizes, begins);
    for (int k = 0; k < body->inputs; k++)
        bytes += aligned(pwl_network_bytes(body, body->input[k], sizes));
    for (int k = 0; k < body->outputs; k++)
        bytes += aligned(pwl_network_bytes(body, body->output[k], sizes));
    return bytes;
}

uint64_t pwl_cuda_network_bytes(const pwl_network *network, const uint32_t *sizes)
{
    uint64_t begins[PWL_CUDA_NETWORK_PLACES], most = 0;
    for (size_t k = 0; k < network->node_count; k++)
        if (network->nodes[k].kind == PWL_NETWORK_LOOP) {
            const uint64_t bytes = loop_bytes(((const pwl_network_loop *)network->nodes[k].of)->body, sizes);
            most = bytes > most ? bytes : most;
        }
    return lay_out(network, sizes, begins) + most;
}

/* The first output of that edge, or -1. */
static int output_of(const pwl_network *network, uint16_t edge)
{
    for (int k = 0; k < network->outputs; k++)
        if (network->output[k] == edge)
            return k;
    return -1;
}

static const void *input_of(const walk *of, uint16_t edge)
{
    for (int k = 0; k < of->network->inputs; k++)
        if (of->network->input[k] == edge)
            return of->call->inputs[k];
    return NULL;
}

static void *written_at(const walk *of, uint16_t edge)
{
    const uint16_t place = of->network->edges[edge].place;
    if (place == PWL_NETWORK_ELSEWHERE)
        return of->call->outputs[output_of(of->network, edge)];
    return (char *)of->call->memory + of->begins[place];
}

static const void *read_at(const walk *of, uint16_t edge)
{
    const void *const input = input_of(of, edge);
    return input ? input : written_at(of, edge);
}

/* A node, and the shapes of what it reads and writes. */
typedef struct step {
    const walk *of;
    const pwl_network_node *node;
    const pwl_cuda_node *device;
    const pwl_network_edge *in[PWL_NETWORK_READS], *out;
    pwl_network_shape x[PWL_NETWORK_READS], y;
} step;

static step step_at(const walk *of, size_t k)
{
    step at;
    at.of = of;
    at.node = &of->network->nodes[k];
    at.device = &of->nodes[k];
    for (int i = 0; i < at.node->reads; i++) {
        at.in[i] = &of->network->edges[at.node->inputs[i]];
        pwl_network_shape_at(at.in[i], of->call->sizes, &at.x[i]);
    }
    at.out = &of->network->edges[at.node->output];
    pwl_network_shape_at(at.out, of->call->sizes, &at.y);
    return at;
}

static size_t all_of(const pwl_network_shape *shape)
{
    return pwl_network_places(shape, 0, shape->axes);
}

static size_t bytes_of(const pwl_network_edge *edge)
{
    return (size_t)1 << (edge->type >> 1);
}

/* Work whose arrays are the node's. */
static pwl_work begin(const step *at, pwl_work_kind kind)
{
    pwl_work work;
    memset(&work, 0, sizeof work);
    work.kind = kind;
    work.count = (uint32_t)all_of(&at->y);
    for (int k = 0; k < at->node->reads && k < 4; k++) {
        work.x[k].at = read_at(at->of, at->node->inputs[k]);
        work.x[k].type = at->in[k]->type;
        work.x[k].zero_point = at->in[k]->zero_point;
    }
    work.y.at = written_at(at->of, at->node->output);
    work.y.type = at->out->type;
    work.y.zero_point = at->out->zero_point;
    work.y.qmin = at->out->qmin;
    work.y.qmax = at->out->qmax;
    if (at->device->tail.nodes) {
        const uint16_t edge = (at->node + at->device->tail.nodes)->output;
        work.y.values = at->device->values;
        work.y.type = at->of->network->edges[edge].type;
        work.y.at = written_at(at->of, edge);
    }
    return work;
}

static int launch(const step *at, const pwl_work *work)
{
    return at->of->launch(at->of->context, work);
}

/* A copy of elements along axes, the last the fastest. */
typedef struct moved {
    size_t axes, size[PWL_NETWORK_AXES], x_stride[PWL_NETWORK_AXES], y_stride[PWL_NETWORK_AXES];
} moved;

static void add_axis(moved *of, size_t size, size_t x_stride, size_t y_stride)
{
    const size_t last = of->axes - 1;
    if (size == 1)
        return;
    if (of->axes && of->x_stride[last] == size * x_stride && of->y_stride[last] == size * y_stride) {
        of->size[last] *= size;
        of->x_stride[last] = x_stride;
        of->y_stride[last] = y_stride;
        return;
    }
    of->size[of->axes] = size;
    of->x_stride[of->axes] = x_stride;
    of->y_stride[of->axes++] = y_stride;
}

/* Of a power of two. */
static uint32_t log2_of(size_t bytes)
{
    uint32_t log2 = 0;
    while (bytes > (size_t)1 << log2)
        log2++;
    return log2;
}

/* Whether elements of `bytes` can be moved so many at a time. */
static int moves_together(const moved *of, size_t together, size_t bytes, const void *x, const void *y)
{
    const size_t last = of->axes - 1;
    if (!of->axes || of->x_stride[last] != 1 || of->y_stride[last] != 1 || of->size[last] % together ||
        ((uintptr_t)x | (uintptr_t)y) % (together * bytes))
        return 0;
    for (size_t k = 0; k < last; k++)
        if (of->x_stride[k] % together || of->y_stride[k] % together)
            return 0;
    return 1;
}

static int move(const walk *of, const moved *axes, const void *x, void *y, size_t bytes)
{
    pwl_work work;
    size_t together = 1, all = 1;
    memset(&work, 0, sizeof work);
    while (together * bytes < 16 && moves_together(axes, 2 * together, bytes, x, y))
        together *= 2;
    work.kind = PWL_WORK_MOVE;
    work.x[0].at = x;
    work.y.at = y;
    work.of.move.axes = (uint32_t)axes->axes;
    for (size_t k = 0; k < axes->axes; k++) {
        const size_t by = k + 1 == axes->axes ? 1 : together;
        work.of.move.size[k] = (uint32_t)(k + 1 == axes->axes ? axes->size[k] / together : axes->size[k]);
        work.of.move.x_stride[k] = (uint32_t)(axes->x_stride[k] / by);
        work.of.move.y_stride[k] = (uint32_t)(axes->y_stride[k] / by);
        all *= work.of.move.size[k];
    }
    work.of.move.log2_bytes = log2_of(together * bytes);
    work.count = (uint32_t)all;
    return of->launch(of->context, &work);
}

static int move_flat(const walk *of, size_t count, const void *x, void *y, size_t bytes)
{
    moved axes = {0};
    add_axis(&axes, count, 1, 1);
    return move(of, &axes, x, y, bytes);
}

static int run_constant(const step *at)
{
    pwl_network_shape whole;
    moved axes = {0};
    pwl_network_shape_at(at->out, at->of->network->longest, &whole);
    for (size_t k = 0; k < at->y.axes; k++)
        add_axis(&axes, at->y.at[k], pwl_network_places(&whole, k + 1, whole.axes),
                 pwl_network_places(&at->y, k + 1, at->y.axes));
    return move(at->of, &axes, at->device->array, written_at(at->of, at->node->output), bytes_of(at->out));
}

static int run_transpose(const step *at)
{
    const uint8_t *const order = ((const pwl_network_transpose *)at->node->of)->order;
    const pwl_work work = begin(at, PWL_WORK_MOVE);
    moved axes = {0};
    for (size_t k = 0; k < at->y.axes; k++)
        add_axis(&axes, at->y.at[k], pwl_network_places(&at->x[0], order[k] + (size_t)1, at->x[0].axes),
                 pwl_network_places(&at->y, k + 1, at->y.axes));
    return move(at->of, &axes, work.x[0].at, work.y.at, bytes_of(at->out));
}

static int run_slice(const step *at)
{
    const pwl_network_slice *const slice = at->node->of;
    const pwl_network_shape *const x = &at->x[0];
    const size_t places = x->at[slice->axis], inner = pwl_network_places(x, slice->axis + (size_t)1, x->axes);
    const size_t start = pwl_network_place_of(slice->start, places), count = slice->keep ? at->y.at[slice->axis] : 1;
    const pwl_work work = begin(at, PWL_WORK_MOVE);
    moved axes = {0};
    add_axis(&axes, pwl_network_places(x, 0, slice->axis), places * inner, count * inner);
    add_axis(&axes, count, slice->step * inner, inner);
    add_axis(&axes, inner, 1, 1);
    return move(at->of, &axes, (const char *)work.x[0].at + start * inner * bytes_of(at->out), work.y.at,
                bytes_of(at->out));
}

static int run_concat(const step *at)
{
    const size_t axis = ((const pwl_network_concat *)at->node->of)->axis, bytes = bytes_of(at->out);
    const size_t outer = pwl_network_places(&at->y, 0, axis), all = pwl_network_places(&at->y, axis, at->y.axes);
    const pwl_work work = begin(at, PWL_WORK_MOVE);
    char *y = work.y.at;
    int error = 0;
    for (int k = 0; k < 2 && error == 0; k++) {
        const size_t count = pwl_network_places(&at->x[k], axis, at->x[k].axes);
        moved axes = {0};
        add_axis(&axes, outer, count, all);
        add_axis(&axes, count, 1, 1);
        error = move(at->of, &axes, work.x[k].at, y, bytes);
        y += count * bytes;
    }
    return error;
}

static int run_reshape(const step *at)
{
    const pwl_work work = begin(at, PWL_WORK_MOVE);
    return work.y.at == work.x[0].at ? 0
                                     : move_flat(at->of, all_of(&at->y), work.x[0].at, work.y.at, bytes_of(at->out));
}

/* A cache that is the output's own array is there already. */
static int run_append(const step *at)
{
    const size_t axis = ((const pwl_network_append *)at->node->of)->axis;
    const pwl_network_shape *const x = &at->x[0];
    const size_t inner = pwl_network_places(x, axis + 1, x->axes), bytes = bytes_of(at->out);
    pwl_work work = begin(at, PWL_WORK_APPEND);
    size_t together = 1;
    int error = work.y.at == work.x[1].at ? 0 : move_flat(at->of, all_of(&at->y), work.x[1].at, work.y.at, bytes);
    while (together * bytes < 16 && inner % (2 * together) == 0 &&
           ((uintptr_t)work.x[0].at | (uintptr_t)work.y.at) % (2 * together * bytes) == 0)
        together *= 2;
    work.x[1] = work.x[2];
    work.of.append.places = (uint32_t)x->at[axis];
    work.of.append.all = (uint32_t)at->y.at[axis];
    work.of.append.inner = (uint32_t)(inner / together);
    work.of.append.log2_bytes = log2_of(together * bytes);
    work.count = (uint32_t)(all_of(x) / together);
    return error == 0 ? launch(at, &work) : error;
}

static int run_gather(const step *at)
{
    const pwl_network_gather *const gather = at->node->of;
    pwl_work work = begin(at, PWL_WORK_GATHER);
    size_t together = 1;
    work.x[1].at = at->device->array;
    while (together * bytes_of(at->out) < 16 && gather->columns % (2 * together) == 0 &&
           (uintptr_t)work.y.at % (2 * together * bytes_of(at->out)) == 0)
        together *= 2;
    work.of.gather.rows = gather->rows;
    work.of.gather.columns = (uint32_t)(gather->columns / together);
    work.of.gather.log2_bytes = log2_of(together * bytes_of(at->out));
    work.count /= (uint32_t)together;
    return launch(at, &work);
}

/* Where a transpose behind the sums brings them: the axes of its input are those of rows, then those of columns. */
static pwl_work_order order_of(const step *at, uint32_t columns)
{
    const pwl_network_node *const node = at->node + at->device->tail.transposes;
    const uint8_t *const order = ((const pwl_network_transpose *)node->of)->order;
    pwl_network_shape x, y;
    pwl_work_order made = {{1, 1}, columns, {0, 0, 0, 0}};
    size_t stride[PWL_NETWORK_AXES] = {0}, axis, inner = 1;
    pwl_network_shape_at(&at->of->network->edges[node->inputs[0]], at->of->call->sizes, &x);
    pwl_network_shape_at(&at->of->network->edges[node->output], at->of->call->sizes, &y);
    for (axis = 0; axis < y.axes; axis++)
        stride[order[axis]] = pwl_network_places(&y, axis + 1, y.axes);
    for (axis = x.axes; inner < columns; axis--)
        inner *= x.at[axis - 1];
    if (x.at[x.axes - 1] < columns) {
        made.columns = (uint32_t)x.at[x.axes - 1];
        made.stride[3] = (uint32_t)stride[axis];
    }
    for (int k = 2; axis-- > 0; k--) {
        if (k)
            made.rows[2 - k] = (uint32_t)x.at[axis];
        made.stride[k] = (uint32_t)stride[axis];
    }
    return made;
}

/* The lines of the table behind it, where a plan's image has them and they are all that its codes need. */
static pwl_work_lines lines_of(const step *at)
{
    const pwl_network_operator *const own = (at->node + 1)->of;
    pwl_work_lines made;
    memset(&made, 0, sizeof made);
    if (own->type != PWL_NETWORK_TABLE)
        return made;
    const pwl_cuda_table *const table = &(at->device + 1)->of.table;
    const pwl_cuda_plan plan = pwl_cuda_plan_of(table);
    if (plan.wide || !plan.image_bytes || at->out->qmin < plan.qmin_x || at->out->qmax > plan.qmax_x)
        return made;
    made.image = (const char *)table->memory + plan.image_offset;
    made.bytes = plan.image_bytes;
    made.cells_at = plan.image_cells;
    made.cell_shift = plan.cell_shift;
    made.fraction = plan.fraction;
    made.even = plan.even;
    made.head_copies = plan.head_copies;
    made.cell_copies = plan.cell_copies;
    made.first = (int32_t)plan.qmin_x;
    made.qmin = (int32_t)plan.qmin_y;
    made.qmax = (int32_t)plan.qmax_y;
    return made;
}

/* Of a matrix with `columns`, what its tail says. */
static void set_tail(const step *at, pwl_work_matrix *of)
{
    const pwl_network_node *const next = at->node + 1;
    if (at->device->tail.transposes)
        of->order = order_of(at, of->columns);
    if (at->device->tail.has_table)
        of->lines = lines_of(at);
    if (!at->device->tail.adds)
        return;
    const int is_first = next->inputs[1] == at->node->output;
    const uint16_t edge = next->inputs[!is_first];
    pwl_add add = *(const pwl_add *)((const pwl_network_operator *)next->of)->of;
    if (is_first) { /* the other one */
        const int32_t factor = add.factor_a;
        add.factor_a = add.factor_b;
        add.factor_b = factor;
    }
    (void)pwl_work_make_sum(&add, &of->sum); /* it does, else it were no tail */
    of->other.at = read_at(at->of, edge);
    of->other.type = at->of->network->edges[edge].type;
}

static pwl_work product_of(const step *at)
{
    const pwl_network_product *const product = at->node->of;
    pwl_work work = begin(at, PWL_WORK_MATRIX);
    pwl_work_matrix *const of = &work.of.matrix;
    work.x[0].zero_point = 0; /* the bias has what it adds */
    work.x[1].at = at->device->array;
    work.x[1].type = PWL_S8;
    of->rows = (uint32_t)pwl_network_places(&at->y, 0, at->y.axes - 1);
    of->columns = product->channels;
    of->length = product->length;
    of->b_stride = of->b_length = at->device->stride;
    of->b_step = 1;
    of->factors = at->device->factors;
    of->bias = at->device->bias;
    of->channels = at->device->channels;
    of->packed = at->device->packed;
    set_tail(at, of);
    return work;
}

static int run_product(const step *at)
{
    pwl_work work[PWL_CUDA_BESIDE];
    size_t k = (size_t)(at->node - at->of->network->nodes);
    work[0] = product_of(at);
    for (int beside = 1; beside <= at->device->tail.beside; beside++) {
        k += (size_t)1 + at->of->nodes[k].tail.nodes;
        const step next = step_at(at->of, k);
        work[beside] = product_of(&next);
        work[beside - 1].beside = &work[beside];
    }
    return launch(at, work);
}

static int run_matmul(const step *at)
{
    const int is_transposed = ((const pwl_network_matmul *)at->node->of)->transposed;
    pwl_work work = begin(at, PWL_WORK_MATRIX);
    pwl_work_matrix *const of = &work.of.matrix;
    of->rows = (uint32_t)at->y.at[at->y.axes - 2];
    of->columns = (uint32_t)at->y.at[at->y.axes - 1];
    of->length = of->b_length = (uint32_t)at->x[0].at[at->x[0].axes - 1];
    of->b_matrix = of->length * of->columns;
    of->b_stride = is_transposed ? of->length : 1;
    of->b_step = is_transposed ? 1 : of->columns;
    of->factors = at->device->factors;
    of->channels = at->device->channels;
    set_tail(at, of);
    return launch(at, &work);
}

/* Rows and columns of an edge of windows. */
static void plane_of(const pwl_network_shape *shape, uint32_t *plane)
{
    plane[0] = (uint32_t)(shape->axes > 3 ? shape->at[2] : 1);
    plane[1] = (uint32_t)shape->at[shape->axes - 1];
}

static int run_convolution(const step *at)
{
    const pwl_network_convolution *const convolution = at->node->of;
    pwl_work work = begin(at, PWL_WORK_CONVOLUTION);
    pwl_work_window *const of = &work.of.window;
    memcpy(of->window, convolution->window, sizeof of->window);
    plane_of(&at->x[0], of->from);
    plane_of(&at->y, of->to);
    of->channels = convolution->channels;
    of->inputs = convolution->inputs;
    of->in_group = convolution->channels / convolution->groups;
    of->x_channels = (uint32_t)at->x[0].at[1];
    of->weights = at->device->array;
    of->weight_stride = at->device->stride;
    of->factors = at->device->factors;
    of->bias = at->device->bias;
    return launch(at, &work);
}

static int run_max_pool(const step *at)
{
    pwl_work work = begin(at, PWL_WORK_MAX_POOL);
    pwl_work_window *const of = &work.of.window;
    memcpy(of->window, ((const pwl_network_max_pool *)at->node->of)->window, sizeof of->window);
    plane_of(&at->x[0], of->from);
    plane_of(&at->y, of->to);
    of->channels = (uint32_t)at->y.at[1];
    return launch(at, &work);
}

/* Axes along which all inputs go on as they did before become one. */
static pwl_work_spread spread_of(const step *at)
{
    const uint32_t reads = at->node->reads;
    pwl_work_spread of;
    memset(&of, 0, sizeof of);
    for (size_t axis = 0; axis < at->y.axes; axis++) {
        const uint32_t size = (uint32_t)at->y.at[axis];
        uint32_t stride[4] = {0};
        int joins = of.axes > 0;
        for (uint32_t k = 0; k < reads; k++) {
            stride[k] = (uint32_t)pwl_network_stride(&at->x[k], &at->y, axis);
            joins = joins && of.stride[k][of.axes - 1] == size * stride[k];
        }
        if (size == 1)
            continue;
        if (!joins)
            of.size[of.axes++] = 1;
        of.size[of.axes - 1] *= size;
        for (uint32_t k = 0; k < reads; k++)
            of.stride[k][of.axes - 1] = stride[k];
    }
    return of;
}

static int run_multiply(const step *at)
{
    const pwl_network_multiply *const multiply = at->node->of;
    pwl_work work = begin(at, PWL_WORK_MULTIPLY);
    pwl_work_multiply *const of = &work.of.multiply;
    of->spread = spread_of(at);
    of->reads = at->node->reads;
    of->factor[0] = multiply->factor[0];
    of->factor[1] = multiply->factor[1];
    of->shift = multiply->shift;
    return launch(at, &work);
}

static int run_mean(const step *at)
{
    const size_t axis = ((const pwl_network_mean *)at->node->of)->axis;
    pwl_work work = begin(at, PWL_WORK_MEAN);
    work.of.mean.places = (uint32_t)at->x[0].at[axis];
    work.of.mean.inner = (uint32_t)pwl_network_places(&at->x[0], axis + 1, at->x[0].axes);
    work.of.mean.has_mask = at->node->reads > 1;
    work.of.mean.factors = at->device->factors;
    return launch(at, &work);
}

static int run_softmax(const step *at, int is_causal)
{
    const size_t before = at->y.axes - 1;
    const int numbers = at->node->reads - 1, is_numbered = is_causal == 2;
    pwl_work work = begin(at, PWL_WORK_SOFTMAX);
    pwl_work_softmax *const of = &work.of.softmax;
    of->uploaded = &at->device->of.softmax;
    of->length = (uint32_t)at->y.at[before];
    of->rows = (uint32_t)pwl_network_places(&at->y, 0, before);
    of->mask = numbers > is_numbered ? work.x[1].at : NULL;
    of->each = (uint32_t)pwl_network_places(&at->y, before ? 1 : 0, before);
    of->second = is_causal ? (uint32_t)(before ? at->y.at[before - 1] : 1) : 0;
    if (is_numbered)
        work.x[1] = work.x[numbers];
    else
        work.x[1].at = NULL;
    work.operator_of = ((const pwl_network_operator *)at->node->of)->of;
    return launch(at, &work);
}

static int run_operator(const step *at)
{
    const pwl_network_operator *const own = at->node->of;
    pwl_work work;
    switch (own->type) {
    case PWL_NETWORK_SOFTMAX:
        return run_softmax(at, own->is_causal);
    case PWL_NETWORK_TABLE:
        work = begin(at, PWL_WORK_TABLE);
        work.of.table = &at->device->of.table;
        break;
    case PWL_NETWORK_NORM:
        work = begin(at, PWL_WORK_NORM);
        work.of.norm = &at->device->of.norm;
        work.count = (uint32_t)pwl_network_places(&at->y, 0, at->y.axes - 1);
        break;
    case PWL_NETWORK_REDUCED:
        work = begin(at, PWL_WORK_REDUCED);
        work.of.reduced = at->device->of.reduced;
        break;
    case PWL_NETWORK_REQUANTISE:
        work = begin(at, PWL_WORK_REQUANTISE);
        work.of.requantise = *(const pwl_requantise *)own->of;
        break;
    default:
        work = begin(at, PWL_WORK_ADD);
        work.of.add.spread = spread_of(at);
        work.of.add.add = *(const pwl_add *)own->of;
    }
    work.operator_of = own->of;
    return launch(at, &work);
}

static int run_nodes(walk *of);

/* Takes the next bytes for an edge of a loop's body. */
static void *take(char **rest, const walk *body, uint16_t edge)
{
    void *const taken = *rest;
    *rest += aligned(pwl_network_bytes(body->network, edge, body->call->sizes));
    return taken;
}

static int fill_state(const walk *body, uint16_t edge, void *state)
{
    const pwl_network_edge *const of = &body->network->edges[edge];
    pwl_work work;
    memset(&work, 0, sizeof work);
    work.kind = PWL_WORK_FILL;
    work.count = (uint32_t)pwl_network_count(body->network, edge, body->call->sizes);
    work.y.at = state;
    work.y.type = of->type;
    work.y.zero_point = of->zero_point;
    return body->launch(body->context, &work);
}

/* A place of an axis of a whole array, which its elements are to come from or to go to. */
static int move_place(const walk *of, const pwl_network_shape *whole, size_t axis, size_t place, size_t bytes,
                      const void *from, void *to, int is_out)
{
    const size_t outer = pwl_network_places(whole, 0, axis), inner = pwl_network_places(whole, axis + 1, whole->axes);
    const size_t stride = whole->at[axis] * inner, at = place * inner * bytes;
    moved axes = {0};
    add_axis(&axes, outer, is_out ? stride : inner, is_out ? inner : stride);
    add_axis(&axes, inner, 1, 1);
    return move(of, &axes, (const char *)from + (is_out ? at : 0), (char *)to + (is_out ? 0 : at), bytes);
}

static int run_place(const step *at, walk *body, void *const *parts, size_t place)
{
    const size_t axis = ((const pwl_network_loop *)at->node->of)->axis;
    int error = 0;
    for (int k = 0; k < at->node->reads && error == 0; k++)
        error = move_place(at->of, &at->x[k], axis, place, bytes_of(at->in[k]), read_at(at->of, at->node->inputs[k]),
                           parts[k], 1);
    if (error == 0)
        error = run_nodes(body);
    if (error == 0)
        error = move_place(at->of, &at->y, axis, place, bytes_of(at->out), body->call->outputs[0],
                           written_at(at->of, at->node->output), 0);
    return error;
}

static int run_loop(const step *at)
{
    const pwl_network_loop *const loop = at->node->of;
    const pwl_network *const inner = loop->body;
    const size_t places = at->y.at[loop->axis];
    const int reads = at->node->reads;
    void *parts[PWL_NETWORK_STATES], *outputs[PWL_NETWORK_STATES + 1];
    const void *inputs[PWL_NETWORK_STATES];
    const pwl_network_call call = {at->of->call->sizes, inputs, outputs, at->of->rest, 0, NULL};
    walk body = *at->of;
    int error = 0;
    body.network = inner;
    body.nodes = at->of->all + at->device->body;
    body.call = &call;
    char *rest = at->of->rest + lay_out(inner, call.sizes, body.begins);
    for (int k = 0; k < inner->inputs; k++) {
        inputs[k] = parts[k] = take(&rest, &body, inner->input[k]);
        if (k >= reads && error == 0)
            error = fill_state(&body, inner->input[k], parts[k]);
    }
    for (int k = 0; k < inner->outputs; k++)
        outputs[k] = take(&rest, &body, inner->output[k]);
    for (size_t place = 0; place < places && error == 0; place++) {
        error = run_place(at, &body, parts, loop->reverse ? places - 1 - place : place);
        for (int k = 1; k < inner->outputs; k++) { /* what was made is what is read next */
            void *const made = outputs[k];
            outputs[k] = parts[reads + k - 1];
            inputs[reads + k - 1] = parts[reads + k - 1] = made;
        }
    }
    return error;
}

static int run_node(const step *at)
{
    switch (at->node->kind) {
    case PWL_NETWORK_GATHER:
        return run_gather(at);
    case PWL_NETWORK_CONSTANT:
        return run_constant(at);
    case PWL_NETWORK_PRODUCT:
        return run_product(at);
    case PWL_NETWORK_MATMUL:
        return run_matmul(at);
    case PWL_NETWORK_MULTIPLY:
        return run_multiply(at);
    case PWL_NETWORK_MEAN:
        return run_mean(at);
    case PWL_NETWORK_OPERATOR:
        return run_operator(at);
    case PWL_NETWORK_RESHAPE:
        return run_reshape(at);
    case PWL_NETWORK_TRANSPOSE:
        return run_transpose(at);
    case PWL_NETWORK_SLICE:
        return run_slice(at);
    case PWL_NETWORK_CONCAT:
        return run_concat(at);
    case PWL_NETWORK_CONVOLUTION:
        return run_convolution(at);
    case PWL_NETWORK_MAX_POOL:
        return run_max_pool(at);
    case PWL_NETWORK_APPEND:
        return run_append(at);
    default:
        return run_loop(at);
    }
}

/* Outputs that are inputs, or other outputs, too. */
static int copy_outputs(const walk *of)
{
    int error = 0;
    for (int k = 0; k < of->network->outputs && error == 0; k++) {
        const uint16_t edge = of->network->output[k];
        const int first = output_of(of->network, edge);
        const void *const input = input_of(of, edge);
        if (input || first != k)
            error = move_flat(of, (size_t)pwl_network_count(of->network, edge, of->call->sizes),
                              input ? input : of->call->outputs[first], of->call->outputs[k],
                              bytes_of(&of->network->edges[edge]));
    }
    return error;
}

static int run_nodes(walk *of)
{
    int error = 0;
    for (size_t k = 0; k < of->network->node_count && error == 0; k++) {
        const step at = step_at(of, k);
        error = run_node(&at);
        for (int beside = at.device->tail.beside; beside > 0; beside--)
            k += (size_t)1 + of->nodes[k].tail.nodes;
        k += of->nodes[k].tail.nodes;
    }
    return error == 0 ? copy_outputs(of) : error;
}

int pwl_cuda_network_walk(const pwl_network *network, const pwl_cuda_node *nodes, const pwl_network_call *call,
                          pwl_work_launch *launch, void *context)
{
    walk of;
    of.network = network;
    of.all = of.nodes = nodes;
    of.call = call;
    of.launch = launch;
    of.context = context;
    of.rest = (char *)call->memory + lay_out(network, call->sizes, of.begins);
    return run_nodes(&of);
}
