/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of X brought to where their expert has them, and what experts gave brought together. */
#include <pwl/half.h>

#include "gemm/launch.h"

namespace
{

constexpr unsigned threads = 128;

/* A thread block for a row; more rows than a grid has blocks follow. */
unsigned blocks_of(size_t rows)
{
    constexpr size_t most = 1u << 20;
    return static_cast<unsigned>(rows < most ? rows : most);
}

template <class T> __global__ void __launch_bounds__(threads) gather(pwl_qgemm_rows_of rows)
{
    const size_t units = rows.bytes / sizeof(T);
    for (size_t i = blockIdx.x; i < rows.count; i += gridDim.x) {
        const int32_t from = rows.index[i];
        const bool there = from >= 0 && static_cast<size_t>(from) < rows.rows;
        const T *const x =
            reinterpret_cast<const T *>(static_cast<const char *>(rows.x) + (there ? from : 0) * rows.x_stride);
        T *const y = reinterpret_cast<T *>(static_cast<char *>(rows.y) + i * rows.y_stride);
        for (size_t k = threadIdx.x; k < units; k += threads)
            y[k] = there ? x[k] : T{};
    }
}

__device__ inline float element_of(pwl_qgemm_type type, const void *y, size_t at)
{
    if (type == PWL_QGEMM_F32)
        return static_cast<const float *>(y)[at];
    const uint16_t half = static_cast<const uint16_t *>(y)[at];
    return type == PWL_QGEMM_F16 ? pwl_f32_from_f16(half) : pwl_f32_from_bf16(half);
}

__global__ void __launch_bounds__(threads) combine(pwl_qgemm_combined of)
{
    for (size_t t = blockIdx.x; t < of.tokens; t += gridDim.x) {
        for (size_t k = threadIdx.x; k < of.columns; k += threads) {
            float sum = 0;
            for (size_t i = t * of.each; i < (t + 1) * of.each; i++) {
                const int32_t row = of.index[i];
                if (row >= 0 && static_cast<size_t>(row) < of.rows)
                    sum = fmaf(of.weight[i], element_of(of.type, of.y, row * of.y_stride + k), sum);
            }
            pwl_qgemm_store(of.type, of.out, t * of.out_stride + k, sum);
        }
    }
}

} // namespace

int pwl_cuda_launch_qgemm_gather(const pwl_qgemm_rows_of *rows, struct CUstream_st *stream)
{
    const uintptr_t all = reinterpret_cast<uintptr_t>(rows->x) | reinterpret_cast<uintptr_t>(rows->y) | rows->x_stride |
                          rows->y_stride | rows->bytes;
    if (all % sizeof(uint4) == 0)
        gather<uint4><<<blocks_of(rows->count), threads, 0, stream>>>(*rows);
    else
        gather<uint8_t><<<blocks_of(rows->count), threads, 0, stream>>>(*rows);
    return cudaGetLastError();
}

int pwl_cuda_launch_qgemm_combine(const pwl_qgemm_combined *of, struct CUstream_st *stream)
{
    combine<<<blocks_of(of->tokens), threads, 0, stream>>>(*of);
    return cudaGetLastError();
}
