/* SPDX-License-Identifier: Apache-2.0 */
#include "results.h"

#include <string.h>

#include "gemm/check.h"
#include "gemm/layout.h"
#include "gemm/weight.h"

enum { ROWS = PWL_QGEMM_PANEL, SUMS = PWL_QGEMM_PASS_ROWS * ROWS };

/* Elements of any type, of a pass. The widest come first: an initialiser sets those. */
typedef union elements {
    uint32_t words[SUMS];
    uint16_t halves[SUMS];
    uint8_t bytes[SUMS];
} elements;

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

/* A type of integers of Y. */
static pwl_type type_of_integers(pwl_qgemm_type type)
{
    switch (type) {
    case PWL_QGEMM_S8:
        return PWL_S8;
    case PWL_QGEMM_U8:
        return PWL_U8;
    case PWL_QGEMM_S16:
        return PWL_S16;
    case PWL_QGEMM_U16:
        return PWL_U16;
    case PWL_QGEMM_U32:
        return PWL_U32;
    default:
        return PWL_S32;
    }
}

pwl_type pwl_qgemm_values_type(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes)
{
    if (product->activation->gated || !pwl_qgemm_is_integer(product->y.type))
        return type_of(codes->qmin_y, codes->qmax_y);
    return type_of_integers(product->y.type);
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

/* Codes of 32 bits in a type that holds them, and back. */
static void narrow(pwl_type type, const int32_t *q, void *codes, size_t count)
{
    if (type == PWL_S8 || type == PWL_U8) {
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)codes)[i] = (uint8_t)q[i];
    } else if (type == PWL_S16 || type == PWL_U16) {
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)codes)[i] = (uint16_t)q[i];
    } else {
        memcpy(codes, q, count * sizeof *q);
    }
}

static void widen(pwl_type type, const void *codes, int32_t *q, size_t count)
{
    if (type == PWL_S8) {
        for (size_t i = 0; i < count; i++)
            q[i] = ((const int8_t *)codes)[i];
    } else if (type == PWL_S16) {
        for (size_t i = 0; i < count; i++)
            q[i] = ((const int16_t *)codes)[i];
    } else {
        for (size_t i = 0; i < count; i++)
            q[i] = (int32_t)get(type, codes, i);
    }
}

static size_t bytes_of(pwl_type type)
{
    return type == PWL_S8 || type == PWL_U8 ? 1 : type == PWL_S16 || type == PWL_U16 ? 2 : 4;
}

/* Where codes end: they are number + zero, clamped. */
typedef struct limits {
    int64_t zero, min, max;
} limits;

/* Whether all codes, with the zero point and without, are at most `most` in magnitude: then loops have no branches. */
static int are_small(const limits *of, int64_t most)
{
    return of->min - of->zero >= -most && of->max - of->zero <= most && of->zero >= -most && of->zero <= most;
}

/* pwl_code_of_real() of all. Of what is clamped to 2^22, 3 * 2^22 leaves the nearest integer, ties to even, when it is
 * added and taken away, as its last bit counts 1. */
static void codes_of_reals(const float *x, size_t count, float inverse, const limits *of, pwl_type type, void *codes)
{
    const float least = (float)(of->min - of->zero), most = (float)(of->max - of->zero), shift = 0x1.8p23f;
    const int32_t zero = (int32_t)of->zero;
    int32_t q[SUMS];
    if (!are_small(of, 1 << 22)) {
        for (size_t i = 0; i < count; i++)
            put(type, codes, i, pwl_code_of_real(x[i], inverse, of->zero, of->min, of->max));
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const float steps = x[i] * inverse, number = steps == steps ? steps : 0;
        const float upper = number > least ? number : least, v = upper < most ? upper : most;
        q[i] = (int32_t)((v + shift) - shift) + zero;
    }
    narrow(type, q, codes, count);
}

/* pwl_real_of_code() of all, which are within `range`. */
static void reals_of_codes(pwl_type type, const void *codes, size_t count, pwl_affine of, const limits *range, float *v)
{
    const int32_t zero = (int32_t)of.zero_point;
    int32_t q[SUMS];
    if (!are_small(range, INT32_MAX / 2)) {
        for (size_t i = 0; i < count; i++)
            v[i] = pwl_real_of_code(get(type, codes, i), of);
        return;
    }
    widen(type, codes, q, count);
    for (size_t i = 0; i < count; i++)
        v[i] = of.scale * (float)(q[i] - zero);
}

