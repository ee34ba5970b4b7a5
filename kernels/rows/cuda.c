/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of pwl/cuda_rows.h: every check comes before the first call of CUDA. */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/cuda_rows.h>

#include "arch/arrays.h"
#include "arch/status.h"
#include "launch.h"
#include "prepare.h"

/* What an operator's arrays need, until it is uploaded. */
typedef struct upload {
    void *image, *memory;
    int32_t device;
    uint32_t overlaps;
} upload;

/* Memory on both sides, and what is to be known of the device. */
static pwl_cuda_status begin(size_t bytes, upload *of)
{
    int device = 0, overlaps = 0;
    cudaError_t error;
    memset(of, 0, sizeof *of);
    of->image = malloc(bytes);
    if (!of->image)
        return PWL_CUDA_ERR_MEMORY;
    error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = (cudaError_t)pwl_cuda_rows_overlap(&overlaps);
    if (error == cudaSuccess)
        error = cudaMalloc(&of->memory, bytes);
    if (error != cudaSuccess)
        free(of->image);
    of->device = device;
    of->overlaps = (uint32_t)overlaps;
    return pwl_cuda_status_of(error);
}

/* Copies the image. A copy of pageable memory may return before it has arrived, and streams that do not wait for the
 * default one are free to start. */
static pwl_cuda_status end(const upload *of, size_t bytes)
{
    cudaError_t error = cudaMemcpy(of->memory, of->image, bytes, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(cudaStreamLegacy);
    free(of->image);
    if (error != cudaSuccess)
        (void)cudaFree(of->memory); /* the first error is the one to tell */
    return pwl_cuda_status_of(error);
}

pwl_cuda_status pwl_cuda_softmax_upload(const pwl_softmax *softmax, pwl_cuda_softmax *uploaded)
{
    pwl_cuda_softmax made = {0};
    upload of;
    size_t bytes;
    pwl_cuda_status status;
    if (!uploaded)
        return PWL_CUDA_ERR_NULL;
    memset(uploaded, 0, sizeof *uploaded);
    if (!softmax)
        return PWL_CUDA_ERR_NULL;
    if (pwl_softmax_check(softmax) != PWL_OK)
        return PWL_CUDA_ERR_OPERATOR;
    bytes = pwl_cuda_softmax_bytes(softmax);
    status = begin(bytes, &of);
    if (status != PWL_CUDA_OK)
        return status;
    pwl_cuda_softmax_prepare(softmax, of.image, of.memory, &made);
    made.memory = of.memory;
    made.device = of.device;
    made.overlaps = of.overlaps;
    status = end(&of, bytes);
    if (status == PWL_CUDA_OK)
        *uploaded = made;
    return status;
}

pwl_cuda_status pwl_cuda_norm_upload(const pwl_norm *norm, pwl_cuda_norm *uploaded)
{
    pwl_cuda_norm made = {0};
    upload of;
    size_t bytes;
    pwl_cuda_status status;
    if (!uploaded)
        return PWL_CUDA_ERR_NULL;
    memset(uploaded, 0, sizeof *uploaded);
    if (!norm)
        return PWL_CUDA_ERR_NULL;
    if (pwl_norm_check(norm) != PWL_OK)
        return PWL_CUDA_ERR_OPERATOR;
    bytes = pwl_cuda_norm_bytes(norm);
    status = begin(bytes, &of);
    if (status != PWL_CUDA_OK)
        return status;
    pwl_cuda_norm_prepare(norm, of.image, of.memory, &made);
    made.memory = of.memory;
    made.device = of.device;
    made.overlaps = of.overlaps;
    status = end(&of, bytes);
    if (status == PWL_CUDA_OK)
        *uploaded = made;
    return status;
}

/* Frees the memory of an uploaded operator, of either kind, and clears it. */
static pwl_cuda_status release(void *uploaded, size_t bytes, void *memory)
{
    memset(uploaded, 0, bytes);
    return memory ? pwl_cuda_status_of(cudaFree(memory)) : PWL_CUDA_OK;
}

pwl_cuda_status pwl_cuda_softmax_release(pwl_cuda_softmax *uploaded)
{
    return uploaded ? release(uploaded, sizeof *uploaded, uploaded->memory) : PWL_CUDA_ERR_NULL;
}

pwl_cuda_status pwl_cuda_norm_release(pwl_cuda_norm *uploaded)
{
    return uploaded ? release(uploaded, sizeof *uploaded, uploaded->memory) : PWL_CUDA_ERR_NULL;
}

static size_t code_bytes(int type)
{
    return type >= PWL_S16 ? 2 : 1;
}

/* What both kinds ask of their arrays, of `places` codes. */
static pwl_cuda_status check_arrays(int in, const void *x, int out, const void *y, size_t places)
{
    if (!x || !y)
        return PWL_CUDA_ERR_NULL;
    if ((uintptr_t)x % code_bytes(in) || (uintptr_t)y % code_bytes(out))
        return PWL_CUDA_ERR_ALIGN;
    if (pwl_overlap(x, code_bytes(in), y, code_bytes(out), places))
        return PWL_CUDA_ERR_OVERLAP;
    return PWL_CUDA_OK;
}

static pwl_cuda_status check_device(int32_t device)
{
    int current = 0;
    const cudaError_t error = cudaGetDevice(&current);
    if (error != cudaSuccess)
        return pwl_cuda_status_of(error);
    return current == device ? PWL_CUDA_OK : PWL_CUDA_ERR_DEVICE;
}

/* Whether `count` rows, at least one, have places that can be counted. */
static int are_rows(size_t count, size_t length, uint32_t longest)
{
    return length >= 1 && length <= longest && count <= ((size_t)1 << 62) / length;
}

/* Whether y has places where a mask has its own. */
static int meets_mask(const pwl_rows *rows, size_t out_bytes)
{
    const uintptr_t y = (uintptr_t)rows->y, mask = (uintptr_t)rows->mask;
    if (!rows->mask)
        return 0;
    if (y <= mask)
        return pwl_reaches(y, rows->count * rows->length, out_bytes, mask);
    return (y - mask) < rows->length + (rows->count - 1) * rows->mask_stride;
}

pwl_cuda_status pwl_cuda_softmax_run(const pwl_cuda_softmax *uploaded, const pwl_rows *rows, struct CUstream_st *stream)
{
    const pwl_softmax *softmax;
    pwl_cuda_status status;
    if (!uploaded || !uploaded->memory || !rows)
        return PWL_CUDA_ERR_NULL;
    if (rows->count == 0)
        return PWL_CUDA_OK;
    softmax = &uploaded->softmax;
    if (!are_rows(rows->count, rows->length, softmax->longest))
        return PWL_CUDA_ERR_ROW;
    status = check_arrays(softmax->in, rows->x, softmax->out, rows->y, rows->count * rows->length);
    if (status == PWL_CUDA_OK && meets_mask(rows, code_bytes(softmax->out)))
        status = PWL_CUDA_ERR_OVERLAP;
    if (status == PWL_CUDA_OK)
        status = check_device(uploaded->device);
    if (status != PWL_CUDA_OK)
        return status;
    return pwl_cuda_status_of(pwl_cuda_launch_softmax(uploaded, rows, stream));
}

pwl_cuda_status pwl_cuda_norm_run(const pwl_cuda_norm *uploaded, const void *x, void *y, size_t count,
                                  struct CUstream_st *stream)
{
    const pwl_norm *norm;
    pwl_cuda_status status;
    if (!uploaded || !uploaded->memory)
        return PWL_CUDA_ERR_NULL;
    if (count == 0)
        return PWL_CUDA_OK;
    norm = &uploaded->norm;
    if (!are_rows(count, norm->length, norm->length))
        return PWL_CUDA_ERR_ROW;
    status = check_arrays(norm->in, x, norm->out, y, count * norm->length);
    if (status == PWL_CUDA_OK)
        status = check_device(uploaded->device);
    if (status != PWL_CUDA_OK)
        return status;
    return pwl_cuda_status_of(pwl_cuda_launch_norm(uploaded, x, y, count, stream));
}
