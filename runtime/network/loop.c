/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A body that runs once for each place of an axis, and carries states. Its arrays lie in the scratch:
 *
 *   | the body's memory | a place of each input | a place of the output | states | next states |
 */
#include "step.h"

static const pwl_network_edge *body_edge(const pwl_network *body, const uint16_t *ends, int k)
{
    return &body->edges[ends[k]];
}

/* Whether an edge of the body is one around it, of one place of the axis. */
static int is_place_of(const pwl_network_shape *whole, size_t axis, const pwl_network_edge *inner,
                       const uint32_t *sizes)
{
    pwl_network_shape shape;
    pwl_network_shape_at(inner, sizes, &shape);
    return axis < whole->axes && shape.axes + 1 == whole->axes && pwl_network_same_axes(whole, 0, &shape, 0, axis) &&
           pwl_network_same_axes(whole, axis + 1, &shape, axis, shape.axes - axis);
}

static int same_type(const pwl_network_edge *a, const pwl_network_edge *b)
{
    return a->type == b->type && a->zero_point == b->zero_point && a->qmin == b->qmin && a->qmax == b->qmax;
}

int pwl_network_fits_loop(const pwl_network_step *step)
{
    const pwl_network_loop *const loop = step->node->of;
    const pwl_network *const body = loop->body;
    const int reads = step->node->reads;
    int k;
    if (body->inputs < reads || body->outputs + reads != body->inputs + 1)
        return 0;
    for (k = 0; k < reads; k++)
        if (!is_place_of(&step->x_shape[k], loop->axis, body_edge(body, body->input, k), step->sizes) ||
            step->x_shape[k].at[loop->axis] != step->y_shape.at[loop->axis])
            return 0;
    if (!is_place_of(&step->y_shape, loop->axis, body_edge(body, body->output, 0), step->sizes))
        return 0;
    for (k = 1; k < body->outputs; k++) {
        pwl_network_shape before, after;
        pwl_network_shape_at(body_edge(body, body->input, reads + k - 1), step->sizes, &before);
        pwl_network_shape_at(body_edge(body, body->output, k), step->sizes, &after);
        if (before.axes != after.axes || !pwl_network_same_axes(&before, 0, &after, 0, before.axes))
            return 0;
    }
    return pwl_network_fits(body, step->sizes);
}

pwl_status pwl_network_check_loop(const pwl_network_step *step)
{
    const pwl_network_loop *const loop = step->node->of;
    const pwl_network *const body = loop->body;
    const int reads = step->node->reads;
    int k;
    if (loop->reverse > 1 || body->inputs > PWL_NETWORK_STATES)
        return PWL_ERR_FIELD;
    for (k = 0; k < reads; k++)
        if (!same_type(step->in[k], body_edge(body, body->input, k)))
            return PWL_ERR_FIELD;
    if (!same_type(step->out, body_edge(body, body->output, 0)))
        return PWL_ERR_FIELD;
    for (k = 1; k < body->outputs; k++) {
        const pwl_network_edge *const before = body_edge(body, body->input, reads + k - 1);
        if (!same_type(before, body_edge(body, body->output, k)))
            return PWL_ERR_FIELD;
        if (!is_within(before->zero_point, before->qmin, before->qmax))
            return PWL_ERR_ZERO_POINT;
    }
    return PWL_OK;
}

uint64_t pwl_network_scratch_loop(const pwl_network_step *step)
{
    const pwl_network *const body = ((const pwl_network_loop *)step->node->of)->body;
    uint64_t bytes = pwl_network_aligned(pwl_network_size(body, step->sizes));
    int k;
    for (k = 0; k < body->inputs; k++)
        bytes += pwl_network_aligned(pwl_network_bytes(body, body->input[k], step->sizes));
    for (k = 0; k < body->outputs; k++)
        bytes += pwl_network_aligned(pwl_network_bytes(body, body->output[k], step->sizes));
    return bytes;
}

/* Copies a place of an axis out of an array, or into it. */
static void copy_place(const pwl_network_shape *whole, size_t axis, size_t place, void *array, void *part, size_t bytes,
                       int is_out)
{
    const size_t outer = pwl_network_places(whole, 0, axis), inner = pwl_network_places(whole, axis + 1, whole->axes);
    size_t k;
    for (k = 0; k < outer; k++) {
        const size_t at = (k * whole->at[axis] + place) * inner;
        if (is_out)
            pwl_network_copy(part, k * inner, array, at, 1, inner, bytes);
        else
            pwl_network_copy(array, at, part, k * inner, 1, inner, bytes);
    }
}

/* Takes the next bytes of the scratch for an edge of the body. */
static void *take(char **scratch, const pwl_network *body, uint16_t edge, const uint32_t *sizes)
{
    void *const taken = *scratch;
    *scratch += pwl_network_aligned(pwl_network_bytes(body, edge, sizes));
    return taken;
}

static void clear_state(const pwl_network *body, uint16_t edge, const uint32_t *sizes, void *state)
{
    const pwl_network_edge *const of = &body->edges[edge];
    const size_t count = (size_t)pwl_network_count(body, edge, sizes);
    size_t k;
    for (k = 0; k < count; k++)
        pwl_set_element_of((pwl_type)of->type, state, k, of->zero_point);
}

static void run_place(const pwl_network_step *step, const pwl_network_call *call, void *const *parts, size_t place)
{
    const pwl_network_loop *const loop = step->node->of;
    int k;
    for (k = 0; k < step->node->reads; k++)
        copy_place(&step->x_shape[k], loop->axis, place, (void *)(uintptr_t)step->x[k], parts[k],
                   pwl_network_bytes_of(step->in[k]), 1);
    pwl_network_run_nodes(loop->body, call);
    copy_place(&step->y_shape, loop->axis, place, step->y, call->outputs[0], pwl_network_bytes_of(step->out), 0);
}

void pwl_network_run_loop(const pwl_network_step *step)
{
    const pwl_network_loop *const loop = step->node->of;
    const pwl_network *const body = loop->body;
    const size_t places = step->y_shape.at[loop->axis];
    const int reads = step->node->reads;
    void *parts[PWL_NETWORK_STATES], *outputs[PWL_NETWORK_STATES + 1];
    const void *inputs[PWL_NETWORK_STATES];
    char *scratch = (char *)step->scratch + pwl_network_aligned(pwl_network_size(body, step->sizes));
    pwl_network_call call;
    size_t place;
    int k;
    for (k = 0; k < body->inputs; k++) {
        inputs[k] = parts[k] = take(&scratch, body, body->input[k], step->sizes);
        if (k >= reads)
            clear_state(body, body->input[k], step->sizes, parts[k]);
    }
    for (k = 0; k < body->outputs; k++)
        outputs[k] = take(&scratch, body, body->output[k], step->sizes);
    call.sizes = step->sizes;
    call.inputs = inputs;
    call.outputs = outputs;
    call.memory = step->scratch;
    call.bytes = 0; /* which nothing asks any more */
    call.way = &step->way;
    pwl_network_lay_out(body, &call);
    for (place = 0; place < places; place++) {
        run_place(step, &call, parts, loop->reverse ? places - 1 - place : place);
        for (k = 1; k < body->outputs; k++) { /* what was made is what is read next */
            void *const made = outputs[k];
            outputs[k] = parts[reads + k - 1];
            inputs[reads + k - 1] = parts[reads + k - 1] = made;
        }
    }
}
