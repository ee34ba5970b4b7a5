/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gated pairs against the bound of docs/operators.md: products of X = 0, whose results are their biases, so that gate
 * and up are any numbers; SiLU and gpt-oss's gate by tables, in long double what they stand for.
 */
#include "../tap.h"
#include "cases.h"

#include <pwl/eval.h>
#include <pwl/real.h>

#include <pwl_silu_s16_1lsb.h>
#include <pwl_silu_s8.h>

enum { PAIRS = 32, N = 2 * PAIRS, K = 32, ROUNDS = 400 };

/* The largest slope of SiLU. */
static const long double slope = 1.0999L, eps = 0x1p-24L;

/* A table of SiLU stands for x sigmoid(1.702 x), gpt-oss's gate, where both of its scales are divided by 1.702; its
 * range then ends at 4.7, where gpt-oss's own ends at 7. */
static const struct gate {
    const char *name;
    const pwl_table *table;
    float step, factor; /* of its codes; what x is multiplied by */
} gates[] = {{"SiLU of 16 bits", &pwl_silu_s16_1lsb, 0x1p-12f, 1},
             {"SiLU of 8 bits", &pwl_silu_s8, 0x1p-5f, 1},
             {"gpt-oss's gate", &pwl_silu_s16_1lsb, 0x1p-12f / 1.702f, 1.702f}};

#define GATES (sizeof gates / sizeof gates[0])

static const struct y_type {
    const char *name;
    pwl_qgemm_type type;
    long double half_step; /* floats: of rounding, relatively; else 0 */
    int64_t min, max;
} y_types[] = {{"fp32", PWL_QGEMM_F32, 0, 0, 0},        {"fp16", PWL_QGEMM_F16, 0x1p-11L, 0, 0},
               {"bf16", PWL_QGEMM_BF16, 0x1p-8L, 0, 0}, {"s8", PWL_QGEMM_S8, 0, INT8_MIN, INT8_MAX},
               {"u8", PWL_QGEMM_U8, 0, 0, UINT8_MAX},   {"s16", PWL_QGEMM_S16, 0, INT16_MIN, INT16_MAX},
               {"u16", PWL_QGEMM_U16, 0, 0, UINT16_MAX}};

#define Y_TYPES (sizeof y_types / sizeof y_types[0])
enum { Y_FLOATS = 3 };

static long double clamped(long double v, long double low, long double high)
{
    return v < low ? low : v > high ? high : v;
}

/* act of a real number in the table's range, clipped to its output. */
static long double act(const struct gate *gate, long double x)
{
    const pwl_table *const t = gate->table;
    const long double in =
        clamped(x, (long double)gate->step * (t->qmin_x - t->zp_x), (long double)gate->step * (t->qmax_x - t->zp_x));
    const long double y = in / (1 + expl(-(long double)gate->factor * in));
    return clamped(y, (long double)gate->step * t->qmin_y, (long double)gate->step * t->qmax_y);
}

/* e: what the table is off by at most, in its LSB. */
static long double table_error(const struct gate *gate)
{
    long double worst = 0;
    for (int64_t q = gate->table->qmin_x; q <= gate->table->qmax_x; q++)
        worst = fmaxl(worst, fabsl((long double)pwl_eval(gate->table, q) -
                                   act(gate, (long double)gate->step * q) / (long double)gate->step));
    return worst;
}

static struct {
    pwl_qgemm_weights weights;
    float x[K], gate[PAIRS], up[PAIRS];
    int8_t q_x[K], n_x, n_w[N];
    int32_t v[PAIRS], w[PAIRS];
    uint8_t y[4 * PAIRS];
} p;

static long double y_at(const struct y_type *type, size_t k)
{
    switch (type->type) {
    case PWL_QGEMM_F32:
        return ((const float *)(const void *)p.y)[k];
    case PWL_QGEMM_F16:
        return pwl_f32_from_f16(((const uint16_t *)(const void *)p.y)[k]);
    case PWL_QGEMM_BF16:
        return pwl_f32_from_bf16(((const uint16_t *)(const void *)p.y)[k]);
    case PWL_QGEMM_S8:
        return ((const int8_t *)p.y)[k];
    case PWL_QGEMM_U8:
        return p.y[k];
    case PWL_QGEMM_S16:
        return ((const int16_t *)(const void *)p.y)[k];
    default:
        return ((const uint16_t *)(const void *)p.y)[k];
    }
}

