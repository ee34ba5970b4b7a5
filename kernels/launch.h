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

#ifdef __cplusplus
}
#endif
#endif
