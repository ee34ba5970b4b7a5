/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The products of device_gemm.c, by the reference. */
#include "device_host.h"
#include "gemm_device.h"

__attribute__((visibility("default"))) pwlc_cuda_gemm_function pwlc_cuda_gemm;

int pwlc_cuda_gemm(const pwl_qgemm_product *product, struct gemm_ran *ran, char *message, size_t size)
{
    pwl_qgemm_status status;
    if (fault("device"))
        return no_device(message, size);
    status = fault("memory") ? PWL_QGEMM_ERR_SPACE : pwl_qgemm_reference(product);
    snprintf(ran->device, sizeof ran->device, "no device");
    snprintf(ran->kernel, sizeof ran->kernel, "reference");
    if (status == PWL_QGEMM_OK)
        return 0;
    snprintf(message, size, "workspace: %s", pwl_qgemm_status_text(status));
    return 1;
}