/* -- Where results go ------------------------------------------------------------------------------------------------
 */

static int is_gated(const pwl_qgemm_results *results)
{
    return results->product->activation && results->product->activation->gated;
}

/* The rows of a panel that there are; the columns of Y that they give. */
static size_t rows_of(const pwl_qgemm_results *results, size_t n)
{
    return results->n - n < ROWS ? results->n - n : ROWS;
}

static size_t columns_of(const pwl_qgemm_results *results, size_t n)
{
    return pwl_qgemm_columns(rows_of(results, n), is_gated(results));
}

/* The row of the panel that a column comes from; of a gated one, the gate's. */
static size_t row_of(const pwl_qgemm_results *results, size_t column)
{
    return is_gated(results) ? pwl_qgemm_gate_row(column) : column;
}

/* Where a row of Y has the first column of the panel. */
static size_t place_of(const pwl_qgemm_results *results, size_t m, size_t n)
{
    return m * results->product->y.stride + pwl_qgemm_columns(n, is_gated(results));
}

/* Rows of Y, of its type, from [rows][columns]. */
static void put_rows(const pwl_qgemm_results *results, const void *y, size_t m, size_t rows, size_t n)
{
    const size_t bytes = pwl_qgemm_type_bytes(results->product->y.type), row = columns_of(results, n) * bytes;
    for (size_t i = 0; i < rows; i++)
        memcpy((uint8_t *)results->product->y.data + place_of(results, m + i, n) * bytes, (const uint8_t *)y + i * row,
               row);
}

/* Floats [rows][columns] in Y's type. */
static void put_floats(const pwl_qgemm_results *results, const float *v, size_t m, size_t rows, size_t n)
{
    const size_t columns = columns_of(results, n), count = rows * columns;
    elements made;
    switch (results->product->y.type) {
    case PWL_QGEMM_F16:
        for (size_t i = 0; i < count; i++)
            made.halves[i] = pwl_f16_from_f32(v[i]);
        break;
    case PWL_QGEMM_BF16:
        for (size_t i = 0; i < count; i++)
            made.halves[i] = pwl_bf16_from_f32(v[i]);
        break;
    case PWL_QGEMM_E4M3:
        for (size_t i = 0; i < rows; i++) {
            const float inverse = pwl_e4m3_inverse(results->product->y.scale[m + i]);
            for (size_t j = i * columns; j < (i + 1) * columns; j++)
                made.bytes[j] = pwl_e4m3_code(v[j], inverse);
        }
        break;
    default:
        put_rows(results, v, m, rows, n);
        return;
    }
    put_rows(results, &made, m, rows, n);
}

/* The table's values of all codes, both in the plan's types. */
static void look_up(const pwl_qgemm_results *results, const void *codes, void *values, size_t count)
{
    pwl_run(results->plan, codes, values, count);
}

/* -- Floats ----------------------------------------------------------------------------------------------------------
 */

/* y of the gates, or of all rows, and of up: [rows][columns] each. */
static void add_bias(const pwl_qgemm_results *results, const float *sums, size_t rows, size_t n, float *y, float *up)
{
    const pwl_qgemm_product *const product = results->product;
    const size_t count = rows_of(results, n), columns = columns_of(results, n);
    float bias[ROWS];
    for (size_t j = 0; j < count; j++)
        bias[j] = pwl_qgemm_bias_f32(product, product->activation, n + j);
    for (size_t i = 0; i < rows; i++, sums += ROWS, y += columns, up += columns) {
        if (!is_gated(results)) {
            for (size_t j = 0; j < columns; j++)
                y[j] = sums[j] + bias[j];
            continue;
        }
        for (size_t j = 0; j < columns; j++) {
            const size_t row = pwl_qgemm_gate_row(j);
            y[j] = sums[row] + bias[row];
            up[j] = sums[row + 8] + bias[row + 8];
        }
    }
}

static void activate_floats(const pwl_qgemm_results *results, const float *y, const float *up, size_t m, size_t rows,
                            size_t n)
{
    const pwl_qgemm_epilogue *const e = &results->e;
    const size_t count = rows * columns_of(results, n);
    const int codes_alone = pwl_qgemm_is_integer(results->product->y.type);
    const limits of_x = {e->as.of_x.zero_point, e->qmin_x, e->qmax_x};
    const limits of_y = {e->as.of_y.zero_point, results->qmin_y, results->qmax_y};
    const limits of_out = {e->as.of_out.zero_point, e->codes.min, e->codes.max};
    elements codes = {{0}}, values;
    float v[SUMS];
    codes_of_reals(y, count, e->x_inverse, &of_x, results->codes, &codes);
    look_up(results, &codes, &values, count);
    if (codes_alone && !e->as.gated) {
        put_rows(results, &values, m, rows, n);
        return;
    }
    reals_of_codes(results->values, &values, count, e->as.of_y, &of_y, v);
    for (size_t i = 0; i < count && e->as.gated; i++)
        v[i] = v[i] * pwl_qgemm_up(&e->as, up[i]);
    if (!codes_alone) {
        put_floats(results, v, m, rows, n);
        return;
    }
    codes_of_reals(v, count, e->out_inverse, &of_out, type_of_integers(results->product->y.type), &codes);
    put_rows(results, &codes, m, rows, n);
}

static void put_float_sums(const pwl_qgemm_results *results, const float *sums, size_t m, size_t rows, size_t n)
{
    float y[SUMS], up[SUMS];
    add_bias(results, sums, rows, n, y, up);
    if (results->product->activation)
        activate_floats(results, y, up, m, rows, n);
    else
        put_floats(results, y, m, rows, n);
}

/* -- Integers --------------------------------------------------------------------------------------------------------
 */

void pwl_qgemm_begin_panel(pwl_qgemm_results *results, size_t n)
{
    const pwl_qgemm_product *const product = results->product;
    const int64_t most = INT32_MAX - (int64_t)product->weights->k * 128 * 128;
    pwl_qgemm_sums_of_panel *const of = &results->panel;
    if (product->scheme != PWL_QGEMM_INT8)
        return;
    *of = (pwl_qgemm_sums_of_panel){.n_w = results->n_w + n, .fits = 1};
    for (size_t j = 0; j < ROWS; j++) {
        if (j < rows_of(results, n))
            of->offset[j] = pwl_qgemm_bias_s32(product, product->activation, n + j) -
                            (int64_t)product->x.zero_point * results->w_sums[n + j];
        of->real_offset[j] = (double)of->offset[j];
        of->unit[j] = pwl_qgemm_power(-of->n_w[j]);
        of->fits &= of->offset[j] <= most && of->offset[j] >= -most;
    }
}

static int32_t exponent_of(const pwl_qgemm_results *results, const pwl_qgemm_sums_of_panel *of, size_t m, size_t row)
{
    return of->n_w[row] + results->product->x.n_x[m];
}

/* q = the code of v * 2^-(n_w + n_x - n), v saturated to 32 bits or not, for one row of X and every row of a panel.
 * Beyond 2^600 only its sign matters. */
static void codes_of_sums(const pwl_qgemm_results *results, const pwl_qgemm_sums_of_panel *of, const int32_t *s,
                          size_t m, int64_t n, int saturated, const limits *to, int32_t q[ROWS])
{
    const pwl_qgemm_rounding_of_row by = {saturated ? INT32_MIN : -0x1p40,
                                          saturated ? INT32_MAX : 0x1p40,
                                          pwl_qgemm_power(-(int)pwl_sat(results->product->x.n_x[m] - n, -600, 600)),
                                          (double)(to->min - to->zero),
                                          (double)(to->max - to->zero),
                                          (int32_t)to->zero};
    results->round(of, s, &by, q);
}

enum { SMALL_SUMS = 1 << 17 };

/* The code of one v that is not small. */
static int64_t code_of_sum(const pwl_qgemm_results *results, const pwl_qgemm_sums_of_panel *of, const int32_t *s,
                           size_t m, size_t row, int64_t n, const limits *to)
{
    return pwl_code_of_integer(pwl_qgemm_store_s32(s[row] + of->offset[row]), exponent_of(results, of, m, row) - n,
                               to->zero, to->min, to->max);
}

