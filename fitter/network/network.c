/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static void operator_of_node_free(struct node_operator *own)
{
    if (!own)
        return;
    packed_table_free(&own->packed_table);
    table_free(&own->table);
    packed_operator_free(&own->packed_row);
    operator_free(&own->row);
    free(own);
}

void network_free(struct network *network)
{
    for (int k = 0; network->nodes && k < network->packed.node_count; k++) {
        for (int array = 0; array < NODE_ARRAYS; array++)
            free(network->nodes[k].arrays[array]);
        operator_of_node_free(network->nodes[k].operator);
        if (network->nodes[k].body)
            network_free(network->nodes[k].body);
        free(network->nodes[k].body);
        free(network->nodes[k].name);
    }
    for (int k = 0; network->edges && k < network->packed.edge_count; k++)
        free(network->edges[k].name);
    for (int k = 0; network->sizes && !network->is_body && k < network->packed.sizes; k++)
        free(network->sizes[k]);
    if (!network->is_body) {
        free(network->sizes);
        free(network->longest);
    }
    free(network->name);
    free(network->input);
    free(network->output);
    free(network->packed_edges);
    free(network->axes);
    free(network->packed_nodes);
    free(network->edges);
    free(network->nodes);
    memset(network, 0, sizeof *network);
}

void network_shape_text(const struct network *network, uint16_t edge, struct text *out)
{
    const pwl_network_edge *const packed = &network->packed_edges[edge];
    text_add(out, "(");
    for (int axis = 0; axis < packed->axes; axis++) {
        const pwl_network_axis *const at = &packed->shape[axis];
        text_add(out, axis ? ", " : "");
        if (at->times != 1 || !at->sizes[0])
            text_add(out, "%" PRIu32 "%s", at->times, at->sizes[0] ? "*" : "");
        for (int k = 0; k < PWL_NETWORK_FACTORS && at->sizes[k]; k++)
            text_add(out, "%s%s", k ? "*" : "", network->sizes[at->sizes[k] - 1]);
    }
    text_add(out, ")");
}

size_t node_bytes(const struct network *network, uint16_t node)
{
    const struct network *const body = network->nodes[node].body;
    return network->nodes[node].bytes + (body ? network_bytes(body) : 0);
}

size_t network_bytes(const struct network *network)
{
    size_t bytes = 0;
    for (int k = 0; k < network->packed.node_count; k++)
        bytes += node_bytes(network, (uint16_t)k);
    return bytes;
}

int network_set_size(const struct network *network, const char *text, uint32_t *sizes, struct diag *diag)
{
    const size_t length = strcspn(text, "=");
    int64_t value;
    for (int k = 0; k < network->packed.sizes; k++) {
        if (strlen(network->sizes[k]) != length || memcmp(network->sizes[k], text, length) != 0)
            continue;
        if (text[length] != '=' || number_integer(text + length + 1, strlen(text + length + 1), &value) != NUMBER_OK ||
            value < 1 || value > network->longest[k])
            return diag_set(diag, EXIT_USAGE, "--size %s: must be %s= and a number from 1 to %" PRIu32, text,
                            network->sizes[k], network->longest[k]);
        sizes[k] = (uint32_t)value;
        return EXIT_DONE;
    }
    return diag_set(diag, EXIT_USAGE, "--size %s: must be one of the network's sizes, NAME=VALUE; it has %d%s%s", text,
                    network->packed.sizes, network->packed.sizes ? ", the first is " : "",
                    network->packed.sizes ? network->sizes[0] : "");
}
