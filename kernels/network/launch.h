/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's C code asks of the files that nvcc compiles. Each returns the launch's cudaError_t. */
#ifndef PWL_NETWORK_LAUNCH_H
#define PWL_NETWORK_LAUNCH_H

#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* *overlap = 1 where the kernels are compiled so that they wait for the launch before them by themselves. */
int pwl_cuda_network_overlap(int *overlap);

/* Work below PWL_WORK_ELEMENTS, element by element. */
int pwl_cuda_launch_elements(const pwl_work *work, int overlaps, struct CUstream_st *stream);

/* Rows of softmax, with a mask or causal. */
int pwl_cuda_launch_masked_softmax(const pwl_work *work, int overlaps, struct CUstream_st *stream);

/* Whether tensor cores give the sums of such a matrix exactly, and their launch. */
int pwl_cuda_matrix_serves(const pwl_work *work);
int pwl_cuda_launch_matrix(const pwl_work *work, int overlaps, struct CUstream_st *stream);

/* Whether wide.cu was compiled so that it runs on this device, serves such a matrix, and its launch. */
int pwl_cuda_wide_runs(int *runs);
int pwl_cuda_wide_serves(const pwl_work *work);
int pwl_cuda_launch_wide(const pwl_work *work, int overlaps, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif
