/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluation of one code, for every storage, form and rounding, in little code. It is the specification: pwl_eval() of
 * the library is pwl_eval_inline() compiled once, CUDA kernels compile it for the device, and other code may where a
 * call costs too much. Every function assumes a table that passed pwl_table_check(), its arrays readable where it runs.
 */
#ifndef PWL_EVAL_H
#define PWL_EVAL_H

#include "fixed.h"
#include "pwl.h"

/* Element i of a table's array, of signed integers of 8 << log2_bytes bits. */
#ifdef PWL_TABLES_IN_FLASH
PWL_FN int64_t pwl_element(const void *array, int log2_bytes, int32_t i)
{
    const char *const at = (const char *)array + ((size_t)i << log2_bytes);
    if (log2_bytes == 0)
        return (int8_t)pgm_read_byte(at);
    if (log2_bytes == 1)
        return (int16_t)pgm_read_word(at);
    if (log2_bytes == 2)
        return (int32_t)pgm_read_dword(at);
    return (int64_t)((uint64_t)pgm_read_dword(at + 4) << 32 | pgm_read_dword(at));
}
#else
PWL_FN int64_t pwl_element(const void *array, int log2_bytes, int32_t i)
{
    if (log2_bytes == 0)
        return ((const int8_t *)array)[i];
    if (log2_bytes == 1)
        return ((const int16_t *)array)[i];
    if (log2_bytes == 2)
        return ((const int32_t *)array)[i];
    return ((const int64_t *)array)[i];
}
#endif

/* The table's storage, as far as the build leaves a choice. */
PWL_FN int pwl_storage_of(const pwl_table *table)
{
#if PWL_MOST_BITS == 8
    (void)table;
    return PWL_INT8;
#elif PWL_MOST_BITS == 16
    return table->storage == PWL_INT8 ? PWL_INT8 : PWL_INT16;
#else
    return table->storage;
#endif
}

PWL_FN int64_t pwl_element_start(const pwl_table *table, int32_t i)
{
    const int64_t start = pwl_element(table->start, pwl_storage_of(table), i);
    /* An unsigned element is its two's complement reading modulo 2^width. */
    if (table->flags & PWL_FLAG_UNSIGNED_X)
        return (uint32_t)start & (UINT32_MAX >> (32 - (8 << pwl_storage_of(table))));
    return start;
}

PWL_FN int32_t pwl_element_slope(const pwl_table *table, int32_t i)
{
    return (int32_t)pwl_element(table->q_b, pwl_storage_of(table), i);
}

PWL_FN int pwl_element_shift(const pwl_table *table, int32_t i)
{
    return (int)pwl_element(table->n, 0, i);
}

/* term_c and y are stored twice as wide as q_b, a bias as wide as the accumulator: they differ for INT8 alone. */
PWL_FN int64_t pwl_element_offset(const pwl_table *table, int32_t i)
{
    const int storage = pwl_storage_of(table), wide_bias = storage == PWL_INT8 && table->form == PWL_BIASED;
    return pwl_element(table->offset, storage + 1 + wide_bias, i);
}

/* Where a code is evaluated. */
typedef struct pwl_location {
    int64_t q; /* the clamped code, mirrored when it lies in the folded half */
    int32_t segment;
    int32_t mirrored;
} pwl_location;

/*
 * A clamped code has at most 33 bits, and a fold has zp_x in the code range, so that a mirrored code has at most 34.
 * start[0] <= q holds for each of them.
 */
PWL_FN pwl_location pwl_locate(const pwl_table *table, int64_t q_x)
{
    pwl_location at = {pwl_sat(q_x, table->qmin_x, table->qmax_x), 0, 0};
    int32_t end = table->segments;
    if ((table->flags & PWL_FLAG_FOLD) && at.q < table->zp_x) {
        at.q = 2 * table->zp_x - at.q;
        at.mirrored = 1;
    }
    while (end - at.segment > 1) {
        const int32_t middle = (at.segment + end) >> 1;
        if (pwl_element_start(table, middle) <= at.q)
            at.segment = middle;
        else
            end = middle;
    }
    return at;
}

/* As pwl_eval_unclamped(). */
PWL_FN int64_t pwl_eval_unclamped_inline(const pwl_table *table, int64_t q_x)
{
    const pwl_location at = pwl_locate(table, q_x);
    const int32_t i = at.segment;
    const int64_t X = at.q - (table->form == PWL_ANCHORED ? pwl_element_start(table, i) : table->zp_x);
    const int32_t q_b = pwl_element_slope(table, i);
    const int64_t offset = pwl_element_offset(table, i);
    int64_t raw;
    if (pwl_storage_of(table) == PWL_INT32)
        raw = pwl_line64(table->form, table->rounding, q_b, X, pwl_element_shift(table, i), offset);
    else
        raw = pwl_line32(table->form, table->rounding, q_b, (int32_t)X, pwl_element_shift(table, i), (int32_t)offset);
    return at.mirrored ? table->fold_sum - raw : raw;
}

/* As pwl_eval(). */
PWL_FN int64_t pwl_eval_inline(const pwl_table *table, int64_t q_x)
{
    return pwl_sat(pwl_eval_unclamped_inline(table, q_x), table->qmin_y, table->qmax_y);
}

#endif
