/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products as they are defined, in double. All schemes with floats are one: both operands are taken apart into numbers
 * whose products are exact in double, blocks of 32 columns with a scale each,
 *
 *     sum_b scale_w * scale_x * (sum_{k in b} w * x) - extra_w * extra_x
 *
 * A16: rounded halves, scales 1. A8: codes, and the blocks' d. With stored sums codes count from 0, and the extras are
 * 8 d_w and s. Of super-blocks the extras are dmin * least, and d_x times the sum of the codes of X; in Q6_K, whose
 * blocks of 32 have two scales, w is scale * (q - 32).
 * FP8: E4M3, scales 1; those of rows come after the sums.
 */
#include <math.h>
#include <string.h>

#include "check.h"
#include "fp8.h"
#include "input.h"
#include "integer.h"
#include "layout.h"
#include "store.h"
#include "super.h"
#include "weight.h"

enum { SIDE = 16 }; /* rows of each operand at a time */

/* What rows of X have in common with no other: f, or in halves f; the scale of FP8. */
typedef struct rows {
    int f[SIDE], in_halves[SIDE];
    float scale[SIDE];
} rows;

typedef struct operand {
    double v[SIDE][PWL_BLOCK], scale[SIDE], extra[SIDE];
} operand;

/* Blocks that are added in 14 bits at most, where they are not all of K. */
enum { WINDOW = 512 / PWL_BLOCK };

/* For a row of X and one of W: the sum, what the addends' magnitudes come to, and what is lost: halves, as subnormals,
 * or sums in 14 bits; of these also the least and the largest sum so far, and the magnitudes of the last blocks. */
typedef struct tile {
    double sum[SIDE][SIDE], magnitude[SIDE][SIDE], lost[SIDE][SIDE];
    double least[SIDE][SIDE], most[SIDE][SIDE], last[SIDE][SIDE][WINDOW];
} tile;

/* Up to SIDE results of row m, from column n on, and where they go; n is a multiple of SIDE. */
typedef void put_results(const pwl_qgemm_product *product, size_t m, size_t n, size_t count, const double value[SIDE],
                         const double bound[SIDE], const void *to);

static double power_of(double v, int exponent)
{
    return v * pwl_qgemm_power(exponent);
}

static void load_super(const pwl_qgemm_weights *weights, size_t row, size_t rows, size_t block, operand *w)
{
    const pwl_format format = pwl_qgemm_super_format(weights->format);
    for (size_t i = 0; i < rows; i++) {
        const void *const from = pwl_qgemm_super_at(weights, row + i, block * PWL_BLOCK);
        for (unsigned j = 0; j < PWL_BLOCK; j++) {
            const unsigned at = (unsigned)(block % (PWL_SUPER_BLOCK / PWL_BLOCK)) * PWL_BLOCK + j;
            const pwl_sub_block sub = pwl_sub_block_of(format, from, at / PWL_SUB_BLOCK);
            w->v[i][j] = (double)sub.scale * (pwl_super_code(format, from, at) - sub.zero);
            w->scale[i] = pwl_f32_from_f16(sub.d);
            w->extra[i] = (double)pwl_f32_from_f16(sub.dmin) * sub.least;
        }
    }
}

static void load_weights(const pwl_qgemm_product *product, size_t row, size_t rows, size_t block, operand *w)
{
    const pwl_qgemm_weights *const weights = product->weights;
    const int stored = product->sums == PWL_QGEMM_SUMS_STORED, bf16 = product->x.type == PWL_QGEMM_BF16;
    if (pwl_qgemm_is_super(weights->format)) {
        load_super(weights, row, rows, block, w);
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        if (pwl_qgemm_is_fp8(product)) {
            w->scale[i] = 1;
            w->extra[i] = 0;
            for (size_t j = 0; j < PWL_BLOCK; j++)
                w->v[i][j] = pwl_f32_from_e4m3(pwl_qgemm_weight_e4m3(weights, row + i, block * PWL_BLOCK + j));
            continue;
        }
        const uint16_t scale = pwl_qgemm_scale(weights, row + i, block);
        const double d = pwl_qgemm_scale_value(weights->format, scale);
        const int e = pwl_qgemm_row_exponent(weights, row + i);
        w->scale[i] = pwl_qgemm_is_a8(product) ? d : 1;
        w->extra[i] = stored ? 8 * d : 0;
        for (size_t j = 0; j < PWL_BLOCK; j++) {
            const int code = pwl_qgemm_code(weights, row + i, block * PWL_BLOCK + j);
            if (pwl_qgemm_is_a8(product)) {
                w->v[i][j] = stored ? code : pwl_qgemm_code_value(weights->format, code);
            } else {
                const uint16_t half = pwl_qgemm_weight(weights->format, code, scale, e, bf16);
                w->v[i][j] = bf16 ? pwl_f32_from_bf16(half) : pwl_f32_from_f16(half);
            }
        }
    }
}

