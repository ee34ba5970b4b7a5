/* SPDX-License-Identifier: Apache-2.0 */
/* What ways to sum products ask of codes. */
#ifndef PWL_NETWORK_SUM_CODES_H
#define PWL_NETWORK_SUM_CODES_H

#include "sum_ways.h"

/* to[k] = code (at + k * step) less its zero point, of types and zero points with which int16_t holds that. */
void pwl_sum_widen(uint8_t type, const void *array, size_t at, size_t step, size_t count, int zero, int16_t *to);

/* How many products of one row and column 32 bits hold the sum of, whatever the codes; 0 where int16_t does not hold
 * the codes less their zero points. */
size_t pwl_sum_most(const pwl_network_sums *of);

#endif
