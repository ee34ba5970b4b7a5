/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of wgmma, as a lane has them: which rows they are of, and what these are multiplied by. */
#ifndef PWL_QGEMM_WGMMA_SUMS_CUH
#define PWL_QGEMM_WGMMA_SUMS_CUH

#include "store.cuh"
#include "wgmma_loop.cuh"

namespace pwl
{
namespace wgmma
{

#if PWL_IS_HOPPER

/* 2^f of row m of X; 1 where there are none. */
__device__ inline float unit_of(const pwl_qgemm_call &call, size_t m)
{
    return call.f && m < call.product.m ? pwl_device_power(call.f[m]) : 1;
}

/* f of a tile's rows, -126 to 127, for this warpgroup; `units` is its own. */
template <unsigned tokens> __device__ void put_units(const pwl_qgemm_call &call, size_t m, int8_t *units)
{
    for (unsigned token = threadIdx.x % group_threads; token < tokens; token += group_threads)
        units[token] = static_cast<int8_t>(call.f && m + token < call.product.m ? call.f[m + token] : 0);
}

/* What the warpgroups that multiply do together, and one of them. */
constexpr unsigned meet_all = 1, meet_group = 2; /* barriers, the second one's the first warpgroup's */

/* This lane's first row of the weights' 128. */
__device__ inline unsigned row_of_lane()
{
    return threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
}

#endif

} // namespace wgmma
} // namespace pwl

#endif
