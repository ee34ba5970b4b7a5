/* SPDX-License-Identifier: 0BSD */
/*
 * A cell of gated recurrent units (GRU) by integers alone: INT8 weights and inputs, INT16 gates and state. A step is
 *
 *   x', h'  = W_x x + b_x, W_h h + b_h                         products of pwl/qgemm.h, rows of r, z and n each
 *   r, z    = sigmoid(x'_r + h'_r), sigmoid(x'_z + h'_z)
 *   n       = tanh(x'_n + r * h'_n)
 *   h       = n + z * (h - n)
 *
 * Every scale is a power of two, so that shifts bring numbers from one to the next:
 *
 *   x       s8    2^-n_x, by calibration            r, z    s16   2^-15
 *   h       s16   2^-15; s8 2^-7 in the product     n       s16   2^-15
 *   x', h'  s32   2^-(n_w + n_x), 2^-(n_w + 7), n_w the row's own; from there to 2^-12 (r, z) and 2^-13 (n), which are
 *                 the scales that the tables of sigmoid and tanh take
 *
 * gru_unit() is what a CPU and a GPU compile: the same bits. This header needs no library and no float.
 */
#ifndef GRU_STEP_H
#define GRU_STEP_H

#include <stdint.h>

#include <pwl/eval.h>

enum {
    GRU_UNITS = 128,
    GRU_ROWS = 3 * GRU_UNITS /* of the weights: r of all units, z of all, n of all */
};

/* Scales 2^-n of codes. */
enum { GRU_N_SIGMOID = 12, GRU_N_TANH = 13, GRU_N_GATE = 15, GRU_N_H = 15, GRU_N_H8 = 7 };

/* The tables, their arrays where the cell runs: s16:2^-12 to s16:2^-15, s16:2^-13 to s16:2^-15. */
typedef struct gru_gates {
    pwl_table sigmoid, tanh;
} gru_gates;

/* The state as the product takes it. */
PWL_FN int8_t gru_h8(int16_t h)
{
    return (int8_t)pwl_sat(pwl_shr32(h, GRU_N_H - GRU_N_H8, PWL_HALF_UP), -128, 127);
}

/*
 * The state of unit j after a step from h, where v_x and v_h are the token's GRU_ROWS sums of the two products, and
 * shift_x and shift_h bring each row to its gate's input. |v_x|, |v_h| < 2^30, shifts are 0 to 30: see gru_quantise().
 */
PWL_FN int16_t gru_unit(const gru_gates *gates, const int32_t *v_x, const int32_t *v_h, const int8_t *shift_x,
                        const int8_t *shift_h, int j, int16_t h)
{
    int32_t x[3], u[3], r, z, n, part;
    for (int gate = 0; gate < 3; gate++) { /* < 2^30 each: their sum fits, and so does half a step of a shift */
        const int row = gate * GRU_UNITS + j;
        x[gate] = pwl_shr32(v_x[row], shift_x[row], PWL_HALF_UP);
        u[gate] = pwl_shr32(v_h[row], shift_h[row], PWL_HALF_UP);
    }
    r = (int32_t)pwl_eval_inline(&gates->sigmoid, x[0] + u[0]); /* -2^15 to 2^15 - 1, as every gate */
    z = (int32_t)pwl_eval_inline(&gates->sigmoid, x[1] + u[1]);
    /* Beyond 8 = 2^16 codes of 2^-13 tanh has long been 1: |part| <= 2^15 * (2^16 - 1) < 2^31 - 2^14 */
    part = r * (int32_t)pwl_sat(u[2], -65535, 65535);
    n = (int32_t)pwl_eval_inline(&gates->tanh, x[2] + pwl_shr32(part, GRU_N_GATE, PWL_HALF_UP));
    /* |h - n| < 2^16. A table may leave [0, 1) by some codes, and h' then [-1, 1). */
    part = z * (h - n);
    return (int16_t)pwl_sat(n + pwl_shr32(part, GRU_N_GATE, PWL_HALF_UP), INT16_MIN, INT16_MAX);
}

#endif
