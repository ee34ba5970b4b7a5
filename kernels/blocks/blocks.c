/* SPDX-License-Identifier: Apache-2.0 */
/* Block formats in plain C, block by block; block.h has the arithmetic. */
#include <pwl/blocks.h>

#include "block.h"
#include "check.h"
#include "q8.h"
#include "super.h"

static const struct {
    uint8_t bytes, align;
    uint8_t codes;     /* offset of qs; not of super-blocks */
    uint16_t elements; /* of a block */
} formats[] = {
    [PWL_Q4_0] = {sizeof(pwl_block_q4_0), _Alignof(pwl_block_q4_0), offsetof(pwl_block_q4_0, qs), PWL_BLOCK},
    [PWL_Q8_0] = {sizeof(pwl_block_q8_0), _Alignof(pwl_block_q8_0), offsetof(pwl_block_q8_0, qs), PWL_BLOCK},
    [PWL_Q8_1] = {sizeof(pwl_block_q8_1), _Alignof(pwl_block_q8_1), offsetof(pwl_block_q8_1, qs), PWL_BLOCK},
    [PWL_MXFP4] = {sizeof(pwl_block_mxfp4), _Alignof(pwl_block_mxfp4), offsetof(pwl_block_mxfp4, qs), PWL_BLOCK},
    [PWL_Q4_K] = {sizeof(pwl_block_q4_k), _Alignof(pwl_block_q4_k), 0, PWL_SUPER_BLOCK},
    [PWL_Q5_K] = {sizeof(pwl_block_q5_k), _Alignof(pwl_block_q5_k), 0, PWL_SUPER_BLOCK},
    [PWL_Q6_K] = {sizeof(pwl_block_q6_k), _Alignof(pwl_block_q6_k), 0, PWL_SUPER_BLOCK},
};

_Static_assert(sizeof(pwl_block_q4_0) == 18 && sizeof(pwl_block_q8_0) == 34 && sizeof(pwl_block_q8_1) == 36 &&
                   sizeof(pwl_block_mxfp4) == 17 && sizeof(pwl_block_q4_k) == 144 && sizeof(pwl_block_q5_k) == 176 &&
                   sizeof(pwl_block_q6_k) == 210,
               "blocks have no padding");

/* block.h has one code at a time; here they go to their places. */
static void store(pwl_format format, pwl_scale scale, uint16_t s, const int q[PWL_BLOCK], uint8_t *block)
{
    uint8_t *const qs = block + formats[format].codes;
    if (format == PWL_MXFP4)
        block[0] = (uint8_t)scale.stored;
    else
        memcpy(block, &scale.stored, sizeof scale.stored);
    if (format == PWL_Q8_1)
        memcpy(block + offsetof(pwl_block_q8_1, s), &s, sizeof s);
    if (format == PWL_Q8_0 || format == PWL_Q8_1) {
        for (int j = 0; j < PWL_BLOCK; j++)
            qs[j] = (uint8_t)q[j];
    } else {
        for (int j = 0; j < PWL_BLOCK / 2; j++)
            qs[j] = (uint8_t)(q[j] | q[j + PWL_BLOCK / 2] << 4);
    }
}

static void quantise_block(pwl_format format, pwl_rule rule, const float v[PWL_BLOCK], uint8_t *block)
{
    const pwl_extent extent = pwl_extent_of(v);
    const pwl_scale scale = pwl_scale_of(format, rule, extent);
    int q[PWL_BLOCK], sum_q = 0;
    float sum_x = 0;
    for (int j = 0; j < PWL_BLOCK; j++) {
        q[j] = pwl_code_of(format, rule, scale, extent.finite ? v[j] : 0);
        sum_q += q[j];
        sum_x += v[j];
    }
    store(format, scale, pwl_sum_of(rule, extent, scale, sum_q, sum_x), q, block);
}

static void dequantise_super_block(pwl_format format, const uint8_t *block, float v[PWL_SUPER_BLOCK])
{
    pwl_sub_block sub;
    for (unsigned j = 0; j < PWL_SUPER_BLOCK; j++) {
        if (j % PWL_SUB_BLOCK == 0)
            sub = pwl_sub_block_of(format, block, j / PWL_SUB_BLOCK);
        v[j] = pwl_sub_block_value(&sub, pwl_super_code(format, block, j));
    }
}

static void dequantise_block(pwl_format format, const uint8_t *block, float v[PWL_BLOCK])
{
    const uint8_t *const qs = block + formats[format].codes;
    uint16_t stored = block[0];
    float unit;
    if (format != PWL_MXFP4)
        memcpy(&stored, block, sizeof stored);
    unit = pwl_unit_of(format, stored);
    for (int j = 0; j < PWL_BLOCK; j++) {
        if (format == PWL_Q8_0 || format == PWL_Q8_1)
            v[j] = pwl_value_of(format, unit, (int8_t)qs[j]);
        else
            v[j] = pwl_value_of(format, unit, qs[j % 16] >> 4 * (j / 16) & 15);
    }
}

size_t pwl_format_bytes(pwl_format format)
{
    return (unsigned)format <= PWL_Q6_K ? formats[format].bytes : 0;
}

