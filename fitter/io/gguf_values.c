/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/blocks.h>
#include <pwl/half.h>

#include "base/integers.h"
#include "gguf.h"

static void blocks_to_floats(pwl_format format, const struct gguf_tensor *tensor, const unsigned char *data,
                             float *values)
{
    /* The data may lie at any address: block by block, through an aligned one. */
    const size_t block_bytes = tensor->known->block_bytes, blocks = (size_t)(tensor->bytes / block_bytes);
    const size_t elements = tensor->known->block;
    for (size_t b = 0; b < blocks; b++) {
        uint16_t block[(sizeof(pwl_block_q6_k) + 1) / 2];
        memcpy(block, data + b * block_bytes, block_bytes);
        /* The format, shape and addresses are right by construction. */
        (void)!pwl_dequantise(format, block, 1, elements, elements, values + b * elements);
    }
}

int gguf_dequantise(const struct gguf_tensor *tensor, const unsigned char *data, float **values, struct diag *diag)
{
    const size_t count = (size_t)tensor->elements;
    *values = tensor->elements < SIZE_MAX / sizeof **values ? malloc((count + 1) * sizeof **values) : NULL;
    if (!*values)
        return diag_set(diag, EXIT_IO, "out of memory for %" PRIu64 " values", tensor->elements);
    switch (tensor->type) {
    case GGUF_Q4_0:
        blocks_to_floats(PWL_Q4_0, tensor, data, *values);
        break;
    case GGUF_Q8_0:
        blocks_to_floats(PWL_Q8_0, tensor, data, *values);
        break;
    case GGUF_MXFP4:
        blocks_to_floats(PWL_MXFP4, tensor, data, *values);
        break;
    case GGUF_Q4_K:
        blocks_to_floats(PWL_Q4_K, tensor, data, *values);
        break;
    case GGUF_Q5_K:
        blocks_to_floats(PWL_Q5_K, tensor, data, *values);
        break;
    case GGUF_Q6_K:
        blocks_to_floats(PWL_Q6_K, tensor, data, *values);
        break;
    case GGUF_F32:
        for (size_t i = 0; i < count; i++)
            (*values)[i] = pwl_f32_of_bits((uint32_t)little_endian(data + 4 * i, 4));
        break;
    case GGUF_F16:
        for (size_t i = 0; i < count; i++)
            (*values)[i] = pwl_f32_from_f16((uint16_t)little_endian(data + 2 * i, 2));
        break;
    default:
        for (size_t i = 0; i < count; i++)
            (*values)[i] = pwl_f32_from_bf16((uint16_t)little_endian(data + 2 * i, 2));
        break;
    }
    return EXIT_DONE;
}
