/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's C code asks of the files that nvcc compiles. Each returns the launch's cudaError_t. */
#ifndef PWL_MAP_LAUNCH_H
#define PWL_MAP_LAUNCH_H

#include <stddef.h>

#include <pwl/cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of an element: the types come in pairs of one width. */
static inline size_t pwl_type_bytes(pwl_type type)
{
    return (size_t)1 << (type >> 1);
}

static inline size_t pwl_real_bytes(pwl_real real)
{
    return real == PWL_F32 ? 4 : 2;
}

/* *overlap = 1 where maps are compiled so that they wait for the launch before them by themselves. */
int pwl_cuda_launches_overlap(int *overlap);

/* pwl_cuda_map() after its checks; count is at least 1. */
int pwl_cuda_launch_map(const pwl_cuda_table *uploaded, pwl_type in, const void *x, pwl_type out, void *y, size_t count,
                        struct CUstream_st *stream);

/* pwl_cuda_map_from_real() and pwl_cuda_map_real() after their checks; count is at least 1. */
int pwl_cuda_launch_map_from_real(const pwl_cuda_table *uploaded, pwl_affine of_x, pwl_real in, const void *x,
                                  pwl_type out, void *y, size_t count, struct CUstream_st *stream);
int pwl_cuda_launch_map_real(const pwl_cuda_table *uploaded, pwl_affine of_x, pwl_real in, const void *x,
                             pwl_affine of_y, pwl_real out, void *y, size_t count, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif
