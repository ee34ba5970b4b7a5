/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of what is done with rows around a group of products. */
#include <cuda_runtime_api.h>

#include <pwl/cuda_qgemm.h>

#include "check.h"
#include "launch.h"

/* Whether arrays of rows do not overlap; where one has an end. */
static pwl_qgemm_status check_apart(const void *a, size_t a_rows, size_t a_stride, const void *b, size_t b_rows,
                                    size_t b_stride, size_t bytes)
{
    return pwl_qgemm_overlap(a, (a_rows - 1) * a_stride + bytes, b, (b_rows - 1) * b_stride + bytes)
               ? PWL_QGEMM_ERR_OVERLAP
               : PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_cuda_qgemm_gather(const void *x, size_t rows, size_t x_stride, const int32_t *index, size_t count,
                                       size_t bytes, void *y, size_t y_stride, struct CUstream_st *stream)
{
    const pwl_qgemm_rows_of of = {x, index, y, rows, count, bytes, x_stride, y_stride};
    pwl_qgemm_status status;
    if (!x || !index || !y)
        return PWL_QGEMM_ERR_NULL;
    status = pwl_qgemm_check_rows(x, 1, rows, bytes, x_stride);
    if (status == PWL_QGEMM_OK)
        status = pwl_qgemm_check_rows(y, 1, count, bytes, y_stride);
    if (status == PWL_QGEMM_OK && (uintptr_t)index % sizeof *index)
        status = PWL_QGEMM_ERR_ALIGN;
    if (status == PWL_QGEMM_OK)
        status = check_apart(x, rows, x_stride, y, count, y_stride, bytes);
    return status == PWL_QGEMM_OK ? pwl_qgemm_status_of(pwl_cuda_launch_qgemm_gather(&of, stream)) : status;
}

pwl_qgemm_status pwl_cuda_qgemm_combine(pwl_qgemm_type type, const void *y, size_t rows, size_t columns,
                                        size_t y_stride, const int32_t *index, const float *weight, size_t tokens,
                                        size_t each, void *out, size_t out_stride, struct CUstream_st *stream)
{
    const pwl_qgemm_combined of = {y, index, weight, out, rows, columns, tokens, each, y_stride, out_stride, type};
    size_t element;
    pwl_qgemm_status status;
    if (!y || !index || !weight || !out)
        return PWL_QGEMM_ERR_NULL;
    if ((unsigned)type > PWL_QGEMM_BF16)
        return PWL_QGEMM_ERR_TYPE;
    element = pwl_qgemm_type_bytes(type);
    status = pwl_qgemm_check_rows(y, element, rows, columns, y_stride);
    if (status == PWL_QGEMM_OK)
        status = pwl_qgemm_check_rows(out, element, tokens, columns, out_stride);
    if (status == PWL_QGEMM_OK && (each == 0 || tokens > SIZE_MAX / sizeof *weight / each))
        status = PWL_QGEMM_ERR_SHAPE;
    if (status == PWL_QGEMM_OK && ((uintptr_t)index % sizeof *index || (uintptr_t)weight % sizeof *weight))
        status = PWL_QGEMM_ERR_ALIGN;
    if (status == PWL_QGEMM_OK)
        status = check_apart(y, rows, y_stride * element, out, tokens, out_stride * element, columns * element);
    return status == PWL_QGEMM_OK ? pwl_qgemm_status_of(pwl_cuda_launch_qgemm_combine(&of, stream)) : status;
}
