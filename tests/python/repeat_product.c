/* SPDX-License-Identifier: Apache-2.0 */
/* What a program in C does for a product on a device, time and again: the measure for what Python adds. */
#include <pwl/qgemm.h>
#include <pwl/qgemm_kernels.h>

struct CUstream_st;

/* As pwl_cuda_qgemm(), which `multiply` is. */
typedef pwl_qgemm_status multiply_function(const pwl_qgemm_product *product, void *workspace, size_t bytes,
                                           pwl_qgemm_kernel *ran, struct CUstream_st *stream);

pwl_qgemm_status repeat_product(multiply_function *multiply, const pwl_qgemm_product *product, void *workspace,
                                size_t bytes, struct CUstream_st *stream, size_t count);

pwl_qgemm_status repeat_product(multiply_function *multiply, const pwl_qgemm_product *product, void *workspace,
                                size_t bytes, struct CUstream_st *stream, size_t count)
{
    pwl_qgemm_status status = PWL_QGEMM_OK;
    for (size_t k = 0; k < count && !status; k++)
        status = multiply(product, workspace, bytes, NULL, stream);
    return status;
}