static void load_input(const pwl_qgemm_product *product, size_t row, size_t count, size_t block, const rows *of,
                       operand *x)
{
    for (size_t i = 0; i < count; i++) {
        x->scale[i] = 1;
        x->extra[i] = 0;
        if (pwl_qgemm_is_a8(product)) {
            const pwl_block_q8_1 q = pwl_qgemm_input_block(product, row + i, block);
            x->scale[i] = pwl_f32_from_f16(q.d);
            if (product->sums == PWL_QGEMM_SUMS_STORED)
                x->extra[i] = pwl_f32_from_f16(q.s);
            for (size_t j = 0; j < PWL_BLOCK; j++) {
                x->v[i][j] = q.qs[j];
                if (pwl_qgemm_is_super(product->weights->format))
                    x->extra[i] += x->scale[i] * q.qs[j];
            }
            continue;
        }
        for (size_t j = 0; j < PWL_BLOCK; j++) {
            const size_t column = block * PWL_BLOCK + j;
            if (pwl_qgemm_is_fp8(product)) {
                x->v[i][j] = pwl_f32_from_e4m3(pwl_qgemm_input_e4m3(product, row + i, column, of->scale[i]));
                continue;
            }
            const double v = pwl_qgemm_input_element(&product->x, row + i, column);
            x->v[i][j] = product->x.type == PWL_QGEMM_F32
                             ? (double)pwl_f32_from_f16(pwl_round_f64(power_of(v, -of->f[i]), 10, 5))
                             : v;
        }
    }
}

static void add_block(const pwl_qgemm_product *product, const operand *x, size_t xs, const operand *w, size_t ws,
                      int halves, tile *t)
{
    const int each = !pwl_qgemm_is_a8(product) || halves;       /* every product is an addend */
    const int two = product->weights->format == PWL_QGEMM_Q6_K; /* sub-blocks of a block are */
    for (size_t i = 0; i < xs; i++) {
        for (size_t j = 0; j < ws; j++) {
            const double scale = x->scale[i] * w->scale[j], extra = x->extra[i] * w->extra[j];
            double dot = 0, dots = 0, first = 0;
            for (int k = 0; k < PWL_BLOCK; k++) {
                const double p = x->v[i][k] * w->v[j][k];
                if (two && k == PWL_SUB_BLOCK)
                    first = dot;
                dot += p;
                dots += p < 0 ? -p : p;
            }
            dot *= scale;
            first *= scale;
            dots *= scale < 0 ? -scale : scale;
            t->sum[i][j] += dot - extra;
            t->magnitude[i][j] += each ? dots : fabs(first) + fabs(dot - first) + fabs(extra);
        }
    }
}

/* A number as sums in 14 bits align it: none is below E4M3's least normal one. */
static double aligned(double v)
{
    return fmax(fabs(v), 0x1p-6);
}

/*
 * FP8: what tensor cores may lose of a block that was added last, see the header. Where K is cut, sums begin anywhere:
 * they are differences of two sums from the beginning.
 */
static void add_lost_bits(const pwl_qgemm_product *product, const operand *x, size_t i, const operand *w, size_t j,
                          size_t block, tile *t)
{
    const double unit = 0x1p-13;
    const size_t window = product->sums == PWL_QGEMM_SUMS_OF_512   ? WINDOW
                          : product->sums == PWL_QGEMM_SUMS_OF_128 ? 128 / PWL_BLOCK
                                                                   : 0;
    double dots = 0, largest = 0, most = 0;
    for (int k = 0; k < PWL_BLOCK; k++) {
        dots += fabs(x->v[i][k] * w->v[j][k]);
        largest = fmax(largest, aligned(x->v[i][k]) * aligned(w->v[j][k]));
    }
    t->least[i][j] = fmin(t->least[i][j], t->sum[i][j]);
    t->most[i][j] = fmax(t->most[i][j], t->sum[i][j]);
    t->last[i][j][block % WINDOW] = dots;
    for (size_t b = 0; b < window && b <= block; b++)
        most += t->last[i][j][(block - b) % WINDOW];
    if (window == 0)
        most = fmin(t->magnitude[i][j], t->most[i][j] - t->least[i][j] + t->lost[i][j]);
    most = fmax(most, largest);
    for (int k = 0; k < PWL_BLOCK; k++)
        t->lost[i][j] += fmin(fabs(x->v[i][k] * w->v[j][k]), unit * most);
    t->lost[i][j] += 4 * unit * most;
}

static void add_all_lost_bits(const pwl_qgemm_product *product, const operand *x, size_t xs, const operand *w,
                              size_t ws, size_t block, tile *t)
{
    for (size_t i = 0; i < xs; i++) {
        for (size_t j = 0; j < ws; j++)
            add_lost_bits(product, x, i, w, j, block, t);
    }
}

/* A8 in halves: by how much numbers over 2^exponent may be off where they become subnormal; codes over 1 do not. */
static double spacing_of(int exponent)
{
    return exponent ? pwl_qgemm_power(exponent - 25) : 0;
}

static void add_lost(const pwl_qgemm_product *product, const operand *x, size_t xs, const int x_exponents[SIDE],
                     const operand *w, size_t n, size_t ws, tile *t)
{
    for (size_t i = 0; i < xs; i++) {
        const double x_off = spacing_of(x_exponents[i]);
        for (size_t j = 0; j < ws; j++) {
            const double w_off = spacing_of(pwl_qgemm_row_exponent(product->weights, n + j));
            for (int k = 0; k < PWL_BLOCK; k++)
                t->lost[i][j] +=
                    (fabs(x->v[i][k] * x->scale[i]) + x_off) * w_off + fabs(w->v[j][k] * w->scale[j]) * x_off;
        }
    }
}

/* By how much a kernel may differ, see the header. */
static double bound_of(const pwl_qgemm_product *product, int halves, double magnitude, double lost, double bias, int e)
{
    const double k = (double)product->weights->k, u = 0x1p-23;
    const double of_blocks =
        pwl_qgemm_is_super(product->weights->format) ? 6 * k / PWL_BLOCK + 1 : 5 * k / PWL_BLOCK + 4;
    const double n = pwl_qgemm_is_a8(product) && !halves ? of_blocks : k + k / PWL_BLOCK + 4;
    double bound = n * u * (magnitude + (bias < 0 ? -bias : bias)) + n * 0x1p-149 * (1 + pwl_qgemm_power(e));
    if (halves)
        bound = bound * (1 + 0x1p-9) + (2 * 0x1p-11 + 0x1p-22) * magnitude + lost * (1 + 0x1p-9 + n * u);
    return bound;
}

/* FP8, of a sum and what it may have lost, the row's scales being multiplied to `scale`. */
static double fp8_bound_of(const pwl_qgemm_product *product, double magnitude, double lost, double bias, double scale,
                           double x_scale)
{
    const double n = (double)product->weights->k / 128 + 8;
    return lost * scale + n * 0x1p-23 * (magnitude * scale + fabs(bias)) + n * 0x1p-149 * (1 + fabs(x_scale));
}

static void finish_fp8(const pwl_qgemm_product *product, size_t m, size_t xs, size_t n, size_t ws, const rows *of,
                       const tile *t, put_results *put, const void *to)
{
    for (size_t i = 0; i < xs; i++) {
        double value[SIDE], bound[SIDE];
        for (size_t j = 0; j < ws; j++) {
            const double x_scale = of->scale[i], scale = pwl_qgemm_row_scale(product->weights, n + j) * x_scale;
            const double bias = pwl_qgemm_bias_f32(product, product->activation, n + j);
            value[j] = t->sum[i][j] * scale + bias;
            bound[j] = fp8_bound_of(product, t->magnitude[i][j], t->lost[i][j], bias, fabs(scale), x_scale);
        }
        put(product, m + i, n, ws, value, bound, to);
    }
}

