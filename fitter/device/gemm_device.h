/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of libpwlc-cuda.so that multiply, as pwl/qgemm.h says, and that measure it. */
#ifndef PWLC_GEMM_DEVICE_H
#define PWLC_GEMM_DEVICE_H

#include <stddef.h>

#include <pwl/qgemm.h>

/* What computed a product. */
struct gemm_ran {
    char device[256], kernel[32];
};

/* pwlc_cuda_gemm of the library: as pwl_qgemm_reference(), by a kernel of pwl/cuda_qgemm.h on the current device. Every
 * pointer is the host's, and rows of X and Y have no gaps. */
typedef int pwlc_cuda_gemm_function(const pwl_qgemm_product *product, struct gemm_ran *ran, char *message, size_t size);

/* A product to measure: random numbers; X and Y in fp16, or int8 in the scheme INT8. */
struct gemm_case {
    pwl_qgemm_scheme scheme;
    pwl_qgemm_format format;
    size_t m, n, k;
};

/* Microseconds: the median, and percentiles 10 and 90. */
struct gemm_time {
    double median, p10, p90;
};

/* Cold: launches take turns among copies of the weights and outputs. Warm: always the same. */
struct gemm_times {
    struct gemm_ran ran;
    int repetitions, launches; /* of each repetition */
    struct gemm_time cold, warm;
    int has_cublaslt; /* of its own product of fp16 */
    struct gemm_time cublaslt_cold, cublaslt_warm;
};

/* pwlc_cuda_bench_gemm of the library. */
typedef int pwlc_cuda_bench_gemm_function(const struct gemm_case *what, struct gemm_times *times, char *message,
                                          size_t size);

/* Of an element of X or Y. */
static inline size_t gemm_element_bytes(pwl_qgemm_type type)
{
    static const size_t bytes[] = {[PWL_QGEMM_F32] = 4,  [PWL_QGEMM_F16] = 2,
                                   [PWL_QGEMM_BF16] = 2, [PWL_QGEMM_BLOCKS_Q8_1] = sizeof(pwl_block_q8_1),
                                   [PWL_QGEMM_S8] = 1,   [PWL_QGEMM_S32] = 4,
                                   [PWL_QGEMM_U8] = 1,   [PWL_QGEMM_S16] = 2,
                                   [PWL_QGEMM_U16] = 2,  [PWL_QGEMM_U32] = 4};
    return bytes[type];
}

#endif
