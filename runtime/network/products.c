/* SPDX-License-Identifier: Apache-2.0 */
/* Products with weights, and of two edges: tiles of sums, which are then brought to the output's codes. */
#include "step.h"

/* What becomes of a tile of sums: y codes from `at` on are columns [from, from + columns) of a row each `stride`. */
typedef struct tile {
    size_t at, from, stride;
} tile;

/* bias may be null. */
static void finish(const pwl_network_step *step, const pwl_network_sums *of, const pwl_network_factors *factors,
                   const int64_t *bias, const tile *to)
{
    const uint8_t each = factors->count > 1;
    const pwl_network_rounding by = {bias ? bias + to->from : NULL, factors->factor + each * to->from,
                                     factors->shift + each * to->from, bias != NULL, each};
    size_t i;
    for (i = 0; i < of->rows; i++)
        step->round(step->out, step->y, to->at + i * to->stride + to->from, of->sums + i * of->columns, of->columns,
                    &by);
}

/* A matrix of `rows` by `columns` sums; of->a and of->b are its whole inputs, y begins at code `at`. */
static void run_matrix(const pwl_network_step *step, pwl_network_sums *of, size_t rows, size_t columns, size_t at,
                       const pwl_network_factors *factors, const int64_t *bias)
{
    const char *const a = of->a, *const b = of->b;
    const int a_bytes = pwl_type_bytes_log2((pwl_type)of->a_type), b_bytes = pwl_type_bytes_log2((pwl_type)of->b_type);
    tile to;
    size_t i;
    to.stride = columns;
    for (i = 0; i < rows; i += PWL_NETWORK_ROWS) {
        of->rows = rows - i < PWL_NETWORK_ROWS ? rows - i : PWL_NETWORK_ROWS;
        of->a = a + ((i * of->a_stride) << a_bytes);
        to.at = at + i * columns;
        for (to.from = 0; to.from < columns; to.from += PWL_NETWORK_COLUMNS) {
            of->columns = columns - to.from < PWL_NETWORK_COLUMNS ? columns - to.from : PWL_NETWORK_COLUMNS;
            of->b = b + ((to.from * of->b_stride) << b_bytes);
            step->way.sum(of);
            finish(step, of, factors, bias, &to);
        }
    }
}

void pwl_network_run_product(const pwl_network_step *step)
{
    const pwl_network_product *const product = step->node->of;
    pwl_network_sums of;
    of.a = step->x[0];
    of.b = product->weights;
    of.a_type = step->in[0]->type;
    of.b_type = PWL_S8;
    of.is_narrow = product->is_narrow;
    of.length = of.a_stride = of.b_stride = product->length;
    of.b_step = 1;
    of.a_zero = of.b_zero = 0; /* the bias has what the zero point adds */
    of.sums = step->scratch;
    run_matrix(step, &of, pwl_network_places(&step->x_shape[0], 0, step->x_shape[0].axes - 1), product->channels, 0,
               &product->factors, product->bias);
}

static int sums_are_narrow(const pwl_network_step *step)
{
    /* Offsets have at most 34 bits: a product of more than 64 is not narrow either. */
    const uint64_t a = pwl_network_offset(step->in[0]), b = pwl_network_offset(step->in[1]);
    const size_t length = step->x_shape[0].at[step->x_shape[0].axes - 1];
    return a <= UINT16_MAX && b <= UINT16_MAX && pwl_bit_length(a * b) + pwl_bit_length(length) <= 64 &&
           a * b * length <= INT32_MAX;
}

void pwl_network_run_matmul(const pwl_network_step *step)
{
    const pwl_network_matmul *const matmul = step->node->of;
    const pwl_network_shape *const a = &step->x_shape[0], *const y = &step->y_shape;
    const size_t rows = y->at[y->axes - 2], columns = y->at[y->axes - 1], length = a->at[a->axes - 1];
    const size_t matrices = pwl_network_places(y, 0, y->axes - 2);
    const int a_bytes = pwl_type_bytes_log2((pwl_type)step->in[0]->type);
    const int b_bytes = pwl_type_bytes_log2((pwl_type)step->in[1]->type);
    pwl_network_sums of;
    size_t k;
    of.a_type = step->in[0]->type;
    of.b_type = step->in[1]->type;
    of.is_narrow = (uint8_t)sums_are_narrow(step);
    of.length = of.a_stride = length;
    of.b_stride = matmul->transposed ? length : 1;
    of.b_step = matmul->transposed ? 1 : columns;
    of.a_zero = step->in[0]->zero_point;
    of.b_zero = step->in[1]->zero_point;
    of.sums = step->scratch;
    for (k = 0; k < matrices; k++) {
        of.a = (const char *)step->x[0] + ((k * rows * length) << a_bytes);
        of.b = (const char *)step->x[1] + ((k * length * columns) << b_bytes);
        run_matrix(step, &of, rows, columns, k * rows * columns, &matmul->factors, NULL);
    }
}

