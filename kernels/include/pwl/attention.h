/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention by integers alone: one operator from codes of queries, keys and values to codes of contexts. Of a row of
 * queries, over the keys j that it sees:
 *
 *   A_j = sum q_c k_jc                             exact, in 32 bits
 *   d_j = min(255, shr(a (max A - A_j), 24))       how far below the row's largest, in steps of the exponentials
 *   E[d_j], S, W_c, o_c, y_c                       as docs/operators.md weighs values, which are divided after V
 *
 * That is pwl_softmax_weigh() of a row whose codes are the highest of their type less d_j, and pwl_requantise of its
 * sums: the same integers, whatever the order in which they are added. Nothing is calibrated for the scores: no range
 * of them clips at the top, and what lies more than 255 steps below weighs as much as what lies 255 below.
 *
 * With real scales s_q, s_k of codes and s_x of the exponentials, a = 2^24 s_q s_k t / s_x for scores that are t times
 * a product, as 1/sqrt(channels). docs/operators.md bounds what the real result is missed by.
 */
#ifndef PWL_ATTENTION_H
#define PWL_ATTENTION_H

#include <pwl/elements.h>
#include <pwl/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PWL_ATTENTION_FRACTION 15  /* F, at most: weights of 16 bits */
#define PWL_ATTENTION_CHANNELS 256 /* of a head, at most */

typedef struct pwl_attention {
    pwl_softmax softmax;       /* of codes of 8 bits; its output does not count */
    pwl_requantise requantise; /* of PWL_S32, which counts 2^-22 of the values' scale, to 8 bits; n is at least 32, zp_x
                                * 0 and zp_y within 2^20 of 0 */
    int32_t step;              /* a, 1..2^24 */
    int8_t zp_v;               /* of the values; queries and keys have none */
} pwl_attention;

/*
 * Arrays of codes, one head after the other, rows of `channels` codes: q and y have heads * share * queries rows, k and
 * v heads * keys. `share` heads of queries that follow each other have the same keys and values.
 */
typedef struct pwl_attention_call {
    const int8_t *q, *k, *v;
    void *y;
    size_t heads, share, queries, keys, channels;
    int is_causal; /* row r of a head sees its first `first + r + 1` keys, as pwl_rows has it; else all */
    size_t first;
} pwl_attention_call;

/* Proves an operator safe for every call. What pwl_softmax_check() and pwl_requantise_check() say, and PWL_ERR_FIELD
 * (the softmax is not one, or types), PWL_ERR_SHIFT (F, n), PWL_ERR_ZERO_POINT, PWL_ERR_CONSTANT (a). */
PWL_NODISCARD pwl_status pwl_attention_check(const pwl_attention *attention);

/*
 * As it is defined, in plain C. The operator has passed its check; PWL_ERR_NULL, PWL_ERR_ROW (keys: none, or more than
 * the softmax' longest row), PWL_ERR_SIZE (channels: none or too many, a share of 0, or arrays of 2^62 codes and more).
 * y overlaps no other array. Without queries or heads nothing is done.
 */
PWL_NODISCARD pwl_status pwl_attention_run(const pwl_attention *attention, const pwl_attention_call *call);

/* What a call is refused for, but for null arrays: PWL_OK, PWL_ERR_ROW or PWL_ERR_SIZE. */
PWL_NODISCARD pwl_status pwl_attention_check_call(const pwl_attention *attention, const pwl_attention_call *call);

/* d of an A so far below the largest: from 0 to 2^31. */
PWL_FN uint32_t pwl_attention_below(int32_t step, int64_t below)
{
    const int64_t d = pwl_row_shr(below * step, 24);
    return d < 255 ? (uint32_t)d : 255;
}

#ifdef __cplusplus
}
#endif
#endif
