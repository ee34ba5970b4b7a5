/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions and the largest codes of windows. Edges are [batch, channels, columns] or [batch, channels, rows,
 * columns]. A convolution is a product of a group's weights by its windows, some of which are copied side by side:
 *
 *                 channel 0, channel 1, ... of the group, each the kernel's rows and columns
 *   weights      | . . . . . . |  rows: output channels
 *   windows      | . . . . . . |  columns: places of the output
 */
#include "step.h"

/* An edge's rows and columns. */
typedef struct plane {
    size_t rows, columns;
} plane;

static plane plane_of(const pwl_network_shape *shape)
{
    const plane of = {shape->axes > 3 ? shape->at[2] : 1, shape->at[shape->axes - 1]};
    return of;
}

/* Whether a window makes so many places of `from`: the last lies within what is padded, and one more would not. */
static int makes(const pwl_network_window *window, uint64_t from, uint64_t to)
{
    const uint64_t reach = (uint64_t)window->dilation * (window->kernel - 1) + 1,
                   padded = from + 2 * (uint64_t)window->padding;
    return window->kernel >= 1 && window->stride >= 1 && window->dilation >= 1 && padded >= reach &&
           (to - 1) * window->stride <= padded - reach && padded - reach < to * window->stride;
}

/* The places that both edges have, by windows of rows and of columns. */
static int fits_window(const pwl_network_step *step, const pwl_network_window *window)
{
    const pwl_network_shape *const x = &step->x_shape[0], *const y = &step->y_shape;
    plane from, to;
    if ((x->axes != 3 && x->axes != 4) || y->axes != x->axes || x->at[0] != y->at[0])
        return 0;
    from = plane_of(x);
    to = plane_of(y);
    return makes(&window[0], from.rows, to.rows) && makes(&window[1], from.columns, to.columns);
}

static size_t length_of(const pwl_network_convolution *of)
{
    return (size_t)of->inputs * of->window[0].kernel * of->window[1].kernel;
}

/* One window, of the output's place (row, column), of the channels from x on. */
static void copy_window(const pwl_network_convolution *of, const pwl_network_edge *edge, const void *x, size_t at,
                        plane from, size_t row, size_t column, void *to, size_t to_at)
{
    const pwl_network_window *const rows = &of->window[0], *const columns = &of->window[1];
    uint32_t c, i, j;
    for (c = 0; c < of->inputs; c++, at += from.rows * from.columns)
        for (i = 0; i < rows->kernel; i++) {
            /* Places before the first are beyond the last, too, as no size is negative. */
            const size_t y = row * rows->stride + (size_t)i * rows->dilation - rows->padding;
            for (j = 0; j < columns->kernel; j++, to_at++) {
                const size_t k = column * columns->stride + (size_t)j * columns->dilation - columns->padding;
                const int64_t code = y < from.rows && k < from.columns
                                         ? pwl_element_of((pwl_type)edge->type, x, at + y * from.columns + k)
                                         : edge->zero_point;
                pwl_set_element_of((pwl_type)edge->type, to, to_at, code);
            }
        }
}

/* Sums of channel `first + i` of the output, places [at, at + count). */
static void finish(const pwl_network_step *step, const pwl_network_sums *sums, size_t first, size_t y_at, size_t stride)
{
    const pwl_network_convolution *const of = step->node->of;
    size_t i, j;
    for (i = 0; i < sums->rows; i++) {
        const size_t c = first + i, which = of->factors.count > 1 ? c : 0;
        const int n = of->factors.shift[which];
        int64_t *const row = sums->sums + i * sums->columns;
        for (j = 0; j < sums->columns; j++)
            row[j] = ((row[j] + of->bias[c]) * of->factors.factor[which] + ((int64_t)1 << (n - 1))) >> n;
        pwl_network_store(step->out, step->y, y_at + c * stride, sums->columns, row);
    }
}

/* All places of one group's channels, from `first` on, `each` of them. */
static void run_group(const pwl_network_step *step, pwl_network_sums *sums, size_t first, size_t each, size_t x_at,
                      size_t y_at)
{
    const pwl_network_convolution *const of = step->node->of;
    const plane from = plane_of(&step->x_shape[0]), to = plane_of(&step->y_shape);
    const size_t places = to.rows * to.columns, length = length_of(of);
    void *const windows = (char *)step->scratch + PWL_NETWORK_TILE * sizeof(int64_t);
    size_t row = 0, column = 0, at, k;
    for (at = 0; at < places; at += sums->columns) {
        sums->columns = places - at < PWL_NETWORK_COLUMNS ? places - at : PWL_NETWORK_COLUMNS;
        for (k = 0; k < sums->columns; k++) {
            copy_window(of, step->in[0], step->x[0], x_at, from, row, column, windows, k * length);
            if (++column == to.columns) {
                column = 0;
                row++;
            }
        }
        sums->b = windows;
        for (k = 0; k < each; k += PWL_NETWORK_ROWS) {
            sums->rows = each - k < PWL_NETWORK_ROWS ? each - k : PWL_NETWORK_ROWS;
            sums->a = of->weights + (first + k) * length;
            step->way.sum(sums);
            finish(step, sums, first + k, y_at + at, places);
        }
    }
}

void pwl_network_run_convolution(const pwl_network_step *step)
{
    const pwl_network_convolution *const of = step->node->of;
    const plane from = plane_of(&step->x_shape[0]), to = plane_of(&step->y_shape);
    const size_t x_plane = from.rows * from.columns, y_plane = to.rows * to.columns;
    pwl_network_sums sums;
    size_t batch, first, each, x_at = 0;
    uint32_t group;
    for (each = 0; each * of->groups < of->channels;)
        each++;
    sums.a_type = PWL_S8;
    sums.b_type = step->in[0]->type;
    sums.is_narrow = of->is_narrow;
    sums.length = sums.a_stride = sums.b_stride = length_of(of);
    sums.b_step = 1;
    sums.a_zero = sums.b_zero = 0; /* the bias has what the zero point adds */
    sums.sums = step->scratch;
    for (batch = 0; batch < step->y_shape.at[0]; batch++)
        for (group = 0, first = 0; group < of->groups; group++, first += each, x_at += of->inputs * x_plane)
            run_group(step, &sums, first, each, x_at, batch * of->channels * y_plane);
}

int pwl_network_fits_convolution(const pwl_network_step *step)
{
    const pwl_network_convolution *const of = step->node->of;
    return fits_window(step, of->window) && step->x_shape[0].at[1] == (uint64_t)of->inputs * of->groups &&
           step->y_shape.at[1] == of->channels;
}

static int divides(uint32_t part, uint32_t whole)
{
    uint64_t sum = 0;
    while (part && sum < whole)
        sum += part;
    return part && sum == whole;
}

pwl_status pwl_network_check_convolution(const pwl_network_step *step)
{
    const pwl_network_convolution *const of = step->node->of;
    const uint64_t length = (uint64_t)of->window[0].kernel * of->window[1].kernel;
    pwl_network_product product;
    if (!divides(of->groups, of->channels))
        return PWL_ERR_FIELD;
    if (length > PWL_NETWORK_EDGE || length * of->inputs > PWL_NETWORK_EDGE)
        return PWL_ERR_SIZE;
    product.weights = of->weights;
    product.bias = of->bias;
    product.factors.factor = of->factors.factor;
    product.factors.shift = of->factors.shift;
    product.factors.count = of->factors.count;
    product.channels = of->channels;
    product.length = (uint32_t)(length * of->inputs);
    product.is_narrow = of->is_narrow;
    /* What lies beyond the ends is a code as well. */
    if (!is_within(step->in[0]->zero_point, step->in[0]->qmin, step->in[0]->qmax) &&
        (of->window[0].padding || of->window[1].padding))
        return PWL_ERR_ZERO_POINT;
    return pwl_network_check_weights(step->in[0], &product);
}

uint64_t pwl_network_scratch_convolution(const pwl_network_step *step)
{
    const plane to = plane_of(&step->y_shape);
    const uint64_t places = (uint64_t)to.rows * to.columns;
    const uint64_t windows = places < PWL_NETWORK_COLUMNS ? places : PWL_NETWORK_COLUMNS;
    return PWL_NETWORK_TILE * sizeof(int64_t) +
           windows * length_of(step->node->of) * pwl_network_bytes_of(step->in[0]);
}

static int64_t largest_of(const pwl_network_step *step, size_t at, plane from, size_t row, size_t column)
{
    const pwl_network_max_pool *const of = step->node->of;
    int64_t largest = step->in[0]->qmin;
    uint32_t i, j;
    for (i = 0; i < of->window[0].kernel; i++)
        for (j = 0; j < of->window[1].kernel; j++) {
            const size_t y = row * of->window[0].stride + i - of->window[0].padding;
            const size_t k = column * of->window[1].stride + j - of->window[1].padding;
            const int64_t code =
                y < from.rows && k < from.columns
                    ? pwl_element_of((pwl_type)step->in[0]->type, step->x[0], at + y * from.columns + k)
                    : largest;
            largest = code > largest ? code : largest;
        }
    return largest;
}

void pwl_network_run_max_pool(const pwl_network_step *step)
{
    const plane from = plane_of(&step->x_shape[0]), to = plane_of(&step->y_shape);
    const size_t planes = step->y_shape.at[0] * step->y_shape.at[1];
    size_t k, row, column, at = 0;
    for (k = 0; k < planes; k++)
        for (row = 0; row < to.rows; row++)
            for (column = 0; column < to.columns; column++, at++)
                pwl_set_element_of((pwl_type)step->out->type, step->y, at,
                                   largest_of(step, k * from.rows * from.columns, from, row, column));
}

int pwl_network_fits_max_pool(const pwl_network_step *step)
{
    const pwl_network_max_pool *const of = step->node->of;
    int k;
    for (k = 0; k < 2; k++)
        if (of->window[k].dilation != 1 || 2 * (uint64_t)of->window[k].padding > of->window[k].kernel)
            return 0;
    return fits_window(step, of->window) && step->x_shape[0].at[1] == step->y_shape.at[1];
}
