/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes whose elements are computed one by one, by a thread one or eight, and rows of softmax with a mask, each by a
 * warp. */
#include <cuda_runtime.h>

#include "arch/overlap.cuh"
#include "codes.cuh"
#include "launch.h"

namespace
{

using namespace pwl;

constexpr unsigned threads = 256, warps = threads / 32;

template <pwl_work_kind kind> __global__ void __launch_bounds__(threads) elements(const __grid_constant__ pwl_work work)
{
    const uint32_t k = blockIdx.x * threads + threadIdx.x;
    wait_for_last_launch();
    if (k < work.count)
        pwl_work_element(&work, kind, k);
}

template <pwl_work_kind kind> cudaError_t launch_elements(const pwl_work &work, bool overlaps, cudaStream_t stream)
{
    return launch_overlapped(overlaps, elements<kind>, dim3((work.count + threads - 1) / threads), threads, 0, stream,
                             work);
}

/* Of add, multiply and requantise: where eight elements of the output are, their inputs are eight neighbours as well.
 */
template <pwl_work_kind kind> __global__ void __launch_bounds__(threads) eights(const __grid_constant__ pwl_work work)
{
    const uint32_t k = (blockIdx.x * threads + threadIdx.x) * together;
    uint32_t at[4] = {k, 0, 0, 0};
    eight_codes x[4], y;
    wait_for_last_launch();
    if (k >= work.count)
        return;
    constexpr bool is_add = kind == PWL_WORK_ADD, is_multiply = kind == PWL_WORK_MULTIPLY;
    const bool all = is_multiply && work.of.multiply.reads > 2;
    if constexpr (is_add)
        pwl_work_find(&work.of.add.spread, k, 0, at);
    else if constexpr (is_multiply)
        pwl_work_find(&work.of.multiply.spread, k, all, at);
    x[0] = load_eight(work.x[0], at[0]);
    x[1] = is_add || is_multiply ? load_eight(work.x[1], at[1]) : x[0];
    x[2] = all ? load_eight(work.x[2], at[2]) : x[0];
    x[3] = all ? load_eight(work.x[3], at[3]) : x[0];
#pragma unroll
    for (unsigned i = 0; i < together; i++) {
        if constexpr (is_add) {
            y.code[i] = static_cast<int32_t>(pwl_add_element(&work.of.add.add, x[0].code[i], x[1].code[i]));
        } else if constexpr (is_multiply) {
            int64_t offset[4];
#pragma unroll
            for (unsigned input = 0; input < 4; input++)
                offset[input] = x[input].code[i] - work.x[input].zero_point;
            y.code[i] =
                static_cast<int32_t>(pwl_work_stored(&work.y, pwl_work_multiplied(&work.of.multiply, all, offset)));
        } else {
            y.code[i] = static_cast<int32_t>(pwl_requantise_element(&work.of.requantise, x[0].code[i]));
        }
    }
    store_eight(work.y, k, y);
}

bool is_aligned(const void *at, int type)
{
    return reinterpret_cast<uintptr_t>(at) % (type <= PWL_U8 ? 8 : 16) == 0;
}

/* Whether the last axis has eight neighbours of each input at a time, and so have those above it. */
bool has_eights(const pwl_work_spread &of, unsigned reads)
{
    if (of.axes == 0 || of.size[of.axes - 1] % together)
        return false;
    for (unsigned k = 0; k < reads; k++) {
        if (of.stride[k][of.axes - 1] != 1)
            return false;
        for (uint32_t axis = 0; axis + 1 < of.axes; axis++)
            if (of.stride[k][axis] % together)
                return false;
    }
    return true;
}

template <pwl_work_kind kind>
cudaError_t launch_eights(const pwl_work &work, unsigned reads, bool has, bool overlaps, cudaStream_t stream)
{
    bool serves = has && work.count % together == 0 && work.y.type <= PWL_U16 && is_aligned(work.y.at, work.y.type);
    for (unsigned k = 0; k < reads; k++)
        serves = serves && work.x[k].type <= PWL_S32 && is_aligned(work.x[k].at, work.x[k].type);
    if (!serves)
        return launch_elements<kind>(work, overlaps, stream);
    return launch_overlapped(overlaps, eights<kind>, dim3((work.count / together + threads - 1) / threads), threads, 0,
                             stream, work);
}

struct masked_rows {
    pwl_softmax softmax;
    const uint16_t *core;
    const void *x;
    void *y;
    pwl_work_softmax own;
    pwl_work_input numbers;
};

constexpr int32_t absent = INT32_MIN; /* a place that takes no part */

/* A row, and which of its places take part. */
struct masked_row {
    size_t at;
    const uint8_t *mask;
    uint32_t reach;

