/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PWL_BLOCKS_CHECK_H
#define PWL_BLOCKS_CHECK_H

#include <pwl/blocks.h>

/* Whether blocks[rows][k_padded / 32] can be made of, or into, rows * k values of value_bytes each. */
pwl_blocks_status pwl_blocks_check(pwl_format format, pwl_rule rule, const void *values, size_t value_bytes,
                                   size_t rows, size_t k, size_t k_padded, const void *blocks);

#endif
