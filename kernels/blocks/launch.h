/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's C code asks of blocks.cu. Each returns the launch's cudaError_t. */
#ifndef PWL_BLOCKS_LAUNCH_H
#define PWL_BLOCKS_LAUNCH_H

#include <stddef.h>

#include <pwl/blocks.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

/* pwl_cuda_quantise() and pwl_cuda_dequantise() after their checks; there is at least one block. */
int pwl_cuda_launch_quantise(pwl_format format, pwl_rule rule, const float *x, size_t rows, size_t k, size_t k_padded,
                             void *blocks, struct CUstream_st *stream);
int pwl_cuda_launch_dequantise(pwl_format format, const void *blocks, size_t rows, size_t k, size_t k_padded, void *y,
                               size_t value_bytes, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif
