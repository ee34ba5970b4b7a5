/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What benchmarks compare products with: cuBLASLt's Y[m][n] = X[m][k] W[n][k]^T of fp16 with sums in fp32; of int8 with
 * sums in int32, stored as they are or saturated to int8 after a multiplication; or of E4M3, stored in fp16, with sums
 * of few bits, which it calls fast; by the fastest of all algorithms that its heuristics name with 64 MiB of workspace.
 * The library is opened at run time, and stays so; nothing is linked with it. Functions return null, or in words what
 * went wrong.
 */
#ifndef PWL_CUBLASLT_H
#define PWL_CUBLASLT_H

#include <stddef.h>

struct CUstream_st;

typedef struct pwl_cublaslt pwl_cublaslt;

typedef enum pwl_cublaslt_kind {
    PWL_CUBLASLT_F16,
    PWL_CUBLASLT_S8_TO_S8,
    PWL_CUBLASLT_S8_TO_S32,
    PWL_CUBLASLT_E4M3_TO_F16
} pwl_cublaslt_kind;

/* *made, to be freed, for a kind and a shape; null, and no error, where there is no library, or was no header of it
 * when this was compiled. The arrays, on the device, are to measure with: y is written. */
const char *pwl_cublaslt_plan(pwl_cublaslt_kind kind, size_t m, size_t n, size_t k, const void *w, const void *x,
                              void *y, struct CUstream_st *stream, pwl_cublaslt **made);
void pwl_cublaslt_free(pwl_cublaslt *plan); /* leaves null alone */

const char *pwl_cublaslt_launch(const pwl_cublaslt *plan, const void *w, const void *x, void *y,
                                struct CUstream_st *stream);

#endif
