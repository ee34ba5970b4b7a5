/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of products on a device against the reference: within its bound, INT8 bit for bit. */
#ifndef QGEMM_EXPECTED_H
#define QGEMM_EXPECTED_H

#include "problems.h"

static inline double rounded(pwl_qgemm_type type, double v)
{
    if (type == PWL_QGEMM_F32)
        return (float)v;
    return type == PWL_QGEMM_F16 ? pwl_f32_from_f16(pwl_round_f64(v, 10, 5))
                                 : pwl_f32_from_bf16(pwl_round_f64(v, 7, 8));
}

static inline double get(pwl_qgemm_type type, const uint8_t *y, size_t at)
{
    uint16_t half;
    float v;
    if (type == PWL_QGEMM_F32) {
        memcpy(&v, y + 4 * at, sizeof v);
        return v;
    }
    memcpy(&half, y + 2 * at, sizeof half);
    return type == PWL_QGEMM_F16 ? pwl_f32_from_f16(half) : pwl_f32_from_bf16(half);
}

/* Some rows of a product, as the reference has them. */
struct expected {
    const size_t *rows;
    size_t count;
    double *value, *bound[2]; /* of kernels that multiply A8 exactly, or in halves */
};

/* INT8's go where the problem expects them. */
static inline struct expected expect_rows(const struct problem *p, const size_t *rows, size_t count)
{
    const pwl_qgemm_input *const x = &p->product.x;
    const size_t row = x->stride * element_bytes[x->type], results = count * p->product.weights->n * sizeof(double);
    const struct expected expected = {rows, count, need(results), {need(results), need(results)}};
    uint8_t *const some = need(count * row);
    int8_t *const n_x = need(count);
    pwl_qgemm_product product = p->product;
    for (size_t i = 0; i < count; i++) {
        memcpy(some + i * row, p->x + rows[i] * row, row);
        n_x[i] = p->n_x[rows[i]];
    }
    product.m = count;
    product.x.data = some;
    product.x.n_x = n_x;
    if (product.scheme == PWL_QGEMM_INT8)
        PWL(pwl_qgemm_reference(&product));
    else
        PWL(pwl_qgemm_bound(&product, 0, expected.value, expected.bound[0]));
    if (is_a8(&product) && product.sums == PWL_QGEMM_SUMS_EXACT)
        PWL(pwl_qgemm_bound(&product, 1, expected.value, expected.bound[1]));
    free(some);
    free(n_x);
    return expected;
}

static inline void free_expected(struct expected *expected)
{
    free(expected->value);
    free(expected->bound[0]);
    free(expected->bound[1]);
}

static inline int row_agrees(const struct problem *p, const struct expected *expected, int halves, size_t i)
{
    const pwl_qgemm_output *const y = &p->product.y;
    const size_t n_all = p->product.weights->n, element = element_bytes[y->type], y_row = y->stride * element;
    const uint8_t *const got_row = p->y + p->y_offset + expected->rows[i] * y_row;
    if (p->product.scheme == PWL_QGEMM_INT8)
        return memcmp(p->expected + i * y_row, got_row, n_all * element) == 0;
    for (size_t n = 0; n < n_all; n++) {
        const double got = get(y->type, got_row, n), v = expected->value[i * n_all + n];
        const double off = expected->bound[halves][i * n_all + n];
        const int within = got >= rounded(y->type, v - off) && got <= rounded(y->type, v + off);
        if (isnan(v) || isinf(v) ? !(isnan(v) ? isnan(got) : got == v) : !within) {
            printf("# column %zu: %a, not %a +- %a\n", n, got, v, off);
            return 0;
        }
    }
    return 1;
}

/* A kernel, twice with the same bits. */
static inline int agrees_with(const struct problem *p, pwl_qgemm_kernel kernel, const struct expected *expected)
{
    compute(p, kernel, p->y);
    compute(p, kernel, p->again);
    int good = is_guarded(p) && memcmp(p->y, p->again, p->y_bytes + 2 * p->y_offset) == 0;
    for (size_t i = 0; i < expected->count && good; i++) {
        good = row_agrees(p, expected, is_halved(kernel, &p->product), i);
        if (!good)
            printf("# row %zu\n", expected->rows[i]);
    }
    if (!good)
        printf("# %s, M = %zu, N = %zu, K = %zu, X %s + %zu, Y %s + %zu\n", pwl_qgemm_kernel_name(kernel), p->product.m,
               p->product.weights->n, p->product.weights->k, types[p->product.x.type], p->product.x.stride,
               types[p->product.y.type], p->product.y.stride);
    return good;
}

static inline pwl_qgemm_type draw_type_x(const struct scheme *scheme, uint64_t *state)
{
    if (scheme->scheme == PWL_QGEMM_INT8)
        return PWL_QGEMM_S8;
    return (pwl_qgemm_type)(random_bits(state) % (scheme->a8 ? 4 : 3));
}

static inline pwl_qgemm_type draw_type_y(const struct scheme *scheme, uint64_t *state)
{
    if (scheme->scheme == PWL_QGEMM_INT8)
        return random_bits(state) % 2 ? PWL_QGEMM_S8 : PWL_QGEMM_S32;
    return (pwl_qgemm_type)(random_bits(state) % 3);
}

/* Stored sums, every third time where they exist. */
static inline pwl_qgemm_sums draw_sums(const struct scheme *scheme, uint64_t *state)
{
    return scheme->scheme == PWL_QGEMM_W4A8 && random_bits(state) % 3 == 0 ? PWL_QGEMM_SUMS_STORED
                                                                           : PWL_QGEMM_SUMS_EXACT;
}

#endif
