/* SPDX-License-Identifier: Apache-2.0 */
/* What gives constants, and what moves codes as they are. */
#include "step.h"

void pwl_network_run_gather(const pwl_network_step *step)
{
    const pwl_network_gather *const gather = step->node->of;
    const size_t all = pwl_network_all(&step->x_shape[0]);
    size_t k, c;
    for (k = 0; k < all; k++) {
        const size_t row = (size_t)pwl_element_of((pwl_type)step->in[0]->type, step->x[0], k);
        for (c = 0; c < gather->columns; c++)
            pwl_set_element_of((pwl_type)step->out->type, step->y, k * gather->columns + c,
                               gather->table[row * gather->columns + c]);
    }
}

int pwl_network_fits_gather(const pwl_network_step *step)
{
    const pwl_network_gather *const gather = step->node->of;
    const pwl_network_shape *const x = &step->x_shape[0], *const y = &step->y_shape;
    return y->axes == x->axes + 1 && pwl_network_same_axes(x, 0, y, 0, x->axes) && y->at[x->axes] == gather->columns;
}

pwl_status pwl_network_check_gather(const pwl_network_step *step)
{
    const pwl_network_gather *const gather = step->node->of;
    if (step->in[0]->qmin < 0 || step->in[0]->qmax >= gather->rows)
        return PWL_ERR_CODE;
    if ((uint64_t)gather->rows * gather->columns > PWL_NETWORK_EDGE)
        return PWL_ERR_SIZE;
    return pwl_network_check_codes(step->out, gather->table, (size_t)gather->rows * gather->columns);
}

/* Where a place of the output lies in an array of the longest shape is counted on, row by row. */
void pwl_network_run_constant(const pwl_network_step *step)
{
    const pwl_network_constant *const constant = step->node->of;
    const pwl_network_shape *const y = &step->y_shape;
    const size_t length = y->axes ? y->at[y->axes - 1] : 1, all = pwl_network_all(y);
    pwl_network_shape whole;
    size_t place[PWL_NETWORK_AXES], y_at, k, axis;
    pwl_network_shape_at(step->out, step->network->longest, &whole);
    for (k = 0; k < PWL_NETWORK_AXES; k++)
        place[k] = 0;
    for (y_at = 0; y_at < all; y_at += length) {
        size_t at = 0;
        for (axis = 0; axis < y->axes; axis++)
            at = at * whole.at[axis] + place[axis];
        for (k = 0; k < length; k++)
            pwl_set_element_of((pwl_type)step->out->type, step->y, y_at + k, constant->codes[at + k]);
        for (axis = y->axes ? y->axes - 1 : 0; axis-- > 0;) {
            if (++place[axis] < y->at[axis])
                break;
            place[axis] = 0;
        }
    }
}

int pwl_network_fits_constant(const pwl_network_step *step)
{
    pwl_network_shape whole;
    pwl_network_shape_at(step->out, step->network->longest, &whole);
    return ((const pwl_network_constant *)step->node->of)->count == pwl_network_all(&whole);
}

pwl_status pwl_network_check_constant(const pwl_network_step *step)
{
    const pwl_network_constant *const constant = step->node->of;
    return pwl_network_check_codes(step->out, constant->codes, constant->count);
}

void pwl_network_run_reshape(const pwl_network_step *step)
{
    if (step->y != step->x[0])
        pwl_network_copy(step->y, 0, step->x[0], 0, 1, pwl_network_all(&step->y_shape),
                         pwl_network_bytes_of(step->out));
}

int pwl_network_fits_reshape(const pwl_network_step *step)
{
    return pwl_network_all(&step->x_shape[0]) == pwl_network_all(&step->y_shape);
}

int pwl_network_in_place_reshape(const pwl_network_step *step, int k)
{
    (void)step;
    return k == 0;
}

