/* SPDX-License-Identifier: Apache-2.0 */
/*
 * X of W4A8 and W8A8 made halves while a product by wgmma runs (gemm/strips.h): by warps that neither copy nor
 * multiply, into the workspace, from where the copies of X take it once it is there.
 *
 * A warp draws a strip and makes all of it before it draws another, without waiting for anyone. So whoever waits for a
 * strip waits for a warp that runs, or for one of its own block, however few blocks run at a time.
 */
#ifndef PWL_QGEMM_WGMMA_STRIPS_CUH
#define PWL_QGEMM_WGMMA_STRIPS_CUH

#include "arch/hopper.cuh"
#include "arch/overlap.cuh"
#include "block_halves.cuh"
#include "gemm/launch.h"

namespace pwl
{
namespace wgmma
{

#if PWL_IS_HOPPER

using namespace pwl::hopper;

/* Loads of 8 halves that a lane has under way: of as many rows as a strip has, 256 columns a row; and after how many
 * columns a warp tells how far it is, which takes it as long as 100 columns do. */
constexpr unsigned loads = quarters, columns_of_warp = 32 * eight, told_after = 512;

/* Where a lane's loads of a strip are, but for the column. */
struct strip_place {
    const uint16_t *from[loads];
    uint16_t *to[loads];
    size_t end[loads]; /* of the columns */

    __device__ strip_place(const pwl_qgemm_call &call, size_t strip)
    {
        const pwl_qgemm_strips &strips = call.strips;
#pragma unroll
        for (unsigned i = 0; i < loads; i++) {
            const size_t row = (strip << strips.log_rows) + i % (1u << strips.log_rows);
            const size_t right = (i >> strips.log_rows) * columns_of_warp;
            from[i] = static_cast<const uint16_t *>(call.product.x.data) + row * call.product.x.stride + right;
            to[i] = const_cast<uint16_t *>(call.h) + row * call.h_stride + right;
            end[i] = row < call.product.m && right < call.weights.k ? call.weights.k - right : 0;
        }
    }

    __device__ void load(size_t column, uint4 (&x)[loads]) const
    {
#pragma unroll
        for (unsigned i = 0; i < loads; i++) {
            x[i] = make_uint4(0, 0, 0, 0);
            if (column < end[i])
                x[i] = __ldg(reinterpret_cast<const uint4 *>(from[i] + column));
        }
    }

    __device__ void store(size_t column, const uint4 (&x)[loads]) const
    {
#pragma unroll
        for (unsigned i = 0; i < loads; i++) {
            if (column < end[i])
                *reinterpret_cast<uint4 *>(to[i] + column) = x[i];
        }
    }
};

/* All that a warp does. call.marks are how many strips were drawn, then of each strip how many pieces are made. */
__device__ inline void make_strips(const pwl_qgemm_call &call)
{
    const pwl_qgemm_strips &strips = call.strips;
    const unsigned lane = threadIdx.x % 32;
    const size_t k = call.weights.k, step = loads * columns_of_warp >> strips.log_rows;
    wait_for_last_launch();
    for (;;) {
        uint32_t strip = 0;
        if (lane == 0)
            strip = atomicAdd(call.marks, 1u);
        strip = __shfl_sync(all_lanes, strip, 0);
        if (strip >= strips.count)
            return;
        const strip_place here(call, strip);
        size_t column = pwl_qgemm_strip_ahead(&strips, strip) * PWL_QGEMM_COLUMNS, told = column;
        uint4 x[loads];
        here.load(column + lane * eight, x);
        while (column < k) {
            halves_of_halves(x);
            here.store(column + lane * eight, x);
            column += step;
            here.load(column + lane * eight, x);
            if (column - told < told_after && column < k)
                continue;
            told = column;
            __syncwarp();
            if (lane == 0)
                store_released(call.marks + 1 + strip, static_cast<uint32_t>(pwl_qgemm_depth(column < k ? column : k)));
        }
    }
}

/* Until `rows` rows from m on have `needed` pieces; how many they have. All lanes of a warp, whose first one may then
 * start copies of these. */
__device__ inline uint32_t wait_for_strips(const pwl_qgemm_call &call, uint32_t m, uint32_t rows, uint32_t needed)
{
    const uint32_t last = (m + rows - 1) >> call.strips.log_rows;
    uint32_t made;
    for (;;) {
        made = UINT32_MAX;
        for (uint32_t strip = (m >> call.strips.log_rows) + threadIdx.x % 32; strip <= last; strip += 32)
            made = min(made, load_acquired(call.marks + 1 + strip));
        made = __reduce_min_sync(all_lanes, made);
        if (made >= needed)
            break;
        __nanosleep(100);
    }
    __syncwarp();
    show_memory_to_copies();
    return made;
}

#endif

} // namespace wgmma
} // namespace pwl

#endif
