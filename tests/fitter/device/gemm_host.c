/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The products of device_gemm.c, by the reference; and times that nothing took, in place of device_bench.c. */
#include "device/gemm_device.h"
#include "device_host.h"

__attribute__((visibility("default"))) pwlc_cuda_gemm_function pwlc_cuda_gemm;
__attribute__((visibility("default"))) pwlc_cuda_bench_gemm_function pwlc_cuda_bench_gemm;

static void name_what_ran(struct gemm_ran *ran)
{
    snprintf(ran->device, sizeof ran->device, "no device");
    snprintf(ran->kernel, sizeof ran->kernel, "reference");
}

int pwlc_cuda_gemm(const pwl_qgemm_product *product, struct gemm_ran *ran, char *message, size_t size)
{
    pwl_qgemm_status status;
    if (fault("device"))
        return no_device(message, size);
    status = fault("memory") ? PWL_QGEMM_ERR_SPACE : pwl_qgemm_reference(product);
    name_what_ran(ran);
    if (status == PWL_QGEMM_OK)
        return 0;
    snprintf(message, size, "workspace: %s", pwl_qgemm_status_text(status));
    return 1;
}

int pwlc_cuda_bench_gemm(const struct gemm_case *what, struct gemm_times *times, char *message, size_t size)
{
    const double us = (double)what->m + (double)what->n / 1000 + (double)what->k / 1e6;
    if (fault("device"))
        return no_device(message, size);
    if (fault("memory")) {
        snprintf(message, size, "out of memory");
        return 1;
    }
    name_what_ran(&times->ran);
    times->repetitions = 51;
    times->launches = 7;
    times->cold = (struct gemm_time){us, us - 1, us + 1};
    times->warm = (struct gemm_time){us / 2, us / 4, us};
    times->has_cublaslt = what->scheme != PWL_QGEMM_INT8;
    if (times->has_cublaslt) {
        times->cublaslt_cold = (struct gemm_time){2 * us, us, 3 * us};
        times->cublaslt_warm = (struct gemm_time){3 * us, 2 * us, 4 * us};
    }
    return 0;
}
