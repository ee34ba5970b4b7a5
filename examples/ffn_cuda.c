/* SPDX-License-Identifier: 0BSD */
/* The block of ffn.h on a CUDA device: two products on the default stream. */
#include <stdint.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include <pwl/cuda_qgemm.h>

#include "ffn.h"

/* Device memory until the end of a run; null once something failed. */
struct memory {
    void *pieces[8];
    int count;
    pwl_qgemm_status status;
};

static void *take(struct memory *device, size_t bytes, const void *content)
{
    void **const piece = &device->pieces[device->count];
    cudaError_t error = cudaSuccess;
    if (device->status != PWL_QGEMM_OK)
        return NULL;
    error = cudaMalloc(piece, bytes);
    if (error == cudaSuccess) {
        device->count++;
        if (content)
            error = cudaMemcpy(*piece, content, bytes, cudaMemcpyHostToDevice);
    }
    if (error != cudaSuccess)
        device->status = (pwl_qgemm_status)(PWL_QGEMM_ERR_CUDA + error);
    return device->status == PWL_QGEMM_OK ? *piece : NULL;
}

static void multiply(struct memory *device, const pwl_qgemm_product *product)
{
    void *workspace = NULL;
    size_t bytes = 0;
    if (device->status == PWL_QGEMM_OK)
        device->status = pwl_cuda_qgemm_workspace(product, &bytes);
    if (bytes)
        workspace = take(device, bytes, NULL);
    if (device->status == PWL_QGEMM_OK)
        device->status = pwl_cuda_qgemm(product, workspace, bytes, NULL, NULL);
}

static void run(struct memory *device, const ffn_block *block, const ffn_table *table, pwl_qgemm_weights weights[2],
                const pwl_cuda_table *uploaded, const float *x, size_t m, float *y)
{
    const size_t count = m * block->d;
    pwl_qgemm_activation activation;
    pwl_qgemm_product products[2];
    for (int i = 0; i < 2; i++)
        weights[i].memory = take(device, weights[i].bytes, weights[i].memory);
    const float *const x_there = take(device, count * sizeof *x, x);
    float *const hidden = take(device, m * block->ff * sizeof *hidden, NULL);
    float *const y_there = take(device, count * sizeof *y, NULL);
    ffn_products(block, table, weights, m, x_there, hidden, y_there, &activation, products);
    activation.uploaded = uploaded;
    multiply(device, &products[0]);
    multiply(device, &products[1]);
    if (device->status == PWL_QGEMM_OK) {
        const cudaError_t error = cudaMemcpy(y, y_there, count * sizeof *y, cudaMemcpyDeviceToHost);
        device->status = error == cudaSuccess ? PWL_QGEMM_OK : (pwl_qgemm_status)(PWL_QGEMM_ERR_CUDA + error);
    }
}

pwl_qgemm_status ffn_fused_cuda(const ffn_block *block, const ffn_table *table, const float *x, size_t m, float *y)
{
    struct memory device = {.status = PWL_QGEMM_OK};
    pwl_qgemm_weights packed[2], weights[2];
    pwl_cuda_table uploaded;
    pwl_qgemm_status status = ffn_pack(block, packed);
    if (status != PWL_QGEMM_OK)
        return status;
    if (pwl_cuda_upload(table->table, &uploaded) == PWL_CUDA_OK) {
        weights[0] = packed[0];
        weights[1] = packed[1];
        run(&device, block, table, weights, &uploaded, x, m, y);
        if (pwl_cuda_release(&uploaded) != PWL_CUDA_OK && device.status == PWL_QGEMM_OK)
            device.status = PWL_QGEMM_ERR_TABLE;
    } else {
        device.status = PWL_QGEMM_ERR_TABLE;
    }
    while (device.count > 0)
        cudaFree(device.pieces[--device.count]);
    free((void *)(uintptr_t)packed[0].memory);
    free((void *)(uintptr_t)packed[1].memory);
    return device.status;
}
