/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PWL_EXP_SUM_H
#define PWL_EXP_SUM_H

#include <stddef.h>
#include <stdint.h>

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

#endif