/* Rows of the output, along its last axis, are read with a stride. */
void pwl_network_run_transpose(const pwl_network_step *step)
{
    const uint8_t *const order = ((const pwl_network_transpose *)step->node->of)->order;
    const pwl_network_shape *const x = &step->x_shape[0], *const y = &step->y_shape;
    const size_t length = y->axes ? y->at[y->axes - 1] : 1, all = pwl_network_all(y);
    size_t place[PWL_NETWORK_AXES], stride[PWL_NETWORK_AXES], y_at, at = 0, axis;
    for (axis = 0; axis < y->axes; axis++) {
        place[axis] = 0;
        stride[axis] = pwl_network_places(x, order[axis] + (size_t)1, x->axes);
    }
    for (y_at = 0; y_at < all; y_at += length) {
        pwl_network_copy(step->y, y_at, step->x[0], at, y->axes ? stride[y->axes - 1] : 1, length,
                         pwl_network_bytes_of(step->out));
        for (axis = y->axes ? y->axes - 1 : 0; axis-- > 0;) {
            at += stride[axis];
            if (++place[axis] < y->at[axis])
                break;
            at -= stride[axis] * y->at[axis];
            place[axis] = 0;
        }
    }
}

int pwl_network_fits_transpose(const pwl_network_step *step)
{
    const uint8_t *const order = ((const pwl_network_transpose *)step->node->of)->order;
    const pwl_network_shape *const x = &step->x_shape[0], *const y = &step->y_shape;
    uint32_t seen = 0;
    size_t axis;
    if (x->axes != y->axes)
        return 0;
    for (axis = 0; axis < x->axes; axis++) {
        if (order[axis] >= x->axes || seen >> order[axis] & 1 || y->at[axis] != x->at[order[axis]])
            return 0;
        seen |= (uint32_t)1 << order[axis];
    }
    return 1;
}

void pwl_network_run_slice(const pwl_network_step *step)
{
    const pwl_network_slice *const slice = step->node->of;
    const pwl_network_shape *const x = &step->x_shape[0];
    const size_t places = x->at[slice->axis], inner = pwl_network_places(x, slice->axis + (size_t)1, x->axes);
    const size_t outer = pwl_network_places(x, 0, slice->axis), start = pwl_network_place_of(slice->start, places);
    const size_t count = slice->keep ? step->y_shape.at[slice->axis] : 1, bytes = pwl_network_bytes_of(step->out);
    const int is_one = slice->step == 1 || inner == 1; /* copy for all places */
    const size_t each = is_one ? count * inner : inner, parts = is_one ? 1 : count;
    const size_t apart = inner == 1 ? slice->step : 1;
    size_t i, k, at = 0;
    for (i = 0; i < outer; i++)
        for (k = 0; k < parts; k++, at += each)
            pwl_network_copy(step->y, at, step->x[0], (i * places + start + k * slice->step) * inner, apart, each,
                             bytes);
}

int pwl_network_fits_slice(const pwl_network_step *step)
{
    const pwl_network_slice *const slice = step->node->of;
    const pwl_network_shape *const x = &step->x_shape[0], *const y = &step->y_shape;
    size_t start, stop, last;
    if (slice->axis >= x->axes || slice->step < 1 || slice->keep > 1 || y->axes + !slice->keep != x->axes ||
        !pwl_network_same_axes(x, 0, y, 0, slice->axis) ||
        !pwl_network_same_axes(x, slice->axis + (size_t)1, y, slice->axis + (size_t)slice->keep,
                               x->axes - slice->axis - 1))
        return 0;
    start = pwl_network_place_of(slice->start, x->at[slice->axis]);
    stop = slice->keep ? pwl_network_place_of(slice->stop, x->at[slice->axis]) : x->at[slice->axis];
    if (start >= stop)
        return 0;
    if (!slice->keep)
        return 1;
    if (pwl_bit_length(y->at[slice->axis]) + pwl_bit_length(slice->step) > 31)
        return y->at[slice->axis] == 1 && slice->step >= stop - start;
    last = start + (y->at[slice->axis] - 1) * slice->step;
    return last < stop && stop - last <= slice->step;
}

void pwl_network_run_concat(const pwl_network_step *step)
{
    const size_t axis = ((const pwl_network_concat *)step->node->of)->axis;
    const pwl_network_shape *const a = &step->x_shape[0];
    const size_t bytes = pwl_network_bytes_of(step->out), outer = pwl_network_places(a, 0, axis);
    const size_t count[2] = {pwl_network_places(a, axis, a->axes),
                             pwl_network_places(&step->x_shape[1], axis, a->axes)};
    size_t i, at = 0;
    int k;
    for (i = 0; i < outer; i++)
        for (k = 0; k < 2; at += count[k], k++)
            pwl_network_copy(step->y, at, step->x[k], i * count[k], 1, count[k], bytes);
}

