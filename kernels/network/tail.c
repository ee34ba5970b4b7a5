/* SPDX-License-Identifier: Apache-2.0 */
#include "tail.h"

#include <string.h>

#include "task.h"

static int reads(const pwl_network_node *node, uint16_t edge)
{
    for (int k = 0; k < node->reads; k++)
        if (node->inputs[k] == edge)
            return 1;
    return 0;
}

static const pwl_network_edge *edge_of(const pwl_network *network, size_t k)
{
    return &network->edges[network->nodes[k].output];
}

/* Whether node k + 1 is of a kind, and alone reads what node k gives. */
static int goes_on(const pwl_network *network, size_t k, pwl_network_kind kind)
{
    const uint16_t edge = network->nodes[k].output;
    if (k + 1 >= network->node_count || network->nodes[k + 1].kind != kind || !reads(&network->nodes[k + 1], edge))
        return 0;
    for (size_t other = k + 2; other < network->node_count; other++)
        if (reads(&network->nodes[other], edge))
            return 0;
    for (int output = 0; output < network->outputs; output++)
        if (network->output[output] == edge)
            return 0;
    return 1;
}

/* Whether what node `last` gives may be written while what node k reads still is. */
static int is_apart(const pwl_network *network, size_t k, size_t last)
{
    const uint16_t place = edge_of(network, last)->place;
    for (int input = 0; input < network->nodes[k].reads; input++)
        if (place != PWL_NETWORK_ELSEWHERE && network->edges[network->nodes[k].inputs[input]].place == place)
            return 0;
    return 1;
}

static int has_table(const pwl_network *network, size_t k)
{
    if (!goes_on(network, k, PWL_NETWORK_OPERATOR) || edge_of(network, k)->type > PWL_U16)
        return 0;
    const uint8_t type = ((const pwl_network_operator *)network->nodes[k + 1].of)->type;
    return type == PWL_NETWORK_TABLE || type == PWL_NETWORK_REDUCED;
}

static int same_shape(const pwl_network_edge *a, const pwl_network_edge *b)
{
    return a->axes == b->axes && memcmp(a->shape, b->shape, a->axes * sizeof *a->shape) == 0;
}

/* Whether node k + 1 adds another edge of one shape, as launches do. */
static int adds(const pwl_network *network, size_t k)
{
    const pwl_network_node *const next = &network->nodes[k + 1];
    pwl_work_sum sum;
    if (!goes_on(network, k, PWL_NETWORK_OPERATOR))
        return 0;
    const pwl_network_operator *const own = next->of;
    return own->type == PWL_NETWORK_ADD && pwl_work_make_sum(own->of, &sum) && next->inputs[0] != next->inputs[1] &&
           same_shape(&network->edges[next->inputs[0]], edge_of(network, k + 1)) &&
           same_shape(&network->edges[next->inputs[1]], edge_of(network, k + 1));
}

static int is_constant(const pwl_network_axis *axis)
{
    static const uint8_t none[PWL_NETWORK_FACTORS];
    return memcmp(axis->sizes, none, sizeof none) == 0;
}

/* Whether rows of `columns` become up to three axes of rows and up to two of columns, the last of which stays the last.
 */
static int keeps_columns(const pwl_network_edge *x, const pwl_network_transpose *transpose,
                         const pwl_network_axis *columns)
{
    uint32_t inner = 1;
    int axis = x->axes, of_columns = 0;
    while (axis > 0 && of_columns < 2 && inner < columns->times && is_constant(&x->shape[axis - 1])) {
        inner *= x->shape[--axis].times;
        of_columns++;
    }
    return of_columns && is_constant(columns) && inner == columns->times && axis <= 3 &&
           transpose->order[x->axes - 1] == x->axes - 1;
}

/* Where a transpose and what reshapes around it follow the first `tail->nodes` nodes behind node k, they are part of
 * it.
 */
static void take_transpose(const pwl_network *network, size_t k, pwl_cuda_tail *tail)
{
    const pwl_network_edge *const y = edge_of(network, k);
    size_t last = k + tail->nodes;
    while (goes_on(network, last, PWL_NETWORK_RESHAPE))
        last++;
    if (!goes_on(network, last, PWL_NETWORK_TRANSPOSE) || !y->axes ||
        !keeps_columns(edge_of(network, last), network->nodes[last + 1].of, &y->shape[y->axes - 1]))
        return;
    const size_t transpose = ++last;
    while (goes_on(network, last, PWL_NETWORK_RESHAPE))
        last++;
    if (!is_apart(network, k, last))
        return;
    tail->nodes = (uint16_t)(last - k);
    tail->transposes = (uint16_t)(transpose - k);
}

static pwl_cuda_tail own_tail(const pwl_network *network, size_t k)
{
    const uint8_t kind = network->nodes[k].kind;
    const int is_matrix = kind == PWL_NETWORK_PRODUCT || kind == PWL_NETWORK_MATMUL;
    pwl_cuda_tail tail = {0, 0, 0, 0, 0};
    if (!is_matrix && kind != PWL_NETWORK_CONVOLUTION)
        return tail;
    if (has_table(network, k) && is_apart(network, k, k + 1))
        tail.nodes = tail.has_table = 1;
    else if (is_matrix && adds(network, k) && is_apart(network, k, k + 1))
        tail.nodes = tail.adds = 1;
    if (is_matrix && !tail.adds)
        take_transpose(network, k, &tail);
    return tail;
}

/* What is added may be another product of the launch, or lie where one writes: such a product is alone. */
pwl_cuda_tail pwl_cuda_tail_of(const pwl_network *network, size_t k)
{
    const pwl_network_node *const node = &network->nodes[k];
    pwl_cuda_tail tail = own_tail(network, k);
    size_t next = k + 1 + tail.nodes;
    while (node->kind == PWL_NETWORK_PRODUCT && !tail.adds && tail.beside + 1 < PWL_CUDA_BESIDE &&
           next < network->node_count && network->nodes[next].kind == PWL_NETWORK_PRODUCT &&
           network->nodes[next].inputs[0] == node->inputs[0]) {
        const pwl_cuda_tail of_next = own_tail(network, next);
        if (of_next.adds || !is_apart(network, k, next + of_next.nodes))
            break;
        next += (size_t)1 + of_next.nodes;
        tail.beside++;
    }
    return tail;
}
