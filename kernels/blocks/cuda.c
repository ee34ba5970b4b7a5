/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of the block formats on devices. */
#include <cuda_runtime_api.h>

#include <pwl/blocks.h>
#include <pwl/cuda.h>

#include "arch/status.h"
#include "check.h"
#include "launch.h"
#include "super.h"

static pwl_cuda_status status_of_blocks(pwl_blocks_status status)
{
    switch (status) {
    case PWL_BLOCKS_OK:
        return PWL_CUDA_OK;
    case PWL_BLOCKS_ERR_NULL:
        return PWL_CUDA_ERR_NULL;
    case PWL_BLOCKS_ERR_FORMAT:
        return PWL_CUDA_ERR_FORMAT;
    case PWL_BLOCKS_ERR_RULE:
        return PWL_CUDA_ERR_RULE;
    case PWL_BLOCKS_ERR_ALIGN:
        return PWL_CUDA_ERR_ALIGN;
    case PWL_BLOCKS_ERR_SHAPE:
        break;
    }
    return PWL_CUDA_ERR_SHAPE;
}

pwl_cuda_status pwl_cuda_quantise(pwl_format format, pwl_rule rule, const float *x, size_t rows, size_t k,
                                  size_t k_padded, void *blocks, struct CUstream_st *stream)
{
    const pwl_blocks_status status = pwl_blocks_check(format, rule, x, sizeof *x, rows, k, k_padded, blocks);
    if (pwl_is_super(format))
        return PWL_CUDA_ERR_FORMAT;
    if (status != PWL_BLOCKS_OK || rows == 0 || k_padded == 0)
        return status_of_blocks(status);
    return pwl_cuda_status_of(pwl_cuda_launch_quantise(format, rule, x, rows, k, k_padded, blocks, stream));
}

static pwl_cuda_status dequantise(pwl_format format, const void *blocks, size_t rows, size_t k, size_t k_padded,
                                  void *y, size_t value_bytes, struct CUstream_st *stream)
{
    const pwl_blocks_status status =
        pwl_blocks_check(format, PWL_RULE_DEFAULT, y, value_bytes, rows, k, k_padded, blocks);
    if (pwl_is_super(format))
        return PWL_CUDA_ERR_FORMAT;
    if (status != PWL_BLOCKS_OK || rows == 0 || k == 0)
        return status_of_blocks(status);
    return pwl_cuda_status_of(pwl_cuda_launch_dequantise(format, blocks, rows, k, k_padded, y, value_bytes, stream));
}

pwl_cuda_status pwl_cuda_dequantise(pwl_format format, const void *blocks, size_t rows, size_t k, size_t k_padded,
                                    float *y, struct CUstream_st *stream)
{
    return dequantise(format, blocks, rows, k, k_padded, y, sizeof *y, stream);
}

pwl_cuda_status pwl_cuda_dequantise_f16(pwl_format format, const void *blocks, size_t rows, size_t k, size_t k_padded,
                                        uint16_t *y, struct CUstream_st *stream)
{
    return dequantise(format, blocks, rows, k, k_padded, y, sizeof *y, stream);
}
