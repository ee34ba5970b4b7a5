/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a launch of a network does, as plain data, and what each element of its output is: compiled for the host, where
 * the tests run whole networks by it, and for devices. Counts fit 31 bits, as pwl_network_check() proves.
 */
#ifndef PWL_NETWORK_TASK_H
#define PWL_NETWORK_TASK_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/cuda_rows.h>
#include <pwl/network.h>

/* Up to PWL_WORK_ELEMENTS, pwl_work_element() has one element of the output; then launches of other rooms, and softmax,
 * whose rows are a warp's each. */
typedef enum pwl_work_kind {
    PWL_WORK_MOVE,
    PWL_WORK_FILL,
    PWL_WORK_GATHER,
    PWL_WORK_APPEND,
    PWL_WORK_MATRIX,
    PWL_WORK_CONVOLUTION,
    PWL_WORK_MAX_POOL,
    PWL_WORK_MULTIPLY,
    PWL_WORK_MEAN,
    PWL_WORK_REQUANTISE,
    PWL_WORK_ADD,
    PWL_WORK_REDUCED,
    PWL_WORK_ELEMENTS,
    PWL_WORK_SOFTMAX = PWL_WORK_ELEMENTS,
    PWL_WORK_TABLE,
    PWL_WORK_NORM
} pwl_work_kind;

/* An array that is read. */
typedef struct pwl_work_input {
    const void *at;
    int64_t zero_point;
    uint8_t type; /* pwl_type */
} pwl_work_input;

/* The array that is written. */
typedef struct pwl_work_output {
    void *at;
    int64_t zero_point, qmin, qmax; /* of the codes that are made */
    const void *values;             /* null, or what is stored instead of each code, from qmin on */
    uint8_t type;                   /* pwl_type of what is stored */
} pwl_work_output;

/* Units of 2^log2_bytes bytes from a place of x to one of y. */
typedef struct pwl_work_move {
    uint32_t axes, size[PWL_NETWORK_AXES], x_stride[PWL_NETWORK_AXES], y_stride[PWL_NETWORK_AXES];
    uint32_t log2_bytes;
} pwl_work_move;

/* A channel whose sums with their bias fit 32 bits: code = clip(((v << up) factor + added) >> 32 + shift) of such a v.
 * 32 bytes, which are read as two words of 16. */
typedef struct pwl_work_channel {
    int64_t added; /* what rounds, and the zero point */
    int32_t bias, factor, shift, up, unused[2];
} pwl_work_channel;

/* Where what belongs to a row and a column goes: rows are counted along up to three axes, columns along up to two. */
typedef struct pwl_work_order {
    uint32_t rows[2];   /* of the last axis, and of that before it */
    uint32_t columns;   /* of the last axis; 0: all in their order */
    uint32_t stride[4]; /* elements from one place to the next of each axis of rows, and of the first of columns */
} pwl_work_order;

/* A pwl_add in 32 bits: code = clip(((factor_a a + factor_b b + added) << up) >> 32 + shift). */
typedef struct pwl_work_sum {
    int64_t added; /* what rounds, the constant and the zero point */
    int32_t factor_a, factor_b, shift, up, qmin, qmax;
} pwl_work_sum;

/* Whether 62 bits hold all of it, and *made. */
PWL_FN int pwl_work_make_sum(const pwl_add *add, pwl_work_sum *made)
{
    const int n = add->shift;
    const int64_t products = ((int64_t)add->factor_a + add->factor_b) * 65535;
    made->up = n < 32 ? 32 - n : 0;
    made->shift = n - 32 + made->up;
    if (pwl_bit_length(pwl_abs64(add->zp_y)) + n > 59 || pwl_bit_length(pwl_abs64(add->constant)) > 59)
        return 0;
    made->added = add->constant + ((int64_t)1 << (n - 1)) + add->zp_y * ((int64_t)1 << n);
    made->factor_a = add->factor_a;
    made->factor_b = add->factor_b;
    made->qmin = add->qmin_y;
    made->qmax = add->qmax_y;
    return pwl_bit_length(pwl_abs64(made->added)) + made->up <= 60 &&
           pwl_bit_length((uint64_t)products) + made->up <= 60;
}

PWL_FN int32_t pwl_work_sum_of(const pwl_work_sum *of, int32_t a, int32_t b)
{
    const int64_t v = (int64_t)of->factor_a * a + (int64_t)of->factor_b * b + of->added;
    const int32_t code = (int32_t)((int64_t)((uint64_t)v << of->up) >> 32) >> of->shift;
    return code < of->qmin ? of->qmin : code > of->qmax ? of->qmax : code;
}

/* The lines of a table by which values can be computed instead of read: the image of a plan of map/plan.h. */
typedef struct pwl_work_lines {
    const void *image; /* null: there is none */
    uint32_t bytes, cells_at, cell_shift, fraction, even, head_copies, cell_copies;
    int32_t first, qmin, qmax; /* the code whose u is 0; of values */
} pwl_work_lines;

/* y[m][i][j] of sums over k of (a[m][i][k] - its zero point) (b[m][j][k] - its), plus bias[j] where there is one; input
 * 0 is a, input 1 b. Where b are weights, there is one matrix. */
typedef struct pwl_work_matrix {
    uint32_t rows, columns, length;
    uint32_t b_matrix, b_stride, b_step; /* elements from a matrix, a j and a k to the next */
    pwl_network_factors factors;         /* one, or one of each j; arrays of the device, as bias */
    const int64_t *bias;
    const pwl_work_channel *channels; /* of each j where there is a bias, else one, which say the same as the three
                                       * above; null where 32 bits do not do */
    uint32_t b_length;                /* elements of a j that may be read where b_step is 1; zeros from length on */
    const void *packed;               /* null, or the same weights as wide.h packs them */
    pwl_work_order order;
    pwl_work_sum sum;     /* of each code and that of `other` which is in its place */
    pwl_work_input other; /* null: codes are stored as they are */
    pwl_work_lines lines;
} pwl_work_matrix;

typedef struct pwl_work_window {
    pwl_network_window window[2];
    uint32_t from[2], to[2];             /* rows and columns of x and of y */
    uint32_t channels, inputs, in_group; /* output channels; input channels of each, and output channels of a group */
    uint32_t x_channels;
    const int8_t *weights;
    uint32_t weight_stride;
    pwl_network_factors factors;
    const int64_t *bias;
} pwl_work_window;

/* Where inputs that broadcast are read: elements from a place of each axis of the output to the next. */
typedef struct pwl_work_spread {
    uint32_t axes, size[PWL_NETWORK_AXES], stride[4][PWL_NETWORK_AXES];
} pwl_work_spread;

typedef struct pwl_work_multiply {
    pwl_work_spread spread;
    uint32_t reads;
    int32_t factor[2];
    int32_t shift;
} pwl_work_multiply;

typedef struct pwl_work_add {
    pwl_work_spread spread;
    pwl_add add;
} pwl_work_add;

typedef struct pwl_work_mean {
    uint32_t places, inner;
    uint32_t has_mask; /* input 1 */
    pwl_network_factors factors;
} pwl_work_mean;

typedef struct pwl_work_gather {
    uint32_t rows, columns;
    uint32_t log2_bytes;
} pwl_work_gather;

/* Of an axis with `places` places of x, each of `inner` elements: place p of x goes to the place of y, which has `all`
 * of them, that element p of input 1 numbers. Elements are moved 2^log2_bytes bytes at a time. */
typedef struct pwl_work_append {
    uint32_t places, all, inner;
    uint32_t log2_bytes;
} pwl_work_append;

/* Row r reads row r / each of the mask. Where `second` is not 0 it sees places 0 to r % second, or, where there is an
 * input 1, to the number there. */
typedef struct pwl_work_softmax {
    const pwl_cuda_softmax *uploaded; /* on the host, as are all operators */
    uint32_t rows, length;
    const uint8_t *mask; /* or null */
    uint32_t each, second;
} pwl_work_softmax;

typedef struct pwl_work {
    pwl_work_kind kind;
    const struct pwl_work *beside; /* of a matrix: null, or another of the same input 0, to be done with it */
    uint32_t count;                /* elements, of move units, of softmax rows */
    pwl_work_input x[4];
    pwl_work_output y;
    union {
        pwl_work_move move;
        pwl_work_matrix matrix;
        pwl_work_window window;
        pwl_work_multiply multiply;
        pwl_work_mean mean;
        pwl_work_gather gather;
        pwl_work_append append;
        pwl_requantise requantise;
        pwl_work_add add;
        pwl_reduced reduced;
        pwl_work_softmax softmax;
        const pwl_cuda_table *table;
        const pwl_cuda_norm *norm; /* of count rows */
    } of;
    const void *operator_of; /* tables, norms, softmax: what the network has on the host */
} pwl_work;

PWL_FN int64_t pwl_work_code(int type, const void *array, size_t k)
{
    switch (type) {
    case PWL_S8:
        return ((const int8_t *)array)[k];
    case PWL_U8:
        return ((const uint8_t *)array)[k];
    case PWL_S16:
        return ((const int16_t *)array)[k];
    case PWL_U16:
        return ((const uint16_t *)array)[k];
    case PWL_S32:
        return ((const int32_t *)array)[k];
    default:
        return ((const uint32_t *)array)[k];
    }
}

PWL_FN void pwl_work_set(int type, void *array, size_t k, int64_t v)
{
    if (type <= PWL_U8)
        ((uint8_t *)array)[k] = (uint8_t)v;
    else if (type <= PWL_U16)
        ((uint16_t *)array)[k] = (uint16_t)v;
    else
        ((uint32_t *)array)[k] = (uint32_t)v;
}

/* What is stored of a value that counts from the zero point. */
PWL_FN int64_t pwl_work_stored(const pwl_work_output *y, int64_t v)
{
    const int64_t code = pwl_sat(v + y->zero_point, y->qmin, y->qmax);
    return y->values ? pwl_work_code(y->type, y->values, (size_t)(code - y->qmin)) : code;
}

PWL_FN void pwl_work_store(const pwl_work_output *y, size_t k, int64_t v)
{
    pwl_work_set(y->type, y->at, k, pwl_work_stored(y, v));
}

PWL_FN int64_t pwl_work_offset(const pwl_work_input *x, size_t k)
{
    return pwl_work_code(x->type, x->at, k) - x->zero_point;
}

/* A sum by factor k of one for all, or one each. */
PWL_FN int64_t pwl_work_scaled(const pwl_network_factors *factors, int64_t sum, uint32_t k)
{
    const uint32_t at = factors->count > 1 ? k : 0;
    return pwl_network_shr(sum * factors->factor[at], factors->shift[at]);
}

typedef struct pwl_work_unit {
    uint64_t half[2];
} pwl_work_unit; /* 16 bytes */

PWL_FN void pwl_work_move_unit(uint32_t log2_bytes, const void *x, size_t from, void *y, size_t to)
{
    switch (log2_bytes) {
    case 0:
        ((uint8_t *)y)[to] = ((const uint8_t *)x)[from];
        break;
    case 1:
        ((uint16_t *)y)[to] = ((const uint16_t *)x)[from];
        break;
    case 2:
        ((uint32_t *)y)[to] = ((const uint32_t *)x)[from];
        break;
    case 3:
        ((uint64_t *)y)[to] = ((const uint64_t *)x)[from];
        break;
    default:
#ifdef __CUDA_ARCH__
        ((uint4 *)y)[to] = ((const uint4 *)x)[from];
#else
        ((pwl_work_unit *)y)[to] = ((const pwl_work_unit *)x)[from];
#endif
    }
}

PWL_FN void pwl_work_move_element(const pwl_work *work, uint32_t k)
{
    const pwl_work_move *const of = &work->of.move;
    uint32_t from = 0, to = 0, axis, left = k;
    for (axis = of->axes; axis-- > 0;) {
        const uint32_t rest = axis ? left / of->size[axis] : 0, place = left - rest * of->size[axis];
        from += place * of->x_stride[axis];
        to += place * of->y_stride[axis];
        left = rest;
    }
    pwl_work_move_unit(of->log2_bytes, work->x[0].at, from, work->y.at, to);
}

/* An index beyond the table, which the network's check rules out of its codes, reads the nearest row. */
PWL_FN void pwl_work_gather_element(const pwl_work *work, uint32_t k)
{
    const pwl_work_gather *const of = &work->of.gather;
    const uint32_t place = k / of->columns;
    const int64_t row = pwl_sat(pwl_work_code(work->x[0].type, work->x[0].at, place), 0, (int64_t)of->rows - 1);
    pwl_work_move_unit(of->log2_bytes, work->x[1].at, (size_t)row * of->columns + (k - place * of->columns), work->y.at,
                       k);
}

/* Of places that have one number the last is kept, as if they came one after another. A number that the cache does not
 * have, which the network's check rules out of its codes, writes nothing. */
PWL_FN void pwl_work_append_element(const pwl_work *work, uint32_t k)
{
    const pwl_work_append *const of = &work->of.append;
    const uint32_t row = k / of->inner, outer = row / of->places, first = row - outer * of->places;
    const int64_t number = pwl_work_code(work->x[1].type, work->x[1].at, first);
    uint32_t p;
    if (number < 0 || number >= of->all)
        return;
    for (p = first + 1; p < of->places; p++)
        if (pwl_work_code(work->x[1].type, work->x[1].at, p) == number)
            return;
    pwl_work_move_unit(of->log2_bytes, work->x[0].at, k, work->y.at,
                       ((size_t)outer * of->all + (size_t)number) * of->inner + (k - row * of->inner));
}

/* How many places row r of a softmax sees, were there no mask. */
PWL_FN uint32_t pwl_work_softmax_reach(const pwl_work_softmax *of, const pwl_work_input *numbers, uint32_t r)
{
    if (!of->second)
        return of->length;
    r %= of->second;
    return 1 + (uint32_t)pwl_sat(numbers->at ? pwl_work_code(numbers->type, numbers->at, r) : r, 0,
                                 (int64_t)of->length - 1);
}

PWL_FN size_t pwl_work_ordered(const pwl_work_matrix *of, uint32_t row, uint32_t column)
{
    const pwl_work_order *const order = &of->order;
    uint32_t middle, outer, right;
    if (!order->columns)
        return (size_t)row * of->columns + column;
    middle = row / order->rows[0];
    outer = middle / order->rows[1];
    right = column / order->columns;
    return outer * order->stride[0] + (middle - outer * order->rows[1]) * order->stride[1] +
           (row - middle * order->rows[0]) * order->stride[2] + right * order->stride[3] +
           (column - right * order->columns);
}

/* What is stored of a code, which with columns in their order is element k. */
PWL_FN int64_t pwl_work_added(const pwl_work_matrix *of, int64_t code, size_t k)
{
    if (!of->other.at)
        return code;
    return pwl_work_sum_of(&of->sum, (int32_t)code, (int32_t)pwl_work_code(of->other.type, of->other.at, k));
}

PWL_FN void pwl_work_matrix_element(const pwl_work *work, uint32_t k)
{
    const pwl_work_matrix *const of = &work->of.matrix;
    const uint32_t row = k / of->columns, j = k - row * of->columns;
    const size_t a = (size_t)row * of->length;
    const size_t b = (size_t)(row / of->rows) * of->b_matrix + (size_t)j * of->b_stride;
    int64_t sum = of->bias ? of->bias[j] : 0;
    uint32_t l;
    for (l = 0; l < of->length; l++)
        sum += pwl_work_offset(&work->x[0], a + l) * pwl_work_offset(&work->x[1], b + (size_t)l * of->b_step);
    pwl_work_set(work->y.type, work->y.at, pwl_work_ordered(of, row, j),
                 pwl_work_added(of, pwl_work_stored(&work->y, pwl_work_scaled(&of->factors, sum, j)), k));
}

