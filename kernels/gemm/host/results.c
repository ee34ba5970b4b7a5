/* SPDX-License-Identifier: Apache-2.0 */
#include "results.h"

#include <string.h>

#include "gemm/layout.h"

enum { ROWS = PWL_QGEMM_PANEL, SUMS = PWL_QGEMM_PASS_ROWS * ROWS };

/* The narrowest type that holds min to max, which are within 32 bits. */
static pwl_type type_of(int64_t min, int64_t max)
{
    if (min < 0)
        return min >= INT8_MIN && max <= INT8_MAX ? PWL_S8 : min >= INT16_MIN && max <= INT16_MAX ? PWL_S16 : PWL_S32;
    return max <= UINT8_MAX ? PWL_U8 : max <= UINT16_MAX ? PWL_U16 : PWL_U32;
}

pwl_type pwl_qgemm_codes_type(const pwl_qgemm_codes *codes)
{
    return type_of(codes->qmin_x, codes->qmax_x);
}

pwl_type pwl_qgemm_values_type(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes)
{
    if (product->activation->gated)
        return type_of(codes->qmin_y, codes->qmax_y);
    switch (product->y.type) {
    case PWL_QGEMM_S8:
        return PWL_S8;
    case PWL_QGEMM_U8:
        return PWL_U8;
    case PWL_QGEMM_S16:
        return PWL_S16;
    case PWL_QGEMM_U16:
        return PWL_U16;
    case PWL_QGEMM_S32:
        return PWL_S32;
    case PWL_QGEMM_U32:
        return PWL_U32;
    default:
        return type_of(codes->qmin_y, codes->qmax_y);
    }
}

/* Element `at` of an array of a type. */
static int64_t get(pwl_type type, const void *codes, size_t at)
{
    switch (type) {
    case PWL_S8:
        return ((const int8_t *)codes)[at];
    case PWL_U8:
        return ((const uint8_t *)codes)[at];
    case PWL_S16:
        return ((const int16_t *)codes)[at];
    case PWL_U16:
        return ((const uint16_t *)codes)[at];
    case PWL_S32:
        return ((const int32_t *)codes)[at];
    default:
        return ((const uint32_t *)codes)[at];
    }
}

static void put(pwl_type type, void *codes, size_t at, int64_t q)
{
    if (type == PWL_S8 || type == PWL_U8)
        ((uint8_t *)codes)[at] = (uint8_t)q;
    else if (type == PWL_S16 || type == PWL_U16)
        ((uint16_t *)codes)[at] = (uint16_t)q;
    else
        ((uint32_t *)codes)[at] = (uint32_t)q;
}

/* The columns of a panel that are stored, and the row of the panel that one comes from, or its gate does. */
static size_t columns_of(const pwl_qgemm_results *results, size_t n)
{
    const size_t rows = results->n - n < ROWS ? results->n - n : ROWS;
    return pwl_qgemm_columns(rows, results->product->activation && results->product->activation->gated);
}

static size_t row_of(const pwl_qgemm_results *results, size_t column)
{
    return results->e.as.gated ? pwl_qgemm_gate_row(column) : column;
}

/* Where a row of Y has the first column of the panel. */
static size_t place_of(const pwl_qgemm_results *results, size_t m, size_t n)
{
    const pwl_qgemm_product *const product = results->product;
    return m * product->y.stride + pwl_qgemm_columns(n, product->activation && product->activation->gated);
}

/* Values of all codes; both in the plan's types. */
static void look_up(const pwl_qgemm_results *results, const void *codes, void *values, size_t count)
{
    pwl_run(results->plan, codes, values, count);
}

/* -- Floats ----------------------------------------------------------------------------------------------------------
 */

static void store_floats(const pwl_qgemm_output *y, size_t at, const float v[ROWS], size_t count)
{
    if (y->type == PWL_QGEMM_F32) {
        memcpy((float *)y->data + at, v, count * sizeof *v);
    } else if (y->type == PWL_QGEMM_F16) {
        for (size_t j = 0; j < count; j++)
            ((uint16_t *)y->data)[at + j] = pwl_f16_from_f32(v[j]);
    } else {
        for (size_t j = 0; j < count; j++)
            ((uint16_t *)y->data)[at + j] = pwl_bf16_from_f32(v[j]);
    }
}

