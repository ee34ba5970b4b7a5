/* SPDX-License-Identifier: Apache-2.0 */
/* What ways of LayerNorm and RMSNorm share: codes are summed in vectors as v = q - base, and where whole vectors end,
 * plain C goes on. */
#ifndef PWL_NORM_ROW_H
#define PWL_NORM_ROW_H

#include <pwl/rows.h>

#include "../element.h"

/* What is taken from codes so that signed words hold them. */
static inline int64_t pwl_norm_base(pwl_type in)
{
    return in == PWL_U16 ? 32768 : 0;
}

/* Codes and results are words, and both n u - A and t have 31 bits and a sign: factors of 32 bits suffice. */
static inline int pwl_norm_is_of_words(const pwl_norm *norm)
{
    const int64_t limit = (int64_t)1 << 31;
    return norm->in >= PWL_S16 && norm->out >= PWL_S16 && (int64_t)norm->length * UINT16_MAX < limit &&
           pwl_norm_most(norm) < (uint64_t)limit;
}

/* What the places of a row share, from the sums of v and of v^2 up to place `at`. Those of u = q - o are, with
 * p = o - base: sum u = sum v - n p, and sum u^2 = sum v^2 - 2 p sum v + n p^2. */
static inline pwl_norm_row pwl_norm_row_from(const pwl_norm *norm, pwl_type in, const void *x, size_t at, int64_t sum,
                                             int64_t squares)
{
    const int64_t base = pwl_norm_base(in), p = norm->zp_x - base, n = norm->length;
    for (; at < norm->length; at++) {
        const int64_t v = pwl_element_of(in, x, at) - base;
        sum += v;
        squares += v * v;
    }
    return pwl_norm_row_of(norm, sum - n * p, squares - 2 * p * sum + n * p * p);
}

/* The places of a row from `at` on. */
static inline void pwl_norm_write_from(const pwl_norm *norm, const pwl_norm_row *row, pwl_type in, const void *x,
                                       pwl_type out, void *y, size_t at)
{
    for (; at < norm->length; at++)
        pwl_set_element_of(out, y, at, pwl_norm_place(norm, row, pwl_element_of(in, x, at) - norm->zp_x, (uint32_t)at));
}

#endif