static void finish(const pwl_qgemm_product *product, size_t m, size_t xs, size_t n, size_t ws, const int f[SIDE],
                   int halves, const tile *t, put_results *put, const void *to)
{
    for (size_t i = 0; i < xs; i++) {
        double value[SIDE], bound[SIDE];
        for (size_t j = 0; j < ws; j++) {
            const int e = pwl_qgemm_is_a8(product) ? 0 : pwl_qgemm_row_exponent(product->weights, n + j);
            const double bias = pwl_qgemm_bias_f32(product, product->activation, n + j);
            value[j] = power_of(t->sum[i][j], e + f[i]) + bias;
            bound[j] = bound_of(product, halves, power_of(t->magnitude[i][j], e + f[i]), t->lost[i][j], bias, e);
        }
        put(product, m + i, n, ws, value, bound, to);
    }
}

static void multiply(const pwl_qgemm_product *product, int halves, put_results *put, const void *to)
{
    const size_t n_all = product->weights->n, blocks = product->weights->k / PWL_BLOCK;
    const int fp8 = pwl_qgemm_is_fp8(product);
    for (size_t m = 0; m < product->m; m += SIDE) {
        const size_t xs = product->m - m < SIDE ? product->m - m : SIDE;
        rows of;
        for (size_t i = 0; i < xs; i++) {
            of.f[i] = pwl_qgemm_input_row_exponent(product, m + i);
            of.in_halves[i] = halves ? pwl_qgemm_input_halves_exponent(product, m + i) : 0;
            of.scale[i] = fp8 ? pwl_qgemm_input_scale(product, m + i) : 1;
        }
        for (size_t n = 0; n < n_all; n += SIDE) {
            const size_t ws = n_all - n < SIDE ? n_all - n : SIDE;
            tile t = {.sum = {{0}}};
            for (size_t b = 0; b < blocks; b++) {
                operand x, w;
                load_input(product, m, xs, b, &of, &x);
                load_weights(product, n, ws, b, &w);
                add_block(product, &x, xs, &w, ws, halves, &t);
                if (halves)
                    add_lost(product, &x, xs, of.in_halves, &w, n, ws, &t);
                if (fp8)
                    add_all_lost_bits(product, &x, xs, &w, ws, b, &t);
            }
            if (fp8)
                finish_fp8(product, m, xs, n, ws, &of, &t, put, to);
            else
                finish(product, m, xs, n, ws, of.f, halves, &t, put, to);
        }
    }
}

/* Rounded once to halves, unlike by pwl_qgemm_store(). */
static void put_rounded(const pwl_qgemm_product *product, size_t m, size_t n, size_t count, const double value[SIDE],
                        const double bound[SIDE], const void *to)
{
    const pwl_qgemm_output *const y = &product->y;
    (void)bound;
    (void)to;
    for (size_t j = 0; j < count; j++) {
        const size_t at = m * y->stride + n + j;
        if (y->type == PWL_QGEMM_F16 || y->type == PWL_QGEMM_BF16)
            ((uint16_t *)y->data)[at] =
                y->type == PWL_QGEMM_F16 ? pwl_round_f64(value[j], 10, 5) : pwl_round_f64(value[j], 7, 8);
        else
            pwl_qgemm_store_real(y, m, at, (float)value[j]);
    }
}

/* What an activation makes of column j, with the up that belongs to it: results of gate and up are 8 apart. */
static int64_t look_up(const pwl_qgemm_epilogue *e, const double value[SIDE], size_t j, float *up)
{
    *up = e->as.gated ? (float)value[j + SIDE / 2] : 0;
    return pwl_eval(e->as.table, pwl_qgemm_code_of_f32(e, (float)value[j]));
}

/* `to` is the pwl_qgemm_epilogue. */
static void put_activated(const pwl_qgemm_product *product, size_t m, size_t n, size_t count, const double value[SIDE],
                          const double bound[SIDE], const void *to)
{
    const pwl_qgemm_epilogue *const e = to;
    const size_t columns = pwl_qgemm_columns(count, e->as.gated);
    const size_t at = m * product->y.stride + pwl_qgemm_columns(n, e->as.gated);
    (void)bound;
    for (size_t j = 0; j < columns; j++) {
        float up;
        const int64_t q = look_up(e, value, j, &up);
        pwl_qgemm_store_activated(e, &product->y, m, at + j, q, up);
    }
}

