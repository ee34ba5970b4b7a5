/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a network: node after node, each from and to arrays of the caller, or places of the memory, whose layout is
 *
 *   | where each place begins, in bytes | scratch of a node | place 0 | place 1 | ...
 *
 * A place is as large as the largest edge that lies there, at these sizes.
 */
#include "step.h"

/* Of the node that needs most. */
static uint64_t scratch_bytes(const pwl_network *network, const uint32_t *sizes)
{
    pwl_network_step step;
    uint64_t most = 0;
    size_t k;
    for (k = 0; k < network->node_count; k++) {
        const pwl_network_kind_row *const kind = pwl_network_kind_of(&network->nodes[k]);
        if (kind->scratch) {
            uint64_t bytes;
            pwl_network_step_at(network, &network->nodes[k], sizes, &step);
            bytes = kind->scratch(&step);
            most = bytes > most ? bytes : most;
        }
    }
    return pwl_network_aligned(most);
}

static uint64_t scratch_begins(const pwl_network *network)
{
    return pwl_network_aligned(network->places * (uint64_t)sizeof(uint64_t));
}

static uint64_t place_bytes(const pwl_network *network, uint16_t place, const uint32_t *sizes)
{
    uint64_t most = 0;
    uint16_t k;
    for (k = 0; k < network->edge_count; k++)
        if (network->edges[k].place == place) {
            const uint64_t bytes = pwl_network_bytes(network, k, sizes);
            most = bytes > most ? bytes : most;
        }
    return pwl_network_aligned(most);
}

/* Where the places begin, written where `begins` is not null; the end of the last. */
static uint64_t lay_out(const pwl_network *network, const uint32_t *sizes, uint64_t *begins)
{
    uint64_t at = scratch_begins(network) + scratch_bytes(network, sizes);
    uint16_t place;
    for (place = 0; place < network->places; place++) {
        if (begins)
            begins[place] = at;
        at += place_bytes(network, place, sizes);
    }
    return at;
}

uint64_t pwl_network_size(const pwl_network *network, const uint32_t *sizes)
{
    return lay_out(network, sizes, NULL);
}

static int codes_are(const pwl_network_edge *edge, const void *array, size_t count)
{
    int64_t codes[PWL_NETWORK_PIECE];
    size_t from, k, piece;
    if (edge->qmin == pwl_type_lowest((pwl_type)edge->type) && edge->qmax == pwl_type_highest((pwl_type)edge->type))
        return 1;
    for (from = 0; from < count; from += piece) {
        piece = count - from < PWL_NETWORK_PIECE ? count - from : PWL_NETWORK_PIECE;
        pwl_network_load((pwl_type)edge->type, array, from, 1, piece, 0, codes);
        for (k = 0; k < piece; k++)
            if (!is_within(codes[k], edge->qmin, edge->qmax))
                return 0;
    }
    return 1;
}

int pwl_network_fits(const pwl_network *network, const uint32_t *sizes)
{
    pwl_network_step step;
    size_t k;
    for (k = 0; k < network->node_count; k++) {
        pwl_network_step_at(network, &network->nodes[k], sizes, &step);
        if (!pwl_network_kind_of(step.node)->fits(&step))
            return 0;
    }
    return 1;
}

pwl_status pwl_network_check_sizes(const pwl_network *network, const uint32_t *sizes)
{
    size_t k;
    for (k = 0; k < network->sizes; k++)
        if (!is_within(sizes[k], 1, network->longest[k]))
            return PWL_ERR_SIZE;
    return pwl_network_fits(network, sizes) ? PWL_OK : PWL_ERR_SHAPE;
}

/* The first output of that edge, or -1. */
static int output_of(const pwl_network *network, uint16_t edge)
{
    int k;
    for (k = 0; k < network->outputs; k++)
        if (network->output[k] == edge)
            return k;
    return -1;
}

static const void *input_of(const pwl_network *network, const pwl_network_call *call, uint16_t edge)
{
    int k;
    for (k = 0; k < network->inputs; k++)
        if (network->input[k] == edge)
            return call->inputs[k];
    return NULL;
}

/* Whether every cache has the places that are asked of it. */
static int caches_suffice(const pwl_network *network, const pwl_network_call *call)
{
    pwl_network_step step;
    size_t k;
    for (k = 0; k < network->node_count; k++) {
        const pwl_network_node *const node = &network->nodes[k];
        if (node->kind != PWL_NETWORK_APPEND)
            continue;
        pwl_network_step_at(network, node, call->sizes, &step);
        if (!pwl_network_has_places(&step, input_of(network, call, node->inputs[2])))
            return 0;
    }
    return 1;
}

static pwl_status check_call(const pwl_network *network, const pwl_network_call *call)
{
    pwl_status status;
    uint64_t wanted;
    int k;
    if ((network->sizes && !call->sizes) || (network->inputs && !call->inputs) || (network->outputs && !call->outputs))
        return PWL_ERR_NULL;
    for (k = 0; k < network->inputs; k++)
        if (!call->inputs[k])
            return PWL_ERR_NULL;
    for (k = 0; k < network->outputs; k++)
        if (!call->outputs[k])
            return PWL_ERR_NULL;
    status = pwl_network_check_sizes(network, call->sizes);
    if (status != PWL_OK)
        return status;
    wanted = pwl_network_size(network, call->sizes);
    if (wanted && !call->memory)
        return PWL_ERR_NULL;
    if (wanted > call->bytes || wanted > SIZE_MAX || (uintptr_t)call->memory % sizeof(int64_t))
        return PWL_ERR_MEMORY;
    for (k = 0; k < network->inputs; k++)
        if (!codes_are(&network->edges[network->input[k]], call->inputs[k],
                       (size_t)pwl_network_count(network, network->input[k], call->sizes)))
            return PWL_ERR_CODE;
    return caches_suffice(network, call) ? PWL_OK : PWL_ERR_CODE;
}

/* Where what a node writes lies. */
static void *written_at(const pwl_network *network, const pwl_network_call *call, uint16_t edge)
{
    const uint16_t place = network->edges[edge].place;
    if (place == PWL_NETWORK_ELSEWHERE)
        return call->outputs[output_of(network, edge)];
    return (char *)call->memory + ((const uint64_t *)call->memory)[place];
}

/* Outputs that are inputs, or other outputs, too. */
static void copy_outputs(const pwl_network *network, const pwl_network_call *call)
{
    int k;
    for (k = 0; k < network->outputs; k++) {
        const uint16_t edge = network->output[k];
        const int first = output_of(network, edge);
        const void *const input = input_of(network, call, edge);
        if (input || first != k)
            pwl_network_copy(call->outputs[k], 0, input ? input : call->outputs[first], 0, 1,
                             (size_t)pwl_network_count(network, edge, call->sizes),
                             pwl_network_bytes_of(&network->edges[edge]));
    }
}

void pwl_network_lay_out(const pwl_network *network, const pwl_network_call *call)
{
    lay_out(network, call->sizes, call->memory);
}

void pwl_network_run_nodes(const pwl_network *network, const pwl_network_call *call)
{
    pwl_network_step step;
    size_t at;
    int k;
    step.scratch = call->memory ? (char *)call->memory + scratch_begins(network) : NULL;
    step.way.levels = call->way ? call->way->levels : PWL_LEVELS_ALL;
    step.way.sum = call->way && call->way->sum ? call->way->sum : pwl_sum_way_of(step.way.levels)->sum;
    step.taps = pwl_sum_way_of(step.way.levels)->taps;
    step.round = pwl_sum_way_of(step.way.levels)->round;
    for (at = 0; at < network->node_count; at++) {
        const pwl_network_node *const node = &network->nodes[at];
        pwl_network_step_at(network, node, call->sizes, &step);
        for (k = 0; k < node->reads; k++) {
            step.x[k] = input_of(network, call, node->inputs[k]);
            if (!step.x[k])
                step.x[k] = written_at(network, call, node->inputs[k]);
        }
        step.y = written_at(network, call, node->output);
        pwl_network_kind_of(node)->run(&step);
    }
    copy_outputs(network, call);
}

pwl_status pwl_network_run(const pwl_network *network, const pwl_network_call *call)
{
    pwl_status status;
    if (!network || !call)
        return PWL_ERR_NULL;
    status = check_call(network, call);
    if (status == PWL_OK) {
        pwl_network_lay_out(network, call);
        pwl_network_run_nodes(network, call);
    }
    return status;
}
