/* SPDX-License-Identifier: Apache-2.0 */
/* Activations to apply to products, and Y as it is without fusion: from what is stored in F32 or S32. */
#ifndef QGEMM_ACTIVATIONS_H
#define QGEMM_ACTIVATIONS_H

#define MADE_MAX_SEGMENTS 128

#include <pwl/qgemm.h>
#include <pwl/real.h>

#include "../map/tables.h"
#include "cases.h"

static const struct y_kind {
    pwl_qgemm_type type;
    size_t bytes;
    int64_t min, max; /* of integers */
    const char *name;
} y_kinds[] = {
    {PWL_QGEMM_S8, 1, INT8_MIN, INT8_MAX, "s8"},
    {PWL_QGEMM_U8, 1, 0, UINT8_MAX, "u8"},
    {PWL_QGEMM_S16, 2, INT16_MIN, INT16_MAX, "s16"},
    {PWL_QGEMM_U16, 2, 0, UINT16_MAX, "u16"},
    {PWL_QGEMM_S32, 4, INT32_MIN, INT32_MAX, "s32"},
    {PWL_QGEMM_U32, 4, 0, UINT32_MAX, "u32"},
    {PWL_QGEMM_F32, 4, 0, 0, "fp32"},
    {PWL_QGEMM_F16, 2, 0, 0, "fp16"},
    {PWL_QGEMM_BF16, 2, 0, 0, "bf16"},
    {PWL_QGEMM_E4M3, 1, 0, 0, "e4m3"},
    {PWL_QGEMM_E4M3, 1, 0, 0, "e4m3 by dynamic scales"},
};

enum { Y_INTEGERS = 6, Y_DYNAMIC = 10 /* those that no group of a device, and no way of the host has */ };
enum { Y_E4M3 = Y_DYNAMIC - 1, Y_KINDS = sizeof y_kinds / sizeof y_kinds[0], MOST_Y_ROWS = 4096 };

/* Scales of rows of Y, as products have them, and as they are to be: given ones are of all sizes. */
static float y_scales[MOST_Y_ROWS], expected_scales[MOST_Y_ROWS];

/* Y of a kind, whose numbers of integers no activation uses. */
static inline pwl_qgemm_output y_of(const struct y_kind *y, void *data, size_t stride)
{
    const int dynamic = y - y_kinds == Y_DYNAMIC;
    const pwl_qgemm_output made = {data, stride, y->type, 1000, 1000, y_scales, dynamic};
    for (size_t m = 0; m < MOST_Y_ROWS; m++)
        y_scales[m] = expected_scales[m] = dynamic ? NAN : ldexpf(1 + 0.3f * (float)(m % 3), (int)(m % 17) - 12);
    return made;
}

/* A row in E4M3, the scale being given; or dynamic, to be put down. */
static inline void put_e4m3(const pwl_qgemm_output *y, size_t m, const float *v, size_t count, uint8_t *codes)
{
    float amax = 0, scale = y->dynamic ? 0 : y->scale[m];
    for (size_t j = 0; j < count && y->dynamic; j++)
        amax = isfinite(v[j]) ? fmaxf(amax, fabsf(v[j])) : amax;
    if (y->dynamic)
        scale = expected_scales[m] = fmaxf(amax / 448, 0x1p-126f);
    for (size_t j = 0; j < count; j++)
        codes[j] = pwl_e4m3_from_f32(v[j] * (1.0f / scale));
}

/* A table of a storage, form and rounding, folded or not, of at least `fewest` segments. */
static inline const pwl_table *draw_activation_table(struct made_table *made, uint64_t *state, int kind, int fewest)
{
    const pwl_storage storage = (pwl_storage)(kind % 3);
    if (storage == PWL_INT16 && random_bits(state) % 2)
        return draw_smooth_table(made, state, (pwl_form)(kind / 3 % 3), (pwl_rounding)(kind / 9 % 4), kind / 36 % 2,
                                 MADE_MAX_SEGMENTS);
    const int64_t codes = storage == PWL_INT8 ? 256 : storage == PWL_INT16 ? 65536 : INT64_C(1) << 32;
    (void)draw_table(made, state, storage, (pwl_form)(kind / 3 % 3), (pwl_rounding)(kind / 9 % 4), kind / 36 % 2, codes,
                     codes / fewest / 2 + 1, fewest);
    if (random_bits(state) % 2) { /* all codes of a type */
        const int64_t lowest = made->table.qmin_y < 0 ? -codes / 2 : 0;
        made->table.qmin_y = lowest;
        made->table.qmax_y = lowest + codes - 1;
        if (pwl_table_check(&made->table, NULL) != PWL_OK)
            abort();
    }
    return &made->table;
}

