/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and operators as nodes. */
#include "step.h"

#include "../map.h"

static const pwl_network_operator *operator_of(const pwl_network_step *step)
{
    return step->node->of;
}

/* Whether the last edge read numbers the places that rows see. */
static int is_numbered(const pwl_network_step *step)
{
    return operator_of(step)->is_causal == 2;
}

/* Blocks of rows that share a row of the mask, or count causally each anew; where places are numbered, each row. */
static void run_softmax(const pwl_network_step *step, const pwl_softmax *softmax, int is_causal)
{
    const pwl_network_shape *const x = &step->x_shape[0];
    const size_t before = x->axes - 1, length = x->at[before], second = before ? x->at[before - 1] : 1;
    /* A row of the mask is for all that lies at one place of the first axis. */
    const size_t each = pwl_network_places(x, before ? 1 : 0, before), all = pwl_network_places(x, 0, before);
    const size_t block = is_numbered(step) ? 1 : is_causal || before < 2 ? second : each;
    const int numbers = step->node->reads - 1, is_masked = numbers > is_numbered(step);
    const size_t x_bytes = pwl_network_bytes_of(step->in[0]), y_bytes = pwl_network_bytes_of(step->out);
    pwl_rows rows;
    size_t at, batch = 0, next = each, row = 0;
    rows.count = block;
    rows.length = length;
    rows.mask = NULL;
    rows.mask_stride = before < 2 ? length : 0;
    rows.is_causal = is_causal;
    rows.first = 0;
    for (at = 0; at < all; at += block) {
        for (; before >= 2 && at >= next; next += each)
            batch++;
        rows.x = (const char *)step->x[0] + at * length * x_bytes;
        rows.y = (char *)step->y + at * length * y_bytes;
        if (is_masked)
            rows.mask = (const uint8_t *)step->x[1] + (before < 2 ? at : batch) * length;
        if (is_numbered(step)) {
            rows.first = (size_t)pwl_element_of((pwl_type)step->in[numbers]->type, step->x[numbers], row);
            row = row + 1 == second ? 0 : row + 1;
        }
        pwl_softmax_run(softmax, &rows, step->way.levels);
    }
}

/* Blocks of the last axes, of which neither input has one place for many. */
static void run_add(const pwl_network_step *step, const pwl_add *add)
{
    const pwl_network_shape *const y = &step->y_shape, *const x = step->x_shape;
    const size_t all = pwl_network_all(y), y_bytes = pwl_network_bytes_of(step->out);
    size_t place[PWL_NETWORK_AXES], at[2] = {0, 0}, axes = y->axes, block = 1, y_at, k;
    for (k = 0; k < PWL_NETWORK_AXES; k++)
        place[k] = 0;
    while (axes > 0 && y->axes - axes < x[0].axes && y->axes - axes < x[1].axes &&
           x[0].at[x[0].axes - 1 - (y->axes - axes)] == y->at[axes - 1] &&
           x[1].at[x[1].axes - 1 - (y->axes - axes)] == y->at[axes - 1])
        block *= y->at[--axes];
    for (y_at = 0; y_at < all; y_at += block) {
        pwl_add_run(add, (const char *)step->x[0] + at[0] * pwl_network_bytes_of(step->in[0]),
                    (const char *)step->x[1] + at[1] * pwl_network_bytes_of(step->in[1]),
                    (char *)step->y + y_at * y_bytes, block);
        pwl_network_next(step, axes, place, at);
    }
}