/* Numbers of every size, near the ends of clamps too. */
static float draw_real(uint64_t *state)
{
    const uint64_t kind = random_bits(state) % 8;
    const float v = (float)random_in(state, -(1 << 20), 1 << 20) * 0x1p-20f;
    return kind == 0   ? v * 0x1p-30f
           : kind == 1 ? v * 100
           : kind == 2 ? 7 * (v < 0 ? -1.0f : 1.0f) + v * 0x1p-12f
                       : v * 9;
}

/* How much of the bound the worst result takes, and the largest error, in LSB of Y or relatively. */
struct worst {
    long double share, error;
};

static void take(struct worst *worst, long double error, long double bound)
{
    worst->share = fmaxl(worst->share, error / bound);
    worst->error = fmaxl(worst->error, error);
}

/* What the number of the gate's code, and so act, may be off by. */
static long double gate_error(const struct gate *gate, long double g, long double half)
{
    return slope * (long double)gate->step * (0.5L + half * fabsl(g) / (long double)gate->step);
}

static void check_floats(const struct gate *gate, const struct y_type *type, const pwl_qgemm_activation *as,
                         long double e, struct worst *worst)
{
    const long double s_t = as->of_y.scale;
    for (size_t k = 0; k < PAIRS; k++) {
        const long double limit = as->up_limit > 0 ? (long double)as->up_limit : HUGE_VALL;
        const long double u = clamped(p.up[k], -limit, limit) + (long double)as->up_plus, a = act(gate, p.gate[k]);
        const long double off = s_t * e + gate_error(gate, p.gate[k], 2.01L * eps);
        const long double P = fabsl(u) * (off + (fabsl(a) + off) * 4.01L * eps) + 0x1p-150L;
        if (type < y_types + Y_FLOATS) {
            const long double rounding = type->half_step * (fabsl(a * u) + P) + (type->half_step > 0 ? 0x1p-25L : 0);
            take(worst, fabsl(y_at(type, k) - a * u), P + rounding);
            continue;
        }
        const long double s_y = as->of_out.scale, zero = (long double)as->of_out.zero_point;
        const long double low = (long double)type->min, high = (long double)type->max;
        const long double D = fmaxl(fabsl(low - zero), fabsl(high - zero)) + 1;
        take(worst, fabsl(y_at(type, k) - clamped(a * u / s_y + zero, low, high)),
             0.5L + (1 + 2.01L * eps) * P / s_y + 2.01L * eps * D + 0x1p-150L);
    }
}

static void test_floats(const struct gate *gate, const struct y_type *type, float limit, float plus)
{
    static const float outs[] = {0.11f, 0.0007f, 0x1p-9f};
    const long double e = table_error(gate);
    struct worst worst = {0, 0};
    uint64_t state = 71;
    int good = 1;
    for (int round = 0; round < ROUNDS && good; round++) {
        const pwl_qgemm_activation as = {.table = gate->table,
                                         .of_x = {gate->step, gate->table->zp_x},
                                         .of_y = {gate->step, 0},
                                         .gated = 1,
                                         .of_out = {outs[round % 3], (type->min + type->max) / 2 + round % 5},
                                         .bias_up = p.up,
                                         .up_limit = limit,
                                         .up_plus = plus};
        const pwl_qgemm_product product = {PWL_QGEMM_W4A16,
                                           PWL_QGEMM_SUMS_EXACT,
                                           1,
                                           &p.weights,
                                           {p.x, K, PWL_QGEMM_F32, 0, NULL, NULL},
                                           p.gate,
                                           {p.y, PAIRS, type->type, 0, 0, NULL, 0},
                                           &as};
        for (size_t k = 0; k < PAIRS; k++) {
            p.gate[k] = draw_real(&state);
            p.up[k] = draw_real(&state);
        }
        good = pwl_qgemm_reference(&product) == PWL_QGEMM_OK;
        check_floats(gate, type, &as, e, &worst);
    }
    tap(good && worst.share <= 1 && worst.share > 0.5L, "%s to %s, up within %g plus %g: %.3Lf of the bound",
        gate->name, type->name, (double)limit, (double)plus, worst.share);
}

