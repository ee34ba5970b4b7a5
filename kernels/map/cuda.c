/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of pwl/cuda.h: every check comes before the first call of CUDA. */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/cuda.h>
#include <pwl/pwl.h>

#include "arch/arrays.h"
#include "arch/status.h"
#include "launch.h"
#include "plan.h"

/* Fills memory of plan->bytes on the device. */
static cudaError_t copy_plan(const pwl_cuda_plan *plan, const void *arrays, void *memory)
{
    const cudaError_t error = cudaMemcpy(memory, arrays, plan->bytes, cudaMemcpyHostToDevice);
    /* A copy of pageable memory may return before it has arrived, and streams that do not wait for the default one are
     * free to start. */
    return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamLegacy) : error;
}

pwl_cuda_status pwl_cuda_upload(const pwl_table *table, pwl_cuda_table *uploaded)
{
    pwl_cuda_table made = {0};
    pwl_cuda_plan plan;
    int device = 0, multiprocessors = 0, overlap = 0;
    void *memory = NULL, *arrays;
    cudaError_t error;

    if (!uploaded)
        return PWL_CUDA_ERR_NULL;
    memset(uploaded, 0, sizeof *uploaded);
    if (!table)
        return PWL_CUDA_ERR_NULL;
    if (pwl_table_check(table, NULL) != PWL_OK)
        return PWL_CUDA_ERR_TABLE;

    pwl_cuda_plan_init(&plan, table);
    arrays = malloc(plan.bytes);
    if (!arrays)
        return PWL_CUDA_ERR_MEMORY;
    pwl_cuda_plan_fill(&plan, table, arrays);
    error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = (cudaError_t)pwl_cuda_launches_overlap(&overlap);
    if (error == cudaSuccess)
        error = cudaMalloc(&memory, plan.bytes);
    if (error == cudaSuccess)
        error = copy_plan(&plan, arrays, memory);
    free(arrays);
    if (error != cudaSuccess) {
        (void)cudaFree(memory); /* the first error is the one to tell */
        return pwl_cuda_status_of(error);
    }
    pwl_cuda_plan_put(&made, &plan);
    made.memory = memory;
    made.device = device;
    made.multiprocessors = (uint32_t)multiprocessors;
    made.overlaps = (uint32_t)overlap;
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
    return memory ? pwl_cuda_status_of(cudaFree(memory)) : PWL_CUDA_OK;
}

/* As pwl_fits(). */
static int fits(const pwl_cuda_table *uploaded, pwl_type out)
{
    const pwl_cuda_plan plan = pwl_cuda_plan_of(uploaded);
    pwl_table table = {0};
    table.qmin_y = plan.qmin_y;
    table.qmax_y = plan.qmax_y;
    return pwl_fits(&table, out);
}

/* As pwl_affine_serves(). */
static int serves(const pwl_cuda_table *uploaded, pwl_affine of)
{
    return pwl_affine_serves(of, pwl_cuda_plan_of(uploaded).wide);
}

/* What all maps ask of their arrays. */
static pwl_cuda_status check_arrays(const pwl_cuda_table *uploaded, size_t x_bytes, const void *x, size_t y_bytes,
                                    const void *y, size_t count)
{
    int device = 0;
    cudaError_t error;
    if (!x || !y)
        return PWL_CUDA_ERR_NULL;
    if ((uintptr_t)x % x_bytes || (uintptr_t)y % y_bytes)
        return PWL_CUDA_ERR_ALIGN;
    if (pwl_overlap(x, x_bytes, y, y_bytes, count))
        return PWL_CUDA_ERR_OVERLAP;
    error = cudaGetDevice(&device);
    if (error != cudaSuccess)
        return pwl_cuda_status_of(error);
    return device == uploaded->device ? PWL_CUDA_OK : PWL_CUDA_ERR_DEVICE;
}

pwl_cuda_status pwl_cuda_map(const pwl_cuda_table *uploaded, pwl_type in, const void *x, pwl_type out, void *y,
                             size_t count, struct CUstream_st *stream)
{
    pwl_cuda_status status;
    if (!uploaded || !uploaded->memory)
        return PWL_CUDA_ERR_NULL;
    if ((unsigned)in > PWL_U32 || (unsigned)out > PWL_U32)
        return PWL_CUDA_ERR_TYPE;
    if (!fits(uploaded, out))
        return PWL_CUDA_ERR_FIT;
    if (count == 0)
        return PWL_CUDA_OK;
    status = check_arrays(uploaded, pwl_type_bytes(in), x, pwl_type_bytes(out), y, count);
    if (status != PWL_CUDA_OK)
        return status;
    return pwl_cuda_status_of(pwl_cuda_launch_map(uploaded, in, x, out, y, count, stream));
}

pwl_cuda_status pwl_cuda_map_from_real(const pwl_cuda_table *uploaded, pwl_affine of_x, pwl_real in, const void *x,
                                       pwl_type out, void *y, size_t count, struct CUstream_st *stream)
{
    pwl_cuda_status status;
    if (!uploaded || !uploaded->memory)
        return PWL_CUDA_ERR_NULL;
    if ((unsigned)in > PWL_BF16 || (unsigned)out > PWL_U32)
        return PWL_CUDA_ERR_TYPE;
    if (!fits(uploaded, out))
        return PWL_CUDA_ERR_FIT;
    if (!serves(uploaded, of_x))
        return PWL_CUDA_ERR_SCALE;
    if (count == 0)
        return PWL_CUDA_OK;
    status = check_arrays(uploaded, pwl_real_bytes(in), x, pwl_type_bytes(out), y, count);
    if (status != PWL_CUDA_OK)
        return status;
    return pwl_cuda_status_of(pwl_cuda_launch_map_from_real(uploaded, of_x, in, x, out, y, count, stream));
}

pwl_cuda_status pwl_cuda_map_real(const pwl_cuda_table *uploaded, pwl_affine of_x, pwl_real in, const void *x,
                                  pwl_affine of_y, pwl_real out, void *y, size_t count, struct CUstream_st *stream)
{
    pwl_cuda_status status;
    if (!uploaded || !uploaded->memory)
        return PWL_CUDA_ERR_NULL;
    if ((unsigned)in > PWL_BF16 || (unsigned)out > PWL_BF16)
        return PWL_CUDA_ERR_TYPE;
    if (!serves(uploaded, of_x) || !serves(uploaded, of_y))
        return PWL_CUDA_ERR_SCALE;
    if (count == 0)
        return PWL_CUDA_OK;
    status = check_arrays(uploaded, pwl_real_bytes(in), x, pwl_real_bytes(out), y, count);
    if (status != PWL_CUDA_OK)
        return status;
    return pwl_cuda_status_of(pwl_cuda_launch_map_real(uploaded, of_x, in, x, of_y, out, y, count, stream));
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
        return "null pointer, or a released table, operator or network";
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
    case PWL_CUDA_ERR_MEMORY:
        return "out of host memory";
    case PWL_CUDA_ERR_DEVICE:
        return "table or operator lies on another device than the current one";
    case PWL_CUDA_ERR_FORMAT:
        return "unknown block format";
    case PWL_CUDA_ERR_RULE:
        return "unknown rule, or none of this format's";
    case PWL_CUDA_ERR_SHAPE:
        return "k_padded is not a multiple of 32, or below k, or the matrix is too large, or the network has no such "
               "sizes";
    case PWL_CUDA_ERR_SCALE:
        return "scale or zero point out of range";
    case PWL_CUDA_ERR_OPERATOR:
        return "row operator is not safe to run";
    case PWL_CUDA_ERR_ROW:
        return "rows are longer than the operator's, have no place, or are too many";
    case PWL_CUDA_ERR_NETWORK:
        return "network is not safe to run";
    case PWL_CUDA_ERR_NODE:
        return "devices do not run a node of the network, or it has too many places";
    case PWL_CUDA_ERR_ROOM:
        return "too little memory for the network at these sizes";
    case PWL_CUDA_ERR_CUDA:
        break;
    }
    return "unknown status";
}