/* Element k of the output as its batch and channel, and where its window begins, which may be before the first place.
 */
typedef struct pwl_work_place {
    uint32_t batch, channel;
    int32_t row, column;
} pwl_work_place;

PWL_FN pwl_work_place pwl_work_place_of(const pwl_work_window *of, uint32_t k)
{
    pwl_work_place place;
    const uint32_t rows = k / of->to[1], planes = rows / of->to[0];
    place.column = (int32_t)((k - rows * of->to[1]) * of->window[1].stride) - (int32_t)of->window[1].padding;
    place.row = (int32_t)((rows - planes * of->to[0]) * of->window[0].stride) - (int32_t)of->window[0].padding;
    place.batch = planes / of->channels;
    place.channel = planes - place.batch * of->channels;
    return place;
}

/* What lies beyond the ends is the zero point, which the bias accounts for as it does for all codes. */
PWL_FN void pwl_work_convolution_element(const pwl_work *work, uint32_t k)
{
    const pwl_work_window *const of = &work->of.window;
    const pwl_work_place at = pwl_work_place_of(of, k);
    const uint32_t group = at.channel / of->in_group;
    const int8_t *weights = of->weights + (size_t)at.channel * of->weight_stride;
    size_t plane = ((size_t)at.batch * of->x_channels + (size_t)group * of->inputs) * of->from[0] * of->from[1];
    int64_t sum = of->bias[at.channel];
    uint32_t c, i, j;
    for (c = 0; c < of->inputs; c++, plane += (size_t)of->from[0] * of->from[1])
        for (i = 0; i < of->window[0].kernel; i++) {
            const uint32_t row = (uint32_t)at.row + i * of->window[0].dilation;
            for (j = 0; j < of->window[1].kernel; j++, weights++) {
                const uint32_t column = (uint32_t)at.column + j * of->window[1].dilation;
                const int is_in = row < of->from[0] && column < of->from[1];
                sum += *weights * (is_in ? pwl_work_code(work->x[0].type, work->x[0].at,
                                                         plane + (size_t)row * of->from[1] + column)
                                         : work->x[0].zero_point);
            }
        }
    pwl_work_store(&work->y, k, pwl_work_scaled(&of->factors, sum, at.channel));
}

PWL_FN void pwl_work_max_pool_element(const pwl_work *work, uint32_t k)
{
    const pwl_work_window *const of = &work->of.window;
    const pwl_work_place at = pwl_work_place_of(of, k);
    const size_t plane = ((size_t)at.batch * of->channels + at.channel) * of->from[0] * of->from[1];
    int64_t largest = work->y.qmin;
    uint32_t i, j;
    for (i = 0; i < of->window[0].kernel; i++)
        for (j = 0; j < of->window[1].kernel; j++) {
            const uint32_t row = (uint32_t)at.row + i, column = (uint32_t)at.column + j;
            if (row < of->from[0] && column < of->from[1]) {
                const int64_t code =
                    pwl_work_code(work->x[0].type, work->x[0].at, plane + (size_t)row * of->from[1] + column);
                largest = code > largest ? code : largest;
            }
        }
    pwl_work_set(work->y.type, work->y.at, k, largest);
}

/* Elements of the first two inputs, or of all four, at element k of the output. */
PWL_FN void pwl_work_find(const pwl_work_spread *of, uint32_t k, int all, uint32_t at[4])
{
    uint32_t axis, left = k;
    at[0] = at[1] = at[2] = at[3] = 0;
    for (axis = of->axes; axis-- > 0;) {
        const uint32_t rest = axis ? left / of->size[axis] : 0, place = left - rest * of->size[axis];
        at[0] += place * of->stride[0][axis];
        at[1] += place * of->stride[1][axis];
        if (all) {
            at[2] += place * of->stride[2][axis];
            at[3] += place * of->stride[3][axis];
        }
        left = rest;
    }
}

