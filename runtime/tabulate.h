/* SPDX-License-Identifier: Apache-2.0 */
/* The values of codes in order. */
#ifndef PWL_TABULATE_H
#define PWL_TABULATE_H

#include <pwl/pwl.h>

/* values[k] = pwl_eval(table, q) in the output's type for q from `lowest` to `highest`, k being q modulo their number,
 * a power of two up to 2^16. Of a checked table whose values the output's type holds. */
void pwl_tabulate(const pwl_table *table, int64_t lowest, int64_t highest, pwl_type out, void *values);

#endif