void pwl_network_run_operator(const pwl_network_step *step)
{
    const pwl_network_operator *const own = operator_of(step);
    const size_t count = pwl_network_all(&step->y_shape);
    const pwl_type in = (pwl_type)step->in[0]->type, out = (pwl_type)step->out->type;
    switch (own->type) {
    case PWL_NETWORK_TABLE:
        pwl_map_typed(own->of, in, step->x[0], out, step->y, count);
        break;
    case PWL_NETWORK_REDUCED:
        pwl_reduced_map(own->of, in, step->x[0], out, step->y, count);
        break;
    case PWL_NETWORK_SOFTMAX:
        run_softmax(step, own->of, own->is_causal);
        break;
    case PWL_NETWORK_NORM:
        pwl_norm_run(own->of, step->x[0], step->y, pwl_network_places(&step->y_shape, 0, step->y_shape.axes - 1),
                     step->way.levels);
        break;
    case PWL_NETWORK_REQUANTISE:
        pwl_requantise_run(own->of, step->x[0], step->y, count);
        break;
    default:
        run_add(step, own->of);
    }
}

/* One input and one output of one shape; those of add broadcast. A mask is a row of places for each place of the first
 * axis; numbers of places are one for each row of the second last. */
int pwl_network_fits_operator(const pwl_network_step *step)
{
    const pwl_network_shape *const x = &step->x_shape[0], *const y = &step->y_shape, *const b = &step->x_shape[1];
    const pwl_network_operator *const own = operator_of(step);
    const int is_row = own->type == PWL_NETWORK_SOFTMAX || own->type == PWL_NETWORK_NORM;
    int reads = step->node->reads;
    if (own->type == PWL_NETWORK_ADD)
        return reads == 2 && pwl_network_broadcasts(step);
    if (x->axes != y->axes || !pwl_network_same_axes(x, 0, y, 0, x->axes) || (is_row && x->axes < 1))
        return 0;
    if (is_numbered(step)) {
        const pwl_network_shape *const numbers = &step->x_shape[--reads];
        if (reads < 1 || x->axes < 2 || numbers->axes != 1 || numbers->at[0] != x->at[x->axes - 2])
            return 0;
    }
    return reads < 2 ||
           (reads == 2 && x->axes >= 2 && b->axes == 2 && b->at[0] == x->at[0] && b->at[1] == x->at[x->axes - 1]);
}

/* What an operator says of its output. */
static pwl_status check_output(const pwl_network_edge *edge, int64_t qmin, int64_t qmax, int64_t zero_point)
{
    if (zero_point != edge->zero_point)
        return PWL_ERR_ZERO_POINT;
    return edge->qmin <= qmin && qmax <= edge->qmax ? PWL_OK : PWL_ERR_RANGE_Y;
}

static pwl_status check_types(const pwl_network_step *step, uint8_t in, uint8_t out)
{
    return step->in[0]->type == in && step->out->type == out ? PWL_OK : PWL_ERR_FIELD;
}

static pwl_status check_table(const pwl_network_step *step, const pwl_table *table)
{
    const pwl_status status = pwl_table_check(table, NULL);
    return status != PWL_OK ? status : check_output(step->out, table->qmin_y, table->qmax_y, step->out->zero_point);
}

static pwl_status check_reduced(const pwl_network_step *step, const pwl_reduced *reduced)
{
    const pwl_status status = pwl_reduced_check(reduced, NULL);
    return status != PWL_OK
               ? status
               : check_output(step->out, reduced->core.qmin_y, reduced->core.qmax_y, step->out->zero_point);
}

static pwl_status check_softmax(const pwl_network_step *step, const pwl_softmax *softmax)
{
    const pwl_network_shape *const x = &step->x_shape[0];
    pwl_status status = pwl_softmax_check(softmax);
    if (status == PWL_OK)
        status = check_types(step, softmax->in, softmax->out);
    if (status == PWL_OK && step->node->reads > 1 + is_numbered(step) && pwl_network_bytes_of(step->in[1]) != 1)
        status = PWL_ERR_FIELD;
    if (status == PWL_OK && is_numbered(step) && step->in[step->node->reads - 1]->qmin < 0)
        status = PWL_ERR_CODE;
    if (status == PWL_OK && x->at[x->axes - 1] > softmax->longest)
        status = PWL_ERR_ROW;
    return status != PWL_OK ? status : check_output(step->out, softmax->qmin_y, softmax->qmax_y, softmax->zp_y);
}

