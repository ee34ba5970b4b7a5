/* SPDX-License-Identifier: Apache-2.0 */
#include "prepare.h"

#include <string.h>

#include "map/plan.h"
#include "rows/prepare.h"
#include "wide.h"

enum { ALIGN = 256, WEIGHT_ALIGN = 64 };

/* Arrays one after the other: where the next begins in the image, and where it will be. */
typedef struct piece {
    char *image, *memory;
    size_t at;
    int packs;
} piece;

/* Room for so many bytes; *there is where they will be. Without an image only the room is counted. */
static void *take(piece *of, size_t bytes, const void **there)
{
    const size_t at = of->at;
    of->at += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    *there = of->image ? of->memory + at : NULL;
    return of->image ? of->image + at : NULL;
}

static const void *copy(piece *of, const void *array, size_t bytes)
{
    const void *there;
    void *const to = take(of, bytes, &there);
    if (to)
        memcpy(to, array, bytes);
    return there;
}

static void copy_factors(piece *of, const pwl_network_factors *factors, pwl_cuda_node *made)
{
    made->factors.factor = copy(of, factors->factor, factors->count * sizeof *factors->factor);
    made->factors.shift = copy(of, factors->shift, factors->count * sizeof *factors->shift);
    made->factors.count = factors->count;
}

/* Codes of an edge's type. */
static const void *copy_codes(piece *of, const pwl_network_edge *edge, const int16_t *codes, size_t count)
{
    const void *there;
    void *const to = take(of, count << (edge->type >> 1), &there);
    for (size_t k = 0; to && k < count; k++)
        pwl_work_set(edge->type, to, k, codes[k]);
    return there;
}

