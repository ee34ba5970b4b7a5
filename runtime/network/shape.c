/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of edges at certain sizes. What is counted fits 31 bits, as the check proves of the longest sizes. */
#include "step.h"

static size_t axis_at(const pwl_network_axis *axis, const uint32_t *sizes)
{
    size_t places = axis->times;
    int k;
    for (k = 0; k < PWL_NETWORK_FACTORS; k++)
        if (axis->sizes[k])
            places *= sizes[axis->sizes[k] - 1];
    return places;
}

void pwl_network_shape_at(const pwl_network_edge *edge, const uint32_t *sizes, pwl_network_shape *shape)
{
    size_t k;
    shape->axes = edge->axes;
    for (k = 0; k < edge->axes; k++)
        shape->at[k] = axis_at(&edge->shape[k], sizes);
}

void pwl_network_step_at(const pwl_network *network, const pwl_network_node *node, const uint32_t *sizes,
                         pwl_network_step *step)
{
    int k;
    step->network = network;
    step->sizes = sizes;
    step->node = node;
    for (k = 0; k < node->reads; k++) {
        step->in[k] = &network->edges[node->inputs[k]];
        pwl_network_shape_at(step->in[k], sizes, &step->x_shape[k]);
    }
    step->out = &network->edges[node->output];
    pwl_network_shape_at(step->out, sizes, &step->y_shape);
    pwl_network_shape_at(step->out, network->longest, &step->y_longest);
}

size_t pwl_network_places(const pwl_network_shape *shape, size_t from, size_t to)
{
    size_t places = 1;
    for (; from < to; from++)
        places *= shape->at[from];
    return places;
}

size_t pwl_network_all(const pwl_network_shape *shape)
{
    return pwl_network_places(shape, 0, shape->axes);
}

int pwl_network_same_axes(const pwl_network_shape *a, size_t from, const pwl_network_shape *b, size_t at, size_t count)
{
    size_t k;
    for (k = 0; k < count; k++)
        if (a->at[from + k] != b->at[at + k])
            return 0;
    return 1;
}

uint64_t pwl_network_count(const pwl_network *network, uint16_t edge, const uint32_t *sizes)
{
    pwl_network_shape shape;
    pwl_network_shape_at(&network->edges[edge], sizes, &shape);
    return pwl_network_all(&shape);
}

uint64_t pwl_network_bytes(const pwl_network *network, uint16_t edge, const uint32_t *sizes)
{
    return pwl_network_count(network, edge, sizes) << pwl_type_bytes_log2((pwl_type)network->edges[edge].type);
}