int pwl_network_fits_concat(const pwl_network_step *step)
{
    const size_t axis = ((const pwl_network_concat *)step->node->of)->axis;
    const pwl_network_shape *const a = &step->x_shape[0], *const b = &step->x_shape[1], *const y = &step->y_shape;
    if (axis >= a->axes || b->axes != a->axes || y->axes != a->axes || y->at[axis] != a->at[axis] + b->at[axis])
        return 0;
    return pwl_network_same_axes(a, 0, b, 0, axis) && pwl_network_same_axes(a, 0, y, 0, axis) &&
           pwl_network_same_axes(a, axis + 1, b, axis + 1, a->axes - axis - 1) &&
           pwl_network_same_axes(a, axis + 1, y, axis + 1, a->axes - axis - 1);
}

/* A cache that is the output's own array is there already. */
void pwl_network_run_append(const pwl_network_step *step)
{
    const size_t axis = ((const pwl_network_append *)step->node->of)->axis, bytes = pwl_network_bytes_of(step->out);
    const pwl_network_shape *const x = &step->x_shape[0], *const y = &step->y_shape;
    const size_t outer = pwl_network_places(x, 0, axis), inner = pwl_network_places(x, axis + 1, x->axes);
    size_t i, k;
    if (step->y != step->x[1])
        pwl_network_copy(step->y, 0, step->x[1], 0, 1, pwl_network_all(y), bytes);
    for (i = 0; i < outer; i++)
        for (k = 0; k < x->at[axis]; k++) {
            const size_t place = (size_t)pwl_element_of((pwl_type)step->in[2]->type, step->x[2], k);
            pwl_network_copy(step->y, (i * y->at[axis] + place) * inner, step->x[0], (i * x->at[axis] + k) * inner, 1,
                             inner, bytes);
        }
}

int pwl_network_fits_append(const pwl_network_step *step)
{
    const size_t axis = ((const pwl_network_append *)step->node->of)->axis;
    const pwl_network_shape *const x = &step->x_shape[0], *const y = &step->y_shape;
    const pwl_network_shape *const cache = &step->x_shape[1], *const numbers = &step->x_shape[2];
    return axis < y->axes && x->axes == y->axes && cache->axes == y->axes && numbers->axes == 1 &&
           numbers->at[0] == x->at[axis] && pwl_network_same_axes(cache, 0, y, 0, y->axes) &&
           pwl_network_same_axes(x, 0, y, 0, axis) &&
           pwl_network_same_axes(x, axis + 1, y, axis + 1, y->axes - axis - 1);
}

int pwl_network_in_place_append(const pwl_network_step *step, int k)
{
    (void)step;
    return k == 1;
}

int pwl_network_has_places(const pwl_network_step *step, const void *numbers)
{
    const size_t axis = ((const pwl_network_append *)step->node->of)->axis, count = step->x_shape[0].at[axis];
    size_t k;
    for (k = 0; k < count; k++)
        if ((uint64_t)pwl_element_of((pwl_type)step->in[2]->type, numbers, k) >= step->y_shape.at[axis])
            return 0;
    return 1;
}

static pwl_status check_moved(const pwl_network_step *step, int count)
{
    int k;
    for (k = 0; k < count; k++)
        if (step->in[k]->type != step->out->type)
            return PWL_ERR_FIELD;
        else if (step->in[k]->zero_point != step->out->zero_point)
            return PWL_ERR_ZERO_POINT;
        else if (step->in[k]->qmin != step->out->qmin || step->in[k]->qmax != step->out->qmax)
            return PWL_ERR_RANGE_Y;
    return PWL_OK;
}

pwl_status pwl_network_check_move(const pwl_network_step *step)
{
    return check_moved(step, step->node->reads);
}

pwl_status pwl_network_check_append(const pwl_network_step *step)
{
    return step->in[2]->qmin < 0 ? PWL_ERR_CODE : check_moved(step, 2);
}
