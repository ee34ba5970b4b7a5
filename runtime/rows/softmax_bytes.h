/* SPDX-License-Identifier: Apache-2.0 */
/* What ways of softmax share that look the exponentials and the results of 8-bit codes up. */
#ifndef PWL_SOFTMAX_BYTES_H
#define PWL_SOFTMAX_BYTES_H

#include <pwl/rows.h>

#include "../element.h"

static inline int pwl_softmax_is_of_bytes(const pwl_softmax *softmax)
{
    return softmax->kind == PWL_SOFTMAX && !softmax->exp_high && pwl_type_bytes_log2((pwl_type)softmax->out) == 0;
}

/* The sum of exp[largest - x], of differences modulo 256. Four sums, so that additions need not wait for each other. */
static inline uint64_t pwl_exp_sum(const uint32_t *exp, const uint8_t *x, size_t length, uint8_t largest)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    size_t k;
    for (k = 0; k + 4 <= length; k += 4) {
        a += exp[(uint8_t)(largest - x[k])];
        b += exp[(uint8_t)(largest - x[k + 1])];
        c += exp[(uint8_t)(largest - x[k + 2])];
        d += exp[(uint8_t)(largest - x[k + 3])];
    }
    for (; k < length; k++)
        a += exp[(uint8_t)(largest - x[k])];
    return a + b + c + d;
}

/* pwl_softmax_place() with a row's reciprocal, without its cases: sat(zero + (E factor + half >> shift)). */
typedef struct pwl_softmax_scale {
    int64_t factor, half;
    int32_t shift, zero;
} pwl_softmax_scale;

static inline pwl_softmax_scale pwl_softmax_scale_of(const pwl_softmax *softmax, pwl_row_factor reciprocal)
{
    /* Probabilities have steps of at most 2^-16, which 17 bits hold, so that a zero point far from them saturates as
     * one of 21 bits does. */
    const int32_t far = 1 << 20, zero = (int32_t)pwl_sat(softmax->zp_y, -far, far);
    const int n = reciprocal.shift - softmax->out_bits, is_zero = n > 62, shift = is_zero ? 1 : n;
    const pwl_softmax_scale scale = {is_zero ? 0 : reciprocal.factor, (int64_t)1 << (shift - 1), shift, zero};
    return scale;
}

#endif
