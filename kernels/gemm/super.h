/* SPDX-License-Identifier: Apache-2.0 */
/* Weights in super-blocks, which the host alone multiplies: packed, they lie as in files, [n][k / 256]. */
#ifndef PWL_QGEMM_SUPER_H
#define PWL_QGEMM_SUPER_H

#include <pwl/qgemm.h>

#include "blocks/super.h"

static inline int pwl_qgemm_is_super(pwl_qgemm_format format)
{
    return format == PWL_QGEMM_Q4_K || format == PWL_QGEMM_Q5_K || format == PWL_QGEMM_Q6_K;
}

/* The same format among those of blocks. */
static inline pwl_format pwl_qgemm_super_format(pwl_qgemm_format format)
{
    if (format == PWL_QGEMM_Q4_K)
        return PWL_Q4_K;
    return format == PWL_QGEMM_Q5_K ? PWL_Q5_K : PWL_Q6_K;
}

static inline size_t pwl_qgemm_super_bytes(pwl_qgemm_format format, size_t n, size_t k)
{
    return n * (k / PWL_SUPER_BLOCK) * pwl_format_bytes(pwl_qgemm_super_format(format));
}

/* The super-block of a row that has a column. */
static inline const void *pwl_qgemm_super_at(const pwl_qgemm_weights *weights, size_t row, size_t column)
{
    const size_t block = row * (weights->k / PWL_SUPER_BLOCK) + column / PWL_SUPER_BLOCK;
    return (const uint8_t *)weights->memory + block * pwl_format_bytes(pwl_qgemm_super_format(weights->format));
}

#endif