/* Of codes that count from their zero points, two or all. */
PWL_FN int64_t pwl_work_multiplied(const pwl_work_multiply *of, int all, const int64_t x[4])
{
    int64_t sum = of->factor[0] * (x[0] * x[1]);
    if (all)
        sum += of->factor[1] * (x[2] * x[3]);
    return pwl_network_shr(sum, of->shift);
}

PWL_FN void pwl_work_multiply_element(const pwl_work *work, uint32_t k)
{
    const pwl_work_multiply *const of = &work->of.multiply;
    const int all = of->reads > 2;
    uint32_t at[4];
    int64_t x[4] = {0, 0, 0, 0};
    pwl_work_find(&of->spread, k, all, at);
    x[0] = pwl_work_offset(&work->x[0], at[0]);
    x[1] = pwl_work_offset(&work->x[1], at[1]);
    if (all) {
        x[2] = pwl_work_offset(&work->x[2], at[2]);
        x[3] = pwl_work_offset(&work->x[3], at[3]);
    }
    pwl_work_store(&work->y, k, pwl_work_multiplied(of, all, x));
}

PWL_FN void pwl_work_add_element(const pwl_work *work, uint32_t k)
{
    uint32_t at[4];
    pwl_work_find(&work->of.add.spread, k, 0, at);
    pwl_work_set(work->y.type, work->y.at, k,
                 pwl_add_element(&work->of.add.add, pwl_work_code(work->x[0].type, work->x[0].at, at[0]),
                                 pwl_work_code(work->x[1].type, work->x[1].at, at[1])));
}

PWL_FN void pwl_work_mean_element(const pwl_work *work, uint32_t k)
{
    const pwl_work_mean *const of = &work->of.mean;
    const uint32_t outer = k / of->inner, first = outer * of->places;
    uint32_t p, taken = 0;
    int64_t sum = 0;
    for (p = first; p < first + of->places; p++)
        if (!of->has_mask || pwl_work_code(work->x[1].type, work->x[1].at, p) != 0) {
            taken++;
            sum += pwl_work_offset(&work->x[0], (size_t)p * of->inner + (k - outer * of->inner));
        }
    pwl_work_store(&work->y, k, pwl_work_scaled(&of->factors, sum, taken > 1 ? taken - 1 : 0));
}

/* Operators clip to codes of their own. */
PWL_FN void pwl_work_element(const pwl_work *work, pwl_work_kind kind, uint32_t k)
{
    switch (kind) {
    case PWL_WORK_MOVE:
        pwl_work_move_element(work, k);
        break;
    case PWL_WORK_FILL:
        pwl_work_set(work->y.type, work->y.at, k, work->y.zero_point);
        break;
    case PWL_WORK_GATHER:
        pwl_work_gather_element(work, k);
        break;
    case PWL_WORK_APPEND:
        pwl_work_append_element(work, k);
        break;
    case PWL_WORK_MATRIX:
        pwl_work_matrix_element(work, k);
        break;
    case PWL_WORK_CONVOLUTION:
        pwl_work_convolution_element(work, k);
        break;
    case PWL_WORK_MAX_POOL:
        pwl_work_max_pool_element(work, k);
        break;
    case PWL_WORK_MULTIPLY:
        pwl_work_multiply_element(work, k);
        break;
    case PWL_WORK_MEAN:
        pwl_work_mean_element(work, k);
        break;
    case PWL_WORK_REQUANTISE:
        pwl_work_set(work->y.type, work->y.at, k,
                     pwl_requantise_element(&work->of.requantise, pwl_work_code(work->x[0].type, work->x[0].at, k)));
        break;
    case PWL_WORK_ADD:
        pwl_work_add_element(work, k);
        break;
    default:
        pwl_work_set(work->y.type, work->y.at, k,
                     pwl_reduced_eval_inline(&work->of.reduced, pwl_work_code(work->x[0].type, work->x[0].at, k)));
    }
}

#endif
