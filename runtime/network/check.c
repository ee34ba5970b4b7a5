/* SPDX-License-Identifier: Apache-2.0 */
/* The proof that a network is safe to run, for all sizes and every code. docs/networks.md, "What a check proves", is
 * its plan. What a node reads is looked for in what stands before it, node by node: nothing is kept. */
#include "step.h"

#define ZERO_POINT_LIMIT ((int64_t)1 << 32)

static int is_input(const pwl_network *network, uint16_t edge)
{
    int k;
    for (k = 0; k < network->inputs; k++)
        if (network->input[k] == edge)
            return 1;
    return 0;
}

static int is_output(const pwl_network *network, uint16_t edge)
{
    int k;
    for (k = 0; k < network->outputs; k++)
        if (network->output[k] == edge)
            return 1;
    return 0;
}

/* Whether an edge is an input, or what one of the first `count` nodes writes. */
static int is_known(const pwl_network *network, uint16_t edge, size_t count)
{
    size_t k;
    if (is_input(network, edge))
        return 1;
    for (k = 0; k < count; k++)
        if (network->nodes[k].output == edge)
            return 1;
    return 0;
}

static pwl_status check_heads(const pwl_network *network)
{
    int k;
    if (!network->edges || !network->nodes || !network->input || !network->output ||
        (network->sizes && !network->longest))
        return PWL_ERR_NULL;
    if (network->version != PWL_NETWORK_VERSION)
        return PWL_ERR_VERSION;
    for (k = 0; k < network->sizes; k++)
        if (!is_within(network->longest[k], 1, PWL_NETWORK_LARGEST))
            return PWL_ERR_SIZE;
    for (k = 0; k < network->inputs; k++)
        if (network->input[k] >= network->edge_count)
            return PWL_ERR_EDGE;
    for (k = 0; k < network->outputs; k++)
        if (network->output[k] >= network->edge_count || !is_known(network, network->output[k], network->node_count))
            return PWL_ERR_EDGE;
    return PWL_OK;
}

/* At most PWL_NETWORK_EDGE codes of the longest sizes, so that 31 bits count them at all. */
static pwl_status check_shape(const pwl_network *network, const pwl_network_edge *edge)
{
    uint64_t codes = 1;
    int axis, k;
    for (axis = 0; axis < edge->axes; axis++) {
        if (edge->shape[axis].times < 1)
            return PWL_ERR_SIZE;
        codes *= edge->shape[axis].times;
        for (k = -1; k < PWL_NETWORK_FACTORS; k++) {
            if (k >= 0 && edge->shape[axis].sizes[k] > network->sizes)
                return PWL_ERR_SIZE;
            if (k >= 0 && edge->shape[axis].sizes[k])
                codes *= network->longest[edge->shape[axis].sizes[k] - 1];
            if (codes > PWL_NETWORK_EDGE)
                return PWL_ERR_SIZE;
        }
    }
    return PWL_OK;
}

static pwl_status check_edge(const pwl_network *network, uint16_t k)
{
    const pwl_network_edge *const edge = &network->edges[k];
    if (edge->type > PWL_U32 || edge->axes > PWL_NETWORK_AXES)
        return PWL_ERR_FIELD;
    if (edge->axes && !edge->shape)
        return PWL_ERR_NULL;
    if (edge->qmin > edge->qmax || edge->qmin < pwl_type_lowest((pwl_type)edge->type) ||
        edge->qmax > pwl_type_highest((pwl_type)edge->type))
        return PWL_ERR_RANGE_Y;
    if (!is_within(edge->zero_point, -ZERO_POINT_LIMIT, ZERO_POINT_LIMIT))
        return PWL_ERR_ZERO_POINT;
    if (is_input(network, k) || is_output(network, k) ? edge->place != PWL_NETWORK_ELSEWHERE
                                                      : edge->place >= network->places)
        return PWL_ERR_MEMORY;
    return check_shape(network, edge);
}

/* Edges that are there, read after they are written, and written once. */
static pwl_status check_order(const pwl_network *network, size_t at)
{
    const pwl_network_node *const node = &network->nodes[at];
    const pwl_network_kind_row *const kind = pwl_network_kind_of(node);
    int k;
    if (!kind || !is_within(node->reads, kind->least, kind->most))
        return PWL_ERR_FIELD;
    for (k = 0; k < node->reads; k++)
        if (node->inputs[k] >= network->edge_count || !is_known(network, node->inputs[k], at))
            return PWL_ERR_EDGE;
    if (node->output >= network->edge_count || is_known(network, node->output, at))
        return PWL_ERR_EDGE;
    return node->of || node->kind == PWL_NETWORK_RESHAPE ? PWL_OK : PWL_ERR_NULL;
}