/* 2^n of at least v, v above 0 */
static inline float power_above(double v)
{
    int exponent;
    (void)frexp(v, &exponent);
    return (float)ldexp(1, exponent);
}

/*
 * Of values that reach to `most` and beyond on either side, in units of 2^-n in INT8, codes over all the table's range.
 * Scales are powers of two in INT8, and now and then elsewhere, so that there are ties.
 */
static inline pwl_qgemm_activation draw_activation(const pwl_table *table, int int8, int gated, double most,
                                                   const struct y_kind *y, uint64_t *state)
{
    const double range = (double)(table->qmax_x - table->qmin_x) + 1;
    const int64_t middle = table->qmin_x + (table->qmax_x - table->qmin_x) / 2;
    const int powers = int8 || random_bits(state) % 3 == 0;
    pwl_qgemm_activation as = {.table = table, .gated = gated};
    as.of_x.scale = powers ? power_above(most * 2 / range) : (float)(most * 2 / range);
    as.of_x.zero_point = middle + (random_bits(state) % 2 ? 1 : random_in(state, -3, 3));
    as.of_y.scale = powers ? 0x1p-9f : 0x1.234p-9f;
    as.of_y.zero_point = table->qmin_y + random_in(state, 0, 99);
    as.of_up.scale = power_above(most / 30000);
    as.of_up.zero_point = random_in(state, -999, 999);
    as.of_out.scale = as.of_y.scale * as.of_up.scale * (int8 ? ldexpf(1, (int)random_in(state, -3, 12)) : 0x1.8p9f);
    as.of_out.zero_point = (y->min + y->max) / 2 + random_in(state, -3, 3);
    uint64_t own = *state; /* so that what follows is drawn as ever */
    if (gated && !int8 && random_bits(&own) % 2) {
        as.up_limit = random_bits(&own) % 3 ? (float)(most / 2) : 0;
        as.up_plus = random_bits(&own) % 3 ? (float)random_in(&own, -3, 3) : 0;
    }
    return as;
}

/* A type of Y that a product may have; of the first `kinds`, but in INT8. */
static inline const struct y_kind *draw_y_kind(const pwl_table *table, int int8, int gated, size_t kinds,
                                               uint64_t *state)
{
    const struct y_kind *kind;
    do
        kind = &y_kinds[random_bits(state) % (int8 ? Y_INTEGERS : kinds)];
    while (!gated && kind - y_kinds < Y_INTEGERS && (table->qmin_y < kind->min || table->qmax_y > kind->max));
    return kind;
}

static inline void put_code(const struct y_kind *y, void *data, size_t at, int64_t q)
{
    if (y->bytes == 1)
        ((uint8_t *)data)[at] = (uint8_t)q;
    else if (y->bytes == 2)
        ((uint16_t *)data)[at] = (uint16_t)q;
    else
        ((uint32_t *)data)[at] = (uint32_t)q;
}

static inline void put_float(const struct y_kind *y, void *data, size_t at, float v)
{
    if (y->type == PWL_QGEMM_F32)
        ((float *)data)[at] = v;
    else
        ((uint16_t *)data)[at] = y->type == PWL_QGEMM_F16 ? pwl_f16_from_f32(v) : pwl_bf16_from_f32(v);
}

/* What 0 times infinity is: the bits of such a NaN are the machine's own. A test of devices defines OF_DEVICE first. */
static inline float born_nan(float v)
{
#ifdef OF_DEVICE
    const uint32_t bits = 0x7fffffff;
    memcpy(&v, &bits, sizeof v);
#endif
    return v;
}