static pwl_status check_norm(const pwl_network_step *step, const pwl_norm *norm)
{
    const pwl_network_shape *const x = &step->x_shape[0];
    pwl_status status = pwl_norm_check(norm);
    if (status == PWL_OK)
        status = check_types(step, norm->in, norm->out);
    if (status == PWL_OK && x->at[x->axes - 1] != norm->length)
        status = PWL_ERR_ROW;
    if (status == PWL_OK && norm->kind == PWL_RMS_NORM && norm->zp_x != step->in[0]->zero_point)
        status = PWL_ERR_ZERO_POINT;
    return status != PWL_OK ? status : check_output(step->out, norm->qmin_y, norm->qmax_y, norm->zp_y);
}

static pwl_status check_requantise(const pwl_network_step *step, const pwl_requantise *requantise)
{
    pwl_status status = pwl_requantise_check(requantise);
    if (status == PWL_OK)
        status = check_types(step, requantise->in, requantise->out);
    if (status == PWL_OK && requantise->zp_x != step->in[0]->zero_point)
        status = PWL_ERR_ZERO_POINT;
    return status != PWL_OK ? status
                            : check_output(step->out, requantise->qmin_y, requantise->qmax_y, requantise->zp_y);
}

static pwl_status check_add(const pwl_network_step *step, const pwl_add *add)
{
    pwl_status status = pwl_add_check(add);
    if (status == PWL_OK)
        status = check_types(step, add->in_a, add->out);
    if (status == PWL_OK && add->in_b != step->in[1]->type)
        status = PWL_ERR_FIELD;
    return status != PWL_OK ? status : check_output(step->out, add->qmin_y, add->qmax_y, add->zp_y);
}

pwl_status pwl_network_check_operator(const pwl_network_step *step)
{
    const pwl_network_operator *const own = operator_of(step);
    const int is_softmax = own->type == PWL_NETWORK_SOFTMAX;
    const int takes = is_softmax ? 3 << is_numbered(step) : own->type == PWL_NETWORK_ADD ? 2 : 1;
    if (own->is_causal > 2 * is_softmax || !(takes >> (step->node->reads - 1) & 1))
        return PWL_ERR_FIELD;
    switch (own->type) {
    case PWL_NETWORK_TABLE:
        return check_table(step, own->of);
    case PWL_NETWORK_REDUCED:
        return check_reduced(step, own->of);
    case PWL_NETWORK_SOFTMAX:
        return check_softmax(step, own->of);
    case PWL_NETWORK_NORM:
        return check_norm(step, own->of);
    case PWL_NETWORK_REQUANTISE:
        return check_requantise(step, own->of);
    case PWL_NETWORK_ADD:
        return check_add(step, own->of);
    default:
        return PWL_ERR_FIELD;
    }
}

/* Whether two edges have one shape at all sizes. */
static int same_shape(const pwl_network_edge *a, const pwl_network_edge *b)
{
    int axis, k;
    if (a->axes != b->axes)
        return 0;
    for (axis = 0; axis < a->axes; axis++) {
        if (a->shape[axis].times != b->shape[axis].times)
            return 0;
        for (k = 0; k < PWL_NETWORK_FACTORS; k++)
            if (a->shape[axis].sizes[k] != b->shape[axis].sizes[k])
                return 0;
    }
    return 1;
}

/* Elements are read before they are written, but for those that add reads again; a mask is not the output's. */
int pwl_network_in_place_operator(const pwl_network_step *step, int k)
{
    if (pwl_network_bytes_of(step->in[k]) != pwl_network_bytes_of(step->out))
        return 0;
    return operator_of(step)->type == PWL_NETWORK_ADD ? same_shape(step->in[k], step->out) : k == 0;
}