/* Whether node `at` reads an edge that lies at the place of its output, other than it may. */
static int reads_lost(const pwl_network *network, size_t at, uint16_t edge, int is_writer)
{
    const pwl_network_node *const node = &network->nodes[at];
    const pwl_network_kind_row *const kind = pwl_network_kind_of(node);
    pwl_network_step step;
    int k;
    for (k = 0; k < node->reads; k++) {
        if (node->inputs[k] != edge)
            continue;
        if (!is_writer || !kind->in_place)
            return 1;
        pwl_network_step_at(network, node, network->longest, &step);
        if (!kind->in_place(&step, k))
            return 1;
    }
    return 0;
}

/* Once another node writes to the place of this node's output, nothing may read that any more. */
static pwl_status check_place(const pwl_network *network, size_t at)
{
    const uint16_t edge = network->nodes[at].output, place = network->edges[edge].place;
    int is_lost = 0;
    size_t k;
    if (place == PWL_NETWORK_ELSEWHERE)
        return PWL_OK;
    for (k = at + 1; k < network->node_count; k++) {
        const int is_writer = !is_lost && network->edges[network->nodes[k].output].place == place;
        is_lost = is_lost || is_writer;
        if (is_lost && reads_lost(network, k, edge, is_writer))
            return PWL_ERR_MEMORY;
    }
    return PWL_OK;
}

/* A loop's body is checked before its shapes are looked at. */
static pwl_status check_body(const pwl_network *network, const pwl_network_loop *loop)
{
    const pwl_network *const body = loop->body;
    const pwl_status status = pwl_network_check(body, NULL);
    size_t k;
    if (status != PWL_OK)
        return status;
    if (body->sizes != network->sizes)
        return PWL_ERR_SIZE;
    for (k = 0; k < network->sizes; k++)
        if (body->longest[k] != network->longest[k])
            return PWL_ERR_SIZE;
    return PWL_OK;
}

/* Loops and appends. */
static int has_states(const pwl_network *network)
{
    size_t k;
    for (k = 0; k < network->node_count; k++)
        if (network->nodes[k].kind == PWL_NETWORK_LOOP || network->nodes[k].kind == PWL_NETWORK_APPEND)
            return 1;
    return 0;
}

/* An append is the only reader of its cache, which may be written over; an input numbers its places, so that they are
 * known before a run begins. */
static pwl_status check_cache(const pwl_network *network, const pwl_network_node *append)
{
    const uint16_t cache = append->inputs[1];
    size_t k, readers = 0;
    int i;
    for (k = 0; k < network->node_count; k++)
        for (i = 0; i < network->nodes[k].reads && i < PWL_NETWORK_READS; i++)
            readers += network->nodes[k].inputs[i] == cache;
    return readers == 1 && !is_output(network, cache) && is_input(network, append->inputs[2]) ? PWL_OK : PWL_ERR_EDGE;
}

static pwl_status check_node(const pwl_network *network, size_t at)
{
    const pwl_network_node *const node = &network->nodes[at];
    const pwl_network_kind_row *const kind = pwl_network_kind_of(node);
    const pwl_network_loop *const loop = node->kind == PWL_NETWORK_LOOP ? node->of : NULL;
    pwl_network_step step;
    pwl_status status = PWL_OK;
    if (loop && loop->body && loop->body->nodes && has_states(loop->body))
        return PWL_ERR_FIELD;
    if (loop)
        status = check_body(network, loop);
    else if (node->kind == PWL_NETWORK_APPEND)
        status = check_cache(network, node);
    if (status != PWL_OK)
        return status;
    pwl_network_step_at(network, node, network->longest, &step);
    return kind->fits(&step) ? kind->check(&step) : PWL_ERR_SHAPE;
}

static pwl_status check_parts(const pwl_network *network, pwl_network_proof *proof)
{
    pwl_status status;
    for (proof->edge = 0; proof->edge < network->edge_count; proof->edge++) {
        status = check_edge(network, (uint16_t)proof->edge);
        if (status != PWL_OK)
            return status;
    }
    proof->edge = -1;
    for (proof->node = 0; proof->node < network->node_count; proof->node++) {
        status = check_order(network, (size_t)proof->node);
        if (status == PWL_OK)
            status = check_node(network, (size_t)proof->node);
        if (status != PWL_OK)
            return status;
    }
    for (proof->node = 0; proof->node < network->node_count; proof->node++) {
        status = check_place(network, (size_t)proof->node);
        if (status != PWL_OK)
            return status;
    }
    proof->node = -1;
    return PWL_OK;
}

pwl_status pwl_network_check(const pwl_network *network, pwl_network_proof *proof)
{
    pwl_network_proof found = {PWL_ERR_NULL, -1, -1};
    if (network) {
        found.status = check_heads(network);
        if (found.status == PWL_OK)
            found.status = check_parts(network, &found);
    }
    if (proof) {
        proof->status = found.status;
        proof->node = found.node;
        proof->edge = found.edge;
    }
    return found.status;
}
