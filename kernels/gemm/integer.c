/* SPDX-License-Identifier: Apache-2.0 */
/* The scheme INT8, by integers alone. */
#include "integer.h"
#include "layout.h"
#include "store.h"

enum { SIDE = 16 }; /* rows of X for which a weight is unpacked once */

/* v of row n of the weights: acc - z * sum_w has 32 bits, see the header; with bias it has 33. */
static int64_t sum_of(const pwl_qgemm_product *product, size_t n, int32_t acc)
{
    return pwl_qgemm_with_bias(product, product->activation, n,
                               (int64_t)acc - (int64_t)product->x.zero_point * pwl_qgemm_row_sum(product->weights, n));
}

static int32_t shift_of(const pwl_qgemm_product *product, size_t m, size_t n)
{
    return pwl_qgemm_row_exponent(product->weights, n) + product->x.n_x[m];
}

static void store(const pwl_qgemm_product *product, size_t m, size_t n, int64_t v)
{
    const size_t at = m * product->y.stride + n;
    if (product->y.type == PWL_QGEMM_S8)
        ((int8_t *)product->y.data)[at] =
            pwl_qgemm_store_s8(v, (int64_t)shift_of(product, m, n) - product->y.n_y, product->y.zero_point);
    else
        ((int32_t *)product->y.data)[at] = pwl_qgemm_store_s32(v);
}

/* v of row n of the weights, and, where the activation is gated, of row n + 8, which is up. */
static void store_either(const pwl_qgemm_product *product, const pwl_qgemm_epilogue *e, size_t m, size_t n, int64_t v,
                         int64_t up)
{
    if (!e) {
        store(product, m, n, v);
        return;
    }
    const int64_t q = pwl_qgemm_code_of_sum(e, v, shift_of(product, m, n));
    const size_t column = e->as.gated ? n / 16 * 8 + n % 8 : n, other = e->as.gated ? n + 8 : n;
    pwl_qgemm_store_activated_sum(e, product->y.type, product->y.data, m * product->y.stride + column,
                                  pwl_eval(e->as.table, q), up, shift_of(product, m, other));
}

/* |acc| <= K * 128 * 128 < 2^31 */
static void add_row(const pwl_qgemm_product *product, size_t n, size_t m, size_t rows, int32_t acc[SIDE])
{
    for (size_t c = 0; c < product->weights->k; c += PWL_BLOCK) {
        const int8_t *const x = (const int8_t *)product->x.data + m * product->x.stride + c;
        int8_t w[PWL_BLOCK];
        for (size_t j = 0; j < PWL_BLOCK; j++)
            w[j] = (int8_t)pwl_qgemm_code(product->weights, n, c + j);
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < PWL_BLOCK; j++)
                acc[i] += w[j] * x[i * product->x.stride + j];
        }
    }
}

void pwl_qgemm_integer(const pwl_qgemm_product *product, const pwl_qgemm_epilogue *e)
{
    const int gated = e && e->as.gated;
    const size_t columns = pwl_qgemm_columns(product->weights->n, gated);
    for (size_t m = 0; m < product->m; m += SIDE) {
        const size_t rows = product->m - m < SIDE ? product->m - m : SIDE;
        for (size_t column = 0; column < columns; column++) {
            const size_t n = gated ? pwl_qgemm_gate_row(column) : column;
            int32_t acc[SIDE] = {0}, up[SIDE] = {0};
            add_row(product, n, m, rows, acc);
            if (gated)
                add_row(product, n + 8, m, rows, up);
            for (size_t i = 0; i < rows; i++)
                store_either(product, e, m + i, n, sum_of(product, n, acc[i]),
                             gated ? sum_of(product, n + 8, up[i]) : 0);
        }
    }
}

void pwl_qgemm_integer_of_sums(const pwl_qgemm_product *product, const pwl_qgemm_epilogue *e, const int32_t *sums,
                               size_t stride)
{
    const int gated = e && e->as.gated;
    const size_t columns = pwl_qgemm_columns(product->weights->n, gated);
    for (size_t m = 0; m < product->m; m++) {
        for (size_t column = 0; column < columns; column++) {
            const size_t n = gated ? pwl_qgemm_gate_row(column) : column;
            const int32_t *const row = sums + m * stride;
            store_either(product, e, m, n, pwl_qgemm_with_bias(product, product->activation, n, row[n]),
                         gated ? pwl_qgemm_with_bias(product, product->activation, n + 8, row[n + 8]) : 0);
        }
    }
}