static void put_integers(const pwl_qgemm_results *results, const pwl_qgemm_sums_of_panel *of, const int32_t *s,
                         size_t m, size_t rows, size_t n)
{
    const pwl_qgemm_output *const y = &results->product->y;
    const limits to = {y->zero_point, INT8_MIN, INT8_MAX};
    const size_t columns = columns_of(results, n);
    elements made = {{0}};
    for (size_t i = 0; i < rows; i++, s += ROWS) {
        int32_t q[ROWS];
        if (y->type == PWL_QGEMM_S8) {
            codes_of_sums(results, of, s, m + i, y->n_y, 0, &to, q);
            narrow(PWL_S8, q, made.bytes + i * columns, columns);
        } else if (of->fits) {
            for (size_t j = 0; j < columns; j++)
                made.words[i * columns + j] = (uint32_t)s[j] + (uint32_t)of->offset[j];
        } else {
            for (size_t j = 0; j < columns; j++)
                made.words[i * columns + j] = (uint32_t)pwl_qgemm_store_s32(s[j] + of->offset[j]);
        }
    }
    put_rows(results, &made, m, rows, n);
}

/* Codes of the table, of up where `up` is 8: [rows][columns]. */
static void find_codes(const pwl_qgemm_results *results, const pwl_qgemm_sums_of_panel *of, const int32_t *s, size_t m,
                       size_t rows, size_t n, size_t up, int64_t shift, const limits *to, pwl_type type, void *codes)
{
    const size_t columns = columns_of(results, n);
    const int small = are_small(to, SMALL_SUMS);
    for (size_t i = 0; i < rows; i++, s += ROWS) {
        int32_t q[ROWS];
        if (small)
            codes_of_sums(results, of, s, m + i, shift, 1, to, q);
        if (small && !is_gated(results)) {
            narrow(type, q, (uint8_t *)codes + i * columns * bytes_of(type), columns);
            continue;
        }
        for (size_t j = 0; j < columns; j++) {
            const size_t row = row_of(results, j) + up;
            put(type, codes, i * columns + j, small ? q[row] : code_of_sum(results, of, s, m + i, row, shift, to));
        }
    }
}

static void activate_integers(const pwl_qgemm_results *results, const pwl_qgemm_sums_of_panel *of, const int32_t *s,
                              size_t m, size_t rows, size_t n)
{
    const pwl_qgemm_epilogue *const e = &results->e;
    const size_t count = rows * columns_of(results, n);
    const limits of_x = {e->as.of_x.zero_point, e->qmin_x, e->qmax_x};
    const limits of_up = {e->as.of_up.zero_point, INT16_MIN, INT16_MAX};
    elements codes = {{0}}, values, up = {{0}}, made = {{0}};
    find_codes(results, of, s, m, rows, n, 0, e->n_x, &of_x, results->codes, &codes);
    look_up(results, &codes, &values, count);
    if (!e->as.gated) {
        put_rows(results, &values, m, rows, n);
        return;
    }
    find_codes(results, of, s, m, rows, n, 8, e->n_up, &of_up, PWL_S32, &up);
    for (size_t i = 0; i < count; i++) {
        const int64_t gate = get(results->values, &values, i) - e->as.of_y.zero_point; /* the product: 35 + 17 bits */
        const int64_t q = pwl_code_of_integer(gate * ((int32_t)up.words[i] - e->as.of_up.zero_point), e->n_out,
                                              e->as.of_out.zero_point, e->codes.min, e->codes.max);
        put(type_of_integers(results->product->y.type), &made, i, q);
    }
    put_rows(results, &made, m, rows, n);
}

static void put_integer_sums(const pwl_qgemm_results *results, const int32_t *sums, size_t m, size_t rows, size_t n)
{
    if (results->product->activation)
        activate_integers(results, &results->panel, sums, m, rows, n);
    else
        put_integers(results, &results->panel, sums, m, rows, n);
}

void pwl_qgemm_put_results(const pwl_qgemm_results *results, const void *sums, size_t m, size_t rows, size_t n)
{
    if (results->product->scheme == PWL_QGEMM_INT8)
        put_integer_sums(results, sums, m, rows, n);
    else
        put_float_sums(results, sums, m, rows, n);
}
