/* SPDX-License-Identifier: Apache-2.0 */
/* The scheme INT8, by integers alone. */
#include "qgemm_integer.h"
#include "qgemm_layout.h"
#include "qgemm_store.h"

enum { SIDE = 16 }; /* rows of X for which a weight is unpacked once */

static void store(const pwl_qgemm_product *product, size_t m, size_t n, int32_t acc)
{
    const int32_t sum_w = pwl_qgemm_row_sum(product->weights, n);
    const int32_t bias = product->bias ? ((const int32_t *)product->bias)[n] : 0;
    /* acc - z * sum_w has 32 bits, see the header; with bias it has 33. */
    const int64_t v = (int64_t)acc - (int64_t)product->x.zero_point * sum_w + bias;
    const int64_t shift = (int64_t)pwl_qgemm_row_exponent(product->weights, n) + product->x.n_x[m] - product->y.n_y;
    const size_t at = m * product->y.stride + n;
    if (product->y.type == PWL_QGEMM_S8)
        ((int8_t *)product->y.data)[at] = pwl_qgemm_store_s8(v, shift, product->y.zero_point);
    else
        ((int32_t *)product->y.data)[at] = pwl_qgemm_store_s32(v);
}

/* |acc| <= K * 128 * 128 < 2^31 */
static void add_block(const pwl_qgemm_product *product, size_t n, size_t block, size_t m, size_t rows,
                      int32_t acc[SIDE])
{
    const int8_t *const x = (const int8_t *)product->x.data + m * product->x.stride + block * PWL_BLOCK;
    int8_t w[PWL_BLOCK];
    for (size_t j = 0; j < PWL_BLOCK; j++)
        w[j] = (int8_t)pwl_qgemm_code(product->weights, n, block * PWL_BLOCK + j);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < PWL_BLOCK; j++)
            acc[i] += w[j] * x[i * product->x.stride + j];
    }
}

void pwl_qgemm_integer(const pwl_qgemm_product *product)
{
    for (size_t m = 0; m < product->m; m += SIDE) {
        const size_t rows = product->m - m < SIDE ? product->m - m : SIDE;
        for (size_t n = 0; n < product->weights->n; n++) {
            int32_t acc[SIDE] = {0};
            for (size_t b = 0; b < product->weights->k / PWL_BLOCK; b++)
                add_block(product, n, b, m, rows, acc);
            for (size_t i = 0; i < rows; i++)
                store(product, m + i, n, acc[i]);
        }
    }
}
