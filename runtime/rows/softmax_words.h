/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ways of softmax share that take the exponentials of 16-bit codes one by one, where vectors do the rest.
 *
 * E = (p + 2^(n-1)) >> n of a product p < 2^63 is ((p >> (n-1)) + 1) >> 1. This is the first of the two shifts: it
 * leaves 31 bits and a half, as E is at most 2^30. Where n is beyond 62, E is 0, and p >> 63 is.
 */
#ifndef PWL_SOFTMAX_WORDS_H
#define PWL_SOFTMAX_WORDS_H

#include <pwl/rows.h>

static inline int pwl_softmax_is_of_words(const pwl_softmax *softmax)
{
    return softmax->kind == PWL_SOFTMAX && softmax->exp_high;
}

typedef struct pwl_exp_words {
    const uint32_t *low;
    uint64_t high[256]; /* of 32 bits: products have 63 */
    uint8_t shift[256]; /* n - 1, or 63 */
} pwl_exp_words;

static inline void pwl_exp_words_init(pwl_exp_words *of, const pwl_softmax *softmax)
{
    int k;
    of->low = softmax->exp;
    for (k = 0; k < 256; k++) {
        of->high[k] = softmax->exp_high[k];
        of->shift[k] = softmax->exp_shift[k] > 62 ? 63 : (uint8_t)(softmax->exp_shift[k] - 1);
    }
}

/* p >> (n-1) of a difference, by its lower and its upper byte. */
static inline uint32_t pwl_exp_product(const pwl_exp_words *of, const uint8_t d[2])
{
    return (uint32_t)((of->high[d[1]] * of->low[d[0]]) >> of->shift[d[1]]);
}

/* Of `count` differences side by side. */
static inline void pwl_exp_products(const pwl_exp_words *of, const uint8_t *d, size_t count, uint32_t *e)
{
    size_t k;
    for (k = 0; k + 4 <= count; k += 4) {
        e[k] = pwl_exp_product(of, d + 2 * k);
        e[k + 1] = pwl_exp_product(of, d + 2 * k + 2);
        e[k + 2] = pwl_exp_product(of, d + 2 * k + 4);
        e[k + 3] = pwl_exp_product(of, d + 2 * k + 6);
    }
    for (; k < count; k++)
        e[k] = pwl_exp_product(of, d + 2 * k);
}

#endif
