/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of softmax and log-softmax over one row, which whole rows, tiles of rows and weighted sums are made of. */
#ifndef PWL_SOFTMAX_ROW_H
#define PWL_SOFTMAX_ROW_H

#include <pwl/rows.h>

/* A row, or what a causal one has of it. */
typedef struct pwl_softmax_row {
    const pwl_softmax *softmax;
    const void *x;
    void *y;
    const uint8_t *mask; /* null: no place is masked */
    size_t at, length;   /* of the arrays: elements [at, at + length) */
} pwl_softmax_row;

/* What the places of a row share. */
typedef struct pwl_softmax_share {
    int32_t largest; /* qmax */
    pwl_row_factor reciprocal;
    int64_t log; /* shr(L W, h) */
} pwl_softmax_share;

static inline int pwl_softmax_masks(const pwl_softmax_row *of, size_t k)
{
    return of->mask && !of->mask[k];
}

/* qmax; INT32_MIN where every place is masked. */
int32_t pwl_softmax_row_largest(const pwl_softmax_row *of);

/* S: the sum of E[largest - q]. */
uint64_t pwl_softmax_row_sum(const pwl_softmax_row *of, int32_t largest);

/* What follows from a sum above 0. By a pointer: a copy of the whole would need memcpy(). */
void pwl_softmax_share_init(pwl_softmax_share *all, const pwl_softmax *softmax, int32_t largest, uint64_t sum);

/* The output of every place. */
void pwl_softmax_row_write(const pwl_softmax_row *of, const pwl_softmax_share *all);

/* That of a row of which every place is masked. */
void pwl_softmax_row_clear(const pwl_softmax_row *of);

#endif
