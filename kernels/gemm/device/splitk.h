/* SPDX-License-Identifier: Apache-2.0 */
/* The part of splitk that is compiled for devices of 9.0 alone. */
#ifndef PWL_QGEMM_SPLITK_H
#define PWL_QGEMM_SPLITK_H

#include "gemm/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A16 with at most PWL_QGEMM_FEW_ROWS rows of X; cudaErrorNotSupported where it is not for this device or this X. */
int pwl_cuda_launch_qgemm_splitk_wgmma(const pwl_qgemm_call *call, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif
