/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of pwl/cuda.h: every check comes before the first call of CUDA. */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <string.h>

#include <pwl/cuda.h>
#include <pwl/pwl.h>

#include "launch.h"
#include "layout.h"

static pwl_cuda_status status_of(int error)
{
    return error == cudaSuccess ? PWL_CUDA_OK : (pwl_cuda_status)(PWL_CUDA_ERR_CUDA + error);
}

/* Copies the arrays to memory of layout->bytes and points `placed` to them. */
static cudaError_t copy_arrays(const pwl_table *table, const pwl_layout *layout, char *memory, pwl_table *placed)
{
    cudaError_t error = cudaMemset(memory, 0, layout->bytes);
    if (error == cudaSuccess)
        error = cudaMemcpy(memory, table->offset, layout->start, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaMemcpy(memory + layout->start, table->start, layout->q_b - layout->start, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaMemcpy(memory + layout->q_b, table->q_b, layout->n - layout->q_b, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaMemcpy(memory + layout->n, table->n, table->segments, cudaMemcpyHostToDevice);
    /* A copy of pageable memory may return before it has arrived, and streams that do not wait for the default one are
     * free to start. */
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(cudaStreamLegacy);
    placed->offset = memory;
    placed->start = memory + layout->start;
    placed->q_b = memory + layout->q_b;
    placed->n = (const int8_t *)(memory + layout->n);
    return error;
}

pwl_cuda_status pwl_cuda_upload(const pwl_table *table, pwl_cuda_table *uploaded)
{
    pwl_cuda_table made;
    pwl_layout layout;
    int device = 0, multiprocessors = 0;
    void *memory = NULL;
    cudaError_t error;

    if (!uploaded)
        return PWL_CUDA_ERR_NULL;
    memset(uploaded, 0, sizeof *uploaded);
    if (!table)
        return PWL_CUDA_ERR_NULL;
    if (pwl_table_check(table, NULL) != PWL_OK)
        return PWL_CUDA_ERR_TABLE;

    layout = pwl_layout_of(table);
    error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaMalloc(&memory, layout.bytes);
    if (error != cudaSuccess)
        return status_of(error);
    made.table = *table;
    made.memory = memory;
    made.device = device;
    made.blocks = PWL_MAP_BLOCKS * (uint32_t)multiprocessors;
    made.shared_bytes = layout.shared_bytes;
    error = copy_arrays(table, &layout, memory, &made.table);
    if (error != cudaSuccess) {
        (void)cudaFree(memory); /* the first error is the one to tell */
        return status_of(error);
    }
    *uploaded = made;
    return PWL_CUDA_OK;
}

pwl_cuda_status pwl_cuda_release(pwl_cuda_table *uploaded)
{
    void *memory;
    if (!uploaded)
        return PWL_CUDA_ERR_NULL;
    memory = uploaded->memory;
    memset(uploaded, 0, sizeof *uploaded);
    return memory ? status_of(cudaFree(memory)) : PWL_CUDA_OK;
}

/* 1 when `later`, at or above `earlier`, lies within the count elements of `bytes` there. */
static int reaches(uintptr_t earlier, size_t count, size_t bytes, uintptr_t later)
{
    /* distance < count * bytes, by a division that cannot overflow */
    return (later - earlier) / bytes < count;
}

static int overlap(uintptr_t x, size_t x_bytes, uintptr_t y, size_t y_bytes, size_t count)
{
    if (x == y && x_bytes == y_bytes)
        return 0;
    return x <= y ? reaches(x, count, x_bytes, y) : reaches(y, count, y_bytes, x);
}

pwl_cuda_status pwl_cuda_map(const pwl_cuda_table *uploaded, pwl_type in, const void *x, pwl_type out, void *y,
                             size_t count, struct CUstream_st *stream)
{
    size_t x_bytes, y_bytes;
    int device = 0;
    cudaError_t error;

    if (!uploaded || !uploaded->memory)
        return PWL_CUDA_ERR_NULL;
    if ((unsigned)in > PWL_U32 || (unsigned)out > PWL_U32)
        return PWL_CUDA_ERR_TYPE;
    if (!pwl_fits(&uploaded->table, out))
        return PWL_CUDA_ERR_FIT;
    if (count == 0)
        return PWL_CUDA_OK;
    if (!x || !y)
        return PWL_CUDA_ERR_NULL;
    x_bytes = pwl_type_bytes(in);
    y_bytes = pwl_type_bytes(out);
    if ((uintptr_t)x % x_bytes || (uintptr_t)y % y_bytes)
        return PWL_CUDA_ERR_ALIGN;
    if (overlap((uintptr_t)x, x_bytes, (uintptr_t)y, y_bytes, count))
        return PWL_CUDA_ERR_OVERLAP;

    error = cudaGetDevice(&device);
    if (error != cudaSuccess)
        return status_of(error);
    if (device != uploaded->device)
        return PWL_CUDA_ERR_DEVICE;
    return status_of(pwl_cuda_launch_map(uploaded, in, x, out, y, count, stream));
}

int pwl_cuda_error(pwl_cuda_status status)
{
    return status < PWL_CUDA_ERR_CUDA ? cudaSuccess : (int)status - PWL_CUDA_ERR_CUDA;
}

const char *pwl_cuda_status_text(pwl_cuda_status status)
{
    if (status > PWL_CUDA_ERR_CUDA)
        return cudaGetErrorString((cudaError_t)pwl_cuda_error(status));
    switch (status) {
    case PWL_CUDA_OK:
        return "ok";
    case PWL_CUDA_ERR_NULL:
        return "null pointer, or a released table";
    case PWL_CUDA_ERR_TABLE:
        return "table is not safe to run";
    case PWL_CUDA_ERR_TYPE:
        return "unknown element type";
    case PWL_CUDA_ERR_FIT:
        return "output type does not hold the table's output range";
    case PWL_CUDA_ERR_ALIGN:
        return "array is not aligned to its elements";
    case PWL_CUDA_ERR_OVERLAP:
        return "input and output overlap";
    case PWL_CUDA_ERR_DEVICE:
        return "table lies on another device than the current one";
    case PWL_CUDA_ERR_FORMAT:
        return "unknown block format";
    case PWL_CUDA_ERR_RULE:
        return "unknown rule, or none of this format's";
    case PWL_CUDA_ERR_SHAPE:
        return "k_padded is not a multiple of 32, or below k, or the matrix is too large";
    case PWL_CUDA_ERR_CUDA:
        break;
    }
    return "unknown status";
}
