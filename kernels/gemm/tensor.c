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

pwl_qgemm_status pwl_qgemm_source_of(const pwl_qgemm_tensor *tensor, pwl_qgemm_format format, pwl_rule rule,
                                     pwl_qgemm_source *from)
{
    pwl_qgemm_source made = {PWL_QGEMM_FROM_BLOCKS, format, PWL_QGEMM_F32, PWL_RULE_DEFAULT, 0, 0, {NULL}, {NULL}};
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
        made.rule = rule;
    status = pwl_qgemm_check_shape(format, made.n, made.k);
    if (status != PWL_QGEMM_OK)
        return status;
    if (tensor->bytes != made.n * (made.k / types[i].elements) * types[i].bytes)
        return PWL_QGEMM_ERR_DATA;
    *from = made;
    return PWL_QGEMM_OK;
}

/* Makes a pair of a source and another of the same kind and shape. */
static pwl_qgemm_status join(pwl_qgemm_source *gate, const void *up, const int8_t *n_up)
{
    if (!gate->data[0] || !up)
        return PWL_QGEMM_ERR_NULL;
    if (gate->n % 8)
        return PWL_QGEMM_ERR_PAIR;
    if (gate->n > SIZE_MAX / 2)
        return PWL_QGEMM_ERR_SHAPE;
    gate->n *= 2;
    gate->data[1] = up;
    gate->n_w[1] = n_up;
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_pair_source_of(const pwl_qgemm_tensor *gate, const pwl_qgemm_tensor *up,
                                          pwl_qgemm_format format, pwl_rule rule, pwl_qgemm_source *from)
{
    pwl_qgemm_source second;
    pwl_qgemm_status status = pwl_qgemm_source_of(gate, format, rule, from);
    if (status == PWL_QGEMM_OK)
        status = pwl_qgemm_source_of(up, format, rule, &second);
    if (status != PWL_QGEMM_OK)
        return status;
    if (gate->type != up->type || from->n != second.n || from->k != second.k)
        return PWL_QGEMM_ERR_PAIR;
    return join(from, up->data, NULL);
}

pwl_qgemm_status pwl_qgemm_pair_source_of_s8(const int8_t *q_gate, const int8_t *n_gate, const int8_t *q_up,
                                             const int8_t *n_up, size_t n, size_t k, pwl_qgemm_source *from)
{
    *from = pwl_qgemm_source_of_codes(PWL_QGEMM_ROWS8, q_gate, n_gate, n, k);
    return join(from, q_up, n_up);
}