static void copy_weights(piece *of, const int8_t *weights, size_t channels, size_t length, pwl_cuda_node *made)
{
    const size_t stride = (length + WEIGHT_ALIGN - 1) / WEIGHT_ALIGN * WEIGHT_ALIGN;
    char *const to = take(of, channels * stride, &made->array);
    made->stride = (uint32_t)stride;
    for (size_t c = 0; to && c < channels; c++) {
        memcpy(to + c * stride, weights + c * length, length);
        memset(to + c * stride + length, 0, stride - length);
    }
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The largest magnitude of a channel's products' sum. */
static int64_t largest_sum(const int8_t *weights, size_t length, const pwl_network_edge *x)
{
    const int64_t above = larger(x->qmax, 0), below = larger(-x->qmin, 0);
    int64_t up = 0, down = 0;
    for (size_t k = 0; k < length; k++)
        *(weights[k] > 0 ? &up : &down) += weights[k] > 0 ? weights[k] : -weights[k];
    return larger(up * above + down * below, up * below + down * above);
}

/* Whether 32 bits do for sums of such a magnitude, and *made. Both addends are then below 2^62. */
static int make_channel(int64_t largest, int64_t bias, int64_t factor, int shift, const pwl_network_edge *y,
                        pwl_work_channel *made)
{
    const int raise = shift < 32 ? 32 - shift : 0, n = shift + raise;
    const int64_t most = largest + (int64_t)pwl_abs64(bias);
    const int up = factor > INT32_MAX >> raise ? raise : 0; /* else the factor has it */
    if (most > INT32_MAX >> up || y->type > PWL_S32 || pwl_bit_length(pwl_abs64(y->zero_point)) + n > 61)
        return 0;
    made->added = ((int64_t)1 << (n - 1)) + y->zero_point * ((int64_t)1 << n);
    made->bias = (int32_t)bias;
    made->factor = (int32_t)(factor << (raise - up));
    made->shift = n - 32;
    made->up = up;
    made->unused[0] = made->unused[1] = 0;
    return 1;
}

/* Room for channels, which are taken back where 32 bits do not do. */
static void take_product_channels(const pwl_network_product *product, const pwl_network_edge *x,
                                  const pwl_network_edge *y, piece *of, pwl_cuda_node *made)
{
    const void *there;
    pwl_work_channel channel, *const to = take(of, product->channels * sizeof *to, &there);
    made->channels = there;
    for (uint32_t c = 0; c < product->channels; c++) {
        const uint32_t which = product->factors.count > 1 ? c : 0;
        const int64_t largest = largest_sum(product->weights + (size_t)c * product->length, product->length, x);
        if (!make_channel(largest, product->bias[c], product->factors.factor[which], product->factors.shift[which], y,
                          to ? &to[c] : &channel)) {
            made->channels = NULL;
            return;
        }
    }
}

static void take_matmul(const pwl_network *network, const pwl_network_node *node, piece *of, pwl_cuda_node *made)
{
    const pwl_network_factors *const factors = &((const pwl_network_matmul *)node->of)->factors;
    const pwl_network_edge *const a = &network->edges[node->inputs[0]], *const b = &network->edges[node->inputs[1]];
    const void *there;
    pwl_work_channel channel, *const to = take(of, sizeof *to, &there);
    pwl_network_shape shape;
    int64_t largest = INT32_MAX; /* which is refused */
    pwl_network_shape_at(a, network->longest, &shape);
    if (a->type <= PWL_U16 && b->type <= PWL_U16 && shape.at[shape.axes - 1] <= 65536)
        largest = larger(a->qmax, -a->qmin) * larger(b->qmax, -b->qmin) * (int64_t)shape.at[shape.axes - 1];
    copy_factors(of, factors, made);
    if (make_channel(largest, 1, factors->factor[0], factors->shift[0], &network->edges[node->output],
                     to ? to : &channel)) {
        if (to)
            to->bias = 0;
        made->channels = there;
    }
}

/* Of rows of whole chunks of 16 bytes. */
static void pack_weights(const pwl_network_product *product, const pwl_network_edge *x, piece *of, pwl_cuda_node *made)
{
    const size_t room = pwl_wide_bytes(product->channels, product->length);
    const uint32_t bytes = 1u << (x->type >> 1);
    if (!of->packs || x->type > PWL_U16 || product->length * bytes % 16)
        return;
    char *const to = take(of, room, &made->packed);
    if (!to)
        return;
    memset(to, 0, room);
    for (uint32_t c = 0; c < product->channels; c++)
        for (uint32_t k = 0; k < product->length; k++)
            to[pwl_wide_at(product->length, c, k, bytes)] = (char)product->weights[(size_t)c * product->length + k];
}

static void take_product(const pwl_network_product *product, piece *of, pwl_cuda_node *made)
{
    copy_weights(of, product->weights, product->channels, product->length, made);
    made->bias = copy(of, product->bias, product->channels * sizeof *product->bias);
    copy_factors(of, &product->factors, made);
}

static void take_convolution(const pwl_network_convolution *convolution, piece *of, pwl_cuda_node *made)
{
    const size_t length = (size_t)convolution->inputs * convolution->window[0].kernel * convolution->window[1].kernel;
    copy_weights(of, convolution->weights, convolution->channels, length, made);
    made->bias = copy(of, convolution->bias, convolution->channels * sizeof *convolution->bias);
    copy_factors(of, &convolution->factors, made);
}

static void take_table(const pwl_table *table, piece *of, pwl_cuda_node *made)
{
    pwl_cuda_plan plan;
    const void *there;
    void *to;
    pwl_cuda_plan_init(&plan, table);
    to = take(of, plan.bytes, &there);
    if (!to)
        return;
    pwl_cuda_plan_fill(&plan, table, to);
    pwl_cuda_plan_put(&made->of.table, &plan);
    made->of.table.memory = (void *)(uintptr_t)there;
}

static void take_reduced(const pwl_reduced *reduced, piece *of, pwl_cuda_node *made)
{
    const pwl_table *const core = &reduced->core;
    const size_t element = (size_t)1 << core->storage, segments = core->segments;
    const size_t offset = core->storage == PWL_INT8 && core->form == PWL_BIASED ? 4 : 2 * element;
    made->of.reduced = *reduced;
    made->of.reduced.core.start = copy(of, core->start, segments * element);
    made->of.reduced.core.q_b = copy(of, core->q_b, segments * element);
    made->of.reduced.core.n = copy(of, core->n, segments);
    made->of.reduced.core.offset = copy(of, core->offset, segments * offset);
}

static void take_operator(const pwl_network_operator *own, piece *of, pwl_cuda_node *made)
{
    const void *there;
    void *to;
    switch (own->type) {
    case PWL_NETWORK_TABLE:
        take_table(own->of, of, made);
        break;
    case PWL_NETWORK_REDUCED:
        take_reduced(own->of, of, made);
        break;
    case PWL_NETWORK_SOFTMAX:
        to = take(of, pwl_cuda_softmax_bytes(own->of), &there);
        if (to)
            pwl_cuda_softmax_prepare(own->of, to, (void *)(uintptr_t)there, &made->of.softmax);
        made->of.softmax.memory = (void *)(uintptr_t)there;
        break;
    case PWL_NETWORK_NORM:
        to = take(of, pwl_cuda_norm_bytes(own->of), &there);
        if (to)
            pwl_cuda_norm_prepare(own->of, to, (void *)(uintptr_t)there, &made->of.norm);
        made->of.norm.memory = (void *)(uintptr_t)there;
        break;
    default:; /* what is left are numbers */
    }
}

static void take_values(const pwl_network *network, size_t k, piece *of, pwl_cuda_node *made)
{
    const pwl_network_edge *const edge = &network->edges[network->nodes[k].output];
    const pwl_network_node *const next = &network->nodes[k + 1];
    const pwl_network_operator *const own = next->of;
    const uint8_t type = network->edges[next->output].type;
    void *const to = take(of, (size_t)(edge->qmax - edge->qmin + 1) << (type >> 1), &made->values);
    for (int64_t code = edge->qmin; to && code <= edge->qmax; code++)
        pwl_work_set(type, to, (size_t)(code - edge->qmin),
                     own->type == PWL_NETWORK_TABLE ? pwl_eval(own->of, code) : pwl_reduced_eval(own->of, code));
}

static void take_node(const pwl_network *network, size_t k, piece *of, pwl_cuda_node *made)
{
    const pwl_network_node *const node = &network->nodes[k];
    const pwl_network_edge *const edge = &network->edges[node->output];
    switch (node->kind) {
    case PWL_NETWORK_GATHER: {
        const pwl_network_gather *const gather = node->of;
        made->array = copy_codes(of, edge, gather->table, (size_t)gather->rows * gather->columns);
        break;
    }
    case PWL_NETWORK_CONSTANT: {
        const pwl_network_constant *const constant = node->of;
        made->array = copy_codes(of, edge, constant->codes, constant->count);
        break;
    }
    case PWL_NETWORK_PRODUCT:
        take_product(node->of, of, made);
        pack_weights(node->of, &network->edges[node->inputs[0]], of, made);
        take_product_channels(node->of, &network->edges[node->inputs[0]], edge, of, made);
        break;
    case PWL_NETWORK_CONVOLUTION:
        take_convolution(node->of, of, made);
        break;
    case PWL_NETWORK_MATMUL:
        take_matmul(network, node, of, made);
        break;
    case PWL_NETWORK_MEAN:
        copy_factors(of, &((const pwl_network_mean *)node->of)->factors, made);
        break;
    case PWL_NETWORK_OPERATOR:
        take_operator(node->of, of, made);
        break;
    default:; /* no array */
    }
    made->tail = pwl_cuda_tail_of(network, k);
    if (made->tail.has_table)
        take_values(network, k, of, made);
}

static const pwl_network *body_of(const pwl_network_node *node)
{
    return node->kind == PWL_NETWORK_LOOP ? ((const pwl_network_loop *)node->of)->body : NULL;
}

uint32_t pwl_cuda_network_nodes(const pwl_network *network)
{
    uint32_t count = network->node_count;
    for (size_t k = 0; k < network->node_count; k++)
        if (body_of(&network->nodes[k]))
            count += body_of(&network->nodes[k])->node_count;
    return count;
}

static int is_served(const pwl_network_node *node)
{
    if (node->kind == PWL_NETWORK_OPERATOR)
        return ((const pwl_network_operator *)node->of)->type <= PWL_NETWORK_ADD;
    return node->kind <= PWL_NETWORK_APPEND;
}

int32_t pwl_cuda_network_unserved(const pwl_network *network)
{
    for (size_t k = 0; k < network->node_count; k++) {
        const pwl_network *const body = body_of(&network->nodes[k]);
        if (!is_served(&network->nodes[k]) || (body && body->places > PWL_CUDA_NETWORK_PLACES) ||
            (body && pwl_cuda_network_unserved(body) >= 0))
            return (int32_t)k;
    }
    return -1;
}

size_t pwl_cuda_network_prepare(const pwl_network *network, int packs, void *image, void *memory, pwl_cuda_node *nodes)
{
    piece of = {image, memory, 0, packs};
    uint32_t next = network->node_count;
    for (size_t k = 0; k < network->node_count; k++) {
        const pwl_network *const body = body_of(&network->nodes[k]);
        memset(&nodes[k], 0, sizeof nodes[k]);
        nodes[k].body = next;
        take_node(network, k, &of, &nodes[k]);
        for (size_t inner = 0; body && inner < body->node_count; inner++, next++) {
            memset(&nodes[next], 0, sizeof nodes[next]);
            take_node(body, inner, &of, &nodes[next]);
        }
    }
    return of.at;
}
