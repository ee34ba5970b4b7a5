/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schedule of shares (gemm/schedule.h) as a thread block follows it, and sums that go from block to block. A block
 * that begins within a tile leaves its sums of it in the workspace; the block that has the tile's first pieces waits
 * for the sums of the others, and adds them in the order of K.
 *
 * Shares are drawn, the last one first. So a block waits for blocks that drew before it, which run, and have left what
 * it waits for before they wait themselves: there is always one that need not wait, however few run at a time.
 */
#ifndef PWL_QGEMM_SHARES_CUH
#define PWL_QGEMM_SHARES_CUH

#include "gemm/launch.h"
#include "gemm/schedule.h"
#include "tile.cuh"

namespace pwl
{
namespace mma
{

/* Where a block is in its share; in shared memory, since multiplications need the registers. */
struct place_in_share {
    size_t share, at, end; /* pieces, over all tiles */
    pwl_qgemm_part part;
    size_t m, n; /* of the part's tile */
};

/* call.marks: how many shares were drawn, then of each share whether its sums were left. */
__device__ inline void draw_share(const pwl_qgemm_call &call, place_in_share &here)
{
    if (threadIdx.x == 0) {
        here.share = call.schedule.shares - 1 - atomicAdd(call.marks, 1u);
        here.at = pwl_qgemm_share_at(&call.schedule, here.share);
        here.end = pwl_qgemm_share_at(&call.schedule, here.share + 1);
        here.part.count = 0;
    }
}

/* To the next part of the share; false at its end. */
template <unsigned groups> __device__ bool advance(const pwl_qgemm_call &call, place_in_share &here)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const size_t across = (call.weights.n - 1) / PWL_QGEMM_ROWS + 1;
        here.at += here.part.count;
        here.part = pwl_qgemm_part_from(&call.schedule, here.at, here.end);
        here.m = here.part.tile / across * groups * 8;
        here.n = here.part.tile % across * PWL_QGEMM_ROWS;
    }
    __syncthreads();
    return here.part.count;
}

/* Where this thread's first four sums of a share lie; the next are so many further on as there are threads. */
template <unsigned groups> __device__ float4 *sums_at(const pwl_qgemm_call &call, size_t share)
{
    return static_cast<float4 *>(call.sums) + share * tiles * groups * threads + threadIdx.x;
}

template <unsigned groups>
__device__ void leave_sums(const pwl_qgemm_call &call, size_t share, const sums_in<float, groups> &sums)
{
    float4 *to = sums_at<groups>(call, share);
#pragma unroll
    for (unsigned t = 0; t < tiles; t++) {
#pragma unroll
        for (unsigned g = 0; g < groups; g++, to += threads)
            __stcg(to, make_float4(sums[t][g][0], sums[t][g][1], sums[t][g][2], sums[t][g][3]));
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        atomicExch(call.marks + 1 + share, 1u);
}

/* Adds what the shares from `first` to `last` leave; past the L1 cache, which may hold what lay there before. */
template <unsigned groups>
__device__ void add_sums(const pwl_qgemm_call &call, size_t first, size_t last, sums_in<float, groups> &sums)
{
    for (size_t share = first + threadIdx.x; share <= last; share += threads) {
        const volatile uint32_t *const left = call.marks + 1 + share;
        while (!*left)
            __nanosleep(64);
    }
    __threadfence();
    __syncthreads();
    for (size_t share = first; share <= last; share++) {
        const float4 *from = sums_at<groups>(call, share);
#pragma unroll
        for (unsigned t = 0; t < tiles; t++) {
#pragma unroll
            for (unsigned g = 0; g < groups; g++, from += threads) {
                const float4 v = __ldcg(from);
                sums[t][g][0] += v.x;
                sums[t][g][1] += v.y;
                sums[t][g][2] += v.z;
                sums[t][g][3] += v.w;
            }
        }
    }
}

} // namespace mma
} // namespace pwl

#endif