int pwl_network_fits_product(const pwl_network_step *step)
{
    const pwl_network_product *const product = step->node->of;
    const pwl_network_shape *const x = &step->x_shape[0], *const y = &step->y_shape;
    return x->axes >= 1 && y->axes == x->axes && x->at[x->axes - 1] == product->length &&
           y->at[y->axes - 1] == product->channels && pwl_network_same_axes(x, 0, y, 0, x->axes - 1);
}

int pwl_network_fits_matmul(const pwl_network_step *step)
{
    const pwl_network_matmul *const matmul = step->node->of;
    const pwl_network_shape *const a = &step->x_shape[0], *const b = &step->x_shape[1], *const y = &step->y_shape;
    const size_t n = a->axes;
    if (n < 2 || b->axes != n || y->axes != n || matmul->transposed > 1)
        return 0;
    return a->at[n - 1] == b->at[n - 2 + matmul->transposed] && y->at[n - 2] == a->at[n - 2] &&
           y->at[n - 1] == b->at[n - 1 - matmul->transposed] && pwl_network_same_axes(a, 0, b, 0, n - 2) &&
           pwl_network_same_axes(a, 0, y, 0, n - 2);
}

/* What the sums of a channel can be at most: with its bias, or products of one sign; and any products, without it. */
typedef struct channel {
    uint64_t up, down; /* sums of the weights above 0 and below */
    uint64_t most, any;
} channel;

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Weights sum to at most 2^29 where this is asked, codes have 32 bits and the bias 61. */
static void bound_channel(channel *of, const pwl_network_edge *x, int64_t bias)
{
    const int64_t up = (int64_t)of->up, down = (int64_t)of->down;
    const uint64_t above = (uint64_t)(x->qmax > 0 ? x->qmax : 0), below = (uint64_t)(x->qmin < 0 ? -x->qmin : 0);
    of->any = larger(of->up * above + of->down * below, of->up * below + of->down * above);
    of->most = larger(of->up, of->down) * larger(pwl_abs64(x->qmax), pwl_abs64(x->qmin));
    of->most = larger(of->most, pwl_abs64(up * x->qmax - down * x->qmin + bias));
    of->most = larger(of->most, pwl_abs64(up * x->qmin - down * x->qmax + bias));
}

static void add_weights(channel *of, const int8_t *weights, uint32_t length)
{
    uint32_t k;
    for (k = 0; k < length; k++)
        if (weights[k] > 0)
            of->up += (uint32_t)weights[k];
        else
            of->down += (uint32_t)-weights[k];
}

pwl_status pwl_network_check_weights(const pwl_network_edge *x, const pwl_network_product *product)
{
    const uint64_t weight_limit = (uint64_t)1 << 29;
    const int64_t bias_limit = (int64_t)1 << 61;
    uint64_t most = 0, any = 0;
    uint32_t c;
    if (!product->weights || !product->bias)
        return PWL_ERR_NULL;
    if (product->is_narrow > 1)
        return PWL_ERR_FIELD;
    for (c = 0; c < product->channels; c++) {
        channel of = {0, 0, 0, 0};
        add_weights(&of, product->weights + (size_t)c * product->length, product->length);
        if (of.up > weight_limit || of.down > weight_limit || !is_within(product->bias[c], -bias_limit, bias_limit))
            return PWL_ERR_SUM_BITS;
        bound_channel(&of, x, product->bias[c]);
        most = larger(most, of.most);
        any = larger(any, of.any);
    }
    if (product->is_narrow && any > INT32_MAX)
        return PWL_ERR_SUM_BITS;
    return pwl_network_check_factors(&product->factors, pwl_bit_length(most), product->channels);
}

pwl_status pwl_network_check_product(const pwl_network_step *step)
{
    return pwl_network_check_weights(step->in[0], step->node->of);
}

uint64_t pwl_network_scratch_sums(const pwl_network_step *step)
{
    (void)step;
    return PWL_NETWORK_TILE * sizeof(int64_t);
}

pwl_status pwl_network_check_matmul(const pwl_network_step *step)
{
    const pwl_network_matmul *const matmul = step->node->of;
    const uint64_t a = pwl_network_offset(step->in[0]), b = pwl_network_offset(step->in[1]);
    const uint64_t length = step->x_shape[0].at[step->x_shape[0].axes - 1];
    if (pwl_bit_length(a) + pwl_bit_length(b) + pwl_bit_length(length) > 64)
        return PWL_ERR_SUM_BITS;
    return pwl_network_check_factors(&matmul->factors, pwl_bit_length(a * b * length), 1);
}
