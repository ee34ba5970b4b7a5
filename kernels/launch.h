/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's C code asks of the files that nvcc compiles. Each returns the launch's cudaError_t. */
#ifndef PWL_LAUNCH_H
#define PWL_LAUNCH_H

#include <stddef.h>

#include <pwl/cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/* pwl_cuda_map() after its checks; count is at least 1. */
int pwl_cuda_launch_map(const pwl_cuda_table *uploaded, pwl_type in, const void *x, pwl_type out, void *y, size_t count,
                        struct CUstream_st *stream);

/* pwl_cuda_quantise() and pwl_cuda_dequantise() after their checks; there is at least one block. */
int pwl_cuda_launch_quantise(pwl_format format, pwl_rule rule, const float *x, size_t rows, size_t k, size_t k_padded,
                             void *blocks, struct CUstream_st *stream);
int pwl_cuda_launch_dequantise(pwl_format format, const void *blocks, size_t rows, size_t k, size_t k_padded, void *y,
                               size_t value_bytes, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif
