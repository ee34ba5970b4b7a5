/* SPDX-License-Identifier: Apache-2.0 */
/* libpwl-cuda as cuda.py sees it, on memory of the host, for tests where there is no device. */
#include <stdlib.h>
#include <string.h>

#include <pwl/cuda.h>
#include <pwl/cuda_network.h>
#include <pwl/cuda_qgemm.h>
#include <pwl/cuda_rows.h>
#include <pwl/eval.h>

const void *fake_elsewhere = NULL; /* lies on the next device */
int fake_device = 0, fake_current = 0, fake_uploads = 0, fake_stream = 0;
int fake_copies = 0, fake_workspaces = 0; /* pieces of memory; questions for sizes of workspaces */
int fake_launches = 0;                    /* of row operators */

int pwl_device_of(const void *pointer);
int pwl_device_current(void);
size_t pwl_device_table_size(void);
size_t pwl_device_softmax_size(void);
size_t pwl_device_norm_size(void);
size_t pwl_device_network_size(void);
void *pwl_device_copy(const void *bytes, size_t size);
void pwl_device_free(void *memory);

int pwl_device_of(const void *pointer)
{
    return fake_device + (pointer == fake_elsewhere);
}

int pwl_device_current(void)
{
    return fake_current;
}

size_t pwl_device_table_size(void)
{
    return sizeof(pwl_cuda_table);
}

size_t pwl_device_softmax_size(void)
{
    return sizeof(pwl_cuda_softmax);
}

size_t pwl_device_norm_size(void)
{
    return sizeof(pwl_cuda_norm);
}

size_t pwl_device_network_size(void)
{
    return sizeof(pwl_cuda_network);
}

void *pwl_device_copy(const void *bytes, size_t size)
{
    void *const memory = fake_device == fake_current ? malloc(size) : NULL;
    if (memory && bytes)
        memcpy(memory, bytes, size);
    fake_copies += memory != NULL;
    return memory;
}

void pwl_device_free(void *memory)
{
    free(memory);
    fake_copies--;
}

/* What is uploaded is the host's. */
#define FAKE_UPLOAD(name, host, device)                                                                                \
    pwl_cuda_status pwl_cuda_##name##upload(const host *of, device *uploaded)                                          \
    {                                                                                                                  \
        uploaded->memory = (void *)(uintptr_t)of;                                                                      \
        fake_uploads++;                                                                                                \
        return PWL_CUDA_OK;                                                                                            \
    }                                                                                                                  \
    pwl_cuda_status pwl_cuda_##name##release(device *uploaded)                                                         \
    {                                                                                                                  \
        fake_uploads -= uploaded->memory != NULL;                                                                      \
        uploaded->memory = NULL;                                                                                       \
        return PWL_CUDA_OK;                                                                                            \
    }
FAKE_UPLOAD(, pwl_table, pwl_cuda_table)
FAKE_UPLOAD(softmax_, pwl_softmax, pwl_cuda_softmax)
FAKE_UPLOAD(norm_, pwl_norm, pwl_cuda_norm)

pwl_cuda_status pwl_cuda_map(const pwl_cuda_table *uploaded, pwl_type in, const void *x, pwl_type out, void *y,
                             size_t count, struct CUstream_st *stream)
{
    const pwl_table *const table = uploaded->memory;
    fake_stream = (int)(uintptr_t)stream;
    if (in != PWL_S8 || out != PWL_S8)
        return PWL_CUDA_ERR_FIT;
    for (size_t k = 0; k < count; k++)
        ((int8_t *)y)[k] = (int8_t)pwl_eval_inline(table, ((const int8_t *)x)[k]);
    return PWL_CUDA_OK;
}

pwl_cuda_status pwl_cuda_map_real(const pwl_cuda_table *uploaded, pwl_affine of_x, pwl_real in, const void *x,
                                  pwl_affine of_y, pwl_real out, void *y, size_t count, struct CUstream_st *stream)
{
    const pwl_table *const table = uploaded->memory;
    fake_stream = (int)(uintptr_t)stream;
    if (in != PWL_F32 || out != PWL_F32)
        return PWL_CUDA_ERR_TYPE;
    for (size_t k = 0; k < count; k++) {
        const int64_t q =
            pwl_code_of_real(((const float *)x)[k], 1 / of_x.scale, of_x.zero_point, table->qmin_x, table->qmax_x);
        ((float *)y)[k] = pwl_real_of_code(pwl_eval_inline(table, q), of_y);
    }
    return PWL_CUDA_OK;
}

pwl_cuda_status pwl_cuda_softmax_run(const pwl_cuda_softmax *uploaded, const pwl_rows *rows, struct CUstream_st *stream)
{
    const pwl_softmax *const softmax = uploaded->memory;
    fake_stream = (int)(uintptr_t)stream;
    fake_launches++;
    if (rows->length > softmax->longest)
        return PWL_CUDA_ERR_ROW;
    pwl_softmax_run(softmax, rows, 0);
    return PWL_CUDA_OK;
}

pwl_cuda_status pwl_cuda_norm_run(const pwl_cuda_norm *uploaded, const void *x, void *y, size_t count,
                                  struct CUstream_st *stream)
{
    fake_stream = (int)(uintptr_t)stream;
    fake_launches++;
    pwl_norm_run(uploaded->memory, x, y, count, 0);
    return PWL_CUDA_OK;
}

/* Nodes of kinds from 9 on are refused when that is asked for. */
int fake_refuses = 0;

pwl_cuda_status pwl_cuda_network_upload(const pwl_network *network, pwl_cuda_network *uploaded, int32_t *node)
{
    for (int k = 0; fake_refuses && k < network->node_count; k++)
        if (network->nodes[k].kind >= 9) {
            *node = k;
            return PWL_CUDA_ERR_NODE;
        }
    uploaded->network = network;
    uploaded->nodes = uploaded;
    fake_uploads++;
    return PWL_CUDA_OK;
}

pwl_cuda_status pwl_cuda_network_release(pwl_cuda_network *uploaded)
{
    fake_uploads -= uploaded->nodes != NULL;
    uploaded->nodes = NULL;
    return PWL_CUDA_OK;
}

uint64_t pwl_cuda_network_size(const pwl_cuda_network *uploaded, const uint32_t *sizes)
{
    return pwl_network_size(uploaded->network, sizes);
}

pwl_cuda_status pwl_cuda_network_run(const pwl_cuda_network *uploaded, const pwl_network_call *call,
                                     struct CUstream_st *stream)
{
    fake_stream = (int)(uintptr_t)stream;
    fake_launches++;
    return pwl_network_run(uploaded->network, call) == PWL_OK ? PWL_CUDA_OK : PWL_CUDA_ERR_SHAPE;
}

/* One byte a row; from 64 rows on an error of CUDA's. */
pwl_qgemm_status pwl_cuda_qgemm_workspace(const pwl_qgemm_product *product, size_t *bytes)
{
    fake_workspaces++;
    *bytes = product->m == 1 ? 0 : product->m;
    return product->m < 64 ? PWL_QGEMM_OK : (pwl_qgemm_status)(PWL_QGEMM_ERR_CUDA + 1);
}

pwl_qgemm_status pwl_cuda_qgemm_store_sums(const pwl_qgemm_product *product, const int32_t *sums, size_t stride,
                                           struct CUstream_st *stream)
{
    fake_stream = (int)(uintptr_t)stream;
    fake_launches++;
    return pwl_qgemm_store_sums(product, sums, stride);
}

pwl_qgemm_status pwl_cuda_qgemm(const pwl_qgemm_product *product, void *workspace, size_t bytes, pwl_qgemm_kernel *ran,
                                struct CUstream_st *stream)
{
    pwl_qgemm_product here = *product;
    pwl_qgemm_activation as;
    (void)ran;
    fake_stream = (int)(uintptr_t)stream;
    if (product->m > 1 && bytes < product->m)
        return PWL_QGEMM_ERR_SPACE;
    if (bytes)
        memset(workspace, 255, bytes);
    if (product->activation) {
        as = *product->activation;
        as.table = as.uploaded->memory;
        here.activation = &as;
    }
    return pwl_qgemm_reference(&here);
}

const char *pwl_cuda_status_text(pwl_cuda_status status)
{
    return status == PWL_CUDA_ERR_FIT        ? "the fake one's words"
           : status == PWL_CUDA_ERR_CUDA + 1 ? "an error of the device"
                                             : "other words";
}
