/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How kernels bring sums of weighted values to codes: pwl_row_mean() and pwl_requantise_element(), of operators that
 * pwl_attention_check() has let pass, in few instructions.
 */
#ifndef PWL_ATTENTION_FINISH_H
#define PWL_ATTENTION_FINISH_H

#include <pwl/attention.h>

/* What the channels of a row share. */
typedef struct pwl_attention_finish {
    int64_t added, half; /* what rounds W, less the zero point's share of it; what rounds the product with R */
    int32_t factor;      /* R - 2^31 */
    int drop, shift;     /* bits of W, and then of the product: at most 31 */
} pwl_attention_finish;

PWL_FN pwl_attention_finish pwl_attention_finish_of(int32_t zp_v, uint32_t sum, pwl_row_factor reciprocal)
{
    const int length = pwl_bit_length(sum), drop = length > 23 ? length - 23 : 0;
    pwl_attention_finish finish;
    finish.drop = drop;
    finish.added = (((int64_t)1 << drop) >> 1) - (int64_t)zp_v * sum;
    finish.shift = drop ? 31 : length + 8;
    finish.half = (int64_t)1 << (finish.shift - 1);
    finish.factor = (int32_t)(reciprocal.factor - ((int64_t)1 << 31)); /* -2^30 - 1 to 1 */
    return finish;
}

/* The code of a sum W = 2^8 high + low of values as they are. W less its zero point is below 255 S, and below 2^31 with
 * its bits dropped; n is 32 at least. */
PWL_FN int32_t pwl_attention_code(const pwl_requantise *requantise, const pwl_attention_finish *finish, int32_t high,
                                  int32_t low)
{
    const int32_t w = (int32_t)(((int64_t)high * 256 + low + finish->added) >> finish->drop);
    const int64_t product = (int64_t)w * finish->factor + ((int64_t)w * ((int64_t)1 << 31) + finish->half);
    const int32_t o = (int32_t)(product >> finish->shift);
    const int64_t v = (int64_t)o * requantise->multiplier + ((int64_t)1 << (requantise->shift - 1));
    const int32_t y = ((int32_t)(v >> 32) >> (requantise->shift - 32)) + (int32_t)requantise->zp_y;
    return y < requantise->qmin_y ? requantise->qmin_y : y > requantise->qmax_y ? requantise->qmax_y : y;
}

#endif