/* A dynamic scale's place is raised to the largest finite magnitude of its row. `to` is the pwl_qgemm_epilogue, or
 * null. */
static void put_largest(const pwl_qgemm_product *product, size_t m, size_t n, size_t count, const double value[SIDE],
                        const double bound[SIDE], const void *to)
{
    const pwl_qgemm_epilogue *const e = to;
    float y[SIDE], amax;
    const size_t columns = pwl_qgemm_columns(count, e && e->as.gated);
    (void)n;
    (void)bound;
    for (size_t j = 0; j < columns; j++) {
        float up;
        y[j] = (float)value[j];
        if (e) {
            const int64_t q = look_up(e, value, j, &up);
            y[j] = pwl_qgemm_activated(e, q, up);
        }
    }
    amax = pwl_qgemm_amax_of(y, columns);
    product->y.scale[m] = amax > product->y.scale[m] ? amax : product->y.scale[m];
}

static void find_scales(const pwl_qgemm_product *product, const pwl_qgemm_epilogue *e)
{
    for (size_t m = 0; m < product->m; m++)
        product->y.scale[m] = 0;
    multiply(product, 0, put_largest, e);
    for (size_t m = 0; m < product->m; m++)
        product->y.scale[m] = pwl_e4m3_scale(product->y.scale[m]);
}

typedef struct interval {
    double *value, *bound;
} interval;

static void put_interval(const pwl_qgemm_product *product, size_t m, size_t n, size_t count, const double value[SIDE],
                         const double bound[SIDE], const void *to)
{
    const interval *const into = to;
    const size_t at = m * product->weights->n + n;
    memcpy(into->value + at, value, count * sizeof *value);
    memcpy(into->bound + at, bound, count * sizeof *bound);
}

pwl_qgemm_status pwl_qgemm_reference(const pwl_qgemm_product *product)
{
    pwl_qgemm_codes codes;
    pwl_qgemm_epilogue e;
    pwl_qgemm_status status = pwl_qgemm_host_codes(product, &codes);
    if (status == PWL_QGEMM_OK)
        status = pwl_qgemm_check_with(product, &codes);
    if (status != PWL_QGEMM_OK)
        return status;
    if (product->activation)
        e = pwl_qgemm_epilogue_of(product, &codes);
    if (product->scheme == PWL_QGEMM_INT8) {
        pwl_qgemm_integer(product, product->activation ? &e : NULL);
        return PWL_QGEMM_OK;
    }
    if (product->y.type == PWL_QGEMM_E4M3 && product->y.dynamic)
        find_scales(product, product->activation ? &e : NULL);
    multiply(product, 0, product->activation ? put_activated : put_rounded, &e);
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_store_sums(const pwl_qgemm_product *product, const int32_t *sums, size_t stride)
{
    pwl_qgemm_product of;
    pwl_qgemm_codes codes;
    pwl_qgemm_epilogue e;
    pwl_qgemm_status status = pwl_qgemm_host_codes(product, &codes);
    if (status != PWL_QGEMM_OK)
        return status;
    of = pwl_qgemm_without_x(product);
    status = pwl_qgemm_check_sums(&of, &codes, sums, stride);
    if (status != PWL_QGEMM_OK)
        return status;
    if (of.activation)
        e = pwl_qgemm_epilogue_of(&of, &codes);
    pwl_qgemm_integer_of_sums(&of, of.activation ? &e : NULL, sums, stride);
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_bound(const pwl_qgemm_product *product, int halves, double *value, double *bound)
{
    const pwl_qgemm_status status = pwl_qgemm_check(product);
    const interval into = {value, bound};
    if (status != PWL_QGEMM_OK)
        return status;
    if (product->scheme == PWL_QGEMM_INT8 ||
        (halves && ((product->scheme != PWL_QGEMM_W4A8 && product->scheme != PWL_QGEMM_W8A8) ||
                    product->sums == PWL_QGEMM_SUMS_STORED)))
        return PWL_QGEMM_ERR_SCHEME;
    if (!value || !bound)
        return PWL_QGEMM_ERR_NULL;
    multiply(product, halves, put_interval, &into);
    return PWL_QGEMM_OK;
}
