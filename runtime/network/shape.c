/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of edges at certain sizes. */
#include "step.h"

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

int pwl_network_broadcasts(const pwl_network_step *step)
{
    const pwl_network_shape *const y = &step->y_shape;
    size_t axes = 0, axis, k;
    for (k = 0; k < step->node->reads; k++)
        axes = step->x_shape[k].axes > axes ? step->x_shape[k].axes : axes;
    if (axes != y->axes)
        return 0;
    for (axis = 0; axis < axes; axis++) {
        size_t found = 1;
        for (k = 0; k < step->node->reads; k++) {
            const pwl_network_shape *const x = &step->x_shape[k];
            const size_t places = axis + x->axes < axes ? 1 : x->at[axis + x->axes - axes];
            if (places != 1 && places != y->at[axis])
                return 0;
            found = places != 1 ? places : found;
        }
        if (found != y->at[axis])
            return 0;
    }
    return 1;
}

void pwl_network_next(const pwl_network_step *step, size_t axes, size_t *place, size_t *at)
{
    const pwl_network_shape *const y = &step->y_shape;
    size_t axis;
    int k;
    for (axis = axes; axis-- > 0;) {
        place[axis]++;
        for (k = 0; k < step->node->reads; k++)
            at[k] += pwl_network_stride(&step->x_shape[k], y, axis);
        if (place[axis] < y->at[axis])
            return;
        for (k = 0; k < step->node->reads; k++)
            at[k] -= pwl_network_stride(&step->x_shape[k], y, axis) * y->at[axis];
        place[axis] = 0;
    }
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
