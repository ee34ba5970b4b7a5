/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of GGUF files as what weights are packed from. */
#include "check.h"

enum { F32 = 0, F16 = 1, Q4_0 = 2, Q8_0 = 8, Q4_K = 12, Q5_K = 13, Q6_K = 14, BF16 = 30, MXFP4 = 39 };

static const struct {
    uint32_t id;
    pwl_qgemm_from from;
    pwl_qgemm_format format; /* of blocks */
    pwl_qgemm_type type;     /* of floats */
    size_t elements, bytes;  /* of a block */
} types[] = {
    {F32, PWL_QGEMM_FROM_FLOATS, PWL_QGEMM_Q4_0, PWL_QGEMM_F32, 1, 4},
    {F16, PWL_QGEMM_FROM_FLOATS, PWL_QGEMM_Q4_0, PWL_QGEMM_F16, 1, 2},
    {BF16, PWL_QGEMM_FROM_FLOATS, PWL_QGEMM_Q4_0, PWL_QGEMM_BF16, 1, 2},
    {Q4_0, PWL_QGEMM_FROM_BLOCKS, PWL_QGEMM_Q4_0, PWL_QGEMM_F32, PWL_BLOCK, sizeof(pwl_block_q4_0)},
    {Q8_0, PWL_QGEMM_FROM_BLOCKS, PWL_QGEMM_Q8_0, PWL_QGEMM_F32, PWL_BLOCK, sizeof(pwl_block_q8_0)},
    {MXFP4, PWL_QGEMM_FROM_BLOCKS, PWL_QGEMM_MXFP4, PWL_QGEMM_F32, PWL_BLOCK, sizeof(pwl_block_mxfp4)},
    {Q4_K, PWL_QGEMM_FROM_BLOCKS, PWL_QGEMM_Q4_K, PWL_QGEMM_F32, PWL_SUPER_BLOCK, sizeof(pwl_block_q4_k)},
    {Q5_K, PWL_QGEMM_FROM_BLOCKS, PWL_QGEMM_Q5_K, PWL_QGEMM_F32, PWL_SUPER_BLOCK, sizeof(pwl_block_q5_k)},
    {Q6_K, PWL_QGEMM_FROM_BLOCKS, PWL_QGEMM_Q6_K, PWL_QGEMM_F32, PWL_SUPER_BLOCK, sizeof(pwl_block_q6_k)},
};

#define TYPES (sizeof types / sizeof types[0])

/* *from = what a tensor's weights are packed from; its memory is not looked at. */
static pwl_qgemm_status source_of(const pwl_qgemm_tensor *tensor, const pwl_qgemm_source *of, pwl_qgemm_source *from)
{
    const pwl_qgemm_format format = of->format;
    pwl_qgemm_source made = pwl_qgemm_of_blocks(format, NULL, 0, 0);
    pwl_qgemm_status status;
    size_t i = 0;
    if (!tensor)
        return PWL_QGEMM_ERR_NULL;
    while (i < TYPES && types[i].id != tensor->type)
        i++;
    if (i == TYPES)
        return PWL_QGEMM_ERR_TYPE;
    if (tensor->type == Q4_0 && format == PWL_QGEMM_ROWS4)
        made.from = PWL_QGEMM_FROM_Q4_0;
    else if (types[i].from == PWL_QGEMM_FROM_BLOCKS && types[i].format != format)
        return PWL_QGEMM_ERR_FORMAT;
    else
        made.from = types[i].from;
    if (tensor->shape[0] > SIZE_MAX || tensor->shape[1] > SIZE_MAX || tensor->shape[2] != 1 || tensor->shape[3] != 1)
        return PWL_QGEMM_ERR_SHAPE;
    made.type = types[i].type;
    made.n = (size_t)tensor->shape[1];
    made.k = (size_t)tensor->shape[0];
    made.data[0] = tensor->data;
    if (made.from == PWL_QGEMM_FROM_FLOATS)
        made.rule = of->rule;
    made.spread = of->spread;
    status = pwl_qgemm_check_shape(format, made.n, made.k);
    if (status != PWL_QGEMM_OK)
        return status;
    if (tensor->bytes != made.n * (made.k / types[i].elements) * types[i].bytes)
        return PWL_QGEMM_ERR_DATA;
    *from = made;
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_resolve(const pwl_qgemm_source *source, pwl_qgemm_source *from)
{
    pwl_qgemm_source gate, up;
    pwl_qgemm_status status;
    *from = *source;
    if (source->from != PWL_QGEMM_FROM_TENSOR)
        return PWL_QGEMM_OK;
    status = source_of(source->data[0], source, &gate);
    if (status == PWL_QGEMM_OK && source->pair)
        status = source_of(source->data[1], source, &up);
    if (status == PWL_QGEMM_OK)
        *from = source->pair ? pwl_qgemm_of_pair(gate, up) : gate;
    return status;
}
