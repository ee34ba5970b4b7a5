/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of products on devices: every check comes before the first launch. */
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include <pwl/cuda_qgemm.h>

#include "qgemm_input.h"
#include "qgemm_launch.h"

static const struct {
    const char *name;
    int (*launch)(const pwl_qgemm_call *call, struct CUstream_st *stream);
} kernels[] = {
    [PWL_QGEMM_NAIVE] = {"naive", pwl_cuda_launch_qgemm_naive},
    [PWL_QGEMM_TILED] = {"tiled", pwl_cuda_launch_qgemm_tiled},
};

#define KERNELS (sizeof kernels / sizeof kernels[0])

static pwl_qgemm_status status_of(int error)
{
    return error == cudaSuccess ? PWL_QGEMM_OK : (pwl_qgemm_status)(PWL_QGEMM_ERR_CUDA + error);
}

/* Whether the schemes of A8 have X made blocks, and those of A16 its exponents found. */
static int makes_blocks(const pwl_qgemm_product *product)
{
    return pwl_qgemm_is_a8(product) && product->x.type != PWL_QGEMM_BLOCKS_Q8_1;
}

static int finds_exponents(const pwl_qgemm_product *product)
{
    return !pwl_qgemm_is_a8(product) && product->x.type == PWL_QGEMM_F32;
}

/* The kernel for a product; a tile has 64 rows of X, of which the naive kernel needs none but those there are. */
static pwl_qgemm_status choose(const pwl_qgemm_product *product, pwl_qgemm_kernel *kernel)
{
    const char *const name = getenv("PWL_QGEMM_KERNEL");
    *kernel = product->m > 8 ? PWL_QGEMM_TILED : PWL_QGEMM_NAIVE;
    if (!name)
        return PWL_QGEMM_OK;
    for (size_t i = 0; i < KERNELS; i++) {
        if (strcmp(name, kernels[i].name) == 0) {
            *kernel = (pwl_qgemm_kernel)i;
            return PWL_QGEMM_OK;
        }
    }
    return PWL_QGEMM_ERR_KERNEL;
}

pwl_qgemm_status pwl_cuda_qgemm_workspace(const pwl_qgemm_product *product, size_t *bytes)
{
    const pwl_qgemm_status status = pwl_qgemm_check(product);
    if (status != PWL_QGEMM_OK)
        return status;
    if (!bytes)
        return PWL_QGEMM_ERR_NULL;
    *bytes = 0;
    /* X, of 2 bytes and more an element, is no larger than size_t: neither are blocks of 36 bytes for 32. */
    if (makes_blocks(product))
        *bytes = product->m * (product->weights->k / PWL_BLOCK) * sizeof(pwl_block_q8_1);
    else if (finds_exponents(product))
        *bytes = product->m * sizeof(int32_t);
    return PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_cuda_qgemm(const pwl_qgemm_product *product, void *workspace, size_t bytes, pwl_qgemm_kernel *ran,
                                struct CUstream_st *stream)
{
    pwl_qgemm_kernel kernel;
    pwl_qgemm_call call;
    size_t needed;
    int error = cudaSuccess;
    pwl_qgemm_status status = pwl_cuda_qgemm_workspace(product, &needed);
    if (status == PWL_QGEMM_OK)
        status = choose(product, &kernel);
    if (status != PWL_QGEMM_OK)
        return status;
    if (needed && !workspace)
        return PWL_QGEMM_ERR_NULL;
    if (needed && (uintptr_t)workspace % 16)
        return PWL_QGEMM_ERR_ALIGN;
    if (bytes < needed)
        return PWL_QGEMM_ERR_SPACE;

    memset(&call, 0, sizeof call);
    call.product = *product;
    call.weights = *product->weights;
    call.product.weights = NULL;
    if (finds_exponents(product)) {
        call.f = workspace;
        error = pwl_cuda_launch_qgemm_exponents(product->x.data, product->m, call.weights.k, product->x.stride,
                                                workspace, stream);
    }
    if (makes_blocks(product)) {
        call.q = workspace;
        call.q_stride = call.weights.k / PWL_BLOCK;
        error = pwl_cuda_launch_qgemm_blocks(&call, workspace, stream);
    } else if (pwl_qgemm_is_a8(product)) {
        call.q = product->x.data;
        call.q_stride = product->x.stride;
    }
    if (error == cudaSuccess)
        error = kernels[kernel].launch(&call, stream);
    if (error == cudaSuccess && ran)
        *ran = kernel;
    return status_of(error);
}

const char *pwl_qgemm_kernel_name(pwl_qgemm_kernel kernel)
{
    return (size_t)kernel < KERNELS ? kernels[kernel].name : NULL;
}