static void activate_floats(const pwl_qgemm_results *results, const float *y, size_t m, size_t rows, size_t n)
{
    const pwl_qgemm_epilogue *const e = &results->e;
    const size_t columns = columns_of(results, n);
    uint32_t codes[SUMS] = {0}, values[SUMS];
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++)
            put(results->codes, codes, i * columns + j, pwl_qgemm_code_of_f32(e, y[i * ROWS + row_of(results, j)]));
    }
    look_up(results, codes, values, rows * columns);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++)
            pwl_qgemm_store_activated(e, results->product->y.type, results->product->y.data,
                                      place_of(results, m + i, n) + j, get(results->values, values, i * columns + j),
                                      e->as.gated ? y[i * ROWS + pwl_qgemm_gate_row(j) + 8] : 0);
    }
}

static void put_floats(const pwl_qgemm_results *results, const float *sums, size_t m, size_t rows, size_t n)
{
    const pwl_qgemm_product *const product = results->product;
    const size_t count = results->n - n < ROWS ? results->n - n : ROWS;
    float bias[ROWS] = {0}, y[SUMS];
    for (size_t j = 0; j < count; j++)
        bias[j] = pwl_qgemm_bias_f32(product, product->activation, n + j);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < ROWS; j++)
            y[i * ROWS + j] = sums[i * ROWS + j] + bias[j];
    }
    if (product->activation) {
        activate_floats(results, y, m, rows, n);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        store_floats(&product->y, place_of(results, m + i, n), y + i * ROWS, count);
}

/* -- Integers --------------------------------------------------------------------------------------------------------
 */

/* v of rows of the weights: what is added to S, which has 33 bits with the bias. */
static void find_offsets(const pwl_qgemm_results *results, size_t n, size_t count, int64_t offset[ROWS])
{
    const pwl_qgemm_product *const product = results->product;
    for (size_t j = 0; j < count; j++)
        offset[j] = pwl_qgemm_bias_s32(product, product->activation, n + j) -
                    (int64_t)product->x.zero_point * results->w_sums[n + j];
}

static int32_t shift_of(const pwl_qgemm_results *results, size_t m, size_t n)
{
    return results->n_w[n] + results->product->x.n_x[m];
}

static void store_integers(const pwl_qgemm_results *results, const int32_t *s, const int64_t *offset, size_t m, size_t n,
                           size_t count)
{
    const pwl_qgemm_output *const y = &results->product->y;
    const size_t at = place_of(results, m, n);
    for (size_t j = 0; j < count; j++) {
        const int64_t v = s[j] + offset[j];
        if (y->type == PWL_QGEMM_S32)
            ((int32_t *)y->data)[at + j] = pwl_qgemm_store_s32(v);
        else
            ((int8_t *)y->data)[at + j] =
                pwl_qgemm_store_s8(v, (int64_t)shift_of(results, m, n + j) - y->n_y, y->zero_point);
    }
}

static void activate_integers(const pwl_qgemm_results *results, const int32_t *s, const int64_t *offset, size_t m,
                              size_t rows, size_t n)
{
    const pwl_qgemm_epilogue *const e = &results->e;
    const size_t columns = columns_of(results, n);
    uint32_t codes[SUMS] = {0}, values[SUMS];
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            const size_t row = row_of(results, j);
            put(results->codes, codes, i * columns + j,
                pwl_qgemm_code_of_sum(e, s[i * ROWS + row] + offset[row], shift_of(results, m + i, n + row)));
        }
    }
    look_up(results, codes, values, rows * columns);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            const size_t row = row_of(results, j) + (e->as.gated ? 8 : 0);
            pwl_qgemm_store_activated_sum(e, results->product->y.type, results->product->y.data,
                                          place_of(results, m + i, n) + j, get(results->values, values, i * columns + j),
                                          s[i * ROWS + row] + offset[row], shift_of(results, m + i, n + row));
        }
    }
}

static void put_integers(const pwl_qgemm_results *results, const int32_t *sums, size_t m, size_t rows, size_t n)
{
    const size_t count = results->n - n < ROWS ? results->n - n : ROWS;
    int64_t offset[ROWS];
    find_offsets(results, n, count, offset);
    if (results->product->activation) {
        activate_integers(results, sums, offset, m, rows, n);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        store_integers(results, sums + i * ROWS, offset, m + i, n, count);
}

void pwl_qgemm_put_results(const pwl_qgemm_results *results, const void *sums, size_t m, size_t rows, size_t n)
{
    if (results->product->scheme == PWL_QGEMM_INT8)
        put_integers(results, sums, m, rows, n);
    else
        put_floats(results, sums, m, rows, n);
}
