/* SPDX-License-Identifier: Apache-2.0 */
/* The values of every code that an array of 8 or 16 bits can hold. */
#ifndef PWL_TABULATE_H
#define PWL_TABULATE_H

#include <pwl/pwl.h>

/* values[k] = pwl_eval(table, q) in the output's type, k being the bits of code q of the input's type, of which there
 * are 2^8 or 2^16. Of a checked table whose values the output's type holds. */
void pwl_tabulate(const pwl_table *table, pwl_type in, pwl_type out, void *values);

#endif