pwl_blocks_status pwl_blocks_bytes(pwl_format format, size_t rows, size_t k_padded, size_t *bytes)
{
    const size_t block = pwl_format_bytes(format), elements = block ? formats[format].elements : 1;
    const size_t row = k_padded / elements * block; /* at most 36 / 32 k_padded */
    if (!bytes)
        return PWL_BLOCKS_ERR_NULL;
    *bytes = 0;
    if (!block)
        return PWL_BLOCKS_ERR_FORMAT;
    if (k_padded % elements || k_padded / elements > SIZE_MAX / block || (row && rows > SIZE_MAX / row))
        return PWL_BLOCKS_ERR_SHAPE;
    *bytes = rows * row;
    return PWL_BLOCKS_OK;
}

pwl_blocks_status pwl_blocks_check(pwl_format format, pwl_rule rule, const void *values, size_t value_bytes,
                                   size_t rows, size_t k, size_t k_padded, const void *blocks)
{
    size_t bytes;
    const pwl_blocks_status status = pwl_blocks_bytes(format, rows, k_padded, &bytes);
    if (status != PWL_BLOCKS_OK)
        return status;
    if ((unsigned)rule > PWL_RULE_DOCUMENT || (format == PWL_MXFP4 && rule == PWL_RULE_DOCUMENT))
        return PWL_BLOCKS_ERR_RULE;
    if (k > k_padded || (rows && k > SIZE_MAX / value_bytes / rows))
        return PWL_BLOCKS_ERR_SHAPE;
    if ((!blocks && bytes) || (!values && rows && k))
        return PWL_BLOCKS_ERR_NULL;
    if ((uintptr_t)blocks % formats[format].align || (uintptr_t)values % value_bytes)
        return PWL_BLOCKS_ERR_ALIGN;
    return PWL_BLOCKS_OK;
}

pwl_blocks_status pwl_quantise(pwl_format format, pwl_rule rule, const float *x, size_t rows, size_t k, size_t k_padded,
                               void *blocks)
{
    const pwl_blocks_status status = pwl_blocks_check(format, rule, x, sizeof *x, rows, k, k_padded, blocks);
    uint8_t *block = blocks;
    if (status != PWL_BLOCKS_OK || pwl_is_super(format))
        return status != PWL_BLOCKS_OK ? status : PWL_BLOCKS_ERR_FORMAT;
    for (size_t r = 0; r < rows; r++) {
        size_t i = 0;
        if (format == PWL_Q8_1 && rule == PWL_RULE_DEFAULT) { /* but for a block that is padded */
            const size_t whole = k / PWL_BLOCK;
            pwl_q8_1(x + r * k, whole, (pwl_block_q8_1 *)(void *)block);
            block += whole * sizeof(pwl_block_q8_1);
            i = whole * PWL_BLOCK;
        }
        for (; i < k_padded; i += PWL_BLOCK, block += formats[format].bytes) {
            float v[PWL_BLOCK] = {0};
            if (i + PWL_BLOCK <= k)
                memcpy(v, x + r * k + i, sizeof v);
            else if (i < k)
                memcpy(v, x + r * k + i, (k - i) * sizeof *v);
            quantise_block(format, rule, v, block);
        }
    }
    return PWL_BLOCKS_OK;
}

/* The values of one block go where `put` says, those of the padding nowhere. */
typedef void put_value(void *y, size_t i, float v);

static void put_f32(void *y, size_t i, float v)
{
    ((float *)y)[i] = v;
}

static void put_f16(void *y, size_t i, float v)
{
    ((uint16_t *)y)[i] = pwl_f16_from_f32(v);
}

static void dequantise(pwl_format format, const uint8_t *block, size_t rows, size_t k, size_t k_padded, put_value *put,
                       void *y)
{
    const size_t elements = formats[format].elements;
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < k_padded; i += elements, block += formats[format].bytes) {
            float v[PWL_SUPER_BLOCK];
            if (pwl_is_super(format))
                dequantise_super_block(format, block, v);
            else
                dequantise_block(format, block, v);
            for (size_t j = 0; j < elements && i + j < k; j++)
                put(y, r * k + i + j, v[j]);
        }
    }
}

pwl_blocks_status pwl_dequantise(pwl_format format, const void *blocks, size_t rows, size_t k, size_t k_padded,
                                 float *y)
{
    const pwl_blocks_status status =
        pwl_blocks_check(format, PWL_RULE_DEFAULT, y, sizeof *y, rows, k, k_padded, blocks);
    if (status == PWL_BLOCKS_OK)
        dequantise(format, blocks, rows, k, k_padded, put_f32, y);
    return status;
}

pwl_blocks_status pwl_dequantise_f16(pwl_format format, const void *blocks, size_t rows, size_t k, size_t k_padded,
                                     uint16_t *y)
{
    const pwl_blocks_status status =
        pwl_blocks_check(format, PWL_RULE_DEFAULT, y, sizeof *y, rows, k, k_padded, blocks);
    if (status == PWL_BLOCKS_OK)
        dequantise(format, blocks, rows, k, k_padded, put_f16, y);
    return status;
}

const char *pwl_blocks_status_text(pwl_blocks_status status)
{
    switch (status) {
    case PWL_BLOCKS_OK:
        return "ok";
    case PWL_BLOCKS_ERR_NULL:
        return "null pointer";
    case PWL_BLOCKS_ERR_FORMAT:
        return "unknown block format, or not one that this function takes";
    case PWL_BLOCKS_ERR_RULE:
        return "unknown rule, or none of this format's";
    case PWL_BLOCKS_ERR_SHAPE:
        return "k_padded is no multiple of the block, or below k, or the matrix is too large";
    case PWL_BLOCKS_ERR_ALIGN:
        return "array is not aligned to its elements";
    }
    return "unknown status";
}
