/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which place of the memory an edge has. Node after node, what a node writes takes
 *   the place of an input that nothing reads any more, where the node may write over it,
 *   else the smallest free place that is as large as the edge at the longest sizes,
 *   else the largest free one, which grows,
 *   else a new one. */
#include <stdlib.h>

#include "network.h"

struct place {
    uint64_t bytes;
    size_t until; /* the last node that reads what lies here */
};

struct plan {
    struct network *network;
    size_t *last; /* of each edge: the last node that reads it, or the one that writes it */
    struct place *places;
    size_t count;
};

static bool may_replace(const struct plan *plan, size_t node, uint16_t input, uint16_t output)
{
    const pwl_network *const packed = &plan->network->packed;
    const pwl_network_node *const of = &packed->nodes[node];
    const pwl_network_operator *const own = of->of;
    const bool is_first = of->inputs[0] == input;
    if (packed->edges[input].place == PWL_NETWORK_ELSEWHERE || plan->last[input] != node)
        return false;
    if (of->kind == PWL_NETWORK_RESHAPE)
        return true;
    if (of->kind == PWL_NETWORK_APPEND)
        return of->inputs[1] == input;
    /* Both inputs of add; of the others the first, which is no mask as well. */
    return of->kind == PWL_NETWORK_OPERATOR && packed->edges[input].type / 2 == packed->edges[output].type / 2 &&
           (own->type == PWL_NETWORK_ADD ||
            (is_first && (of->reads < 2 || (of->inputs[1] != input && of->inputs[of->reads - 1] != input))));
}

static size_t best_of(const struct plan *plan, size_t node, uint64_t bytes)
{
    size_t best = plan->count;
    for (size_t k = 0; k < plan->count; k++) {
        const struct place *const place = &plan->places[k], *const found = &plan->places[best];
        if (place->until >= node)
            continue;
        if (best == plan->count ||
            (found->bytes < bytes ? place->bytes > found->bytes : place->bytes >= bytes && place->bytes < found->bytes))
            best = k;
    }
    return best;
}

static void place_output(struct plan *plan, size_t node)
{
    const pwl_network *const packed = &plan->network->packed;
    const pwl_network_node *const of = &packed->nodes[node];
    pwl_network_edge *const output = &plan->network->packed_edges[of->output];
    const uint64_t bytes = pwl_network_bytes(packed, of->output, packed->longest);
    size_t chosen = plan->count;
    if (output->place == PWL_NETWORK_ELSEWHERE)
        return;
    for (int k = 0; k < of->reads && chosen == plan->count; k++)
        if (may_replace(plan, node, of->inputs[k], of->output))
            chosen = packed->edges[of->inputs[k]].place;
    if (chosen == plan->count)
        chosen = best_of(plan, node, bytes);
    if (chosen == plan->count)
        plan->places[plan->count++].bytes = 0;
    plan->places[chosen].until = plan->last[of->output];
    if (plan->places[chosen].bytes < bytes)
        plan->places[chosen].bytes = bytes;
    output->place = (uint16_t)chosen;
}

static void find_last(struct plan *plan)
{
    const pwl_network *const packed = &plan->network->packed;
    for (size_t node = 0; node < packed->node_count; node++) {
        plan->last[packed->nodes[node].output] = node;
        for (int k = 0; k < packed->nodes[node].reads; k++)
            plan->last[packed->nodes[node].inputs[k]] = node;
    }
}

int network_place(struct network *network, struct diag *diag)
{
    const pwl_network *const packed = &network->packed;
    struct plan plan = {network, calloc(packed->edge_count, sizeof *plan.last),
                        calloc((size_t)packed->node_count + 1, sizeof *plan.places), 0};
    if (!plan.last || !plan.places) {
        diag_set(diag, EXIT_IO, "out of memory for %d edges", packed->edge_count);
    } else {
        for (int k = 0; k < packed->inputs; k++)
            network->packed_edges[packed->input[k]].place = PWL_NETWORK_ELSEWHERE;
        for (int k = 0; k < packed->outputs; k++)
            network->packed_edges[packed->output[k]].place = PWL_NETWORK_ELSEWHERE;
        find_last(&plan);
        for (size_t node = 0; node < packed->node_count; node++)
            place_output(&plan, node);
        /* An edge that nothing writes has a place too, which holds nothing. */
        network->packed.places = (uint16_t)plan.count;
    }
    free(plan.last);
    free(plan.places);
    return diag->code;
}
