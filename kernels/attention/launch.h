/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's C code asks of the file that nvcc compiles. */
#ifndef PWL_ATTENTION_LAUNCH_H
#define PWL_ATTENTION_LAUNCH_H

#include <pwl/cuda_attention.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PWL_ATTENTION_TILE = 128 }; /* keys whose values lie together */

/* *serves = 1 where the current device has what the kernels need. Returns its cudaError_t. */
int pwl_cuda_attention_serves(int *serves);

/* pwl_cuda_attention_run() after its checks, of at least one row. */
int pwl_cuda_launch_attention(const pwl_cuda_attention *uploaded, const pwl_attention_call *call, void *workspace,
                              struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif
