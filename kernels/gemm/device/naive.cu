/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products as plainly as a device can have them: a thread for each element of Y goes along K, code by code. Every
 * scheme and type; what faster kernels are compared with.
 */
#include "launch.cuh"
#include "plain.cuh"

namespace
{

using namespace pwl;

constexpr unsigned across = 32, down = 8; /* elements of a thread block, along N and along M */

/* y or v of row m of X and row n of the weights. */
template <class way> __device__ auto compute(const pwl_qgemm_call &call, size_t m, size_t n)
{
    typename way::number sum = 0;
    float all = 0;
    for (size_t block = 0; block < call.weights.k / PWL_BLOCK; block++) {
        const auto unit = way::unit(call, n, block);
        for (size_t c = block * PWL_BLOCK; c < (block + 1) * PWL_BLOCK; c++)
            sum = plain::multiply_add(way::weight(call, n, c, unit), way::input(call, m, c), sum);
        if constexpr (way::scaled)
            way::end_block(way::w_scale(call, n, block), way::x_scale(call, m, block), way::x_sum(call, m, block), &sum,
                           &all);
    }
    return way::y(call, m, n, sum, all);
}

/* Two blocks in a multiprocessor: ptxas would else keep to fewer registers than gate and up need. */
template <class way>
__global__ void __launch_bounds__(across *down, 2) naive(const __grid_constant__ pwl_qgemm_call call)
{
    const bool gated = call.epilogue.as.gated;
    const size_t column = size_t{blockIdx.x} * across + threadIdx.x, n = gated ? pwl_qgemm_gate_row(column) : column;
    if (n >= call.weights.n)
        return;
    for (size_t m = size_t{blockIdx.y} * down + threadIdx.y; m < call.product.m; m += size_t{gridDim.y} * down) {
        const auto y = compute<way>(call, m, n);
        pwl_device_store(call, m, n, y, gated ? compute<way>(call, m, n + 8) : decltype(y){});
    }
}

} // namespace

int pwl_cuda_launch_qgemm_naive(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const size_t columns = pwl_qgemm_columns(call->weights.n, call->epilogue.as.gated);
    const auto kernel = plain::way_of(&call->product, [](auto way) { return naive<decltype(way)>; });
    return launch_grid(kernel, call, columns, across, down, dim3(across, down), stream);
}
