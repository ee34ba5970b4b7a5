/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of pwl/cuda_attention.h: every check comes before the first call of CUDA. */
#include <cuda_runtime_api.h>
#include <string.h>

#include <pwl/cuda_attention.h>

#include "arch/arrays.h"
#include "arch/status.h"
#include "launch.h"

enum { ALIGN = 16 };

pwl_cuda_status pwl_cuda_attention_upload(const pwl_attention *attention, pwl_cuda_attention *uploaded)
{
    pwl_cuda_status status;
    if (!uploaded)
        return PWL_CUDA_ERR_NULL;
    memset(uploaded, 0, sizeof *uploaded);
    if (!attention)
        return PWL_CUDA_ERR_NULL;
    if (pwl_attention_check(attention) != PWL_OK)
        return PWL_CUDA_ERR_OPERATOR;
    status = pwl_cuda_softmax_upload(&attention->softmax, &uploaded->softmax);
    if (status != PWL_CUDA_OK)
        return status;
    uploaded->attention = *attention;
    uploaded->attention.softmax.exp = NULL;
    uploaded->attention.softmax.reciprocal = NULL;
    return PWL_CUDA_OK;
}

pwl_cuda_status pwl_cuda_attention_release(pwl_cuda_attention *uploaded)
{
    pwl_cuda_status status;
    if (!uploaded)
        return PWL_CUDA_ERR_NULL;
    status = pwl_cuda_softmax_release(&uploaded->softmax);
    memset(uploaded, 0, sizeof *uploaded);
    return status;
}

/* Codes of queries, and of keys with their count rounded up; 0 where there are too many, or where some count is 0. */
static size_t codes_of(const pwl_attention_call *call, int is_of_keys)
{
    const size_t heads = is_of_keys ? call->heads : call->heads * call->share;
    const size_t rows =
        is_of_keys ? (call->keys + PWL_ATTENTION_TILE - 1) / PWL_ATTENTION_TILE * PWL_ATTENTION_TILE : call->queries;
    const size_t most = INT32_MAX;
    if (call->heads > most || call->share > most || rows == 0 || heads > most / rows)
        return 0;
    return heads * rows * call->channels;
}

static int is_head(size_t channels)
{
    return channels == 64 || channels == 128;
}

size_t pwl_cuda_attention_workspace(const pwl_attention_call *call)
{
    return call && is_head(call->channels) ? codes_of(call, 1) : 0;
}

/* Whether two arrays of so many bytes have some in common. */
static int meet(const void *a_at, size_t a_bytes, const void *b_at, size_t b_bytes)
{
    const uintptr_t a = (uintptr_t)a_at, b = (uintptr_t)b_at;
    return a <= b ? pwl_reaches(a, a_bytes, 1, b) : pwl_reaches(b, b_bytes, 1, a);
}

static pwl_cuda_status check_arrays(const pwl_attention_call *call, const void *workspace, size_t bytes)
{
    const size_t of_queries = codes_of(call, 0), of_keys = call->heads * call->keys * call->channels;
    const struct {
        const void *at;
        size_t bytes;
    } arrays[] = {
        {call->y, of_queries}, {workspace, bytes}, {call->q, of_queries}, {call->k, of_keys}, {call->v, of_keys}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (!arrays[i].at)
            return PWL_CUDA_ERR_NULL;
        if ((uintptr_t)arrays[i].at % ALIGN)
            return PWL_CUDA_ERR_ALIGN;
        for (size_t j = 0; j < 2 && j < i; j++) /* what is written meets nothing */
            if (meet(arrays[i].at, arrays[i].bytes, arrays[j].at, arrays[j].bytes))
                return PWL_CUDA_ERR_OVERLAP;
    }
    return PWL_CUDA_OK;
}

static pwl_cuda_status check_call(const pwl_cuda_attention *uploaded, const pwl_attention_call *call,
                                  const void *workspace, size_t bytes)
{
    if (!is_head(call->channels) || call->share == 0)
        return PWL_CUDA_ERR_SHAPE;
    if (call->keys == 0 || call->keys > uploaded->softmax.softmax.longest)
        return PWL_CUDA_ERR_ROW;
    if (codes_of(call, 0) == 0 || codes_of(call, 1) == 0)
        return PWL_CUDA_ERR_SHAPE;
    if (bytes < codes_of(call, 1))
        return PWL_CUDA_ERR_ROOM;
    return check_arrays(call, workspace, codes_of(call, 1));
}

static pwl_cuda_status check_device(int32_t device)
{
    int current = 0, serves = 0;
    cudaError_t error = cudaGetDevice(&current);
    if (error == cudaSuccess && current != device)
        return PWL_CUDA_ERR_DEVICE;
    if (error == cudaSuccess)
        error = (cudaError_t)pwl_cuda_attention_serves(&serves);
    if (error == cudaSuccess && !serves)
        error = cudaErrorNotSupported;
    return pwl_cuda_status_of(error);
}

pwl_cuda_status pwl_cuda_attention_run(const pwl_cuda_attention *uploaded, const pwl_attention_call *call,
                                       void *workspace, size_t bytes, struct CUstream_st *stream)
{
    pwl_cuda_status status;
    if (!uploaded || !uploaded->softmax.memory || !call)
        return PWL_CUDA_ERR_NULL;
    if (call->heads == 0 || call->queries == 0)
        return PWL_CUDA_OK;
    status = check_call(uploaded, call, workspace, bytes);
    if (status == PWL_CUDA_OK)
        status = check_device(uploaded->softmax.device);
    if (status != PWL_CUDA_OK)
        return status;
    return pwl_cuda_status_of(pwl_cuda_launch_attention(uploaded, call, workspace, stream));
}