/* INT8: sums that count 2^-n of their own. */
static void check_integers(const struct gate *gate, const struct y_type *type, const pwl_qgemm_activation *as,
                           long double e, struct worst *worst)
{
    const long double s_t = as->of_y.scale, s_u = as->of_up.scale, s_y = as->of_out.scale;
    const long double zero = (long double)as->of_out.zero_point, up_zero = (long double)as->of_up.zero_point;
    for (size_t k = 0; k < PAIRS; k++) {
        const size_t row = k / 8 * 16 + k % 8;
        const long double g = ldexpl(p.v[k], -p.n_w[row] - p.n_x), w = ldexpl(p.w[k], -p.n_w[row + 8] - p.n_x);
        const long double u = clamped(w, s_u * (INT16_MIN - up_zero), s_u * (INT16_MAX - up_zero)), a = act(gate, g);
        const long double off = e + gate_error(gate, g, 0) / s_t;
        take(worst, fabsl(y_at(type, k) - clamped(a * u / s_y + zero, (long double)type->min, (long double)type->max)),
             0.5L + s_t * s_u / s_y * (off * fabsl(u / s_u) + (fabsl(a) / s_t + off) / 2));
    }
}

static void test_integers(const struct gate *gate, const struct y_type *type)
{
    const long double e = table_error(gate);
    struct worst worst = {0, 0};
    uint64_t state = 72;
    int good = 1;
    for (int round = 0; round < ROUNDS && good; round++) {
        const float up = ldexpf(1, -(int)random_in(&state, 9, 13));
        const pwl_qgemm_activation as = {
            .table = gate->table,
            .of_x = {gate->step, gate->table->zp_x},
            .of_y = {gate->step, 0},
            .gated = 1,
            .of_up = {up, random_in(&state, -900, 900)},
            .of_out = {ldexpf(gate->step * up, (int)random_in(&state, type->max < 256 ? 12 : 5, 20)),
                       (type->min + type->max) / 2 + round % 5},
            .bias_up = p.w};
        const pwl_qgemm_product product = {PWL_QGEMM_INT8,
                                           PWL_QGEMM_SUMS_EXACT,
                                           1,
                                           &p.weights,
                                           {p.q_x, K, PWL_QGEMM_S8, 0, &p.n_x, NULL},
                                           p.v,
                                           {p.y, PAIRS, type->type, 0, 0, NULL, 0},
                                           &as};
        for (size_t k = 0; k < PAIRS; k++) {
            const size_t row = k / 8 * 16 + k % 8;
            p.v[k] = (int32_t)ldexpf(draw_real(&state), p.n_w[row] + p.n_x);
            p.w[k] = (int32_t)ldexpf(draw_real(&state), p.n_w[row + 8] + p.n_x);
        }
        good = pwl_qgemm_reference(&product) == PWL_QGEMM_OK;
        check_integers(gate, type, &as, e, &worst);
    }
    tap(good && worst.share <= 1 && worst.share > 0.5L, "INT8, %s to %s: %.3Lf of the bound", gate->name, type->name,
        worst.share);
}

static void draw_rows(uint64_t *state)
{
    static int8_t q[N * K];
    size_t bytes;
    for (size_t k = 0; k < sizeof q; k++)
        q[k] = (int8_t)random_bits(state);
    for (size_t k = 0; k < N; k++)
        p.n_w[k] = (int8_t)random_in(state, 3, 11);
    p.n_x = 4;
    if (pwl_qgemm_weights_bytes(PWL_QGEMM_ROWS8, N, K, &bytes) != PWL_QGEMM_OK ||
        pack_codes(PWL_QGEMM_ROWS8, q, p.n_w, N, K, need(bytes), bytes, &p.weights) != PWL_QGEMM_OK)
        abort();
}

int main(void)
{
    uint64_t state = 70;
    uint8_t *const blocks = need(blocks_bytes(&qgemm_kinds[0], N, K));
    draw_blocks(&qgemm_kinds[0], blocks, N * K / PWL_BLOCK, -4, 1, &state);
    p.weights = pack_new(&qgemm_kinds[0], blocks, N, K);
    for (size_t g = 0; g < GATES; g++)
        for (size_t y = 0; y < Y_TYPES; y++)
            for (int clamps = 0; clamps < 3; clamps++)
                test_floats(&gates[g], &y_types[y], clamps > 0 ? 7 : 0, clamps > 1 ? 1 : 0);
    free_weights(&p.weights);
    free(blocks);
    draw_rows(&state);
    for (size_t g = 0; g < 2; g++)
        for (size_t y = Y_FLOATS; y < Y_TYPES; y++)
            test_integers(&gates[g], &y_types[y]);
    free_weights(&p.weights);
    return tap_end();
}