    __device__ masked_row(const masked_rows &of, uint32_t row)
        : at(static_cast<size_t>(row) * of.own.length),
          mask(of.own.mask ? of.own.mask + static_cast<size_t>(row / of.own.each) * of.own.length : nullptr),
          reach(row < of.own.rows ? pwl_work_softmax_reach(&of.own, &of.numbers, row) : 0)
    {
    }

    __device__ int32_t code(const masked_rows &of, uint32_t k) const
    {
        return k < reach && (!mask || mask[k]) ? static_cast<int32_t>(pwl_work_code(of.softmax.in, of.x, at + k))
                                               : absent;
    }
};

/* Of all lanes; a lane has at most 2^41. */
__device__ uint64_t sum_of(uint64_t v)
{
    const uint32_t low = __reduce_add_sync(0xffffffffu, static_cast<uint32_t>(v & 0xffffff));
    return (static_cast<uint64_t>(__reduce_add_sync(0xffffffffu, static_cast<uint32_t>(v >> 24))) << 24) + low;
}

__device__ uint32_t exp_of(const masked_rows &of, int32_t largest, int32_t code)
{
    return code == absent ? 0 : pwl_softmax_exp(&of.softmax, static_cast<uint32_t>(largest - code));
}

__device__ pwl_row_factor reciprocal(const masked_rows &of, uint64_t sum)
{
    const pwl_row_cell cell = pwl_reciprocal_cell(sum ? sum : 1);
    return pwl_reciprocal_factor(cell, __ldg(of.core + cell.code));
}

/* So many rows of a warp, each of up to 32 `held` places, which stay in registers. */
template <unsigned rows, unsigned held>
__global__ void __launch_bounds__(threads) masked_short(const __grid_constant__ masked_rows of)
{
    const uint32_t first = (blockIdx.x * warps + threadIdx.x / 32) * rows, lane = threadIdx.x % 32;
    int32_t code[rows][held], largest[rows];
    uint32_t e[rows][held];
    wait_for_last_launch();
#pragma unroll
    for (unsigned r = 0; r < rows; r++) {
        const masked_row at(of, first + r);
        largest[r] = absent;
#pragma unroll
        for (unsigned k = 0; k < held; k++) {
            code[r][k] = at.code(of, lane + 32 * k);
            largest[r] = max(largest[r], code[r][k]);
        }
    }
#pragma unroll
    for (unsigned r = 0; r < rows; r++) {
        largest[r] = __reduce_max_sync(0xffffffffu, largest[r]);
#pragma unroll
        for (unsigned k = 0; k < held; k++)
            e[r][k] = exp_of(of, largest[r], code[r][k]);
    }
#pragma unroll
    for (unsigned r = 0; r < rows; r++) {
        uint64_t sum = 0;
#pragma unroll
        for (unsigned k = 0; k < held; k++)
            sum += e[r][k];
        const pwl_row_factor factor = reciprocal(of, sum_of(sum));
        const size_t at = static_cast<size_t>(first + r) * of.own.length;
#pragma unroll
        for (unsigned k = 0; k < held; k++)
            if (first + r < of.own.rows && lane + 32 * k < of.own.length)
                pwl_work_set(of.softmax.out, of.y, at + lane + 32 * k,
                             code[r][k] == absent ? pwl_softmax_least(&of.softmax)
                                                  : pwl_softmax_by(&of.softmax, factor, e[r][k]));
    }
}

/* A row of a warp, of any length, and of log-softmax. */
__global__ void __launch_bounds__(threads) masked_long(const __grid_constant__ masked_rows of)
{
    const uint32_t row = blockIdx.x * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
    const bool is_log = of.softmax.kind == PWL_LOG_SOFTMAX;
    int32_t largest = absent;
    uint64_t sum = 0;
    wait_for_last_launch();
    const masked_row at(of, row);
    for (uint32_t k = lane; k < at.reach; k += 32)
        largest = max(largest, at.code(of, k));
    largest = __reduce_max_sync(0xffffffffu, largest);
    for (uint32_t k = lane; k < at.reach; k += 32)
        sum += exp_of(of, largest, at.code(of, k));
    sum = sum_of(sum);
    const pwl_row_factor factor = reciprocal(of, sum);
    const int64_t log = is_log && sum ? pwl_log_softmax_row(&of.softmax, sum) : 0;
    for (uint32_t k = lane; k < of.own.length && row < of.own.rows; k += 32) {
        const int32_t code = at.code(of, k);
        const uint32_t d = static_cast<uint32_t>(largest - code);
        pwl_work_set(of.softmax.out, of.y, at.at + k,
                     code == absent ? pwl_softmax_least(&of.softmax)
                     : is_log       ? pwl_log_softmax_place(&of.softmax, log, d)
                                    : pwl_softmax_place(&of.softmax, factor, d));
    }
}

template <unsigned rows, unsigned held>
cudaError_t launch_short(const masked_rows &of, bool overlaps, cudaStream_t stream)
{
    return launch_overlapped(overlaps, masked_short<rows, held>,
                             dim3((of.own.rows + rows * warps - 1) / (rows * warps)), threads, 0, stream, of);
}

} // namespace

int pwl_cuda_network_overlap(int *overlap)
{
    bool waits;
    const cudaError_t error = waits_by_itself(reinterpret_cast<const void *>(elements<PWL_WORK_FILL>), &waits);
    *overlap = error == cudaSuccess && waits;
    return error;
}

int pwl_cuda_launch_elements(const pwl_work *work, int overlaps, struct CUstream_st *stream)
{
    switch (work->kind) {
    case PWL_WORK_MOVE:
        return launch_elements<PWL_WORK_MOVE>(*work, overlaps, stream);
    case PWL_WORK_FILL:
        return launch_elements<PWL_WORK_FILL>(*work, overlaps, stream);
    case PWL_WORK_GATHER:
        return launch_elements<PWL_WORK_GATHER>(*work, overlaps, stream);
    case PWL_WORK_APPEND:
        return launch_elements<PWL_WORK_APPEND>(*work, overlaps, stream);
    case PWL_WORK_MATRIX:
        return launch_elements<PWL_WORK_MATRIX>(*work, overlaps, stream);
    case PWL_WORK_CONVOLUTION:
        return launch_elements<PWL_WORK_CONVOLUTION>(*work, overlaps, stream);
    case PWL_WORK_MAX_POOL:
        return launch_elements<PWL_WORK_MAX_POOL>(*work, overlaps, stream);
    case PWL_WORK_MULTIPLY:
        return launch_eights<PWL_WORK_MULTIPLY>(*work, work->of.multiply.reads,
                                                has_eights(work->of.multiply.spread, work->of.multiply.reads), overlaps,
                                                stream);
    case PWL_WORK_MEAN:
        return launch_elements<PWL_WORK_MEAN>(*work, overlaps, stream);
    case PWL_WORK_REQUANTISE:
        return launch_eights<PWL_WORK_REQUANTISE>(*work, 1, true, overlaps, stream);
    case PWL_WORK_ADD:
        return launch_eights<PWL_WORK_ADD>(*work, 2, has_eights(work->of.add.spread, 2), overlaps, stream);
    default:
        return launch_elements<PWL_WORK_REDUCED>(*work, overlaps, stream);
    }
}

int pwl_cuda_launch_masked_softmax(const pwl_work *work, int overlaps, struct CUstream_st *stream)
{
    const pwl_work_softmax &softmax = work->of.softmax;
    const masked_rows of = {
        softmax.uploaded->softmax, softmax.uploaded->core, work->x[0].at, work->y.at, softmax, work->x[1]};
    if (of.softmax.kind == PWL_SOFTMAX && softmax.length <= 256)
        return softmax.length <= 32    ? launch_short<4, 1>(of, overlaps, stream)
               : softmax.length <= 64  ? launch_short<2, 2>(of, overlaps, stream)
               : softmax.length <= 128 ? launch_short<2, 4>(of, overlaps, stream)
                                       : launch_short<1, 8>(of, overlaps, stream);
    return launch_overlapped(overlaps, masked_long, dim3((softmax.rows + warps - 1) / warps), threads, 0, stream, of);
}