/* Element `at` of Y from a y, and up's where they are gated. */
static inline void activate_float(const pwl_qgemm_activation *as, const struct y_kind *y, void *data, size_t at,
                                  float gate, float up)
{
    const pwl_table *const t = as->table;
    const int64_t q =
        pwl_eval(t, pwl_code_of_real(gate, 1.0f / as->of_x.scale, as->of_x.zero_point, t->qmin_x, t->qmax_x));
    float v = pwl_real_of_code(q, as->of_y);
    if (as->gated) {
        if (as->up_limit > 0 && fabsf(up) > as->up_limit)
            up = copysignf(as->up_limit, up);
        if (as->up_plus != 0)
            up += as->up_plus;
        v *= up;
        if (isnan(v) && !isnan(up))
            v = born_nan(v);
    }
    if (y - y_kinds >= Y_INTEGERS)
        put_float(y, data, at, v);
    else
        put_code(y, data, at,
                 as->gated ? pwl_code_of_real(v, 1.0f / as->of_out.scale, as->of_out.zero_point, y->min, y->max) : q);
}

/* 2^-log2 of what divides; of powers of two. */
static inline int shift_of(double scale)
{
    return -ilogb(scale);
}

/* The same in INT8, n and n_up being n_w + n_x. */
static inline void activate_sum(const pwl_qgemm_activation *as, const struct y_kind *y, void *data, size_t at,
                                int32_t gate, int n, int32_t up, int n_up)
{
    const pwl_table *const t = as->table;
    int64_t q = pwl_eval(
        t, pwl_code_of_integer(gate, n - shift_of((double)as->of_x.scale), as->of_x.zero_point, t->qmin_x, t->qmax_x));
    if (as->gated) {
        const int64_t q_u = pwl_code_of_integer(up, n_up - shift_of((double)as->of_up.scale), as->of_up.zero_point,
                                                INT16_MIN, INT16_MAX);
        const double units = (double)as->of_out.scale / (double)as->of_y.scale / (double)as->of_up.scale;
        q = pwl_code_of_integer((q - as->of_y.zero_point) * (q_u - as->of_up.zero_point), ilogb(units),
                                as->of_out.zero_point, y->min, y->max);
    }
    put_code(y, data, at, q);
}

/*
 * Rows of Y, `stride` elements apart, from those of the product without activation, [m][n] in F32 or S32; of INT8 n_w
 * of the rows of the weights too. Dynamic scales become the expected ones.
 */
static inline void activate(const pwl_qgemm_product *product, const struct y_kind *y, const void *values,
                            const int8_t *n_w, void *data, size_t stride)
{
    const pwl_qgemm_activation *const as = product->activation;
    const size_t n = product->weights->n, columns = as->gated ? n / 2 : n;
    const int is_e4m3 = y->type == PWL_QGEMM_E4M3;
    const struct y_kind *const floats = &y_kinds[Y_INTEGERS];
    float *const row = need(columns * sizeof *row);
    for (size_t m = 0; m < product->m; m++) {
        for (size_t j = 0; j < columns; j++) {
            const size_t gate = as->gated ? j / 8 * 16 + j % 8 : j, up = as->gated ? gate + 8 : gate;
            const size_t at = m * stride + j;
            if (product->scheme != PWL_QGEMM_INT8)
                activate_float(as, is_e4m3 ? floats : y, is_e4m3 ? row : data, is_e4m3 ? j : at,
                               ((const float *)values)[m * n + gate], ((const float *)values)[m * n + up]);
            else
                activate_sum(as, y, data, at, ((const int32_t *)values)[m * n + gate], n_w[gate] + product->x.n_x[m],
                             ((const int32_t *)values)[m * n + up], n_w[up] + product->x.n_x[m]);
        }
        if (is_e4m3)
            put_e4m3(&product->y, m, row, columns, (uint8_t *)data + m * stride);
    }
    free(row);
}

/* Half of the largest finite magnitude of a product's sums, F32, or S32 times `unit` in INT8. */
static inline double half_of_most(const pwl_qgemm_product *product, const void *values, double unit)
{
    double most = 0x1p-20;
    for (size_t i = 0; i < product->m * product->weights->n; i++) {
        const double v = product->scheme == PWL_QGEMM_INT8 ? ((const int32_t *)values)[i] * unit
                                                           : (double)((const float *)values)[i];
        if (isfinite(v) && fabs(v) > most)
            most = fabs(v);
    }
    return most / 2;
}

/* Bias of the rows of packed weights, of those of gate and up; 4 bytes each. */
static inline void interleave_bias(const void *gate, const void *up, size_t n, void *packed)
{
    for (size_t row = 0; row < n; row++)
        memcpy((char *)packed + 4 * row, (const char *)(row / 8 % 2 ? up : gate) + 4 * (row / 16 * 8 + row % 8), 4);
}

#endif
