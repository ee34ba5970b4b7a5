/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's C code asks of the files that nvcc compiles. Each returns the launch's cudaError_t. */
#ifndef PWL_ROWS_LAUNCH_H
#define PWL_ROWS_LAUNCH_H

#include <stddef.h>

#include <pwl/cuda_rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/* *overlap = 1 where the kernels are compiled so that they wait for the launch before them by themselves. */
int pwl_cuda_rows_overlap(int *overlap);

/* pwl_cuda_softmax_run() and pwl_cuda_norm_run() after their checks; there is at least one row. */
int pwl_cuda_launch_softmax(const pwl_cuda_softmax *uploaded, const pwl_rows *rows, struct CUstream_st *stream);
int pwl_cuda_launch_norm(const pwl_cuda_norm *uploaded, const void *x, void *y, size_t count,
                         struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif
