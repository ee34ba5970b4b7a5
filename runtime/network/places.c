/* SPDX-License-Identifier: Apache-2.0 */
/* Which place of the memory an edge has. Node after node, what a node writes takes
 *   the place of an input that nothing reads any more, where the node may write over it,
 *   else the smallest free place that is as large as the edge at the longest sizes,
 *   else the largest free one, which grows,
 *   else a new one. */
#include "step.h"

typedef struct plan {
    const pwl_network *network;
    pwl_network_edge *edges;
    uint64_t *bytes; /* of each place */
    uint32_t *until; /* of each place: the last node that reads what lies there */
    uint32_t *last;  /* of each edge: the last node that reads it, or the one that writes it */
    size_t count;    /* places */
} plan;

/* Whether node `at` may write over its input k: all that it reads there. */
static int may_replace(const plan *of, size_t at, int k)
{
    const pwl_network_node *const node = &of->network->nodes[at];
    const pwl_network_kind_row *const kind = pwl_network_kind_of(node);
    pwl_network_step step;
    int i;
    if (!kind->in_place || of->edges[node->inputs[k]].place == PWL_NETWORK_ELSEWHERE || of->last[node->inputs[k]] != at)
        return 0;
    pwl_network_step_at(of->network, node, of->network->longest, &step);
    for (i = 0; i < node->reads; i++)
        if (node->inputs[i] == node->inputs[k] && !kind->in_place(&step, i))
            return 0;
    return 1;
}

static size_t best_of(const plan *of, size_t at, uint64_t bytes)
{
    size_t best = of->count, k;
    for (k = 0; k < of->count; k++) {
        const uint64_t own = of->bytes[k];
        if (of->until[k] < at &&
            (best == of->count ||
             (of->bytes[best] < bytes ? own > of->bytes[best] : own >= bytes && own < of->bytes[best])))
            best = k;
    }
    return best;
}

static void place_output(plan *of, size_t at)
{
    const pwl_network_node *const node = &of->network->nodes[at];
    const uint64_t bytes = pwl_network_bytes(of->network, node->output, of->network->longest);
    size_t chosen = of->count;
    int k;
    if (of->edges[node->output].place == PWL_NETWORK_ELSEWHERE)
        return;
    for (k = 0; k < node->reads && chosen == of->count; k++)
        if (may_replace(of, at, k))
            chosen = of->edges[node->inputs[k]].place;
    if (chosen == of->count)
        chosen = best_of(of, at, bytes);
    if (chosen == of->count)
        of->bytes[of->count++] = 0;
    of->until[chosen] = of->last[node->output];
    if (of->bytes[chosen] < bytes)
        of->bytes[chosen] = bytes;
    of->edges[node->output].place = (uint16_t)chosen;
}

uint16_t pwl_network_place(const pwl_network *network, pwl_network_edge *edges, void *memory)
{
    plan of;
    size_t at;
    int k;
    of.network = network;
    of.edges = edges;
    of.bytes = memory;
    of.until = (uint32_t *)(of.bytes + network->node_count);
    of.last = of.until + network->node_count;
    of.count = 0;
    for (k = 0; k < network->inputs; k++)
        edges[network->input[k]].place = PWL_NETWORK_ELSEWHERE;
    for (k = 0; k < network->outputs; k++)
        edges[network->output[k]].place = PWL_NETWORK_ELSEWHERE;
    for (at = 0; at < network->node_count; at++) {
        of.last[network->nodes[at].output] = (uint32_t)at;
        for (k = 0; k < network->nodes[at].reads; k++)
            of.last[network->nodes[at].inputs[k]] = (uint32_t)at;
    }
    for (at = 0; at < network->node_count; at++)
        place_output(&of, at);
    return (uint16_t)of.count;
}
