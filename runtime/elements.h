/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of a table's arrays, whatever their storage, widened to int64_t. */
#ifndef PWL_ELEMENTS_H
#define PWL_ELEMENTS_H

#include <pwl/pwl.h>

/* Element i of an array of signed integers of 8 << log2_bytes bits. */
static inline int64_t element(const void *array, int log2_bytes, int32_t i)
{
    if (log2_bytes == 0)
        return ((const int8_t *)array)[i];
    if (log2_bytes == 1)
        return ((const int16_t *)array)[i];
    if (log2_bytes == 2)
        return ((const int32_t *)array)[i];
    return ((const int64_t *)array)[i];
}

static inline int64_t element_start(const pwl_table *table, int32_t i)
{
    const int64_t start = element(table->start, table->storage, i);
    /* An unsigned element is its two's complement reading modulo 2^width. */
    if (table->flags & PWL_FLAG_UNSIGNED_X)
        return (uint32_t)start & (UINT32_MAX >> (32 - (8 << table->storage)));
    return start;
}

static inline int32_t element_slope(const pwl_table *table, int32_t i)
{
    return (int32_t)element(table->q_b, table->storage, i);
}

/* term_c and y are stored twice as wide as q_b, a bias as wide as the accumulator: they differ for INT8 alone. */
static inline int64_t element_offset(const pwl_table *table, int32_t i)
{
    const int wide_bias = table->storage == PWL_INT8 && table->form == PWL_BIASED;
    return element(table->offset, table->storage + 1 + wide_bias, i);
}

#endif
