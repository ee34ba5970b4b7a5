/* SPDX-License-Identifier: Apache-2.0 */
/* Y in INT8 of sums that lie in memory, complete: the parts of a product that devices share, added up. */
#include "launch.cuh"
#include "store.cuh"

namespace
{

constexpr unsigned across = 128, down = 4; /* elements of a thread block, along N and along M */

__global__ void __launch_bounds__(across *down)
    store_sums(const __grid_constant__ pwl_qgemm_call call, const int32_t *sums, size_t stride)
{
    const pwl_qgemm_activation &as = call.epilogue.as;
    const size_t column = size_t{blockIdx.x} * across + threadIdx.x, n = as.gated ? pwl_qgemm_gate_row(column) : column;
    if (n >= call.weights.n)
        return;
    for (size_t m = size_t{blockIdx.y} * down + threadIdx.y; m < call.product.m; m += size_t{gridDim.y} * down) {
        const int32_t *const row = sums + m * stride;
        const int64_t v = pwl_qgemm_with_bias(&call.product, &as, n, row[n]);
        pwl_device_store<false>(call, m, n, v,
                                as.gated ? pwl_qgemm_with_bias(&call.product, &as, n + 8, row[n + 8]) : int64_t{0});
    }
}

} // namespace

int pwl_cuda_launch_qgemm_store_sums(const pwl_qgemm_call *call, const int32_t *sums, size_t stride,
                                     struct CUstream_st *stream)
{
    return pwl::launch_grid(store_sums, call, pwl_qgemm_columns(call->weights.n, call->epilogue.as.gated), across, down,
                            dim3(across, down), stream, sums, stride);
}
