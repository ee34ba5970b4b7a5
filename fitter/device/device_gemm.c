/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libpwlc-cuda: products on a device, of arrays that are copied there and back. */
#include <string.h>

#include <cuda_runtime_api.h>

#include <pwl/cuda_qgemm.h>

#include "device_report.h"
#include "gemm_device.h"

EXPORTED pwlc_cuda_gemm_function pwlc_cuda_gemm;

enum { X, N_X, WEIGHTS, BIAS, Y, WORKSPACE, ARRAYS };

static const char *const names[ARRAYS] = {"X", "exponents of X", "weights", "bias", "Y", "workspace"};

struct array {
    const void *from; /* the host's; null where there is nothing to copy */
    size_t bytes;
    void *at; /* the device's */
};

static int check(const struct device_report *to, pwl_qgemm_status status, const char *what)
{
    const char *const failed = device_status_text(status);
    return failed ? device_fail(to, DEVICE_FAILED, "%s: %s", what, failed) : DEVICE_DONE;
}

/* Room for an array, and what is in it. */
static int place(const struct device_report *to, struct array *arrays, int which)
{
    struct array *const array = &arrays[which];
    int code;
    if (array->bytes == 0)
        return DEVICE_DONE;
    code = device_check(to, cudaMalloc(&array->at, array->bytes), names[which]);
    if (code == DEVICE_DONE && array->from)
        code = device_check(to, cudaMemcpy(array->at, array->from, array->bytes, cudaMemcpyHostToDevice), names[which]);
    return code;
}

static int check_table(const struct device_report *to, pwl_cuda_status status)
{
    return status == PWL_CUDA_OK ? DEVICE_DONE
                                 : device_fail(to, DEVICE_FAILED, "the table: %s", pwl_cuda_status_text(status));
}

static int upload(const struct device_report *to, const pwl_qgemm_activation *activation, pwl_cuda_table *table)
{
    return activation ? check_table(to, pwl_cuda_upload(activation->table, table)) : DEVICE_DONE;
}

static int multiply(const struct device_report *to, const pwl_qgemm_product *product, struct array *arrays,
                    const pwl_cuda_table *table, const char **kernel)
{
    pwl_qgemm_weights weights = *product->weights;
    pwl_qgemm_activation activation;
    pwl_qgemm_product there = *product;
    pwl_qgemm_kernel ran = PWL_QGEMM_NAIVE;
    int code = DEVICE_DONE;
    for (int i = 0; i < WORKSPACE && code == DEVICE_DONE; i++)
        code = place(to, arrays, i);
    if (code != DEVICE_DONE)
        return code;
    weights.memory = arrays[WEIGHTS].at;
    there.weights = &weights;
    there.x.data = arrays[X].at;
    there.x.n_x = arrays[N_X].at;
    there.bias = arrays[BIAS].at;
    there.y.data = arrays[Y].at;
    if (product->activation) {
        activation = *product->activation;
        activation.uploaded = table;
        there.activation = &activation;
    }
    code = check(to, pwl_cuda_qgemm_workspace(&there, &arrays[WORKSPACE].bytes), "pwl_cuda_qgemm_workspace");
    if (code == DEVICE_DONE)
        code = place(to, arrays, WORKSPACE);
    if (code == DEVICE_DONE)
        code = check(to, pwl_cuda_qgemm(&there, arrays[WORKSPACE].at, arrays[WORKSPACE].bytes, &ran, NULL),
                     "pwl_cuda_qgemm");
    if (code == DEVICE_DONE) /* waits for the product */
        code =
            device_check(to, cudaMemcpy(product->y.data, there.y.data, arrays[Y].bytes, cudaMemcpyDeviceToHost), "Y");
    *kernel = pwl_qgemm_kernel_name(ran);
    return code;
}

int pwlc_cuda_gemm(const pwl_qgemm_product *product, struct gemm_ran *ran, char *message, size_t size)
{
    const struct device_report to = {message, size};
    const size_t m = product->m, x_bytes = gemm_element_bytes(product->x.type);
    struct array arrays[ARRAYS] = {
        [X] = {product->x.data, m * product->x.stride * x_bytes, NULL},
        [N_X] = {product->x.n_x, product->x.n_x ? m : 0, NULL},
        [WEIGHTS] = {product->weights->memory, product->weights->bytes, NULL},
        [BIAS] = {product->bias, product->bias ? product->weights->n * sizeof(float) : 0, NULL},
        [Y] = {NULL, m * product->y.stride * gemm_element_bytes(product->y.type), NULL},
    };
    const char *kernel = "";
    pwl_cuda_table table = {.memory = NULL};
    pwl_cuda_status released;
    int code = check(&to, pwl_qgemm_check(product), "the product");
    if (code == DEVICE_DONE)
        code = device_find(&to);
    if (code == DEVICE_DONE)
        code = device_name(&to, ran->device, sizeof ran->device);
    if (code == DEVICE_DONE)
        code = upload(&to, product->activation, &table);
    if (code == DEVICE_DONE)
        code = multiply(&to, product, arrays, &table, &kernel);
    snprintf(ran->kernel, sizeof ran->kernel, "%s", kernel);
    /* The first failure is the one to tell. */
    for (int i = 0; i < ARRAYS; i++) {
        const cudaError_t error = cudaFree(arrays[i].at);
        if (code == DEVICE_DONE)
            code = device_check(&to, error, "freeing memory");
    }
    released = pwl_cuda_release(&table);
    return code == DEVICE_DONE ? check_table(&to, released) : code;
}
